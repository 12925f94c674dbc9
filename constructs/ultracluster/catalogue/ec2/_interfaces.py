"""Network interfaces of a node: card, device index and type."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from ultracluster.catalogue.ec2._instance_type import InstanceType, Kind, NetworkCard
from ultracluster.catalogue.ec2._types import instance_type as look_up

Layout = Literal["one-ip", "max-ip", "all-efa", "efa-pairs"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


@dataclass(frozen=True, slots=True, order=True)
class Interface:
    """A network interface of a node.

    Args:
        card: NetworkCardIndex.
        device: DeviceIndex on that card.
        kind: `interface` (ENA), `efa` (ENA and EFA) or `efa-only` (EFA without an address).
    """

    card: int
    device: int
    kind: Kind


def interfaces(instance_type: InstanceType | str, layout: Layout = "one-ip") -> tuple[Interface, ...]:
    """Return the network interfaces of a node, ordered by card and device.

    - `one-ip`: what AWS's guide recommends. One ENA interface, hence one address a node; EFA-only devices elsewhere.
    - `max-ip`: the same with an ENA interface on further cards, for more IP bandwidth and addresses.
    - `all-efa`: every EFA device with ENA, hence an address each: the older form, which AWS's templates for PCS use.
    - `efa-pairs`: `one-ip` with two EFA-only devices for each GPU, which share its bandwidth: p6e-gb200 has eight of
      200 Gbit/s in place of four of 400, for clients that use one device each.

    Every layout uses all EFA devices of the type, or those that AWS's guide names for it (p6e-gb200: four).

    Args:
        instance_type: A name of the catalogue, or a record.
        layout: One of `LAYOUTS`. A type without EFA has `one-ip` only.

    Raises:
        ValueError: If the type is unknown or does not support the layout, with the layouts that it supports.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html (read 2026-11-20)
    """
    record = look_up(instance_type) if isinstance(instance_type, str) else instance_type
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, got {layout!r}")
    return _interfaces(record, layout)


# Each part of a node asks for them: user data, collectors, job files, template.
@cache
def _interfaces(record: InstanceType, layout: Layout) -> tuple[Interface, ...]:
    rows = _rows(record, layout)
    problem = _problem(record, layout, rows)
    if problem:
        good = [other for other in LAYOUTS if not _problem(record, other, _rows(record, other))]
        way_out = f"use {' or '.join(good)}" if good else "define its interfaces yourself"
        raise ValueError(f"{record.name} can't have the layout {layout}: {problem}; {way_out}")
    return rows


def default_layout(record: InstanceType, preferred: Layout = "one-ip") -> Layout:
    """Return a layout if the type supports it, or the first that the type supports.

    Args:
        record: A record of the catalogue.
        preferred: The layout; it is returned too if the type supports none.
    """
    valid = (each for each in (preferred, *LAYOUTS) if not _problem(record, each, _rows(record, each)))
    return next(valid, preferred)


def check_interfaces(instance_type: InstanceType | str, rows: Iterable[Interface]) -> tuple[Interface, ...]:
    """Validate custom interfaces, and return them ordered by card and device.

    Args:
        instance_type: A name of the catalogue, or a record.
        rows: The interfaces of one node.

    Raises:
        ValueError: If the type does not support them, with all reasons.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html and using-eni.html (read 2026-11-20)
    """
    record = look_up(instance_type) if isinstance(instance_type, str) else instance_type
    ordered = tuple(sorted(rows))
    cards = {card.index: card for card in record.cards}
    problems = [problem for row in dict.fromkeys(ordered) if (problem := _row_problem(row, cards))]
    if not any((row.card, row.device) == (0, 0) for row in ordered):
        problems.append("device 0 of card 0, the primary interface, is missing")
    places = [(row.card, row.device) for row in ordered]
    problems += [
        f"device {device} of card {card} is there twice"
        for card, device in dict.fromkeys(places)
        if places.count((card, device)) > 1
    ]
    with_efa = [row.card for row in ordered if row.kind != "interface"]
    problems += [f"card {card} supports one EFA device" for card in dict.fromkeys(with_efa) if with_efa.count(card) > 1]
    if len(with_efa) > record.max_efa:
        problems.append(f"it supports {record.max_efa} EFA devices, got {len(with_efa)}")
    if problems:
        raise ValueError(
            f"{record.name} can't have these interfaces: {'; '.join(problems)}; "
            "`ultracluster.catalogue.ec2.interfaces` gives rows that fit"
        )
    return ordered


def _row_problem(row: Interface, cards: Mapping[int, NetworkCard]) -> str | None:
    card = cards.get(row.card)
    if card is None:
        return f"there is no card {row.card} ({len(cards)} cards, from 0)"
    if row.kind not in card.kinds:
        return f"card {row.card} offers {', '.join(card.kinds)}, not {row.kind}"
    if not 0 <= row.device < card.max_interfaces:
        return f"card {row.card} supports {card.max_interfaces} interfaces, so device {row.device} is out of range"
    if (row.card, row.device) == (0, 0) and row.kind == "efa-only":
        return "the primary interface needs an address, and efa-only has none"
    return None


def addresses(rows: Iterable[Interface]) -> int:
    """Return the number of IPv4 addresses of a node with these interfaces; EFA-only ones have none."""
    return sum(row.kind != "efa-only" for row in rows)


def _rows(record: InstanceType, layout: Layout) -> tuple[Interface, ...]:
    if layout == "all-efa":
        return tuple(sorted(_all_efa(record)))
    rows = _one_ip(record, record.efa_pairs if layout == "efa-pairs" else record.efa_cards)
    return tuple(sorted(rows + (_extra_ena(record, rows) if layout == "max-ip" else [])))


def _one_ip(record: InstanceType, named: tuple[int, ...] | None) -> list[Interface]:
    """ENA first; EFA-only at device 1 of card 0, for it can't be the primary interface, and at device 0 elsewhere."""
    rows = [Interface(0, 0, "interface")]
    for card in _efa_cards(record, "efa-only", named):
        device = 1 if card.index == 0 else 0
        if device < card.max_interfaces:
            rows.append(Interface(card.index, device, "efa-only"))
    return rows[: 1 + record.max_efa]


