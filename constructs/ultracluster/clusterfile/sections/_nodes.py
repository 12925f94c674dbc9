"""The section `nodes`: groups of equal nodes."""

import re
from typing import Annotated

from pydantic import Field

from ultracluster.catalogue.ec2 import INSTANCE_TYPES, LAYOUTS, ULTRASERVERS
from ultracluster.catalogue.ec2 import Layout as LayoutWord
from ultracluster.catalogue.schedulers import NodeOs, eks, eks_updates
from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile._quantities import Size
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._capacity import Capacity
from ultracluster.clusterfile.sections._image import Image
from ultracluster.clusterfile.sections._placement import PlacementGroup
from ultracluster.clusterfile.sections._scripts import Script
from ultracluster.clusterfile.sections._section import Section, optional
from ultracluster.clusterfile.sections._slurm_words import GresRecord
from ultracluster.clusterfile.sections._word import Word
from ultracluster.planning.capacity import OnDemand

#: Names of groups that the cluster makes itself: login nodes of Slurm, system nodes of Kubernetes.
RESERVED_NODE_GROUPS = ("login", "system")
NODE_GROUP = re.compile(r"[a-z][a-z0-9-]{2,24}")
INSTANCE_TYPE = r"[a-z][a-z0-9-]{0,30}\.[a-z0-9-]{1,20}|u-[a-z0-9-]{1,30}"
# What Kubernetes takes as name and value of a label, and Slurm, joined by a hyphen, as a feature.
# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ (read 2026-11-21)
# Without hyphens, so that NAME-VALUE means one label; `u` is what UltraServers begin with.
_LABEL_NAME = r"(?!u$)[A-Za-z][A-Za-z0-9_.]{0,61}"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
# A name of 63 characters, or one behind a domain, 253 in all:
# https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html (read 2026-11-21)
_TAINT_KEY = re.compile(
    r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*/)?"
    r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?",
    re.ASCII,
)
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
# Those that this library and EKS set themselves.
_TAKEN_TAINTS = ("nvidia.com/gpu", "fsx.csi.aws.com/agent-not-ready")
# Those whose controllers take them away again:
# https://kubernetes.io/docs/reference/labels-annotations-taints/ and https://karpenter.sh/docs/concepts/disruption/
# (read 2026-11-21)
_CONTROLLED = ("node.kubernetes.io", "node.cloudprovider.kubernetes.io", "karpenter.sh")
# "A maximum of 50 taints are allowed per node group" (the first page above), and two are ours.
_MOST_TAINTS = 50 - len(_TAKEN_TAINTS)


def _group_name(value: object) -> str:
    name = str(value)
    if not NODE_GROUP.fullmatch(name):
        raise ValueError(
            "a node group's name has 3 to 25 lower-case letters, digits and hyphens and begins with a letter, got "
            f"{shown(name)}"
        )
    if name in RESERVED_NODE_GROUPS:
        raise ValueError(f"{name!r} is a group that the library creates; choose another name")
    return name


def instance_type_name(value: object) -> str:
    """Parse the name of a type or of an UltraServer; whether it is known is for the rules."""
    what = "an instance type, such as p5en.48xlarge"
    name = w.text(value, what)
    if re.fullmatch(INSTANCE_TYPE, name):
        return name
    raise ValueError(f"must be {what}, got {shown(name)}; {w.did_you_mean(name, INSTANCE_TYPES)}".rstrip("; "))


def _taint_key(value: object) -> str:
    key = w.matching(
        value,
        _TAINT_KEY,
        "the key of a taint, 1 to 63 letters, digits, dots, hyphens and underscores, perhaps after a domain and a "
        "slash, 253 in all",
    )
    if key in _TAKEN_TAINTS:
        raise ValueError(f"{key} is on these nodes where it belongs; remove it")
    if key.partition("/")[0] in _CONTROLLED:
        raise ValueError(f"{key} is added and removed by its own controller; choose another key, such as dedicated")
    return key


