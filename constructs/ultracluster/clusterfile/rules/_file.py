"""All rules of a cluster file. A rule reads what could be parsed: every error is reported at once."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, islice

from ultracluster.catalogue.ec2 import REGIONS, partition_problem, region_of_zone
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._needs import second_zone
from ultracluster.clusterfile._node_group import KUBERNETES, NodeGroup
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._associations import check_links
from ultracluster.clusterfile.rules._kubernetes import check_kubernetes, check_orchestrator
from ultracluster.clusterfile.rules._lustre import check_lustre
from ultracluster.clusterfile.rules._lustre_client import Near, check_client, check_efa_connections, near
from ultracluster.clusterfile.rules._network import check_addresses, check_network, check_zones_of_groups
from ultracluster.clusterfile.rules._nodes import check_group, check_images, check_shared_reservations
from ultracluster.clusterfile.rules._observability import TOPIC_AND_EMAIL, check_observability, check_series
from ultracluster.clusterfile.rules._rule import error, registered
from ultracluster.clusterfile.rules._slurm import check_scaling, check_slurm
from ultracluster.clusterfile.rules._storage import check_home, check_mounts
from ultracluster.clusterfile.rules._types import check_types
from ultracluster.clusterfile.sections._word import did_you_mean
from ultracluster.planning.capacity import CapacityBlock, ReservationGroup, UltraServerBlock

_UNKNOWN_RULE = error("unknown-rule", "`accept` names rules by their ids.")
_NOT_ACCEPTABLE = error(
    "not-acceptable", "An error that would lose data, or that cannot be deployed, cannot be accepted."
)
_UNKNOWN_ZONE = error("unknown-zone", "A zone must be in a known region, so that its facts are known.", acceptable=True)
_ZONE = error("zone-region", "Zones must be in the region of the cluster.")
_ARN = error("arn-region", "CloudFormation and the services use resources of their own region and partition.")
_PCS_REGION = error("pcs-region", "AWS PCS is not sold in every region.", acceptable=True)
_NOTICE = error("notice-time", "A Capacity Block lasts 182 days at most.", acceptable=True)
_NO_BLOCK = error("notifications-without-block", "Notices are about Capacity Blocks.")
_NAME = error("node-group-name", "Names of node groups must be unique, and no feature may have one.")
_STACK = error("stack-resources", "CloudFormation takes a limited number of resources in a stack.")
_CONTROLLER = error(
    "slurm-controller-limit", "A Slurm controller manages a limited number of instances, and its size cannot change."
)

# Of the 500 that CloudFormation takes, so that there is room for what a later release adds.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-21)
_MOST_RESOURCES_OF_A_STACK = 400
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-how.html (read 2026-11-20)
_LONGEST_BLOCK = timedelta(days=182)
# Template, node group and queue of a group; document, two schedules, rule, role and policy of a drain; template and
# node group of the login nodes, and the CDK's own metadata. What notices take fits into the rest.
_RESOURCES_OF_A_GROUP, _RESOURCES_OF_A_DRAIN, _RESOURCES_BESIDE = 3, 6, 3


def check(draft: Draft) -> Iterator[Problem]:
    """Everything that does not fit together."""
    yield from _check_accept(draft)
    yield from _check_region(draft)
    yield from _check_zones(draft)
    yield from _check_arns(draft)
    yield from check_orchestrator(draft)
    yield from check_kubernetes(draft)
    yield from check_types(draft)
    yield from _check_notifications(draft)
    for group in draft.groups:
        yield from check_group(group, draft.orchestrator)
    if draft.orchestrator != KUBERNETES:
        yield from check_slurm(draft.slurm, draft.sections, draft.groups)
        yield from check_scaling(draft.groups)
    yield from _check_names(draft)
    yield from check_shared_reservations(draft.groups)
    yield from check_images(
        draft.groups,
        getattr(draft.service_nodes, "image", None),
        draft.service_type,
        orchestrator=draft.orchestrator,
    )
    yield from check_network(draft.network, draft.zone)
    yield from check_zones_of_groups(draft.network, draft.zone, draft.groups, further=_second_zones(draft))
    yield from check_lustre(draft.storage, zone=draft.zone, accept=draft.accept)
    yield from check_links(draft.storage, region=draft.region)
    yield from check_home(
        draft.storage,
        region=draft.region,
        network=draft.network,
        clients=draft.instances,
    )
    yield from check_mounts(draft.storage)
    yield from check_observability(draft.observability, region=draft.region)
    clients = _clients(draft)
    yield from check_client(clients, network=draft.network, zone=draft.zone)
    # Of limits on the number of nodes the first one passed is reported: the others follow from it.
    limits = chain(
        _check_nodes(draft),
        check_addresses(
            draft.network,
            groups=draft.groups,
            service=draft.service_count if draft.service_nodes else None,
            service_type=draft.service_type,
            storage=draft.storage,
            zone=draft.zone,
            further=_second_zones(draft),
            accept=draft.accept,
        ),
        check_series(draft.observability, draft.instances),
        check_efa_connections(clients),
    )
    yield from islice((problem for problem in limits if problem.rule not in draft.accept), 1)


def _check_accept(draft: Draft) -> Iterator[Problem]:
    rules = registered()
    for id in draft.accept:
        if id not in rules:
            hint = did_you_mean(id, rules)
            message = f"is not the id of a rule; {hint or '`ultracluster rules` lists them'}".rstrip()
            yield _UNKNOWN_RULE(("accept", id), message, at_key=True)
        elif not rules[id].acceptable:
            message = f"cannot be accepted: it would lose data, or cannot be deployed ({rules[id].reason}); correct it"
            yield _NOT_ACCEPTABLE(("accept", id), message, at_key=True)


def _check_region(draft: Draft) -> Iterator[Problem]:
    known = draft.region in REGIONS.values()
    if draft.orchestrator == "slurm" and known and draft.region not in pcs.REGIONS:
        message = (
            f"AWS PCS is not sold in {draft.region}; take another region, or orchestrator: kubernetes, which EKS runs "
            "in every region"
        )
        yield _PCS_REGION(("region",), message)


def _second_zones(draft: Draft) -> tuple[str, ...]:
    """Zones where EKS wants a subnet beside those of nodes."""
    requested, network = draft.kubernetes, draft.network
    if (
        draft.orchestrator != KUBERNETES
        or requested is None
        or requested.existing
        or network is None
        or draft.zone is None
    ):
        return ()
    if network.existing is not None:
        return tuple(network.existing.subnets)
    return (requested.second_zone or second_zone(network.control_plane_zone or draft.zone),)


def _clients(draft: Draft) -> Near | None:
    """The file system, and the nodes in its zone."""
    beside = None
    if draft.service_type is not None and draft.service_nodes is not None:
        # Login nodes, and system nodes of Kubernetes, stand where the controller does.
        where = draft.network.control_plane_zone if draft.network else None
        beside = (where or draft.zone, draft.service_type, draft.service_count)
    return near(draft.storage, zone=draft.zone, groups=draft.groups, login=beside, accept=draft.accept)


def _check_zones(draft: Draft) -> Iterator[Problem]:
    if draft.region is None:
        return
    zones: dict[Path, str | None] = {
        ("zone",): draft.zone,
        ("network", "control-plane-zone"): draft.network.control_plane_zone if draft.network else None,
        ("storage", "lustre", "existing", "zone"): _existing_zone(draft),
        **{("nodes", name, "zone"): section.zone for name, section in draft.sections.items()},
    }
    prefix = next((prefix for prefix, region in REGIONS.items() if region == draft.region), None)
    for path, zone in zones.items():
        inside = region_of_zone(zone) if zone else None
        if zone is None or inside == draft.region or (inside is None and prefix is None):
            continue
        if prefix is None:
            message = (
                f"{draft.region} is no region that is known, and the zone {zone} is in {inside}; did you mean {inside}?"
            )
            yield _ZONE(("region",), message)
            continue
        where = f"is in {inside}" if inside else "is in no region that is known"
        message = f"{zone} {where}, and the region is {draft.region}; the ids of its zones begin with {prefix}-"
        yield (_ZONE if inside else _UNKNOWN_ZONE)(path, message)


def _existing_zone(draft: Draft) -> str | None:
    lustre = draft.storage.lustre if draft.storage else None
    return lustre.existing.zone if lustre and lustre.existing else None


def _bucket_key(draft: Draft) -> str | None:
    bucket = draft.storage.existing_bucket if draft.storage else None
    return bucket.key if bucket else None


def _check_arns(draft: Draft) -> Iterator[Problem]:
    arns: dict[Path, str | None] = {
        ("encryption-key",): draft.encryption_key,
        ("storage", "data-bucket", "key"): _bucket_key(draft),
        ("notifications", "topic"): draft.notifications.topic if draft.notifications else None,
    }
    if draft.observability is not None:
        # Its rules are resources, and CloudFormation makes those in its own region alone.
        arns["observability", "workspace"] = draft.observability.workspace
        alerts: Path = ("observability", "alerts")
        arns[*alerts, "topic"] = draft.observability.alerts.topic
        arns[*alerts, "pagerduty"] = draft.observability.alerts.pagerduty
    for name, section in draft.sections.items():
        if isinstance(section.capacity, ReservationGroup):
            arns["nodes", name, "capacity", "group"] = section.capacity.arn
    if draft.kubernetes is not None and draft.orchestrator == KUBERNETES:
        for index, admin in enumerate(draft.kubernetes.admins):
            arns["kubernetes", "admins", index] = admin
    for path, arn in arns.items():
        region = arn.split(":")[3] if arn else None
        if draft.region and region and region != draft.region:
            yield _ARN(path, f"is in {region}, and must be in the cluster's region, {draft.region}")
        elif arn and (message := partition_problem(arn, draft.region)):
            yield _ARN(path, message)


def _check_notifications(draft: Draft) -> Iterator[Problem]:
    requested = draft.notifications
    if requested is None:
        return
    for key, span in (("drain", requested.drain), ("notice", requested.notice)):
        if span.timedelta > _LONGEST_BLOCK:
            message = f"a Capacity Block lasts {_LONGEST_BLOCK.days} d at most, got {span}"
            yield _NOTICE(("notifications", key), message)
    blocks = [group for group in draft.groups if isinstance(group.capacity, CapacityBlock | UltraServerBlock)]
    if draft.groups and not blocks and requested.model_fields_set:
        message = "no node group has a Capacity Block, so nothing would be heard of; remove it"
        yield _NO_BLOCK(("notifications",), message, at_key=True)
    if requested.topic is not None and requested.email is not None:
        message = "subscribe the address to your topic yourself; with an existing topic none is created"
        yield TOPIC_AND_EMAIL(("notifications", "email"), message)


def _check_names(draft: Draft) -> Iterator[Problem]:
    """A section that lists several Capacity Blocks makes names, which must be nobody else's."""
    seen: dict[str, str] = {}
    for group in draft.groups:
        other = seen.setdefault(group.name, group.section)
        if other != group.section:
            message = f"has a node group called {group.name}, and so has {other}; rename one of the two"
            yield _NAME(("nodes", group.section), message, at_key=True)
    for group in draft.groups if draft.orchestrator != KUBERNETES else ():
        for feature in group.features:
            if feature in seen:
                message = f"{feature} is the name of a node group, and the label would be known by it; rename one"
                yield _NAME(("nodes", group.section, "labels"), message)


