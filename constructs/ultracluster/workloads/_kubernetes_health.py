"""Node checks as jobs: DCGM's diagnostics and tests of NCCL. A node that fails is cordoned, as far as a breaker allows.

Each pod of a check has a second container that waits for the result and writes it on the nodes, with the account of
the namespace `node-health`, which may patch nodes and do nothing else beyond its own namespace.
"""

from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from ultracluster.boot import breaker_limit, scripts
from ultracluster.catalogue.ec2 import nccl_figure, nccl_nodes, oldest_software
from ultracluster.kubernetes import (
    ACCOUNT,
    HEALTH,
    Object,
    Platform,
    PlatformNodes,
    anywhere,
    job_policy,
    make,
    near,
    node_pod,
)
from ultracluster.rules import Refusal
from ultracluster.workloads._images import NCCL_TESTS
from ultracluster.workloads._kubernetes_gang import queue_labels
from ultracluster.workloads._room import JOB_NODES

#: The one of the GPU operator: https://github.com/NVIDIA/gpu-operator, deployments/gpu-operator/values.yaml (commit
#: a22dbf6 of 2026-08-21, read 2026-11-21). EKS's nodes have driver 580, which is CUDA 13, and DCGM before 4.4 has no
#: diagnostics for that: https://github.com/NVIDIA/DCGM/pull/249 (read 2026-11-21).
DCGM_IMAGE = "nvcr.io/nvidia/cloud-native/dcgm:4.6.0-1-ubuntu24.04"
#: Bash and curl, for both architectures.
#: https://docs.aws.amazon.com/linux/al2023/ug/base-container.html (read 2026-11-21)
CORDON_IMAGE = "public.ecr.aws/amazonlinux/amazonlinux:2023"
# Where nothing is published: two nodes, the fewest that use the network, and a message that fills it.
_BYTES = 16 * 2**30
_DCGM_LEVEL = 2
# Level 2 takes up to ten minutes; an all-reduce with its start a few.
_DEADLINE_SECONDS = 3_600
_AMAZON = "/opt/amazon"
_VERDICT = {"mountPath": "/verdict", "name": "verdict"}


def dcgm_check(
    platform: Platform,
    group: PlatformNodes,
    *,
    nodes: int | None = None,
    software: Mapping[str, str] = MappingProxyType({}),
    image: str = "",
) -> list[Object]:
    """Return DCGM's diagnostics on idle nodes of a group at once: by default, on all that are not spare.

    They also name the software of the node that is older than its type needs, which is no reason for a cordon.

    Args:
        platform: The cluster.
        group: Node group.
        nodes: Number of nodes.
        software: Oldest versions instead of those of the type and of the platform, by name of the part.
        image: Container image whose software a second job compares, or an empty text.

    See: https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-diagnostics.html (read 2026-11-21)
    """
    name, software = f"dcgm-{group.name}", {**platform.software, **software}
    oldest = oldest_software(group.instance_type, "node", software)
    pod = node_pod(
        platform,
        group,
        container="dcgm",
        image=DCGM_IMAGE,
        command=["bash", "-c", _script("dcgm.sh")],
        env={
            "LEVEL": str(_DCGM_LEVEL),
            "OLDEST": " ".join(f"{name}={version}" for name, version in oldest.items()),
            "SOFTWARE_CHECK": scripts.text("software-check.sh"),
        },
        beside_launcher=True,
        mounts=False,
    )
    # The list of the installer of EFA, as it is on the node.
    pod["containers"][0]["volumeMounts"].append({"mountPath": _AMAZON, "name": "efa-software", "readOnly": True})
    pod["volumes"].append({"hostPath": {"path": _AMAZON, "type": "DirectoryOrCreate"}, "name": "efa-software"})
    where = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    spec = {
        "activeDeadlineSeconds": _DEADLINE_SECONDS,
        "backoffLimit": 0,
        "completionMode": "Indexed",
        "completions": nodes or group.working,
        "parallelism": nodes or group.working,
        "template": {
            "metadata": {"annotations": anywhere(platform, group)},
            "spec": {**_with_cordon(pod, group, "dcgm", [where]), "restartPolicy": "Never"},
        },
    }
    check = make("batch/v1", "Job", name, namespace=HEALTH, labels=queue_labels(platform, HEALTH), spec=spec)
    return [check, *([_image_check(platform, group, software, image)] if image else [])]


def _image_check(platform: Platform, group: PlatformNodes, software: Mapping[str, str], image: str) -> Object:
    """Return a job that fails, and names the software of an image that is older than the type needs."""
    oldest = oldest_software(group.instance_type, "container", software)
    container = {
        "command": ["bash", "-c", scripts.text("software-check.sh"), "software-check"],
        "args": [f"{name}={version}" for name, version in oldest.items()],
        "image": image,
        "name": "software",
        "resources": _small("500m"),
    }
    pod = {"containers": [container], "nodeSelector": group.labels, "restartPolicy": "Never"}
    spec = {
        "activeDeadlineSeconds": _DEADLINE_SECONDS,
        "backoffLimit": 0,
        "template": {
            "metadata": {"annotations": anywhere(platform, group)},
            "spec": {**pod, "tolerations": group.tolerations},
        },
    }
    name = f"software-{group.name}"
    return make("batch/v1", "Job", name, namespace=HEALTH, labels=queue_labels(platform, HEALTH), spec=spec)


