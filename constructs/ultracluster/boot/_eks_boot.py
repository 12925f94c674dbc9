"""Boot settings of EKS nodes: nodeadm documents on Amazon Linux 2023, TOML on Bottlerocket."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ultracluster.boot._node_files import NodeBoot
from ultracluster.boot._scratch import SCRATCH_UNIT, LocalScratch
from ultracluster.boot._slurm_boot import LustreClient
from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.schedulers import huge_pages

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
_API = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig"}
# Layers are fetched and unpacked in parallel, which nodeadm ignores on small types and calls experimental:
# https://github.com/awslabs/amazon-eks-ami, nodeadm/internal/api/types.go and doc/ (read 2026-11-22)
_GATES = {"FastImagePull": True}
# What Karpenter's own settings for Bottlerocket bind to local disks:
# https://github.com/aws/karpenter-provider-aws, pkg/providers/amifamily/bootstrap/bottlerocket.go (read 2026-11-21)
_ON_LOCAL_DISKS = ("/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")


@dataclass(frozen=True, kw_only=True, slots=True)
class Taint:
    """A Kubernetes taint, which keeps pods off a node.

    Args:
        key: Key, such as `nvidia.com/gpu`.
        effect: Effect on pods that do not tolerate it.
    """

    key: str
    effect: Effect


# Pods without GPUs stay off nodes with some; every chart and job of this library tolerates it.
GPU_TAINT = Taint(key="nvidia.com/gpu", effect="NoSchedule")
# The CSI driver removes the taint when it can mount; before that a pod with a volume would fail. It looks once, when it
# starts, and EKS adds the taints of its API up to half a minute after a node joins: such a taint could stay for ever.
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver, docs/install.md and pkg/driver/node.go;
# https://github.com/kubernetes-sigs/aws-ebs-csi-driver/issues/2447 and
# https://github.com/aws/containers-roadmap/issues/1962 (read 2026-11-27)
FSX_TAINT = Taint(key="fsx.csi.aws.com/agent-not-ready", effect="NoExecute")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterAccess:
    """Facts that a node needs to join a cluster. EKS passes them to managed nodes with an AMI of its choice.

    Args:
        name: Name of the cluster.
        endpoint: URL of its API server.
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
    """Kubelet settings that EKS does not set itself.

    Args:
        access: Cluster to join, or None if EKS sets it.
        labels: Labels of the node. EKS sets those of a managed node.
        taints: Taints that the node registers with. EKS adds those of a managed node group up to half a minute later.
        pods: Maximum number of pods. EKS sets that of a managed node with an AMI of its choice.
    """

    access: ClusterAccess | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    pods: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EksBoot:
    """First boot of an Amazon Linux 2023 node; see `compute.user_data`.

    Args:
        boot: Files, and units to start.
        enabled: Units to enable without starting them.
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
    """Return the files, units and documents of a node with Amazon Linux 2023.

    File systems are mounted by CSI drivers, so nothing is mounted here. EFA for the Lustre client is another matter:
    it must be set up on the node before the first mount, which the driver cannot do.

    Args:
        instance_type: Type of the node.
        settings: Kubelet settings. By default, none.
        scratch: The scratch volume over its local disks. Default: at `/scratch`, with container images on the disks.
        lustre: Client settings for EFA-enabled file systems. By default, none.

    See: https://awslabs.github.io/amazon-eks-ami/nodeadm/ and
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html (read 2026-11-21)
    """
    requested = settings or NodeSettings()
    boot = NodeBoot(files=(), units=())
    configs: list[Mapping[str, Any]] = []
    if requested.access is not None:
        access = requested.access
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
    if kubelet := _kubelet(requested):
        configs.append({**_API, "spec": {"kubelet": kubelet}})
    if instance_type.gpus:
        configs.append({**_API, "spec": {"featureGates": _GATES}})
    enabled: tuple[str, ...] = ()
    if instance_type.nvme[0]:
        setup = (scratch or LocalScratch()).for_eks(instance_type)
        boot, enabled = NodeBoot(files=setup.files, units=()), (SCRATCH_UNIT,)
        configs += [setup.node_config] if setup.node_config else []
    if lustre is not None and lustre.connections(instance_type):
        # Also at a reboot, when the pods of the node start again.
        client = lustre.boot(instance_type, before="kubelet.service")
        boot = NodeBoot(files=(*boot.files, *client.files), units=client.units)
    return EksBoot(boot=boot, enabled=enabled, node_configs=tuple(configs))


def _kubelet(requested: NodeSettings) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if requested.pods is not None:
        config["maxPods"] = requested.pods
    if requested.taints:
        # nodeadm merges it with the document of EKS, which has `maxPods` and `clusterDNS`.
        config["registerWithTaints"] = [{"key": taint.key, "effect": taint.effect} for taint in requested.taints]
    result: dict[str, Any] = {"config": config} if config else {}
    if requested.labels:
        labels = ",".join(f"{key}={value}" for key, value in sorted(requested.labels.items()))
        result["flags"] = [f"--node-labels={labels}"]
    return result


def bottlerocket_settings(instance_type: InstanceType, *, settings: NodeSettings | None = None) -> str:
    """Return the user data of a Bottlerocket node, as TOML.

    Container images, kubelet and the logs of pods go to its local disks where it has some, and the huge pages that EFA
    uses are set aside. There is no `/scratch`, and no EFA for Lustre: Bottlerocket runs no scripts.

    Args:
        instance_type: Type of the node.
        settings: Kubelet settings. By default, none.

    See: https://bottlerocket.dev/en/os/latest/#/api/settings/kubernetes/ and
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html and node-efa.html (read 2026-11-21)
    """
    requested = settings or NodeSettings()
    lines: list[str] = []
    kubernetes: dict[str, Any] = {}
    if requested.access is not None:
        kubernetes |= {
            "cluster-name": requested.access.name,
            "api-server": requested.access.endpoint,
            "cluster-certificate": requested.access.certificate_authority,
            "cluster-dns-ip": requested.access.dns,
        }
    if requested.pods is not None:
        kubernetes["max-pods"] = requested.pods
    lines += _table("settings.kubernetes", kubernetes)
    lines += _table("settings.kubernetes.node-labels", dict(sorted(requested.labels.items())))
    lines += _table("settings.kubernetes.node-taints", {taint.key: [f":{taint.effect}"] for taint in requested.taints})
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
    """Return a TOML table; strings, lists and booleans are written as in JSON."""
    if not values:
        return []
    return [f"[{name}]", *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items()), ""]
