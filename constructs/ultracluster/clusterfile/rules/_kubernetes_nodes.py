"""Rules of the software of Kubernetes nodes."""

from collections.abc import Iterator

from ultracluster.catalogue.schedulers import eks, eks_updates, hyperpod_kubernetes, release_parameter
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import Rule, error, listed, warning
from ultracluster.planning.capacity import (
    CapacityBlock,
    InterruptibleReservation,
    OnDemand,
    Spot,
    TargetedReservation,
    waits_for_command,
)

_RELEASE = error("kubernetes-release", "EKS refuses nodes whose version does not go with that of the control plane.")
_BEHIND = warning("kubernetes-nodes-behind", "The control plane was updated, and its nodes were not.")
_UPDATE = error("kubernetes-update", "Only the managed node groups of EKS are updated by EKS.")
_UNPINNED = warning(
    "kubernetes-release-unpinned", "Without a release, a new node group gets another driver than the old ones."
)
_WAITING = warning("block-without-start", "A node group of EKS that waits for its Capacity Block has no nodes.")
_QUOTA = warning("kubernetes-node-group-quota", "More node groups, or nodes in one, than the default quota of EKS.")
_UPDATE_TIME = warning(
    "kubernetes-update-time", "CloudFormation ends an update of a node group after 36 hours, and its rollback too."
)
_FLAVORS = error("kueue-flavors", "A queue of Kueue has a limit of flavors, one for each node group.")
# In a resource group, and each resource is in one group only:
# https://github.com/kubernetes-sigs/kueue, apis/kueue/v1beta2/clusterqueue_types.go (0.19.2, read 2026-11-27)
_MOST_FLAVORS = 64
# Judgement: a node with GPUs is drained, ends, boots and joins. An update has six hours to spare.
_MINUTES_OF_A_NODE, _SPARE_MINUTES = 10, 360
_ELASTIC = error(
    "elastic",
    "Karpenter launches on-demand, Spot and reserved nodes, in the zone of the cluster and with a pinned image.",
)
# Its node classes refuse them: https://github.com/aws/karpenter-provider-aws, pkg/apis/v1/ec2nodeclass.go (1.14, read
# 2026-11-27)
_TAGS = ("eks:eks-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass")
_TAG_PREFIX = "kubernetes.io/cluster"

_KUBECTL_SKEW = warning("kubectl-skew", "kubectl supports API servers one minor version older and newer.")
# kubectl of the package that `apply` and the admin host use: https://kubernetes.io/releases/version-skew-policy/#kubectl
# (read 2026-11-26)
_KUBECTL_MINOR = 35


