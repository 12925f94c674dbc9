"""The cheapest file system of FSx for Lustre that meets a goal, with the reasons."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction

from ultracluster.catalogue.storage import lustre as ssd
from ultracluster.catalogue.storage import lustre_intelligent_tiering as tiering
from ultracluster.catalogue.storage import lustre_metadata, lustre_quotas
from ultracluster.planning import check_fields, check_types
from ultracluster.planning.lustre._check import check_capacity, check_lustre
from ultracluster.planning.lustre._checkpoints import CheckpointTimes, checkpoint_times
from ultracluster.planning.lustre._goal import LustreGoal
from ultracluster.planning.lustre._kind import Kind, kind_of
from ultracluster.planning.lustre._offer import LustreOffer
from ultracluster.planning.lustre._reasons import explain, shortfalls
from ultracluster.planning.lustre._spec import LustreOverrides, LustreSpec, gib_for, gib_per_server

_ANY_OFFER = LustreOffer()
_NO_OVERRIDES = LustreOverrides()
# Servers that saturate a client over TCP.
_MAX_TCP_SERVERS = ssd.TCP_GBPS // ssd.TCP_GBPS_PER_SERVER


@dataclass(frozen=True, kw_only=True, slots=True)
class LustrePlan:
    """A file system that meets a goal.

    Args:
        spec: The file system.
        goal: The requirements.
        reasons: Reasons of the choice, in sentences.
    """

    spec: LustreSpec
    goal: LustreGoal
    reasons: tuple[str, ...]

    @property
    def quotas_passed(self) -> tuple[lustre_quotas.LustreQuota, ...]:
        """Quotas whose default it exceeds alone; request an increase before the deployment."""
        return self.spec.quotas_passed

    def times(self, size_bytes: int) -> CheckpointTimes:
        """Return the times in which the goal's nodes write and read a checkpoint."""
        return checkpoint_times(size_bytes, self.spec, self.goal.clients)


def plan_lustre(
    goal: LustreGoal, *, offer: LustreOffer = _ANY_OFFER, overrides: LustreOverrides = _NO_OVERRIDES
) -> LustrePlan:
    """Return the cheapest file system that meets a goal.

    It has EFA above 10 GB/s, as AWS recommends, if available. Below, it has EFA if nodes over TCP would be too slow and
    EFA costs less than more servers.

    Args:
        goal: The requirements.
        offer: Offer of the zone; see `lustre_offer`.
        overrides: Settings that the caller chooses.

    Raises:
        ValueError: If FSx does not offer the settings, or no file system meets the goal. All reasons at once.
    """
    check_types(plan_lustre, {"goal": goal, "overrides": overrides})
    for part in (goal, overrides, goal.checkpoint, goal.clients):
        if part is not None:
            check_fields(part)
    settings, kind = kind_of(goal, offer, overrides)
    clients = None if goal.clients is None or goal.clients.problems() else goal.clients
    problems = goal.problems() + check_lustre(
        settings, offer=offer, associations=goal.associations, backups=goal.backups, clients=clients
    )
    if overrides.efa is None and offer.efa and clients and clients.efa_interfaces:
        problems += clients.check_connections()
    if problems:
        raise ValueError("; ".join(problems))
    if kind is Kind.TEMPORARY:
        settings, kind = _scratch_or_persistent(settings, goal, offer)
    candidates = _ranked(_specs(goal, offer, settings), goal)
    suitable = [spec for spec in candidates if not _problems(spec, goal, offer)]
    if not suitable:
        raise ValueError("; ".join(_errors(candidates, goal, offer, settings)))
    return LustrePlan(
        spec=suitable[0],
        goal=goal,
        reasons=tuple(explain(suitable, goal=goal, offer=offer, overrides=overrides, kind=kind)),
    )


def _scratch_or_persistent(
    scratch: LustreOverrides, goal: LustreGoal, offer: LustreOffer
) -> tuple[LustreOverrides, Kind]:
    """Return SCRATCH_2, or PERSISTENT_2 if that needs fewer GiB: the catalogue has no price of SCRATCH_2."""
    persistent = replace(scratch, deployment_type="PERSISTENT_2")
    best = [
        next((spec for spec in _ranked(_specs(goal, offer, settings), goal) if not _problems(spec, goal, offer)), None)
        for settings in (scratch, persistent)
        if settings is scratch or (offer.tiers and not check_lustre(settings, offer=offer))
    ]
    if len(best) == 1 or best[1] is None:
        return scratch, Kind.TEMPORARY
    if best[0] is None or (best[0].capacity_gib or 0) > (best[1].capacity_gib or 0):
        return persistent, Kind.TEMPORARY_YET_PERSISTENT
    return scratch, Kind.TEMPORARY


def _specs(goal: LustreGoal, offer: LustreOffer, settings: LustreOverrides) -> Iterator[LustreSpec]:
    """Yield a file system for each EFA setting and tier that is not given, with the smallest capacity that suffices."""
    scratch = settings.deployment_type == "SCRATCH_2"
    by_efa = [False] if scratch or not offer.efa else [False, True]
    if goal.clients and not goal.clients.can_use_efa:
        by_efa = [False]
    for efa in by_efa if settings.efa is None else [settings.efa]:
        if settings.storage_type == "INTELLIGENT_TIERING":
            yield _intelligent_tiering(goal, settings, efa)
            continue
        tiers = (None,) if scratch else offer.tiers
        for tier in tiers if settings.mb_per_s_per_tib is None else (settings.mb_per_s_per_tib,):
            capacity = settings.capacity_gib
            if capacity is None:
                capacity = _capacity(goal, tier, efa)
            elif check_capacity(capacity, tier=tier, efa=efa):
                continue
            yield _complete(settings, efa=efa, mb_per_s_per_tib=tier, capacity_gib=capacity)