def _update(value: object) -> eks_updates.NodeUpdate:
    if isinstance(value, str | int) and eks_updates.is_node_update(value):
        return int(value) if isinstance(value, int) else value
    raise ValueError(f"must be {eks_updates.UPDATE_WORDS}, got {shown(value)}")


NodeGroupName = Annotated[
    str,
    Word(
        _group_name,
        type="string",
        pattern=w.json_pattern(NODE_GROUP),
        **{"not": {"enum": list(RESERVED_NODE_GROUPS)}},
        example="train",
    ),
]
# An editor accepts new types; the rules check them against this release.
InstanceTypeName = Annotated[
    str,
    Word(
        instance_type_name,
        anyOf=[
            {"enum": [*INSTANCE_TYPES, *ULTRASERVERS]},
            {"type": "string", "pattern": f"^({INSTANCE_TYPE})$"},
        ],
        example="p5en.48xlarge",
    ),
]
Layout = Annotated[LayoutWord, w.choice(LAYOUTS, "a layout of network interfaces")]
LabelName = Annotated[
    str,
    w.pattern(
        _LABEL_NAME,
        "the name of a label, 1 to 62 letters, digits, dots and underscores, which begins with a letter and is not u",
        "rack",
    ),
]
LabelValue = Annotated[
    str,
    w.pattern(
        _LABEL,
        "the value of a label, 1 to 63 letters, digits, dots, hyphens and underscores, which begins and ends with a "
        "letter or digit",
        "r1",
    ),
]
TaintKey = Annotated[str, w.parsed(_taint_key, _TAINT_KEY, "dedicated")]
TaintEffect = Annotated[str, w.choice(_TAINT_EFFECTS, "what a taint does", example="NoSchedule")]
# https://github.com/awslabs/amazon-eks-ami/releases and
# https://docs.aws.amazon.com/eks/latest/userguide/eks-linux-ami-versions.html (read 2026-11-22)
ReleaseName = Annotated[
    str,
    w.pattern(
        r"1\.\d{1,2}\.\d{1,2}-20\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])",
        "a release of AWS's image for EKS, such as 1.35.2-20261105",
        "1.35.2-20261105",
    ),
]
# Such as 1.47.0-6154605b: https://github.com/aws-controllers-k8s/community/issues/2644 (read 2026-11-26)
GroupRelease = Annotated[
    str,
    w.pattern(
        r"1\.\d{1,2}\.\d{1,2}-[0-9a-f]{8}",
        "a release of AWS's image for EKS, such as 1.35.2-20261105, or of Bottlerocket, such as 1.47.0-6154605b",
        "1.35.2-20261105",
    ),
]
Update = Annotated[
    eks_updates.NodeUpdate,
    Word(
        _update,
        anyOf=[
            {"enum": list(eks_updates.NODE_UPDATES)},
            {"type": "integer", "minimum": 1, "maximum": eks_updates.NODES_UPDATED_AT_ONCE},
            {"type": "string", "pattern": w.json_pattern(eks_updates.SHARE)},
        ],
        example="10%",
    ),
]
StackNumber = Annotated[int, w.whole(1, 99, example=1)]
Os = Annotated[NodeOs, w.choice(eks.NODE_OSES, "the system of nodes")]


class NodeSlurm(Section):
    """Settings of the nodes of a group in Slurm."""

    settings: t.Settings = Field(
        default={}, description="Settings of slurm.conf that PCS accepts for nodes, by name, such as Weight."
    )
    gres: tuple[GresRecord, ...] = Field(
        default=(),
        min_length=1,
        examples=[[{"Name": "gpu", "File": "/dev/nvidia[0-7]"}]],
        description="Records of gres.conf. Default: PCS writes one for the GPUs of the type.",
    )


