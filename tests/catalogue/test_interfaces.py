"""Network interfaces: AWS's documented rows, every type that EC2 describes, and cards that nobody has built."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hardware_data import described, with_efa
from ultracluster.catalogue.ec2 import (
    INSTANCE_TYPES,
    LAYOUTS,
    NETWORK_INTERFACES_PER_REGION,
    InstanceType,
    Interface,
    Kind,
    Layout,
    NetworkCard,
    addresses,
    default_layout,
    instance_type,
    instance_type_from_api,
    interfaces,
)

# Counted in the data of moto 5.2.5.
TYPES = 1395
TYPES_WITH_EFA = 303
TYPES_WITH_EFA_ON_SEVERAL_CARDS = 71

_EVERY_FOURTH = (4, 8, 12, 16, 20, 24, 28)


def rows(*parts: tuple[Iterable[int], int, Kind]) -> tuple[Interface, ...]:
    return tuple(sorted(Interface(card, device, kind) for cards, device, kind in parts for card in cards))


# one-ip, max-ip: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html (read 2026-11-20).
# all-efa: AWS's templates for PCS, awslabs/awsome-distributed-ai, architectures/aws-pcs/assets (read 2026-11-20).
DOCUMENTED: Mapping[tuple[str, Layout], tuple[Interface, ...]] = {
    ("p5.48xlarge", "one-ip"): rows(([0], 0, "interface"), ([0], 1, "efa-only"), (range(1, 32), 0, "efa-only")),
    ("p5.48xlarge", "max-ip"): rows(
        ([0], 0, "interface"), ([0], 1, "efa-only"), (range(1, 32), 0, "efa-only"), (_EVERY_FOURTH, 1, "interface")
    ),
    ("p5.48xlarge", "all-efa"): rows(([0], 0, "efa"), (range(1, 32), 1, "efa")),
    ("p5en.48xlarge", "one-ip"): rows(([0], 0, "interface"), ([0], 1, "efa-only"), (range(1, 16), 0, "efa-only")),
    ("p5en.48xlarge", "all-efa"): rows(([0], 0, "efa"), (range(1, 16), 1, "efa")),
    ("p6-b200.48xlarge", "one-ip"): rows(([0], 0, "interface"), ([0], 1, "efa-only"), (range(1, 8), 0, "efa-only")),
    ("p6-b200.48xlarge", "max-ip"): rows(
        ([0], 0, "interface"), ([0], 1, "efa-only"), (range(1, 8), 0, "efa-only"), (range(1, 8), 1, "interface")
    ),
    ("p6-b200.48xlarge", "all-efa"): rows(([0], 0, "efa"), (range(1, 8), 1, "efa")),
    ("p6-b300.48xlarge", "one-ip"): rows(([0], 0, "interface"), (range(1, 17), 0, "efa-only")),
    ("p6-b300.48xlarge", "max-ip"): rows(
        ([0], 0, "interface"), (range(1, 17), 0, "efa-only"), (range(1, 17), 1, "interface")
    ),
    ("p6-b300.48xlarge", "all-efa"): rows(([0], 0, "interface"), (range(1, 17), 0, "efa")),
    ("p6e-gb200.36xlarge", "one-ip"): rows(([0], 0, "interface"), ([1, 5, 9, 13], 0, "efa-only")),
    ("p5.4xlarge", "one-ip"): rows(([0], 0, "interface"), ([0], 1, "efa-only")),
    ("p5.4xlarge", "all-efa"): rows(([0], 0, "efa")),
    ("c7i.large", "one-ip"): rows(([0], 0, "interface")),
}


@pytest.mark.parametrize(("name", "layout"), DOCUMENTED, ids="-".join)
def test_a_layout_is_the_one_that_aws_documents(name: str, layout: Layout) -> None:
    assert interfaces(name, layout) == DOCUMENTED[name, layout]


# Those that are not of p6e-gb200 alone.
COMMON: tuple[Layout, ...] = ("one-ip", "max-ip", "all-efa")


@pytest.mark.parametrize("layout", COMMON)
def test_p5e_has_the_interfaces_of_p5(layout: Layout) -> None:
    assert interfaces("p5e.48xlarge", layout) == interfaces("p5.48xlarge", layout)


@pytest.mark.parametrize(
    ("name", "layout", "in_all", "with_address", "nodes"),
    [
        ("p5.48xlarge", "one-ip", 33, 1, 151),
        ("p5.48xlarge", "max-ip", 40, 8, 125),
        ("p5.48xlarge", "all-efa", 32, 32, 156),
        ("p5en.48xlarge", "one-ip", 17, 1, 294),
        ("p5en.48xlarge", "all-efa", 16, 16, 312),
        ("p6-b200.48xlarge", "one-ip", 9, 1, 555),
        ("p6-b200.48xlarge", "max-ip", 16, 8, 312),
        ("p6-b200.48xlarge", "all-efa", 8, 8, 625),
        ("p6-b300.48xlarge", "one-ip", 17, 1, 294),
        ("p6-b300.48xlarge", "max-ip", 33, 17, 151),
        ("p6-b300.48xlarge", "all-efa", 17, 17, 294),
        ("p6e-gb200.36xlarge", "one-ip", 5, 1, 1000),
    ],
)
def test_what_a_node_takes_from_quota_and_subnet(
    name: str, layout: Layout, in_all: int, with_address: int, nodes: int
) -> None:
    result = interfaces(name, layout)
    assert (len(result), addresses(result)) == (in_all, with_address)
    assert NETWORK_INTERFACES_PER_REGION // len(result) == nodes


def unfit(item: Mapping[str, Any], result: Sequence[Interface]) -> list[str]:
    """Errors of interfaces by EC2's description of a type, independent of the library."""
    network = item["NetworkInfo"]
    cards = {card["NetworkCardIndex"]: card for card in network["NetworkCards"]}
    problems = []
    if len({(row.card, row.device) for row in result}) < len(result):
        problems.append("two interfaces in one place")
    primary = [row.kind for row in result if (row.card, row.device) == (0, 0)]
    if primary not in (["interface"], ["efa"]):
        problems.append(f"primary interface is {primary}")
    if len(result) > network["MaximumNetworkInterfaces"]:
        problems.append("more interfaces than the type allows")
    efa_per_card = Counter(row.card for row in result if row.kind != "interface")
    if any(count > 1 for count in efa_per_card.values()):
        problems.append("two EFA devices on a card")
    if efa_per_card.total() != network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0):
        problems.append(f"{efa_per_card.total()} EFA devices")
    for index, count in Counter(row.card for row in result).items():
        if index not in cards or count > cards[index]["MaximumNetworkInterfaces"]:
            problems.append(f"{count} interfaces on card {index}")
    problems += [
        f"{row} not offered" for row in result if row.kind not in cards.get(row.card, {}).get("InterfaceTypes", [])
    ]
    problems += [f"{row} at a device nobody documents" for row in result if row.device not in (0, 1)]
    return problems