def _capacity(goal: LustreGoal, tier: int | None, efa: bool) -> int:
    per_server = gib_per_server(tier, efa=efa)
    enough = max(
        gib_for(goal.mb_per_s, tier or ssd.SCRATCH_WRITE), goal.gib, (_servers(goal, efa) - 1) * per_server + 1
    )
    return ssd.next_step(per_server, enough) if efa else ssd.next_capacity_without_efa(enough)


def _servers(goal: LustreGoal, efa: bool) -> int:
    """Return the fewest servers with which the nodes can write the checkpoint; if none suffice, as many as help."""
    if goal.clients is None or goal.checkpoint is None:
        return 1
    servers = goal.clients.servers_for(goal.checkpoint.mb_per_s, efa=efa)
    return _MAX_TCP_SERVERS if servers is None else servers


def _intelligent_tiering(goal: LustreGoal, settings: LustreOverrides, efa: bool) -> LustreSpec:
    cache = settings.read_cache_gib
    if cache is None and settings.read_cache_mode is None:
        cache = goal.working_set_gib
    steps = (settings.throughput_capacity_mb_per_s or 0) // tiering.STEP_MB_PER_S or max(
        1,
        -(-goal.mb_per_s // tiering.STEP_MB_PER_S),
        -(-goal.gib // tiering.MOST_GIB_PER_STEP),
        -(-(cache or 0) // tiering.MOST_READ_CACHE_GIB_PER_STEP),
        _servers(goal, efa),
    )
    if cache is not None and settings.read_cache_gib is None:
        cache = max(cache, steps * tiering.LEAST_READ_CACHE_GIB_PER_STEP)
    mode = settings.read_cache_mode or ("PROPORTIONAL_TO_THROUGHPUT_CAPACITY" if cache is None else "USER_PROVISIONED")
    return _complete(
        settings,
        efa=efa,
        throughput_capacity_mb_per_s=steps * tiering.STEP_MB_PER_S,
        read_cache_mode=mode,
        read_cache_gib=cache,
    )


def _complete(settings: LustreOverrides, **chosen: object) -> LustreSpec:
    """Return a file system of the given settings, the chosen ones, and defaults."""
    fields = {name: value for name, value in asdict(settings).items() if value is not None} | chosen
    if settings.storage_type == "INTELLIGENT_TIERING":
        # Metadata IOPS can be raised, never lowered.
        fields = {
            "metadata_mode": "USER_PROVISIONED",
            "metadata_iops": lustre_metadata.INTELLIGENT_TIERING_IOPS[0],
        } | fields
    elif settings.deployment_type == "PERSISTENT_2":
        mode = "AUTOMATIC" if settings.metadata_iops is None else "USER_PROVISIONED"
        fields = {"metadata_mode": mode} | fields
    return LustreSpec(**fields)


def _ranked(specs: Iterator[LustreSpec], goal: LustreGoal) -> list[LustreSpec]:
    """Return the best first: EFA above 10 GB/s, then the cheaper, the smaller, the one without EFA."""

    def order(spec: LustreSpec) -> tuple[bool, Decimal, int, bool]:
        size = spec.capacity_gib or spec.throughput_capacity_mb_per_s or 0
        return (needs_efa(goal) and not spec.efa, spec.usd_per_month or Decimal(0), size, spec.efa)

    return sorted(specs, key=order)


def needs_efa(goal: LustreGoal) -> bool:
    """Return True if AWS recommends EFA for the throughput of a goal.

    Args:
        goal: What the file system is for.
    """
    return goal.mb_per_s > ssd.EFA_ABOVE_MB_PER_S


def _problems(spec: LustreSpec, goal: LustreGoal, offer: LustreOffer) -> list[str]:
    return [*check_lustre(spec, offer=offer), *shortfalls(spec, goal)]


def _errors(candidates: list[LustreSpec], goal: LustreGoal, offer: LustreOffer, settings: LustreOverrides) -> list[str]:
    if not candidates:
        return [
            error for tier in offer.tiers for error in check_capacity(settings.capacity_gib or 0, tier=tier, efa=True)
        ]
    # Report on the closest one that FSx offers.
    offered = [spec for spec in candidates if not check_lustre(spec, offer=offer)]

    def shortfall(spec: LustreSpec) -> tuple[int, Fraction]:
        return len(shortfalls(spec, goal)), -spec.disk_write_mb_per_s

    problems = _problems(min(offered or candidates, key=shortfall), goal, offer)
    if settings.capacity_gib is not None and offered:
        larger = _ranked(_specs(goal, offer, replace(settings, capacity_gib=None)), goal)
        enough = next((spec for spec in larger if not _problems(spec, goal, offer)), None)
        problems += [f"{enough.words} would do"] if enough else []
    return problems
