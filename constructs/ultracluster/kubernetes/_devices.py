"""Releases that allocate GPUs and EFA devices to pods, and the nodes that each runs on.

Charts select their nodes by lists of instance types or by labels that another chart must set, and both miss nodes
silently. So every release here has the types of this cluster by name, and tolerates their taints.
"""

from collections.abc import Iterable
from typing import Any

from ultracluster.catalogue.schedulers import registries
from ultracluster.kubernetes._charts import release
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object, by_type, content_hash, make
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._release import HelmRelease
from ultracluster.kubernetes._resources import node_resources

#: The device class that the chart of DRANET makes.
EFA_CLASS = "efa.networking.k8s.aws"
#: The device class of a channel of a ComputeDomain.
CHANNEL_CLASS = "compute-domain-default-channel.nvidia.com"
#: The device class that NVIDIA's DRA driver makes.
GPU_CLASS = "gpu.nvidia.com"
_EVERYWHERE = [{"operator": "Exists"}]
# By default one pod at a time is replaced, and none while a node is lost: with a thousand nodes, never all of them.
# A pod that starts again ends no job. NVIDIA's DRA driver has 100% by default.
# https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/ (read 2026-11-27)
_MOST_UNAVAILABLE = "10%"
_UPDATE = {"rollingUpdate": {"maxUnavailable": _MOST_UNAVAILABLE}, "type": "RollingUpdate"}


def device_releases(platform: Platform) -> list[HelmRelease]:
    """Return the releases that a platform's nodes need, in installation order."""
    releases = []
    with_efa = {way: [g for g in platform.nodes if platform.efa_way(g) == way] for way in ("device-plugin", "dranet")}
    if groups := with_efa["device-plugin"]:
        releases.append(
            release(
                "aws-efa-k8s-device-plugin",
                platform.versions,
                _efa_values(platform, "aws-efa-k8s-device-plugin", groups),
            )
        )
    if groups := with_efa["dranet"]:
        releases.append(release("aws-dranet", platform.versions, _efa_values(platform, "dranet", groups)))
    # Bottlerocket brings the device plugin along; a second one would offer each GPU twice.
    # https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html (read 2026-11-20)
    served = [group for group in platform.gpu_groups if group.os != "bottlerocket"]
    if served and platform.gpu == "device-plugin":
        releases.append(release("nvidia-device-plugin", platform.versions, _plugin_values(platform, served)))
    if served and platform.gpu == "gpu-operator":
        releases.append(release("gpu-operator", platform.versions, _operator_values(platform)))
    domains = [group for group in platform.gpu_groups if group.ultraserver]
    if domains or (served and platform.gpu == "dra-driver"):
        claimed = platform.gpu == "dra-driver"
        groups = served if claimed else domains
        releases.append(
            release("nvidia-dra-driver", platform.versions, _dra_values(groups, gpus=claimed, domains=bool(domains)))
        )
    return releases


def claim_templates(platform: Platform, namespace: str) -> list[Object]:
    """Return a claim template for all devices of a node, for each group that uses DRA."""
    return [
        make("resource.k8s.io/v1", "ResourceClaimTemplate", claim_name(platform, group), namespace=namespace, spec=spec)
        for group in platform.nodes
        if (spec := _claim_spec(platform, group))
    ]


def _claim_spec(platform: Platform, group: PlatformNodes) -> Object:
    """Return the spec of a claim template, empty for a group without DRA."""
    resources = node_resources(group)
    requests: list[Object] = []
    # Counted exactly: Kueue can't take `All` into its quotas.
    # https://kueue.sigs.k8s.io/docs/concepts/dynamic_resource_allocation (read 2026-11-21)
    if platform.gpu == "dra-driver" and resources.gpus:
        requests.append(_exactly("gpus", GPU_CLASS, resources.gpus))
    if platform.efa_way(group) == "dranet":
        requests.append(_exactly("efa", EFA_CLASS, resources.efa))
    return {"spec": {"devices": {"requests": requests}}} if requests else {}


def compute_domains(platform: Platform, namespace: str) -> list[Object]:
    """Return a compute domain for each group of UltraServers, whose pods reach each other's memory over NVLink.

    It exists as long as the team: a node is in it while a pod that claims a channel runs there.
    """
    return [
        make(
            "resource.nvidia.com/v1beta1",
            "ComputeDomain",
            domain_name(group),
            namespace=namespace,
            # None: the domain grows and shrinks with the pods that claim a channel of it.
            spec={"channel": {"resourceClaimTemplate": {"name": domain_name(group)}}, "numNodes": 0},
        )
        for group in platform.gpu_groups
        if group.ultraserver
    ]