def _check_nodes(draft: Draft) -> Iterator[Problem]:
    if not draft.groups or draft.service_nodes is None:
        return
    largest = max(draft.groups, key=lambda group: group.count)
    nodes = draft.instances
    queues = len(draft.slurm.queues) if draft.slurm else 0
    resources = _RESOURCES_BESIDE + sum(_resources(group) for group in draft.groups) + queues
    if resources > _MOST_RESOURCES_OF_A_STACK:
        message = (
            f"holds {len(draft.groups)} groups, which make {resources} resources, and a stack is to hold at most "
            f"{_MOST_RESOURCES_OF_A_STACK}; split them into two clusters"
        )
        yield _STACK(("nodes",), message)
    if draft.orchestrator == KUBERNETES or draft.slurm is None:
        return
    size = draft.slurm.size
    for message in pcs.check_nodes(nodes, size):
        path: Path = ("nodes", largest.section, "count")
        if size and not pcs.check_nodes(nodes):
            path = ("slurm", "size")
        elif draft.slurm.login.count > largest.count:
            path = ("slurm", "login", "count")
        yield _CONTROLLER(path, message)


def _resources(group: NodeGroup) -> int:
    ends = isinstance(group.capacity, CapacityBlock | UltraServerBlock) and group.capacity.ends is not None
    try:
        placed = isinstance(group.placed, str)
    except ValueError:
        placed = False
    return _RESOURCES_OF_A_GROUP + placed + (_RESOURCES_OF_A_DRAIN if ends else 0)
