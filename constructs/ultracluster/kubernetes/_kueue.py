"""Kueue: gang scheduling with topology and team quotas.

See: https://kueue.sigs.k8s.io/docs/concepts (0.19, read 2026-11-21)
"""

import math
from typing import Any

from ultracluster.catalogue.ec2 import network_layers
from ultracluster.catalogue.schedulers import hyperpod_kubernetes
from ultracluster.kubernetes._availability import SYSTEM_PRIORITY, spread
from ultracluster.kubernetes._charts import release
from ultracluster.kubernetes._devices import CHANNEL_CLASS, EFA_CLASS, GPU_CLASS
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object, content_hash, make
from ultracluster.kubernetes._platform import HEALTH, Platform
from ultracluster.kubernetes._release import HelmRelease
from ultracluster.kubernetes._resources import CHANNEL_CLAIMED, EFA_CLAIMED, GPU_CLAIMED, node_resources, quota
from ultracluster.kubernetes._teams import Team, shares
from ultracluster.kubernetes._yaml_text import to_yaml

#: The queue of a team, in its namespace. Kueue sends jobs there that name none.
#: https://kueue.sigs.k8s.io/docs/tasks/manage/enforce_job_management/setup_default_local_queue (read 2026-11-21)
QUEUE = "default"
_API = "kueue.x-k8s.io/v1beta2"
_HOSTNAME = "kubernetes.io/hostname"
_LAYER = "topology.k8s.aws/network-node-layer-"
_CLIQUE = "nvidia.com/gpu.clique"
_HOSTS = "hosts"
# Its cache holds every pod and node of the cluster (pkg/config/config.go, addCacheByObjectTo, 0.19.2, read 2026-11-27).
# A controller that caches all pods had 328 MiB of live heap with 9,895 pods and 27 MiB with 324: 32 KiB a pod. Go lets
# the heap grow to twice of it, 64 KiB: https://github.com/Mellanox/network-operator/issues/3173 (read 2026-11-27).
# Pods of the system and of jobs, those that have ended, and the node itself. Ours.
_OBJECTS_OF_GPU_NODE, _OBJECTS_OF_NODE = 24, 64
_KIB_OF_OBJECT = 64
# Limit of the chart, for everything else.
_CHART_KIB = 512 * 1024
_LEAST_GIB = 1


def kueue_release(platform: Platform) -> HelmRelease:
    """Return Kueue, with all-or-nothing scheduling of gangs.

    Without it, its webhooks refuse the pods of teams: one replica of two stays when nodes are drained, and both have
    the priority of the system. See: https://github.com/kubernetes-sigs/kueue, charts/kueue/values.yaml and
    templates/manager (0.19.2, read 2026-11-27)
    """
    memory = {"memory": f"{_memory_gib(platform)}Gi"}
    values = {
        "controllerManager": {
            "replicas": 2,
            "podDisruptionBudget": {"enabled": True},
            "topologySpreadConstraints": [spread("kueue")],
            "manager": {
                "priorityClassName": SYSTEM_PRIORITY,
                "resources": {"limits": memory, "requests": memory},
            },
        },
        "managerConfig": {"controllerManagerConfigYaml": _configuration(platform)},
    }
    return release("kueue", platform.versions, values)


def _memory_gib(platform: Platform) -> int:
    """Return the memory of a replica, a power of two, so that few changes of a group restart Kueue."""
    objects = sum(
        group.count * (_OBJECTS_OF_GPU_NODE if group.instance_type.gpus else _OBJECTS_OF_NODE)
        for group in platform.nodes
    )
    gib = (_CHART_KIB + _KIB_OF_OBJECT * objects) / 1024**2
    return int(2 ** math.ceil(math.log2(max(_LEAST_GIB, gib))))


def kueue_objects(platform: Platform) -> list[Object]:
    """Return the topologies, a flavor for each group, the cohort, and each team's queues."""
    return [
        *topologies(platform, _API),
        *(_flavor(platform, group) for group in platform.nodes),
        make(_API, "Cohort", platform.cluster, spec=_shared(platform)),
        *(_cluster_queue(platform, team) for team in platform.tenants),
        *(
            make(_API, "LocalQueue", QUEUE, namespace=team.name, spec={"clusterQueue": team.name})
            for team in platform.tenants
        ),
        make(
            _API, "WorkloadPriorityClass", "research", value=1_000, description="Jobs that may wait or be pushed out."
        ),
        make(_API, "WorkloadPriorityClass", "production", value=10_000, description="Jobs that others make room for."),
    ]