def domain_name(group: PlatformNodes) -> str:
    """Return the name of a group's compute domain, and of the template that its driver creates."""
    return f"domain-{group.name}"


def claim_name(platform: Platform, group: PlatformNodes) -> str:
    """Return the name of the claim template for a node of a group, with the hash of its content: it is immutable.

    See: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/resource-claim-template-v1 (read
    2026-11-22)
    """
    return f"node-{group.name}-{content_hash(_claim_spec(platform, group))}"


def _exactly(name: str, device_class: str, count: int) -> Object:
    return {"exactly": {"allocationMode": "ExactCount", "count": count, "deviceClassName": device_class}, "name": name}


def _types(groups: Iterable[PlatformNodes]) -> list[str]:
    return sorted({group.label_of_type for group in groups})


def _efa_values(platform: Platform, image: str, groups: list[PlatformNodes]) -> dict[str, Any]:
    values: dict[str, Any] = {
        # One key: a second would be a term of its own in the chart's affinity, and terms are alternatives.
        "supportedInstanceLabels": {"keys": ["node.kubernetes.io/instance-type"], "values": _types(groups)},
        "tolerations": _EVERYWHERE,
        "updateStrategy": _UPDATE,
    }
    if registry := registries.eks_registry(platform.region):
        values["image"] = {"repository": f"{registry}/eks/{image}"}
    return values


def _plugin_values(platform: Platform, groups: list[PlatformNodes]) -> dict[str, Any]:
    """Return the plugin's values; its default affinity needs labels of node feature discovery."""
    values: dict[str, Any] = {
        "affinity": by_type(
            _types(groups), without=[group.labels for group in platform.nodes if group.os == "bottlerocket"]
        ),
        "tolerations": _EVERYWHERE,
        "updateStrategy": _UPDATE,
    }
    # It mounts every RDMA device into every pod with a GPU; the EFA plugin mounts the right ones.
    values["mofedEnabled"] = False
    # GDRCopy, which NCCL's plugin for EFA uses, is not mounted by default since 0.19.3.
    # https://github.com/NVIDIA/k8s-device-plugin/issues/1692 (read 2026-11-20)
    values["gdrcopyEnabled"] = True
    if any(group.ultraserver for group in groups):
        # Labels nodes with nvidia.com/gpu.clique, the NVLink domain that they share.
        values["gfd"] = {"enabled": True}
        values["nfd"] = {"worker": {"tolerations": _EVERYWHERE}}
    return values


def _operator_values(platform: Platform) -> dict[str, Any]:
    """Return the operator's values; driver and container toolkit are in AWS's images, and Bottlerocket is excluded.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html (read 2026-11-20)
    """
    # The collectors have one of their own, and two programs cannot share the profiling counters of a GPU.
    exporter = {"dcgmExporter": {"enabled": False}} if platform.metrics else {}
    return {
        "daemonsets": {"rollingUpdate": {"maxUnavailable": _MOST_UNAVAILABLE}, "tolerations": _EVERYWHERE},
        **exporter,
        # As for the plugin alone: its RDMA devices no, GDRCopy yes.
        "devicePlugin": {
            "env": [{"name": "GDRCOPY_ENABLED", "value": "true"}, {"name": "MOFED_ENABLED", "value": "false"}]
        },
        "driver": {"enabled": False},
        "nfd": {"enabled": True},
        "node-feature-discovery": {"worker": {"tolerations": _EVERYWHERE}},
        "toolkit": {"enabled": False},
    }


def _dra_values(groups: list[PlatformNodes], *, gpus: bool, domains: bool) -> dict[str, Any]:
    return {
        # The driver only allocates GPUs if a setting confirms that no device plugin does.
        "gpuResourcesEnabledOverride": gpus,
        "kubeletPlugin": {"affinity": by_type(_types(groups)), "tolerations": _EVERYWHERE},
        "nvidiaDriverRoot": "/",
        "resources": {"computeDomains": {"enabled": domains}, "gpus": {"enabled": gpus}},
    }
