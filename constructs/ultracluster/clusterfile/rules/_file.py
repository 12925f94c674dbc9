"""All rules of a cluster file. A rule reads what is valid: every error is reported at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import chain
from typing import TypeAlias

from ultracluster.catalogue.ec2 import DAYS_OF_CAPACITY_BLOCK, REGIONS, partition_problem, region_of_zone
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile._draft import Draft, until_invalid, valid
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._associations import check_associations
from ultracluster.clusterfile.rules._compute_stacks import check_compute_stacks
from ultracluster.clusterfile.rules._directory import check_directory
from ultracluster.clusterfile.rules._home import check_home, check_kubernetes_home, check_slurm_home
from ultracluster.clusterfile.rules._hyperpod import check_hyperpod
from ultracluster.clusterfile.rules._hyperpod_kubernetes import check_hyperpod_kubernetes
from ultracluster.clusterfile.rules._kubernetes import check_kubernetes
from ultracluster.clusterfile.rules._kubernetes_nodes import check_flavors, check_releases, check_updates
from ultracluster.clusterfile.rules._lustre import check_lustre
from ultracluster.clusterfile.rules._lustre_client import check_client, check_efa_connections
from ultracluster.clusterfile.rules._network import check_addresses, check_network, check_zones
from ultracluster.clusterfile.rules._nodes import check_mounts, check_node_groups
from ultracluster.clusterfile.rules._observability import check_observability, check_receivers, check_series
from ultracluster.clusterfile.rules._other_orchestrator import check_orchestrator
from ultracluster.clusterfile.rules._private import (
    check_perimeter,
    check_private,
    check_private_nodes,
    check_private_registry,
)
from ultracluster.clusterfile.rules._rule import error, rules, shared
from ultracluster.clusterfile.rules._slurm import check_queues_and_users, check_slurm
from ultracluster.clusterfile.rules._slurm_nodes import check_slurm_nodes, check_user_scripts
from ultracluster.clusterfile.rules._types import check_types
from ultracluster.clusterfile.sections._word import did_you_mean
from ultracluster.planning.capacity import DRAIN_TIME, ReservationGroup, TrainingPlan, check_drain

_UNKNOWN_RULE = error("unknown-rule", "`accept` names rules by their ids.")
_NOT_ACCEPTABLE = error(
    "not-acceptable", "An error that would lose data, or that cannot be deployed, cannot be accepted."
)
_UNKNOWN_ZONE = error(
    "unknown-zone", "The zone must be in a Region of the catalogue, so that its facts are known.", acceptable=True
)
_ZONE = error("zone-region", "Zones must be in the Region of the cluster.")
_MEMBER = error("kubernetes-member", "EKS has one access entry for a principal.")
_ARN = error("arn-region", "CloudFormation and the services use resources of their own Region and partition.")
_PCS_REGION = shared("pcs-region")
_NO_BLOCK = error("notifications-without-block", "Notices are about Capacity Blocks, which HyperPod does not have.")
_NOTICE = error("notice-time", "A Capacity Block lasts 182 days at most.", acceptable=True)
_DRAIN = shared(DRAIN_TIME)
_NAME = error("node-group-name", "Names of node groups must be unique, and no feature may have one.")
_CONTROLLER = shared("slurm-controller-limit")

_LONGEST_BLOCK = timedelta(days=DAYS_OF_CAPACITY_BLOCK)


def check(draft: Draft) -> Iterator[Problem]:
    """Yield the errors of all rules."""
    for rule in (*_RULES, *_RULES_OF[draft.traits.name]):
        yield from until_invalid(rule(draft))
    # Of the limits on the number of nodes, the first that is exceeded is reported: the others follow from it.
    for problem in chain.from_iterable(until_invalid(limit(draft)) for limit in _LIMITS):
        yield problem
        if problem.rule not in draft.accept:
            return


def _check_accept(draft: Draft) -> Iterator[Problem]:
    known = rules()
    for id in draft.accept:
        if id not in known:
            hint = did_you_mean(id, known)
            message = f"is not the id of a rule; {hint or '`ultracluster rules` lists them'}".rstrip()
            yield _UNKNOWN_RULE(("accept", id), message, at_key=True)
        elif not known[id].acceptable:
            message = f"cannot be accepted: it would lose data, or cannot be deployed ({known[id].reason}); correct it"
            yield _NOT_ACCEPTABLE(("accept", id), message, at_key=True)


def _check_region(draft: Draft) -> Iterator[Problem]:
    if draft.orchestrator and draft.region in REGIONS.values() and draft.region not in pcs.REGIONS:
        message = (
            f"AWS PCS is not available in {draft.region}; use another Region, or orchestrator: kubernetes, which EKS "
            "runs in every Region"
        )
        yield _PCS_REGION(("region",), message)


def _check_regions_of_zones(draft: Draft) -> Iterator[Problem]:
    zones: dict[Path, str | None] = {
        ("zone",): valid(lambda: draft.zone),
        ("network", "control-plane-zone"): valid(lambda: draft.network.control_plane_zone),
        **{("nodes", name, "zone"): section.zone for name, section in draft.nodes.items()},
    }
    if (lustre := valid(lambda: draft.storage.lustre)) and lustre.existing:
        zones["storage", "lustre", "existing", "zone"] = lustre.existing.zone
    prefix = next((prefix for prefix, region in REGIONS.items() if region == draft.region), None)
    for path, zone in zones.items():
        inside = region_of_zone(zone) if zone else None
        if zone is None or inside == draft.region or (inside is None and prefix is None):
            continue
        if prefix is None:
            message = (
                f"{draft.region} is not a known Region, and the zone {zone} is in {inside}; did you mean {inside}?"
            )
            yield _ZONE(("region",), message)
            continue
        where = f"is in {inside}" if inside else "is in no known Region"
        message = f"{zone} {where}, and the Region is {draft.region}; the ids of its zones begin with {prefix}-"
        yield (_ZONE if inside else _UNKNOWN_ZONE)(path, message)


def _arns(draft: Draft) -> Iterator[tuple[Path, str | None]]:
    """Yield the ARNs of the file, with their paths."""
    yield ("encryption-key",), valid(lambda: draft.encryption_key)
    if bucket := valid(lambda: draft.storage.existing_bucket):
        yield ("storage", "data-bucket", "key"), bucket.key
    yield ("notifications", "topic"), valid(lambda: draft.notifications.topic)
    # CloudFormation creates the rules of a workspace in its own region.
    yield ("observability", "workspace"), valid(lambda: draft.observability.workspace)
    yield ("observability", "alerts", "topic"), valid(lambda: draft.observability.alerts.topic)
    yield ("observability", "alerts", "pagerduty"), valid(lambda: draft.observability.alerts.pagerduty)
    yield ("observability", "alerts", "watchdog"), valid(lambda: draft.observability.alerts.watchdog)
    if directories := valid(lambda: draft.slurm.directory):
        for kind, directory in (("managed-ad", directories.managed_ad), ("ldap", directories.ldap)):
            if directory is not None:
                yield ("slurm", "directory", kind, "secret"), directory.secret
                yield ("slurm", "directory", kind, "key"), directory.key
    for name, section in draft.nodes.items():
        if isinstance(section.capacity, ReservationGroup):
            yield ("nodes", name, "capacity", "group"), section.capacity.arn
        if isinstance(section.capacity, TrainingPlan):
            yield ("nodes", name, "capacity", "training-plan"), section.capacity.arn
    yield ("hyperpod", "volume-key"), valid(lambda: draft.hyperpod.volume_key)
    if accounting := valid(lambda: draft.hyperpod.accounting):
        yield ("hyperpod", "accounting", "secret"), accounting.secret
        yield ("hyperpod", "accounting", "key"), accounting.key
    yield ("slurm", "logs", "encryption-key"), valid(lambda: draft.slurm.logs.encryption_key)


def _check_arns(draft: Draft) -> Iterator[Problem]:
    yield from _check_regions_of_arns(draft, _arns(draft))


def _check_admins(draft: Draft) -> Iterator[Problem]:
    section = draft.kubernetes
    arns: list[tuple[Path, str | None]] = [(("kubernetes", "admins", i), arn) for i, arn in enumerate(section.admins)]
    for name, team in section.teams.items():
        path = ("kubernetes", "teams", name, "members")
        arns += [((*path, index), arn) for index, arn in enumerate(team.members)]
        for arn in {*team.members} & {*section.admins}:
            message = (
                f"{arn} administers the cluster by `admins`, and has one access entry; remove it from one of the two"
            )
            yield _MEMBER((*path, team.members.index(arn)), message)
    yield from _check_regions_of_arns(draft, arns)


def _check_regions_of_arns(draft: Draft, arns: Iterable[tuple[Path, str | None]]) -> Iterator[Problem]:
    cluster_region = valid(lambda: draft.region)
    for path, arn in arns:
        region = arn.split(":")[3] if arn else None
        if cluster_region and region and region != cluster_region:
            yield _ARN(path, f"is in {region}, and must be in the cluster's Region, {cluster_region}")
        elif arn and (message := partition_problem(arn, cluster_region)):
            yield _ARN(path, message)


def _check_notifications(draft: Draft) -> Iterator[Problem]:
    requested = draft.notifications
    for key, span in (("drain", requested.drain), ("notice", requested.notice)):
        if span.timedelta > _LONGEST_BLOCK:
            message = f"a Capacity Block lasts {_LONGEST_BLOCK.days} d at most, got {span}"
            yield _NOTICE(("notifications", key), message)
    for group in draft.node_groups if draft.traits.powers_nodes_off else ():
        for message in check_drain(group.capacity, requested.drain.timedelta):
            yield _DRAIN(("notifications", "drain"), f"{group.name}: {message}")
    if draft.node_groups and not draft.traits.own_instances and requested.model_fields_set:
        message = "no node group has a Capacity Block, so no notice would be sent; remove it"
        yield _NO_BLOCK(("notifications",), message, at_key=True)
    yield from check_receivers(("notifications",), requested)


def _check_names(draft: Draft) -> Iterator[Problem]:
    """Check names of node groups, some of which follow from lists of Capacity Blocks."""
    seen: dict[str, str] = {}
    for group in draft.node_groups:
        other = seen.setdefault(group.name, group.section)
        if other != group.section:
            message = f"has a node group called {group.name}, and so has {other}; rename one of the two"
            yield _NAME(("nodes", group.section), message, at_key=True)


def _check_features(draft: Draft) -> Iterator[Problem]:
    names = {group.name for group in draft.node_groups}
    for group in draft.node_groups:
        for feature in group.features:
            if feature in names:
                message = f"{feature} is the name of a node group, and the label would be identified by it; rename one"
                yield _NAME(("nodes", group.section, "labels"), message)


def _check_controller(draft: Draft) -> Iterator[Problem]:
    if not draft.node_groups or not draft.traits.powers_nodes_off:
        return
    login, largest = draft.slurm.login, max(draft.node_groups, key=lambda group: group.count)
    size = draft.slurm.size
    for message in pcs.check_nodes(draft.instances, size):
        path: Path = ("nodes", largest.section, "count")
        if size and not pcs.check_nodes(draft.instances):
            path = ("slurm", "size")
        elif login.count > largest.count:
            path = ("slurm", "login", "count")
        yield _CONTROLLER(path, message)


def _check_series(draft: Draft) -> Iterator[Problem]:
    yield from check_series(draft.observability, draft.instances)


Check: TypeAlias = Callable[[Draft], Iterator[Problem]]
_RULES: tuple[Check, ...] = (
    _check_accept,
    _check_regions_of_zones,
    _check_arns,
    _check_notifications,
    _check_names,
    check_orchestrator,
    check_types,
    check_node_groups,
    check_network,
    check_zones,
    check_perimeter,
    check_private,
    check_lustre,
    check_client,
    check_associations,
    check_home,
    check_mounts,
    check_observability,
)
# Of one orchestrator, by its name.
_RULES_OF: Mapping[str, tuple[Check, ...]] = {
    "slurm": (
        *(_check_region, _check_features, check_slurm, check_slurm_nodes, check_directory),
        *(check_private_nodes, check_slurm_home),
    ),
    "kubernetes": (
        check_kubernetes,
        check_releases,
        check_updates,
        check_flavors,
        check_private_registry,
        check_kubernetes_home,
        _check_admins,
    ),
    "hyperpod-slurm": (check_hyperpod, check_user_scripts, check_queues_and_users),
    "hyperpod-kubernetes": (
        *(check_kubernetes, check_flavors, check_hyperpod_kubernetes, check_kubernetes_home, _check_admins),
    ),
}
_LIMITS: tuple[Check, ...] = (
    check_compute_stacks,
    _check_controller,
    check_addresses,
    _check_series,
    check_efa_connections,
)
