"""Whether Kubernetes can run what the file says, and whether the file speaks of one orchestrator alone."""

from collections.abc import Iterator

from ultracluster.clusterfile.draft import Draft
from ultracluster.clusterfile.node_group import KUBERNETES, NodeGroup
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.readers.basic import did_you_mean
from ultracluster.clusterfile.sections.kubernetes import Kubernetes
from ultracluster.hardware import eks, eks_add_ons
from ultracluster.hardware.zones import is_local_zone
from ultracluster.planning import CapacityBlock, OnDemand, Spot, TargetedReservation, UltraServerBlock

_HERE: Path = ("kubernetes",)
# https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html (read 2026-11-21)
_SHORTEST_SERVICE_PREFIX, _LONGEST_SERVICE_PREFIX = 12, 24


def check_orchestrator(draft: Draft) -> Iterator[Problem]:
    """Whether every key is one of the orchestrator that the file names."""
    if draft.orchestrator is None:
        return
    other = "slurm" if draft.orchestrator == KUBERNETES else KUBERNETES
    if other in draft.top_keys:
        message = f"says how {other} is, and orchestrator is {draft.orchestrator}; remove one of the two"
        yield Problem(path=(other,), message=message, at_key=True)
    whose, keys = (
        ("Slurm", ("min", "slurm")) if other == "slurm" else ("Kubernetes", ("taints", "os", "pods", "elastic"))
    )
    for name, section in draft.sections.items():
        for key in keys:
            if key in section.model_fields_set:
                message = f"is for nodes of {whose}, and orchestrator is {draft.orchestrator}; remove it"
                yield Problem(path=("nodes", name, key), message=message, at_key=True)
    if draft.orchestrator == KUBERNETES:
        return
    capacities = {group.section: group.capacity for group in draft.groups}
    for name, capacity in capacities.items():
        if isinstance(capacity, CapacityBlock | UltraServerBlock) and capacity.active:
            message = f"is for nodes of Kubernetes, and orchestrator is {draft.orchestrator}; remove it"
            yield Problem(path=("nodes", name, "capacity", "active"), message=message, at_key=True)
    if draft.network is not None and not draft.network.internet:
        message = "AWS PCS and its nodes have no endpoints of their own here; only orchestrator: kubernetes takes false"
        yield Problem(path=("network", "internet"), message=message)


def check_kubernetes(draft: Draft) -> Iterator[Problem]:
    """Everything that is wrong with the cluster and what runs on it."""
    wish = draft.kubernetes
    if draft.orchestrator != KUBERNETES or wish is None:
        return
    yield from _check_cluster(wish, draft)
    yield from _check_zones(wish, draft)
    yield from _check_private_metrics(draft)
    for key in ("drain", "notice"):
        if draft.notifications is not None and key in draft.notifications.model_fields_set:
            message = "is for Slurm: EKS scales a node group in by itself, 40 minutes before its block ends; remove it"
            yield Problem(path=("notifications", key), message=message, at_key=True)
    for group in draft.groups:
        yield from _check_group(group, wish, draft)
    if wish.efa == "dranet" and not eks.at_least(wish.version, eks.DRANET_FROM):
        message = f"dranet needs Kubernetes {eks.DRANET_FROM} or newer, got {wish.version}; write efa: device-plugin"
        yield Problem(path=(*_HERE, "efa"), message=message)
    for team, share in wish.teams.items():
        for name in share.nodes or {}:
            if name not in {group.name for group in draft.groups}:
                message = f"there is no node group {name}; there are {', '.join(group.name for group in draft.groups)}"
                yield Problem(path=(*_HERE, "teams", team, "nodes", name), message=message, at_key=True)


def _check_private_metrics(draft: Draft) -> Iterator[Problem]:
    """Whether nodes without internet reach where their metrics go."""
    wish = draft.observability
    if wish is None or draft.network is None or draft.network.internet:
        return
    if wish.vpc_endpoint:
        message = "network: {internet: false} makes one already, with those of other services; remove it"
        yield Problem(path=("observability", "vpc-endpoint"), message=message, at_key=True)


def _check_cluster(wish: Kubernetes, draft: Draft) -> Iterator[Problem]:
    if wish.existing is not None:
        made = {
            "endpoint",
            "admins",
            "second_zone",
            "scaling_tier",
            "bin_packing",
            "add_ons",
            "system",
        } & wish.model_fields_set
        for key in sorted(made):
            message = (
                "describes a cluster that is made, and kubernetes.existing names one of yours; remove one of the two"
            )
            yield Problem(path=(*_HERE, key.replace("_", "-")), message=message, at_key=True)
        if draft.network is not None and draft.network.existing is None:
            message = "stands in a VPC of yours, and nodes have to be there too; name it in network.existing"
            yield Problem(path=(*_HERE, "existing"), message=message, at_key=True)
    for name in wish.add_ons:
        path: Path = (*_HERE, "add-ons", name)
        if name.startswith(eks_add_ons.HYPERPOD):
            message = "is for clusters of SageMaker HyperPod, and task governance brings a Kueue of its own; remove it"
            yield Problem(path=path, message=message, at_key=True)
        elif not eks_add_ons.is_known(name) and (hint := did_you_mean(name, eks_add_ons.ADD_ONS)):
            yield Problem(path=path, message=f"EKS knows no such add-on; {hint.strip()}", at_key=True)
    cidr = wish.service_cidr
    inside = any(cidr.subnet_of(range) for range in eks.PRIVATE_RANGES)
    if not inside or not _SHORTEST_SERVICE_PREFIX <= cidr.prefixlen <= _LONGEST_SERVICE_PREFIX:
        message = (
            f"must be a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, /{_SHORTEST_SERVICE_PREFIX} to "
            f"/{_LONGEST_SERVICE_PREFIX}, got {cidr}"
        )
        yield Problem(path=(*_HERE, "service-cidr"), message=message)
    network = draft.network
    taken = None if network is None else network.existing.cidr if network.existing else network.cidr
    if taken is not None and cidr.overlaps(taken):
        message = f"{cidr} overlaps {taken}, where the nodes are; take another range, such as {eks.SERVICE_CIDR}"
        path = (*_HERE, "service-cidr") if "service_cidr" in wish.model_fields_set else ("network",)
        yield Problem(path=path, message=message)