@pytest.mark.parametrize("layout", COMMON)
def test_every_type_of_ec2_has_valid_interfaces_or_an_error_with_a_remedy(layout: Layout) -> None:
    wrong, refused = {}, {}
    for name, item in described().items():
        record = instance_type_from_api(item)
        try:
            result = interfaces(record, layout)
        except ValueError as error:
            refused[name] = str(error)
            continue
        if problems := unfit(item, result):
            wrong[name] = problems
    assert wrong == {}
    assert len(described()) == TYPES
    without_efa = described().keys() - with_efa()
    assert len(with_efa()) == TYPES_WITH_EFA
    assert all(name in message and layout in message and "; use " in message for name, message in refused.items())

    # hpc6id's two cards take one interface each: the ENA that one-ip starts from leaves no place for EFA on card 0.
    one_place = {"hpc6id.32xlarge"}
    single_card = {name for name in with_efa() if len(described()[name]["NetworkInfo"]["NetworkCards"]) == 1}
    expected = {
        "one-ip": one_place,
        "max-ip": one_place | single_card | without_efa,
        "all-efa": without_efa,
    }
    assert refused.keys() == expected[layout]
    assert len(with_efa()) - len(single_card) == TYPES_WITH_EFA_ON_SEVERAL_CARDS


@pytest.mark.parametrize("name", [name for name in INSTANCE_TYPES if name != "p6e-gb200.36xlarge"])
def test_the_catalogue_and_ec2_s_description_lead_to_the_same_interfaces(name: str) -> None:
    record = instance_type_from_api(described()[name])
    for layout in LAYOUTS:
        assert outcome(name, layout) == outcome(record, layout)