def topology_label(platform: Platform, group: PlatformNodes) -> str | None:
    """Return the preferred level of a gang: the NVLink domain, else the widest network layer, or None without one."""
    if group.ultraserver:
        return domain_label(platform)
    return f"{_LAYER}1" if topology_name(platform, group) not in (None, _HOSTS) else None


def domain_label(platform: Platform) -> str:
    """Return the label of nodes with their NVLink domain, by which the scheduler places pods."""
    return hyperpod_kubernetes.ULTRASERVER_LABEL if platform.scheduler == "task-governance" else _CLIQUE


def topology_name(platform: Platform, group: PlatformNodes) -> str | None:
    """Return the topology of a group, or None without one, as of elastic groups, whose nodes may not exist yet."""
    name, levels = topology_levels(platform, group)
    return name if levels else None


def topology_levels(platform: Platform, group: PlatformNodes) -> tuple[str, list[str]]:
    """Return the name of a group's topology and its levels, the widest first; empty if it has none.

    Nodes without network layers have their host alone, unless a group is elastic: where a single flavor of a queue has
    no topology, Kueue admits pods that ask for none to such flavors alone.

    See: https://github.com/kubernetes-sigs/kueue, pkg/scheduler/flavorassigner/tas_flavorassigner.go (0.19.2, read
    2026-11-26)
    """
    layers = network_layers(group.instance_type.name, platform.region)
    if group.elastic or (not layers and any(other.elastic for other in platform.nodes)):
        return "none", []
    if group.ultraserver:
        return "ultraserver", [_CLIQUE, _HOSTNAME]
    # The lowest is the host name: on any other, Kueue does not look at the taints of nodes.
    name = f"network-{layers}" if layers else _HOSTS
    return name, [f"{_LAYER}{index + 1}" for index in range(layers)] + [_HOSTNAME]


def topologies(platform: Platform, api: str) -> list[Object]:
    """Return the topologies of a platform, of Kueue or of KAI Scheduler."""
    levels_of = (topology_levels(platform, group) for group in platform.nodes)
    named = {name: levels for name, levels in levels_of if levels}
    return [
        make(api, "Topology", name, spec={"levels": [{"nodeLabel": level} for level in levels]})
        for name, levels in named.items()
    ]


def flavor_name(platform: Platform, group: PlatformNodes) -> str:
    """Return the name of a group's flavor, with the hash of its content.

    Kueue refuses to change a flavor with a topology. Another content is another flavor: queues move to it in the same
    apply, and the old one is pruned.

    See: https://github.com/kubernetes-sigs/kueue, config/components/crd/bases/kueue.x-k8s.io_resourceflavors.yaml
    (0.19.2, read 2026-11-22)
    """
    return f"{group.name}-{content_hash(_flavor_spec(platform, group))}"


def _flavor(platform: Platform, group: PlatformNodes) -> Object:
    return make(_API, "ResourceFlavor", flavor_name(platform, group), spec=_flavor_spec(platform, group))


def _flavor_spec(platform: Platform, group: PlatformNodes) -> Object:
    spec: Object = {"nodeLabels": group.labels}
    if name := topology_name(platform, group):
        spec["topologyName"] = name
    # Here and not left to a webhook: topology-aware placement does not see tolerations that come later.
    if group.tolerations:
        spec["tolerations"] = group.tolerations
    return spec


def _shared(platform: Platform) -> Object:
    """Return the quota that no team owns, and all may borrow."""
    left = {group.name: group.working - sum(shares(platform.tenants, group).values()) for group in platform.nodes}
    return {"resourceGroups": [_group(platform, left)]} if any(left.values()) else {}