class NodeGroupSection(Section):
    """A group of equal nodes: one launch template, one Slurm partition or one node group of EKS."""

    type: InstanceTypeName = Field(
        description="EC2 instance type, or UltraServer; `ultracluster types` lists them, and `types` declares more."
    )
    count: t.Count = Field(description="Number of nodes, or of UltraServers where `type` names one.")
    min: t.Spare | None = Field(
        default=None,
        description="Number of nodes that are always up; the others are powered on as jobs come. Default: all where "
        "they are reserved, none where they are on-demand, Spot or from an interruptible reservation.",
    )
    spare: t.Spare = Field(default=0, description="Nodes beside them in reserve, for one that fails.")
    capacity: Capacity = Field(default=OnDemand(), description="Purchase option, or reservation, of the nodes.")
    zone: t.ZoneId | None = Field(
        default=None, description="Id of the zone of the nodes. Default: the cluster's. EFA does not cross zones."
    )
    layout: Layout | None = Field(
        default=None,
        description="Network interfaces of a node. Default: under Slurm all-efa, as AWS's templates for PCS have it, "
        "and one-ip where the type cannot; under Kubernetes one-ip.",
    )
    image: Image | None = Field(
        default=None,
        description="build: the deployment builds one, for Slurm. aws: the newest of AWS's for PCS at each deployment; "
        "under Kubernetes EKS chooses it when the node group is created. Or an existing image. Default: `image` of the "
        "cluster.",
    )
    root_volume: t.Size = Field(
        default=Size.parse("500 GiB"), description="Root volume, 300 GiB at least: container images are large."
    )
    placement_group: PlacementGroup = Field(
        default="auto",
        description="auto: the reservation's own, or a cluster placement group for on-demand and Spot nodes "
        "with EFA. cluster, partition, spread: a new one. none. {name: NAME}: an existing one. Karpenter creates none.",
    )
    labels: dict[LabelName, LabelValue] = Field(
        default={}, description="Labels of the nodes; Slurm has them as features, NAME-VALUE."
    )
    tags: t.Tags = Field(
        default={},
        description="Tags of the instances, their volumes and network interfaces. An edit replaces the nodes of the "
        "group. Default: the name of the group alone.",
    )
    scripts: tuple[Script, ...] = Field(
        default=(), description="Under Slurm: scripts that run on each node at boot, in this order."
    )
    canary: t.Flag = Field(
        default=False,
        description="Under Slurm: whether one node of the group is a node group NAME-canary in the same queues, which "
        "gets a new image or boot script first. The deployment changes the others once this node is well.",
    )
    slurm: NodeSlurm = optional(description="Settings of the nodes in Slurm.")
    taints: dict[TaintKey, TaintEffect] = Field(
        default={},
        max_length=_MOST_TAINTS,
        description="Under Kubernetes: taints of the nodes, each with its effect, beside that of GPUs.",
    )
    os: Os | None = Field(default=None, description="Under Kubernetes: al2023 or bottlerocket. Default: al2023.")
    release: GroupRelease | None = Field(
        default=None,
        description="Under Kubernetes: release of AWS's image, or of Bottlerocket. Default with al2023: `release` of "
        "kubernetes.",
    )
    update: Update = Field(
        default="one-by-one",
        description="Under Kubernetes: how many nodes EKS updates at once. one-by-one; a number, or a share such as "
        "10%; or all, for a group whose jobs use all of it. At most 100.",
    )
    elastic: t.Flag = Field(
        default=False,
        description="Under Kubernetes: whether Karpenter launches nodes when pods need them, `count` at most. On "
        "HyperPod, the service runs it, and its nodes have no deep health checks.",
    )
    stack: StackNumber | None = Field(
        default=None,
        description="Number of the stack of the node group: 1 is NAME-Compute, 2 NAME-Compute-2. Default: the first "
        "that has room, in the order of the file.",
    )
    pods: t.Count | None = Field(
        default=None,
        description="Under Kubernetes: pods of a node, which use addresses of its subnet. Karpenter's nodes, and those "
        "with an existing image, run no more. Default: 30.",
    )