def outcome(record: InstanceType | str, layout: Layout) -> tuple[Interface, ...] | str:
    try:
        return interfaces(record, layout)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("layout", ["max-ip", "all-efa"])
def test_rejects_gb200_layouts_that_would_share_a_physical_nic_or_need_efa_with_ena(layout: Layout) -> None:
    reason = {"max-ip": "shares its physical NIC", "all-efa": r"\(1, 5, 9, 13\) support efa-only alone"}[layout]
    with pytest.raises(
        ValueError, match=rf"p6e-gb200.36xlarge can't have the layout {layout}: .*{reason}.*; use one-ip or efa-pairs$"
    ):
        interfaces("p6e-gb200.36xlarge", layout)


def test_gb200_has_eight_devices_of_200_gbit_in_pairs_that_share_a_gpu() -> None:
    pairs = interfaces("p6e-gb200.36xlarge", "efa-pairs")
    assert pairs == rows(([0], 0, "interface"), ([1, 3, 5, 7, 9, 11, 13, 15], 0, "efa-only"))
    with pytest.raises(ValueError, match=r"p5.48xlarge can't have the layout efa-pairs: it has no GPU with two"):
        interfaces("p5.48xlarge", "efa-pairs")


@pytest.mark.parametrize(
    ("name", "preferred", "expected"),
    [
        ("p5.48xlarge", "one-ip", "one-ip"),
        ("p5.48xlarge", "all-efa", "all-efa"),
        ("hpc6id.32xlarge", "one-ip", "all-efa"),
        ("p6e-gb200.36xlarge", "all-efa", "one-ip"),
        ("c7i.large", "all-efa", "one-ip"),
    ],
)
def test_a_default_layout_is_one_that_the_type_supports(name: str, preferred: Layout, expected: Layout) -> None:
    assert default_layout(instance_type(name), preferred) == expected


@pytest.mark.parametrize("layout", ["max-ip", "all-efa"])
def test_rejects_efa_layouts_for_a_type_without_efa(layout: Layout) -> None:
    with pytest.raises(ValueError, match=r"c7i.large can't have .*no EFA device; use one-ip$"):
        interfaces("c7i.large", layout)


@pytest.mark.parametrize("layout", ["", "ONE-IP", "one_ip", None, ["one-ip"], 1])
def test_rejects_what_is_no_layout(layout: Any) -> None:
    with pytest.raises(ValueError, match="layout must be one of one-ip, max-ip, all-efa"):
        interfaces("p5.48xlarge", layout)


def test_a_card_that_allows_one_interface_gets_device_0() -> None:
    record = built([card(0, 4), card(1, 1), card(2, 4)], max_efa=3)
    assert interfaces(record, "all-efa") == rows(([0, 1], 0, "efa"), ([2], 1, "efa"))
    assert interfaces(record, "max-ip") == rows(
        ([0], 0, "interface"), ([0], 1, "efa-only"), ([1, 2], 0, "efa-only"), ([2], 1, "interface")
    )


def test_a_card_beyond_the_efa_limit_carries_addresses_at_device_1_or_its_only_place() -> None:
    record = built([card(0, 4), card(1, 4), card(2, 1)], max_efa=1)
    assert interfaces(record, "max-ip") == rows(([0, 2], 0, "interface"), ([0], 1, "efa-only"), ([1], 1, "interface"))