def _cluster_queue(platform: Platform, team: Team) -> Object:
    quota = {group.name: shares(platform.tenants, group)[team.name] for group in platform.nodes}
    spec: Object = {
        "cohortName": platform.cluster,
        # The first flavor that fits without pushing others out, before one that would.
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": team.name}},
        # What a team lent comes back when it is needed; among its own jobs the higher priority goes first. With
        # weights, the checks of nodes would preempt jobs of teams that borrow more.
        "preemption": {
            "reclaimWithinCohort": "Never" if platform.fair_sharing and team.name == HEALTH else "Any",
            "withinClusterQueue": "LowerPriority",
        },
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [_group(platform, quota, borrow=team.borrow)],
    }
    if platform.fair_sharing:
        spec["fairSharing"] = {"weight": str(team.weight or 1)}
    return make(_API, "ClusterQueue", team.name, spec=spec)


def _group(platform: Platform, nodes: dict[str, int], *, borrow: bool = True) -> Object:
    """Return a resource group with all flavors; Kueue requires each flavor to name each resource."""
    quotas = {
        flavor_name(platform, group): quota(
            node_resources(group),
            nodes[group.name],
            efa=platform.efa_way(group),
            gpus_claimed=platform.gpu == "dra-driver",
            channels=group.ultraserver is not None,
        )
        for group in platform.nodes
    }
    covered = list(dict.fromkeys(name for quota in quotas.values() for name in quota))
    limit = {} if borrow else {"borrowingLimit": "0"}
    flavors = [
        {
            "name": name,
            "resources": [
                {"name": resource, "nominalQuota": quota.get(resource, "0"), **limit} for resource in covered
            ],
        }
        for name, quota in quotas.items()
    ]
    return {"coveredResources": covered, "flavors": flavors}


def _configuration(platform: Platform) -> str:
    """Return Kueue's settings, which replace the chart's as one text."""
    mappings = []
    if any(platform.efa_way(group) == "dranet" for group in platform.nodes):
        mappings.append({"name": EFA_CLAIMED, "deviceClassNames": [EFA_CLASS]})
    if platform.gpu == "dra-driver":
        mappings.append({"name": GPU_CLAIMED, "deviceClassNames": [GPU_CLASS]})
    # A class that is not mapped makes every job that claims it inadmissible.
    if any(group.ultraserver for group in platform.nodes):
        mappings.append({"name": CHANNEL_CLAIMED, "deviceClassNames": [CHANNEL_CLASS]})
    settings: dict[str, Any] = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "clientConnection": {"qps": 300, "burst": 500},
        # Of the whole cluster: 0.19 has none for a workload. A server loads its model again after a restart, so that
        # recovery has as long: https://github.com/kubernetes-sigs/kueue/issues/4803 (read 2026-11-26). Without a number
        # of attempts: Kueue counts those of the whole life of a workload, and after the last one deactivates it, also
        # if EC2 had no capacity: pkg/controller/core/workload_controller.go and
        # https://github.com/kubernetes-sigs/kueue/issues/15255 (read 2026-11-27).
        "waitForPodsReady": {
            "timeout": f"{platform.ready_seconds}s",
            "recoveryTimeout": f"{platform.ready_seconds}s",
            "blockAdmission": False,
            "requeuingStrategy": {"timestamp": "Eviction", "backoffBaseSeconds": 60, "backoffMaxSeconds": 900},
        },
        # A job, or a pod of a team that names no queue would take nodes past every quota.
        "manageJobsWithoutQueueName": True,
        "managedJobsNamespaceSelector": {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "In",
                    "values": [team.name for team in platform.tenants],
                }
            ]
        },
        "integrations": {
            "frameworks": [
                "batch/job",
                "deployment",
                "jobset.x-k8s.io/jobset",
                "kubeflow.org/mpijob",
                "leaderworkerset.x-k8s.io/leaderworkerset",
                "pod",
                "statefulset",
                "trainer.kubeflow.org/trainjob",
            ]
        },
    }
    if platform.training_operator:
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html (read 2026-11-24)
        settings["integrations"]["externalFrameworks"] = [hyperpod_kubernetes.TRAINING_KIND]
    if platform.fair_sharing:
        # A gang is preempted only if that leaves its team at least the share of the other one. By the other strategy, a
        # job of one node preempts a gang of many, whose other nodes are then idle. An owner takes back its nodes by
        # either: https://kueue.sigs.k8s.io/docs/concepts/preemption/#fair-sharing and pkg/scheduler/preemption (0.19.2,
        # read 2026-11-27).
        settings["fairSharing"] = {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}
    if mappings:
        settings["resources"] = {"deviceClassMappings": mappings}
    return to_yaml([settings])