def nccl_check(
    platform: Platform, group: PlatformNodes, *, nodes: int | None = None, operation: str = "all-reduce"
) -> list[Object]:
    """Return an NCCL test, by default over the number of nodes with a known floor; all are cordoned if it fails.

    The test does not show which node is at fault: run it again with each node beside a good one. On another number of
    nodes it has no floor, and all-to-all has none.

    Raises:
        Refusal: If the group has too few nodes.
    """
    figure = nccl_figure(group.instance_type.name)
    nodes = nodes or nccl_nodes(group.instance_type.name)
    figure = figure if figure and figure.nodes == nodes and operation == "all-reduce" else None
    if group.working < nodes:
        raise Refusal("", JOB_NODES(f"the NCCL test needs {nodes} nodes, and {group.name} has {group.working}"))
    check = "nccl" if operation == "all-reduce" else operation
    name = f"{check}-{group.name}"
    gpus = group.instance_type.gpus
    worker = node_pod(
        platform,
        group,
        container="worker",
        image=NCCL_TESTS.address,
        command=["/usr/sbin/sshd", "-De"],
        beside_launcher=True,
        mounts=False,
    )
    floor = f"{figure.floor_gb_per_s:g}" if figure else ""
    numbers = {
        "RANKS": str(nodes * gpus),
        "EACH": str(gpus),
        "BYTES": str(figure.message_bytes if figure else _BYTES),
        "FLOOR": floor,
        "OPERATION": operation,
        "NCCL_SOCKET_IFNAME": "^docker,lo,veth",
    }
    launcher: Object = {
        "containers": [
            {
                "command": ["bash", "-c", _script("nccl.sh")],
                "env": [{"name": key, "value": value} for key, value in numbers.items()],
                "image": NCCL_TESTS.address,
                "name": "launcher",
                "resources": _small("500m"),
            }
        ],
        "nodeSelector": group.labels,
        "tolerations": group.tolerations,
    }
    workers = f"training.kubeflow.org/job-name={name},training.kubeflow.org/job-role=worker"
    spec = {
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": {
            "Launcher": {
                "replicas": 1,
                "restartPolicy": "Never",
                "template": {
                    "metadata": {"annotations": anywhere(platform, group)},
                    "spec": _with_cordon(launcher, group, check, [{"name": "PODS", "value": workers}]),
                },
            },
            "Worker": {
                "replicas": nodes,
                "template": {"metadata": {"annotations": near(platform, group)}, "spec": worker},
            },
        },
        "runPolicy": {"activeDeadlineSeconds": _DEADLINE_SECONDS, "backoffLimit": 0, "cleanPodPolicy": "Running"},
        "slotsPerWorker": gpus,
    }
    return [
        make(
            "kubeflow.org/v2beta1", "MPIJob", name, namespace=HEALTH, labels=queue_labels(platform, HEALTH), spec=spec
        ),
        job_policy(name, HEALTH, {"training.kubeflow.org/job-name": name}),
    ]


def _with_cordon(pod: Object, group: PlatformNodes, check: str, target: list[Object]) -> Object:
    """Return a pod with a container that watches the check and may cordon."""
    main, *others = pod["containers"]
    main = {**main, "volumeMounts": [*main.get("volumeMounts", []), _VERDICT]}
    selector = ",".join(f"{key}={value}" for key, value in group.labels.items())
    known = {"CHECK": check, "NAMESPACE": HEALTH, "GROUP": selector, "MOST": str(breaker_limit(group.count))}
    env = [*({"name": key, "value": value} for key, value in known.items()), *target]
    cordon = {
        "command": ["bash", "-c", _script("cordon.sh")],
        "env": env,
        "image": CORDON_IMAGE,
        "name": "cordon",
        "resources": _small("100m"),
        "volumeMounts": [_VERDICT],
    }
    return {
        **pod,
        "automountServiceAccountToken": True,
        "containers": [main, *others, cordon],
        "serviceAccountName": ACCOUNT,
        "volumes": [*pod.get("volumes", []), {"emptyDir": {}, "name": "verdict"}],
    }


def _small(cpu: str) -> Object:
    return {"limits": {"cpu": cpu, "memory": "512Mi"}, "requests": {"cpu": cpu, "memory": "512Mi"}}


def _script(name: str) -> str:
    return resources.files(__package__).joinpath("kubernetes", name).read_text(encoding="utf-8")
