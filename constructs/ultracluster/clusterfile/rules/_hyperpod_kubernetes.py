"""Rules of SageMaker HyperPod with Kubernetes."""

from collections.abc import Iterator, Mapping

from ultracluster.catalogue.schedulers import hyperpod, hyperpod_add_ons
from ultracluster.catalogue.schedulers import hyperpod_kubernetes as facts
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, until_invalid, valid
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._hyperpod import (
    MODE,
    NODE_KEYS,
    check_names,
    check_nodes,
    check_region,
    check_types,
    refused,
)
from ultracluster.clusterfile.rules._hyperpod_limits import check_limits
from ultracluster.clusterfile.rules._rule import Rule, error, warning

_VERSION = error(
    "hyperpod-kubernetes-version", "HyperPod supports fewer versions of Kubernetes than EKS.", acceptable=True
)
_CHARTS = error("hyperpod-charts", "HyperPod refuses an EKS cluster that does not have its charts.")
_TAINTS = error("hyperpod-taints", "HyperPod does not run deep health checks on nodes with other taints.")
_ADD_ON = error(
    "hyperpod-add-on", "HyperPod's image uses the NVMe disks, so a driver that formats them conflicts with it."
)
_OPERATOR = error("hyperpod-operator", "The training operator of HyperPod works with Kueue, and with no other queue.")
_METRICS = error("hyperpod-metrics", "The observability add-on of HyperPod needs a workspace, which metrics have.")
_SMALL = error("hyperpod-metrics-nodes", "Pods of the observability add-on need a larger node.", acceptable=True)
_KARPENTER = error("hyperpod-karpenter", "HyperPod runs Karpenter in clusters whose nodes it recovers.")
_LATE = warning("hyperpod-add-on-nodes", "Add-ons of HyperPod run on its nodes, which must have joined.")
_TEAMS = error(
    "hyperpod-teams",
    "Task governance is not available in every Region, and is not configured on an existing cluster here.",
)
_EXISTING = warning("hyperpod-existing", "An existing EKS cluster must have what HyperPod requires.")

_KEYS: Mapping[str, str] = {
    "os": "its nodes have its own image; remove it",
    "pods": "each node has one network interface for pods, with as many as its addresses; remove it",
    "release": "its nodes have its own image; remove it",
    "update": "it updates its nodes itself, by aws sagemaker update-cluster-software; remove it",
    **NODE_KEYS,
}
_LATER = "or create it after the deployment: aws eks create-addon"
_OTHER_ADD_ONS: Mapping[str, str] = {
    "amazon-sagemaker-hyperpod-taskgovernance": "has a Kueue of its own, and a cluster has one; remove it, and write "
    "scheduler: task-governance",
}
_GOVERNANCE_NAME = "task-governance"
_SLURM_KEYS: Mapping[str, str] = {
    name: "this key is for Slurm, and orchestrator is hyperpod-kubernetes; remove it"
    for name in ("controller", "strategy", "accounting")
}


def check_hyperpod_kubernetes(draft: Draft) -> Iterator[Problem]:
    """Check a cluster of HyperPod with Kubernetes."""
    for rule in (check_region, check_names, check_types, _check_nodes, check_limits, _check_section, _check_cluster):
        yield from until_invalid(rule(draft))


def _check_nodes(draft: Draft) -> Iterator[Problem]:
    yield from check_nodes(draft, _KEYS)
    for name, section in draft.nodes.items():
        if section.elastic and not draft.hyperpod.node_recovery:
            message = "Karpenter of HyperPod needs the recovery of nodes; remove hyperpod: {node-recovery: false}"
            yield _KARPENTER(("nodes", name, "elastic"), message)
        if section.taints and draft.hyperpod.deep_health_checks and not section.elastic:
            message = "deep health checks exclude nodes with taints; write hyperpod: {deep-health-checks: false}"
            yield _TAINTS(("nodes", name, "taints"), message, at_key=True)


def _check_section(draft: Draft) -> Iterator[Problem]:
    yield from refused(MODE, ("hyperpod",), draft.hyperpod, _SLURM_KEYS)