def _extra_ena(record: InstanceType, rows: list[Interface]) -> list[Interface]:
    """ENA at device 1 of further cards; at device 0 of a card that has one place, and that free."""
    allowed = record.extra_ena_cards
    extra = []
    for card in record.cards:
        taken = [row.device for row in rows if row.card == card.index]
        device = 1 if card.max_interfaces > 1 else 0
        fits = "interface" in card.kinds and len(taken) < card.max_interfaces and device not in taken
        if card.index > 0 and fits and (allowed is None or card.index in allowed):
            extra.append(Interface(card.index, device, "interface"))
    return extra


def _all_efa(record: InstanceType) -> list[Interface]:
    """`efa` at device 1 beyond a primary `efa`; at device 0 where the card has one place, or card 0 is ENA."""
    cards = _efa_cards(record, "efa", record.efa_cards)
    primary_efa = bool(cards) and cards[0].index == 0
    rows = [] if primary_efa else [Interface(0, 0, "interface")]
    for card in cards[: record.max_efa]:
        first_place = card.index == 0 or not primary_efa or card.max_interfaces == 1
        rows.append(Interface(card.index, 0 if first_place else 1, "efa"))
    return rows


def _efa_cards(record: InstanceType, kind: Kind, named: tuple[int, ...] | None) -> list[NetworkCard]:
    return [
        card
        for card in record.cards
        if kind in card.kinds and card.max_interfaces and (named is None or card.index in named)
    ]


def _problem(record: InstanceType, layout: Layout, rows: tuple[Interface, ...]) -> str | None:
    """Return the error of the rows, or None if they are valid."""
    if layout != "one-ip" and not record.supports_efa:
        return "it has no EFA device"
    if layout == "efa-pairs" and not record.efa_pairs:
        return "it has no GPU with two network cards"
    cards = {card.index: card for card in record.cards}
    if problem := next(filter(None, (_row_problem(row, cards) for row in rows)), None):
        return problem
    if layout == "all-efa" and record.efa_cards and not _efa_cards(record, "efa", record.efa_cards):
        named = ", ".join(map(str, record.efa_cards))
        return f"the cards that carry its EFA devices ({named}) support efa-only alone"
    used = sum(row.kind != "interface" for row in rows)
    requested = _usable_efa(record)
    if record.supports_efa and not requested:
        return "no card supports its EFA devices"
    if used < requested:
        return f"{used} of its {requested} EFA devices would be used"
    if layout == "max-ip" and rows == _rows(record, "one-ip"):
        if record.extra_ena_cards == ():
            return "an ENA interface on a further card uses bandwidth from the EFA device that shares its physical NIC"
        return "no further card has room for an ENA interface beside its EFA device"
    return None


def _usable_efa(record: InstanceType) -> int:
    """Return the EFA devices that a node can have at once: one for each card, below the type's limit."""
    if record.efa_cards is not None:
        return len(record.efa_cards)
    return min(record.max_efa, sum(card.takes_efa and card.max_interfaces > 0 for card in record.cards))