def warn_kubectl(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warning about a control plane that the bundled kubectl does not support."""
    version = cluster.kubernetes.version
    oldest, newest = (f"1.{_KUBECTL_MINOR + skew}" for skew in (-1, 1))
    if abs(int(version.split(".")[1]) - _KUBECTL_MINOR) > 1:
        yield (
            _KUBECTL_SKEW,
            f"kubectl 1.{_KUBECTL_MINOR} of `apply` and the admin host supports control planes of {oldest} to "
            f"{newest}, got {version}; update kubernetes.version, or write kubernetes.platform: none and run `apply "
            "--bundle DIR` with a DIR/bin/kubectl of that version",
        )


def check_releases(draft: Draft) -> Iterator[Problem]:
    """Check the releases of AWS's image beside the version of the control plane."""
    section = draft.kubernetes
    requested: list[tuple[Path, str]] = []
    if section.release is not None:
        requested.append((("kubernetes", "release"), section.release))
    for group in draft.node_groups:
        release = draft.nodes[group.section].release
        path: Path = ("nodes", group.section, "release")
        if release is None:
            continue
        dated = eks.is_dated_release(release)
        if dated:
            requested.append((path, release))
        for unsupported, reason in (
            (
                dated and group.os != "al2023",
                f"names an image of Amazon Linux 2023, and os is {group.os}, with releases such as 1.47.0-6154605b",
            ),
            (
                not dated and group.os == "al2023",
                "names an image of Bottlerocket, and os is al2023, with releases such as 1.35.2-20261105",
            ),
            (group.image is not None, "names an image of AWS, and the group has an image of its own"),
            (group.elastic, "is for node groups of EKS, and Karpenter launches these nodes"),
        ):
            if unsupported:
                yield _RELEASE(path, f"{reason}; remove it", at_key=True)
    for path, release in requested:
        for message in eks.check_release(release, section.version):
            yield _RELEASE(path, message)


def check_updates(draft: Draft) -> Iterator[Problem]:
    """Check that EKS updates the groups that say how."""
    for group in draft.node_groups:
        if draft.nodes[group.section].update == "one-by-one":
            continue
        path: Path = ("nodes", group.section, "update")
        if group.elastic:
            yield _UPDATE(path, "is for node groups of EKS, and Karpenter launches these nodes; remove it", at_key=True)
        elif isinstance(group.capacity, InterruptibleReservation):
            yield _UPDATE(path, "is for managed nodes, and these are an Auto Scaling group; remove it", at_key=True)


def check_elastic(group: NodeGroup, draft: Draft) -> Iterator[Problem]:
    """Check an elastic group."""
    path: Path = ("nodes", group.section)
    if draft.traits.kubernetes_nodes.own_karpenter:
        if not isinstance(group.capacity, OnDemand | Spot):
            message = (
                f"HyperPod's Karpenter launches on-demand and Spot nodes, not {group.capacity.word}; remove elastic"
            )
            yield _ELASTIC((*path, "elastic"), message)
        if (architecture := group.instance_type.architecture) != hyperpod_kubernetes.AUTOSCALER_ARCHITECTURE:
            message = f"HyperPod's Karpenter launches no {architecture} nodes; remove elastic, or choose another type"
            yield _ELASTIC((*path, "elastic"), message)
        return
    if not isinstance(group.capacity, OnDemand | Spot | TargetedReservation | CapacityBlock):
        message = (
            f"Karpenter launches on-demand and Spot nodes, and those of a reservation or a Capacity Block named by "
            f"its id, not "
            f"{group.capacity.word}; remove elastic"
        )
        yield _ELASTIC((*path, "elastic"), message)
    if draft.kubernetes.existing is not None:
        message = "Karpenter belongs to the existing cluster; create the pool there, and remove this"
        yield _ELASTIC((*path, "elastic"), message)
    if group.image is None or group.image.id is None:
        message = "Karpenter replaces nodes when an image moves; pin the one of this group: image: ami-..."
        yield _ELASTIC((*path, "elastic"), message)
    if group.zone != draft.zone:
        message = f"Karpenter's nodes are in the cluster's own zone, {draft.zone}, and these are to be in {group.zone}"
        yield _ELASTIC((*path, "elastic"), message)
    if not draft.network.internet:
        # https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/#private-clusters (read 2026-11-21)
        message = "Karpenter calls IAM, which has no endpoint in a VPC of another Region than its own; remove elastic"
        yield _ELASTIC((*path, "elastic"), message)
    placed = draft.nodes[group.section].placement_group
    if isinstance(placed, str) and placed != "auto":
        message = f"Karpenter creates no placement group, got {placed}; remove it, or name one: {{name: NAME}}"
        yield _ELASTIC((*path, "placement-group"), message)
    for key in draft.nodes[group.section].tags:
        if key in _TAGS or key.startswith(_TAG_PREFIX):
            yield _ELASTIC((*path, "tags", key), "Karpenter sets this tag itself; remove it", at_key=True)


def check_flavors(draft: Draft) -> Iterator[Problem]:
    """Check that the queues of Kueue accept the node groups, those of Karpenter included."""
    if draft.kubernetes.scheduler == "kueue" and len(draft.node_groups) > _MOST_FLAVORS:
        message = (
            f"{len(draft.node_groups)} node groups, and a queue of Kueue has {_MOST_FLAVORS} at most: Kubernetes "
            "refuses the queues; write larger groups, several clusters, or kubernetes.scheduler: kai or volcano"
        )
        yield _FLAVORS(("nodes",), message)


def warn_quotas(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the quotas of EKS that the managed node groups exceed."""
    managed = [
        it for it in cluster.node_groups if not (it.elastic or isinstance(it.capacity, InterruptibleReservation))
    ]
    remedy = "request an increase in Service Quotas before you deploy"
    # One more for the system nodes.
    count = len(managed) + cluster.kubernetes.is_new
    if count > eks.MANAGED_NODE_GROUPS:
        yield (
            _QUOTA,
            f"the cluster has {count} managed node groups, those of its system nodes included, and the default quota "
            f"is {eks.MANAGED_NODE_GROUPS}; {remedy}",
        )
    large = [it.name for it in managed if it.count > eks.NODES_PER_MANAGED_NODE_GROUP]
    if large:
        yield (
            _QUOTA,
            f"{listed(large)}: a managed node group has "
            f"{eks.NODES_PER_MANAGED_NODE_GROUP} nodes at most by default; "
            f"{remedy}, or make more groups",
        )


def warn_update_time(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings about node groups whose update takes longer than CloudFormation waits."""
    most = (eks_updates.UPDATE_MINUTES - _SPARE_MINUTES) // _MINUTES_OF_A_NODE
    late: dict[tuple[int, int], list[NodeGroup]] = {}
    for group in cluster.node_groups:
        if group.elastic or isinstance(group.capacity, InterruptibleReservation):
            continue
        rounds = eks_updates.update_rounds(cluster.nodes[group.section].update, group.count)
        if rounds > most:
            late.setdefault((group.count, rounds), []).append(group)
    for (count, rounds), groups in late.items():
        sections = {group.section for group in groups}
        yield (
            _UPDATE_TIME,
            f"{listed(group.name for group in groups)}: an update of {count:,} nodes takes about "
            f"{rounds * _MINUTES_OF_A_NODE // 60} hours, of {_MINUTES_OF_A_NODE} minutes for each of {rounds} rounds, "
            f"and CloudFormation rolls it back after {eks_updates.UPDATE_MINUTES // 60}; write "
            f"nodes.{sections.pop() if len(sections) == 1 else 'NAME'}.update: {-(-count // most)} or more, or a "
            "share such as 10%",
        )


def warn_waiting(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warning about node groups that nothing starts."""
    if waiting := [group.name for group in cluster.node_groups if waits_for_command(group.capacity)]:
        yield (
            _WAITING,
            f"{listed(waiting)}: nodes wait at zero until a command scales the group up, for the file does not have "
            "when the Capacity Block begins; write starts: a day, which means 11:30 UTC, or a time with its zone",
        )


def warn_releases(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings about nodes that are behind, and about images that are not pinned."""
    version = cluster.kubernetes.version
    releases = pinned_releases(cluster)
    behind = {
        name: release
        for name, release in releases.items()
        if release and eks.is_dated_release(release) and eks.release_minor(release) != version
    }
    if behind:
        names = listed(f"{name} ({release})" for name, release in behind.items())
        yield (
            _BEHIND,
            f"nodes of {names} stay on an older Kubernetes than the control plane of {version}; update their release "
            "before the next version of the control plane",
        )
    if unpinned := [name for name, release in releases.items() if release is None]:
        group = next(group for group in cluster.node_groups if group.name == unpinned[0])
        key = "kubernetes" if group.os == "al2023" else f"nodes.{group.section}"
        parameter = release_parameter(version, group.os, group.instance_type)
        yield (
            _UNPINNED,
            f"{listed(unpinned)}: a new node group, and a new version, get AWS's newest image, and its driver; pin "
            f"it: `ultracluster image pin FILE` writes {key}.release, the value of the parameter {parameter}",
        )


def pinned_releases(cluster: ClusterFile) -> dict[str, str | None]:
    """Return the release of each node group with an image that EKS chooses, or None if it is not pinned."""
    return {
        group.name: cluster.kubernetes.release_of(cluster.nodes[group.section].release, group.os)
        for group in cluster.node_groups
        if group.image is None and not group.elastic
    }