def test_cards_that_take_no_interface_at_all_stay_empty() -> None:
    """As third parties report of GB300: card 0 takes all, the others nothing, while the limit says two devices."""
    record = built([card(0, 4), *(card(i, 0) for i in range(1, 9))], max_efa=2)
    assert interfaces(record, "one-ip") == rows(([0], 0, "interface"), ([0], 1, "efa-only"))
    assert interfaces(record, "all-efa") == rows(([0], 0, "efa"))


def test_rejects_efa_devices_that_no_card_takes() -> None:
    record = built([card(0, 4, kinds=("interface",))], max_efa=1)
    with pytest.raises(ValueError, match="no card supports its EFA devices; define its interfaces yourself"):
        interfaces(record)


def test_an_efa_only_interface_has_no_address() -> None:
    assert addresses(rows(([0], 0, "interface"), ([1], 0, "efa"), ([2, 3], 0, "efa-only"))) == 2
    assert addresses(()) == 0


def card(index: int, max_interfaces: int, kinds: tuple[Kind, ...] = get_args(Kind)) -> NetworkCard:
    return NetworkCard(index=index, kinds=kinds, max_interfaces=max_interfaces)


def built(cards: Sequence[NetworkCard], max_efa: int) -> InstanceType:
    return replace(instance_type("c7i.large"), name="x9.test", cards=tuple(cards), max_efa=max_efa)


def kind_subset(kinds: Iterable[Kind]) -> tuple[Kind, ...]:
    return tuple(kind for kind in get_args(Kind) if kind in kinds)


# Mostly cards as AWS builds them, so that most draws have a layout; now and then anything.
figures = st.tuples(st.integers(1, 4), st.just(get_args(Kind))) | st.tuples(
    st.integers(0, 4), st.sets(st.sampled_from(get_args(Kind))).map(kind_subset)
)
ena_first = st.tuples(st.integers(1, 4), st.sampled_from([get_args(Kind), ("interface",)]))
card_sets = st.tuples(ena_first | figures, st.lists(figures, max_size=17)).map(
    lambda drawn: [card(index, *item) for index, item in enumerate([drawn[0], *drawn[1]])]
)


@given(cards=card_sets, max_efa=st.integers(0, 24), layout=st.sampled_from(LAYOUTS))
def test_cards_that_nobody_has_built_get_fitting_interfaces_or_a_refusal(
    cards: list[NetworkCard], max_efa: int, layout: Layout
) -> None:
    record = built(cards, max_efa)
    try:
        result = interfaces(record, layout)
    except ValueError as error:
        # A refusal names only layouts that are not refused themselves.
        for other in LAYOUTS:
            if other in str(error).rpartition("; ")[2]:
                interfaces(record, other)
        return
    usable = min(max_efa, sum(entry.max_interfaces > 0 and entry.kinds not in ((), ("interface",)) for entry in cards))
    item = {
        "NetworkInfo": {
            "MaximumNetworkInterfaces": record.max_interfaces,
            "EfaInfo": {"MaximumEfaInterfaces": usable},
            "NetworkCards": [
                {
                    "NetworkCardIndex": entry.index,
                    "MaximumNetworkInterfaces": entry.max_interfaces,
                    "InterfaceTypes": entry.kinds,
                }
                for entry in cards
            ],
        }
    }
    assert unfit(item, result) == []
    assert list(result) == sorted(result)
    if layout == "one-ip":
        assert addresses(result) == 1
    if layout == "max-ip":
        assert addresses(result) > 1


@given(count=st.integers(1, 32), room=st.integers(2, 15), layout=st.sampled_from(COMMON))
def test_equal_cards_with_room_for_two_always_have_one_ip_and_all_efa(count: int, room: int, layout: Layout) -> None:
    record = built([card(index, room) for index in range(count)], max_efa=count)
    if layout == "max-ip" and count == 1:
        with pytest.raises(ValueError, match="no further card"):
            interfaces(record, layout)
        return
    expected = {"one-ip": (count + 1, 1), "max-ip": (2 * count, count), "all-efa": (count, count)}
    result = interfaces(record, layout)
    assert (len(result), addresses(result)) == expected[layout]
