"""Reasons for and against a file system, in sentences."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ultracluster.catalogue.storage import lustre as ssd
from ultracluster.catalogue.storage import lustre_metadata, lustre_quotas
from ultracluster.planning.lustre._checkpoints import checkpoint_times
from ultracluster.planning.lustre._goal import LustreGoal
from ultracluster.planning.lustre._kind import Kind
from ultracluster.planning.lustre._offer import LustreOffer
from ultracluster.planning.lustre._spec import LustreOverrides, LustreSpec


def shortfalls(spec: LustreSpec, goal: LustreGoal) -> list[str]:
    """Return the requirements of a goal that a file system does not meet."""
    problems = []
    if spec.disk_write_mb_per_s < goal.mb_per_s:
        problems.append(
            f"{spec.words} give {_down(spec.disk_write_mb_per_s)} MB/s, and {_up(goal.mb_per_s)} are requested"
        )
    if spec.most_gib < goal.gib:
        problems.append(f"{spec.words} hold {spec.most_gib:,} GiB, and {goal.gib:,} are requested")
    if goal.clients is not None and goal.checkpoint is not None:
        nodes = goal.clients.mb_per_s(efa=spec.efa, storage_servers=spec.storage_servers)
        if nodes < goal.checkpoint.mb_per_s:
            seconds = Fraction(goal.checkpoint.size_bytes, 1_000_000) / nodes
            problems.append(
                f"{_nodes(goal)} write {_down(nodes)} MB/s at most to {spec.words} over {_way(spec, goal)}, and the "
                f"checkpoint needs {_up(goal.checkpoint.mb_per_s)}: allow it {_up(seconds)} seconds, or write it from "
                "more nodes"
            )
    return problems


def explain(
    good: Sequence[LustreSpec], *, goal: LustreGoal, offer: LustreOffer, overrides: LustreOverrides, kind: Kind
) -> Iterator[str]:
    """Yield the reasons why the first of the file systems that meet a goal was chosen."""
    best = good[0]
    name = f"{best.deployment_type} on {best.storage_type}"
    yield kind.value.format(type=name, gib=goal.gib, working_set=goal.working_set_gib or 0)
    yield from _why_efa(best, goal, offer, overrides)
    yield from _why_size(best, goal)
    yield from _why_tier(good, overrides)
    if best.metadata_mode == "AUTOMATIC":
        yield f"{best.metadata_iops_given:,} metadata IOPS are included, and grow with the capacity"
    elif best.metadata_mode is not None:
        reason = ", as requested" if overrides.metadata_iops else "; they can be raised, and never lowered"
        included = lustre_metadata.included_iops(best.capacity_gib or 0)
        billed = (best.metadata_iops_given or 0) > included and best.usd_per_month is not None
        price = f"; those beyond {included:,} are billed, and not in this price" if billed else ""
        yield f"{best.metadata_iops_given:,} metadata IOPS{reason}{price}"
    yield from _why_nodes(best, goal)
    for quota in best.quotas_passed:
        takes = dict(best.quota_uses)[quota]
        yield (
            f"{takes:,} {quota.unit} pass the default of the quota {quota.name} ({quota.code}), {quota.default:,}: "
            "request an increase before you deploy"
        )


def _why_efa(best: LustreSpec, goal: LustreGoal, offer: LustreOffer, overrides: LustreOverrides) -> Iterator[str]:
    if best.deployment_type == "SCRATCH_2":
        yield "without EFA: SCRATCH_2 does not support it"
        return
    if overrides.efa is not None:
        yield f"with{'' if best.efa else 'out'} EFA, as requested"
        return
    required = f"{_up(goal.mb_per_s)} MB/s"
    bound = f"the {ssd.EFA_ABOVE_MB_PER_S:,} MB/s above which AWS recommends it"
    above = goal.mb_per_s > ssd.EFA_ABOVE_MB_PER_S
    if best.efa:
        slow = "over TCP the nodes would be too slow, or need a larger file system"
        yield f"with EFA: {required} is more than {bound}" if above else f"with EFA: {slow}"
    elif above and (not offer.efa or (goal.clients and not goal.clients.can_use_efa)):
        yield "without EFA: no node can use it, or FSx does not offer it here"
    elif above:
        yield (
            f"without EFA, though {required} is more than {bound}: FSx supports no {best.words} with it that would do"
        )
    elif goal.mb_per_s:
        yield f"without EFA: {required} is not more than {bound}"


def _why_size(best: LustreSpec, goal: LustreGoal) -> Iterator[str]:
    gives, servers = best.disk_write_mb_per_s, best.storage_servers
    writing = " writing" if best.deployment_type == "SCRATCH_2" else ""
    each = f"; a server gives {float(gives / servers):,.1f} MB/s, so it needs {servers}" if best.efa else ""
    if goal.mb_per_s:
        yield f"{best.words} give {_down(gives)} MB/s{writing}, and {_up(goal.mb_per_s)} were requested{each}"
    else:
        yield f"{best.words} give {_down(gives)} MB/s{writing}{each}"
    if goal.checkpoint is not None and goal.checkpoint.mb_per_s == goal.mb_per_s:
        size, seconds = goal.checkpoint.size_bytes / 1e9, goal.checkpoint.stall_seconds
        yield f"the checkpoint needs the most: {size:,.1f} GB in {seconds:g} seconds"
    if best.capacity_gib is None:
        yield f"it grows to {best.most_gib:,} GiB, 512 TiB for each server, and {goal.gib:,} were requested"
        yield f"its SSD read cache has {best.cache_gib:,} GiB ({best.read_cache_mode})"
    elif goal.gib:
        kept = goal.checkpoint.kept if goal.checkpoint and goal.checkpoint.kept_gib == goal.gib else 0
        what = f"the {goal.gib:,} GiB of {kept} checkpoints" if kept else f"the {goal.gib:,} GiB asked"
        yield f"{best.capacity_gib:,} GiB hold {what}"


def _why_tier(good: Sequence[LustreSpec], overrides: LustreOverrides) -> Iterator[str]:
    best = good[0]
    if best.usd_per_month is None:
        return
    tier = best.mb_per_s_per_tib
    price = f"about ${best.usd_per_month:,.0f} a month at us-east-2's list price of 2026-10"
    if overrides.mb_per_s_per_tib is not None:
        yield f"{tier} MB/s/TiB, as requested: {price}"
        return
    others = [spec for spec in good[1:] if spec.efa == best.efa]
    rest = ", ".join(f"{other.mb_per_s_per_tib} MB/s/TiB ${other.usd_per_month:,.0f}" for other in others)
    yield f"{tier} MB/s/TiB is the cheapest tier for it, {price}" + (f"; the others: {rest}" if rest else "")


def _why_nodes(best: LustreSpec, goal: LustreGoal) -> Iterator[str]:
    clients = goal.clients
    if goal.checkpoint is not None:
        times = checkpoint_times(goal.checkpoint.size_bytes, best, clients)
        # Without nodes, it is not known whether they are slower.
        limit = f", where the limit is the {times.write_limit}," if clients else ""
        owner = "the checkpoint takes" if clients else "for the file system alone the checkpoint takes"
        yield f"{owner} {times.write_seconds:,.1f} seconds to write{limit} and {times.read_seconds:,.1f} to read back"
    if clients is None:
        return
    nodes = clients.mb_per_s(efa=best.efa, storage_servers=best.storage_servers)
    yield f"{_nodes(goal)} move {_down(nodes)} MB/s at most over {_way(best, goal)}"
    default = clients.record.lustre_efa_interfaces or 0
    if best.efa and clients.efa_interfaces is None and 0 < clients.interfaces < default:
        yield (
            f"each node uses {clients.interfaces} EFA interface{'s' if clients.interfaces > 1 else ''} instead of "
            f"{default} for it, or they would open more connections than the {lustre_quotas.EFA_CONNECTIONS:,} that "
            f"there are"
        )


def _nodes(goal: LustreGoal) -> str:
    clients = goal.clients
    return f"{clients.count:,} {clients.record.name}" if clients else ""


def _way(spec: LustreSpec, goal: LustreGoal) -> str:
    return "EFA" if spec.efa and goal.clients and goal.clients.interfaces else "TCP"


def _down(figure: Fraction) -> str:
    return f"{figure.numerator // figure.denominator:,}"


def _up(figure: Fraction) -> str:
    return f"{-(-figure.numerator // figure.denominator):,}"
