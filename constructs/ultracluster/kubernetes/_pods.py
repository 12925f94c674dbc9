"""Pods with a whole node: devices, memory, file systems and tolerations."""

from collections.abc import Mapping, Sequence
from typing import Any

from ultracluster.boot import Volume
from ultracluster.kubernetes._devices import claim_name, domain_name
from ultracluster.kubernetes._kueue import topology_label, topology_name
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._resources import EFA, GPU, HUGE_PAGES, node_resources

_SHARED_MEMORY = "shared-memory"
_SCRATCH = "scratch"


def claims(platform: Platform, group: PlatformNodes) -> list[dict[str, str]]:
    """Return the claims of a pod with a whole node; empty with device plugins."""
    result = []
    has_claims = platform.efa_way(group) == "dranet" or (platform.gpu == "dra-driver" and group.instance_type.gpus > 0)
    if has_claims:
        result.append({"name": "node", "resourceClaimTemplateName": claim_name(platform, group)})
    if group.ultraserver:
        result.append({"name": "domain", "resourceClaimTemplateName": domain_name(group)})
    return result


def node_pod(
    platform: Platform,
    group: PlatformNodes,
    *,
    container: str,
    image: str,
    command: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    beside_launcher: bool = False,
    mounts: bool = True,
) -> Object:
    """Return the spec of a pod with a whole node of a group.

    Args:
        platform: The cluster.
        group: Node group.
        container: Name of its container.
        image: Its image.
        command: Its command. Default: the image's.
        env: Its environment, in addition to what the nodes need.
        beside_launcher: A launcher must fit on the node as well.
        mounts: It mounts the platform's file systems, for which its namespace needs the claims.
    """
    volumes = platform.volumes if mounts else {}
    scratch = scratch_of(platform, group) if mounts else None
    main: dict[str, Any] = {
        "env": [{"name": name, "value": value} for name, value in {**_environment(group), **(env or {})}.items()],
        "image": image,
        "name": container,
        "resources": _pod_resources(platform, group, beside_launcher=beside_launcher),
        # Memory that EFA registers is locked; the runtime's limit is not unlimited on every image.
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        "volumeMounts": _mounts(volumes, scratch),
    }
    if command:
        main["command"] = list(command)
    spec: Object = {
        # A token of the API that a training job does not use is one that it can't lose.
        "automountServiceAccountToken": False,
        "containers": [main],
        "nodeSelector": {**group.labels, **group.healthy},
        "volumes": _volumes(volumes, scratch),
    }
    if group.tolerations:
        spec["tolerations"] = group.tolerations
    if requested := claims(platform, group):
        spec["resourceClaims"] = requested
    if scheduler := platform.scheduler_name:
        spec["schedulerName"] = scheduler
    return spec


def scratch_of(platform: Platform, group: PlatformNodes) -> str | None:
    """Return the directory of a node's own disks, or None."""
    # Karpenter's nodes and Bottlerocket's have their disks under kubelet and images alone: an emptyDir is on them.
    has_path = group.os == "al2023" and not group.elastic
    return platform.scratch if group.instance_type.nvme[0] and has_path else None


def near(platform: Platform, group: PlatformNodes) -> dict[str, str]:
    """Return the annotations of a pod template whose pods should be near each other."""
    level = topology_label(platform, group)
    if level is None or platform.scheduler == "volcano":
        return anywhere(platform, group)
    if platform.scheduler == "kai":
        return {
            "kai.scheduler/topology": str(topology_name(platform, group)),
            "kai.scheduler/topology-preferred-placement": level,
        }
    return {"kueue.x-k8s.io/podset-preferred-topology": level}


def anywhere(platform: Platform, group: PlatformNodes) -> dict[str, str]:
    """Return the annotations of a pod template whose pods may be on any nodes of the group.

    Beside an elastic group, whose flavor has no topology, Kueue admits pods without a request to that group alone.
    """
    if platform.scheduler != "kueue" or topology_name(platform, group) is None:
        return {}
    return {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}


def _environment(group: PlatformNodes) -> dict[str, str]:
    """Return the environment of NCCL, whose default interface would be the container's bridge.

    NCCL uses NVLink between nodes of a domain, and NVLink SHARP, wherever they work.

    See: https://github.com/aws/aws-ofi-nccl, doc/efa-env-var.md (commit 2daf7d3, read 2026-11-20)
    """
    if not group.instance_type.gpus:
        return {}
    return {"NCCL_SOCKET_IFNAME": "^docker,lo,veth", **dict(group.instance_type.variables)}


def _mounts(volumes: Mapping[str, Volume], scratch: str | None) -> list[Object]:
    mounts: list[Object] = [{"mountPath": "/dev/shm", "name": _SHARED_MEMORY}]
    mounts += [{"mountPath": path, "name": volume.name} for path, volume in volumes.items()]
    return [*mounts, {"mountPath": scratch, "name": _SCRATCH}] if scratch else mounts


def _volumes(volumes: Mapping[str, Volume], scratch: str | None) -> list[Object]:
    # Without a limit of its own, it may grow to the memory limit of the pod, and counts to it.
    result: list[Object] = [{"emptyDir": {"medium": "Memory"}, "name": _SHARED_MEMORY}]
    result += [
        {"name": volume.name, "persistentVolumeClaim": {"claimName": volume.name}} for volume in volumes.values()
    ]
    if scratch:
        # Only a directory that is there: without its stripe, a node must not fill its root volume unseen.
        result.append({"hostPath": {"path": scratch, "type": "Directory"}, "name": _SCRATCH})
    return result


def _pod_resources(platform: Platform, group: PlatformNodes, *, beside_launcher: bool = False) -> Object:
    """Return the requests and limits of a container with a whole node, or its claims with DRA."""
    node = node_resources(group)
    claimed = platform.gpu == "dra-driver"
    memory = node.memory_mib - (2_048 if beside_launcher else 0)
    requested = {"cpu": str(node.cores - beside_launcher), "memory": f"{memory}Mi"}
    # Queues of task governance cover CPU, memory, GPUs, EFA and Neuron devices alone, by their status in AWS's workshop
    # (read 2026-11-27), and Kueue admits no pod with another request. EFA uses ordinary memory then.
    if node.pod_huge_pages_mib and platform.scheduler != "task-governance":
        requested[HUGE_PAGES] = f"{node.pod_huge_pages_mib}Mi"
    if node.gpus and not claimed:
        requested[GPU] = str(node.gpus)
    if platform.efa_way(group) == "device-plugin":
        requested[EFA] = str(node.efa)
    resources: Object = {"limits": requested, "requests": requested}
    if claims(platform, group):
        resources["claims"] = [{"name": claim["name"]} for claim in claims(platform, group)]
    return resources
