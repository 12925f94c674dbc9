"""What a node of EKS is told at boot: nodeadm's documents on Amazon Linux 2023, settings on Bottlerocket."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ultracluster.hardware import InstanceType
from ultracluster.hardware.eks import huge_pages
from ultracluster.planning.node_files import NodeBoot
from ultracluster.planning.scratch import SCRATCH_UNIT, LocalScratch
from ultracluster.planning.slurm_boot import LustreClient

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
_API = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig"}
# What Karpenter's own settings for Bottlerocket bind to local disks:
# https://github.com/aws/karpenter-provider-aws, pkg/providers/amifamily/bootstrap/bottlerocket.go (read 2026-11-21)
_ON_LOCAL_DISKS = ("/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")


@dataclass(frozen=True, kw_only=True, slots=True)
class Taint:
    """What keeps pods off a node.

    Args:
        key: Such as `nvidia.com/gpu`.
        effect: What it does to pods that don't tolerate it.
    """

    key: str
    effect: Effect


# Pods without GPUs stay off nodes with some; every chart and job of this library tolerates it.
GPU_TAINT = Taint(key="nvidia.com/gpu", effect="NoSchedule")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterAccess:
    """What a node must know of a cluster to join it. EKS tells its managed nodes that use an image of EKS's choice.

    Args:
        name: Name of the cluster.
        endpoint: Address of its API server.
        certificate_authority: Base64 text of its certificate authority.
        service_cidr: Range of its Services.
        dns: Address of its DNS service: the tenth of that range.
    """

    name: str
    endpoint: str
    certificate_authority: str
    service_cidr: str
    dns: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSettings:
    """What kubelet is told of a node that EKS does not tell it.

    Args:
        access: The cluster to join. None: EKS says it.
        labels: Labels of the node. Of a managed node, EKS sets them.
        taints: Taints of the node. Of a managed node, EKS sets them.
        pods: Most pods of the node. Of a managed node with an image of EKS's choice, EKS sets its own number.
    """

    access: ClusterAccess | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    pods: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EksBoot:
    """What an Amazon Linux 2023 node gets at its first boot; see `compute.user_data`.

    Args:
        boot: Files, and units that are started.
        enabled: Units that something else starts: they are made ready, and no more.
        node_configs: Documents for nodeadm, which merges them in order.
    """

    boot: NodeBoot
    enabled: tuple[str, ...]
    node_configs: tuple[Mapping[str, Any], ...]


def eks_boot(
    instance_type: InstanceType,
    *,
    settings: NodeSettings | None = None,
    scratch: LocalScratch | None = None,
    lustre: LustreClient | None = None,
) -> EksBoot:
    """The files, units and documents of a node with Amazon Linux 2023.

    File systems are mounted by CSI drivers, so nothing is mounted here. EFA for the Lustre client is another matter:
    it has to be set up on the node before the first mount, and the driver can't.

    Args:
        instance_type: Type of the node.
        settings: What kubelet is told. Default: nothing.
        scratch: The scratch volume over its local disks. Default: at `/scratch`, with container images on the disks.
        lustre: How it is a client of EFA-enabled file systems. Default: of none.

    See: https://awslabs.github.io/amazon-eks-ami/nodeadm/ and
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html (read 2026-11-21)
    """
    wish = settings or NodeSettings()
    boot = NodeBoot(files=(), units=())
    configs: list[Mapping[str, Any]] = []
    if wish.access is not None:
        access = wish.access
        configs.append(
            {
                **_API,
                "spec": {
                    "cluster": {
                        "name": access.name,
                        "apiServerEndpoint": access.endpoint,
                        "certificateAuthority": access.certificate_authority,
                        "cidr": access.service_cidr,
                    }
                },
            }
        )
    if kubelet := _kubelet(wish):
        configs.append({**_API, "spec": {"kubelet": kubelet}})
    enabled: tuple[str, ...] = ()
    if instance_type.nvme[0]:
        setup = (scratch or LocalScratch()).for_eks(instance_type)
        boot, enabled = NodeBoot(files=setup.files, units=()), (SCRATCH_UNIT,)
        configs += [setup.node_config] if setup.node_config else []
    if lustre is not None and lustre.connections(instance_type):
        client = lustre.boot(instance_type)
        boot = NodeBoot(files=(*boot.files, *client.files), units=client.units)
    return EksBoot(boot=boot, enabled=enabled, node_configs=tuple(configs))


def _kubelet(wish: NodeSettings) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if wish.pods is not None:
        found["config"] = {"maxPods": wish.pods}
    flags = []
    if wish.labels:
        flags.append("--node-labels=" + ",".join(f"{key}={value}" for key, value in sorted(wish.labels.items())))
    if wish.taints:
        flags.append("--register-with-taints=" + ",".join(f"{one.key}:{one.effect}" for one in wish.taints))
    if flags:
        found["flags"] = flags
    return found


def bottlerocket_settings(instance_type: InstanceType, *, settings: NodeSettings | None = None) -> str:
    """The user data of a Bottlerocket node, which is TOML.

    Container images, kubelet and the logs of pods go to its local disks where it has some, and the huge pages that EFA
    uses are set aside. There is no `/scratch`, and no EFA for Lustre: Bottlerocket runs nobody's scripts.

    Args:
        instance_type: Type of the node.
        settings: What kubelet is told. Default: nothing.

    See: https://bottlerocket.dev/en/os/latest/#/api/settings/kubernetes/ and
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html and node-efa.html (read 2026-11-21)
    """
    wish = settings or NodeSettings()
    lines: list[str] = []
    kubernetes: dict[str, Any] = {}
    if wish.access is not None:
        kubernetes |= {
            "cluster-name": wish.access.name,
            "api-server": wish.access.endpoint,
            "cluster-certificate": wish.access.certificate_authority,
            "cluster-dns-ip": wish.access.dns,
        }
    if wish.pods is not None:
        kubernetes["max-pods"] = wish.pods
    lines += _table("settings.kubernetes", kubernetes)
    lines += _table("settings.kubernetes.node-labels", dict(sorted(wish.labels.items())))
    lines += _table("settings.kubernetes.node-taints", {one.key: [f":{one.effect}"] for one in wish.taints})
    if pages := huge_pages(instance_type):
        lines += _table("settings.kernel.sysctl", {"vm.nr_hugepages": str(pages)})
    if instance_type.nvme[0]:
        bind = ["apiclient", "ephemeral-storage", "bind", "--dirs", *_ON_LOCAL_DISKS]
        lines += _table(
            "settings.bootstrap-commands.local-disks",
            {
                "commands": [["apiclient", "ephemeral-storage", "init"], bind],
                "essential": True,
                "mode": "always",
            },
        )
    return "\n".join(lines)


def _table(name: str, values: Mapping[str, Any]) -> list[str]:
    """A table of TOML, whose texts, lists and flags are written as JSON writes them."""
    if not values:
        return []
    return [f"[{name}]", *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items()), ""]