def _check_cluster(draft: Draft) -> Iterator[Problem]:
    requested, path = draft.kubernetes, ("kubernetes",)
    for message in facts.check_version(requested.version):
        yield _VERSION((*path, "version"), f'{message}; write version: "{facts.VERSIONS[-1]}"')
    if requested.existing is None and requested.platform != "admin-host":
        message = "the admin host installs the charts without which HyperPod refuses the cluster; remove it"
        yield _CHARTS((*path, "platform"), message)
    if requested.registry is not None:
        message = "charts of HyperPod are in no registry, and its nodes need the internet; remove it"
        yield _CHARTS((*path, "registry"), message, at_key=True)
    for name in facts.REFUSED_ADD_ONS:
        if name in requested.add_ons:
            where: Path = (*path, "add-ons", name)
            yield _ADD_ON(where, "the image of HyperPod has the NVMe disks in a volume already; remove it", at_key=True)
    if requested.scheduler == _GOVERNANCE_NAME:
        yield from _check_governance(draft)
    if hyperpod_add_ons.OBSERVABILITY in requested.add_ons and not draft.observability.on:
        message = (
            "writes to the workspace of observability, whose profile none creates no workspace; remove one of the two"
        )
        yield _METRICS((*path, "add-ons", hyperpod_add_ons.OBSERVABILITY), message, at_key=True)
    if (
        hyperpod_add_ons.OBSERVABILITY in requested.add_ons
        and draft.node_groups
        and not any(map(_is_large, draft.node_groups))
    ):
        message = (
            "needs a node of 4xlarge or larger; write a group such as nodes: {services: {type: m5.4xlarge, count: 2}}"
        )
        yield _SMALL((*path, "add-ons", hyperpod_add_ons.OBSERVABILITY), message, at_key=True)
    if facts.TRAINING_OPERATOR in requested.add_ons and requested.scheduler not in ("kueue", _GOVERNANCE_NAME):
        message = f"the training operator supports Kueue only, got {requested.scheduler}; remove it, or the add-on"
        yield _OPERATOR((*path, "scheduler"), message)


def _is_large(group: NodeGroup) -> bool:
    """Return whether the pods of the observability add-on fit on a node that runs by itself."""
    return not group.elastic and group.instance_type.vcpus >= hyperpod_add_ons.OBSERVABILITY_VCPUS


def _check_governance(draft: Draft) -> Iterator[Problem]:
    requested, path = draft.kubernetes, ("kubernetes",)
    if draft.region in hyperpod.REGIONS - facts.TASK_GOVERNANCE_REGIONS:
        message = f"is not available in {draft.region} (read 2026-11-24); write scheduler: kueue, or use another Region"
        yield _TEAMS((*path, "scheduler"), message)
    if requested.existing is not None:
        message = "is created with a new EKS cluster only; remove it, and create the add-on and the quotas yourself"
        yield _TEAMS((*path, "scheduler"), message)
    for name in requested.teams:
        if not facts.TEAM.fullmatch(name):
            message = "task governance accepts 1 to 40 lowercase letters, digits and hyphens; choose another name"
            yield _TEAMS((*path, "teams", name), message, at_key=True)
        elif hyperpod.check_name(quota := facts.quota_name(valid(lambda: draft.name) or "a", name)):
            message = f"its quota is {quota}, with {len(quota)} of at most 63 characters; choose a shorter name"
            yield _TEAMS((*path, "teams", name), message, at_key=True)


def warn_hyperpod_kubernetes(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    late = [name for name in cluster.traits.kubernetes_nodes.add_ons if name in cluster.kubernetes.add_ons]
    if cluster.kubernetes.scheduler == _GOVERNANCE_NAME:
        late.insert(0, facts.TASK_GOVERNANCE)
    large = hyperpod_add_ons.OBSERVABILITY in late
    if late and not any(not group.gpus and (_is_large(group) or not large) for group in cluster.node_groups):
        size = "m5.4xlarge" if large else "m5.2xlarge"
        yield (
            _LATE,
            f"pods of {', '.join(late)} run on nodes of HyperPod, and the add-on fails if none joins in time: write a "
            f"group without GPUs, such as nodes: {{services: {{type: {size}, count: 2}}}}, or add it once nodes joined",
        )
    existing = cluster.kubernetes.existing
    if existing is not None:
        yield (
            _EXISTING,
            f"HyperPod refuses {existing.name}, unless its authentication mode is API or API_AND_CONFIG_MAP, and it "
            f"has the charts {', '.join(facts.CHARTS)}: install https://github.com/aws/sagemaker-hyperpod-cli, "
            "helm_chart/HyperPodHelmChart, before the deployment",
        )


def instead_of_add_on(name: str, draft: Draft) -> str:
    """Return why the add-on is not created, and what to do."""
    if not draft.traits.kubernetes_nodes.add_ons:
        return "is for clusters of SageMaker HyperPod; remove it, or write orchestrator: hyperpod-kubernetes"
    created = ", ".join(draft.traits.kubernetes_nodes.add_ons)
    return _OTHER_ADD_ONS.get(name, f"is not one of those that this release creates, {created}; remove it, {_LATER}")