def _check_zones(wish: Kubernetes, draft: Draft) -> Iterator[Problem]:
    network, first = draft.network, (draft.network.services_zone if draft.network else None) or draft.zone
    if network is None or first is None or wish.existing is not None:
        return
    second = wish.second_zone
    if first in eks.ZONES_WITHOUT_CONTROL_PLANE:
        message = f"EKS puts no control plane into {first}; name another zone for it: network: {{services-zone: ...}}"
        yield Problem(path=("zone",), message=message)
    if second is not None:
        if second == first:
            yield Problem(path=(*_HERE, "second-zone"), message=f"is the first one, {first}; EKS wants two")
        elif second in eks.ZONES_WITHOUT_CONTROL_PLANE or is_local_zone(second):
            yield Problem(path=(*_HERE, "second-zone"), message=f"EKS puts no control plane into {second}")
        elif second.split("-")[0] != first.split("-")[0]:
            yield Problem(path=(*_HERE, "second-zone"), message=f"{second} is in another region than {first}")
    if network.existing is not None and second is not None and second not in network.existing.subnets:
        message = f"name the subnet of yours there too: network: {{existing: {{subnets: {{{second}: subnet-...}}}}}}"
        yield Problem(path=(*_HERE, "second-zone"), message=message)
    elif network.existing is not None and not network.existing.subnets:
        message = (
            "EKS wants subnets in two zones; name a private one of another zone as well: "
            f"subnets: {{{second or first.split('-')[0] + '-az2'}: subnet-...}}"
        )
        yield Problem(path=("network", "existing"), message=message, at_key=True)


def _check_group(group: NodeGroup, wish: Kubernetes, draft: Draft) -> Iterator[Problem]:
    path: Path = ("nodes", group.section)
    if group.instance_type.ultraservers:
        for message in eks.check_ultraserver_version(wish.version):
            at = (*_HERE, "version") if "version" in wish.model_fields_set else (*path, "type")
            yield Problem(path=at, message=message)
        if group.os == "bottlerocket":
            message = "UltraServers run Amazon Linux 2023, whose image has IMEX and NVLink's subnet manager; remove it"
            yield Problem(path=(*path, "os"), message=message)
    if group.elastic:
        yield from _check_elastic(group, draft)
    most = eks.most_pods(group.instance_type)
    if group.pods > most:
        message = (
            f"{group.instance_type.name} runs at most {most} pods: EKS caps them, and the addresses of its first "
            f"network card end; got {group.pods}"
        )
        yield Problem(path=(*path, "pods"), message=message)
    if group.os == "bottlerocket" and group.image is not None:
        message = (
            "an image of yours runs on Amazon Linux 2023's terms here; with bottlerocket EKS chooses it: remove it"
        )
        yield Problem(path=(*path, "image"), message=message)


def _check_elastic(group: NodeGroup, draft: Draft) -> Iterator[Problem]:
    path: Path = ("nodes", group.section)
    if not isinstance(group.capacity, OnDemand | Spot | TargetedReservation | CapacityBlock):
        message = (
            f"Karpenter buys on demand, on the Spot market, in a reservation or a Capacity Block by its id, and not "
            f"{group.capacity.word}; remove elastic"
        )
        yield Problem(path=(*path, "elastic"), message=message)
    if draft.zone is not None and group.zone != draft.zone:
        message = (
            f"Karpenter's nodes stand in the cluster's own zone, {draft.zone}, and these are to be in {group.zone}"
        )
        yield Problem(path=(*path, "elastic"), message=message)
    if draft.network is not None and not draft.network.internet:
        # https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/#private-clusters (read 2026-11-21)
        message = "Karpenter calls IAM, which has no endpoint in a VPC of another region than its own; remove elastic"
        yield Problem(path=(*path, "elastic"), message=message)
    if draft.kubernetes is not None and draft.kubernetes.existing is not None:
        message = "Karpenter belongs to the cluster, which is yours; make the pool there, and remove this"
        yield Problem(path=(*path, "elastic"), message=message)
    if group.image is None or group.image.id is None:
        message = "Karpenter replaces nodes when an image moves; pin the one of this group: image: ami-..."
        yield Problem(path=(*path, "elastic"), message=message)
