"""The values of a node group, one reader each."""

import re

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers.basic import did_you_mean, matching, one_of, text
from ultracluster.hardware import INSTANCE_TYPES, LAYOUTS, Layout

# Names of groups that the cluster makes itself: login nodes of Slurm, system nodes of Kubernetes.
RESERVED_NODE_GROUPS = ("login", "system")

INSTANCE_TYPE = re.compile(r"[a-z][a-z0-9-]{0,30}\.[a-z0-9-]{1,20}|u-[a-z0-9-]{1,30}", re.ASCII)
GPU = re.compile(r"[A-Za-z0-9][A-Za-z0-9 -]{0,30}", re.ASCII)
# Up to 255 ASCII characters: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html
# (read 2026-11-21); ours is what needs no quotes anywhere.
PLACEMENT_GROUP = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/-]{0,254}", re.ASCII)
# What Kubernetes takes as name and value of a label, and Slurm, joined by a hyphen, as a feature.
# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ (read 2026-11-21)
# Without hyphens, so that NAME-VALUE means one label; `u` is what UltraServers begin with.
LABEL_NAME = re.compile(r"(?!u$)[A-Za-z][A-Za-z0-9_.]{0,61}", re.ASCII)
LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", re.ASCII)
NODE_GROUP = re.compile(r"[a-z][a-z0-9-]{2,24}")
# A name of 63 characters, or one behind a domain, 253 in all:
# https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html (read 2026-11-21)
TAINT_KEY = re.compile(
    r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*/)?"
    r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?",
    re.ASCII,
)
TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
# Those that this library and EKS set themselves.
TAKEN_TAINTS = ("nvidia.com/gpu", "fsx.csi.aws.com/agent-not-ready")
# Those whose controllers take them away again:
# https://kubernetes.io/docs/reference/labels-annotations-taints/ and https://karpenter.sh/docs/concepts/disruption/
# (read 2026-11-21)
_CONTROLLED = ("node.kubernetes.io", "node.cloudprovider.kubernetes.io", "karpenter.sh")
# "A maximum of 50 taints are allowed per node group" (the first page above), and two are ours.
_MOST_TAINTS = 50 - len(TAKEN_TAINTS)


def node_group_name(value: object) -> str:
    """The name of a node group."""
    found = str(value)
    if not NODE_GROUP.fullmatch(found):
        raise ValueError(
            "a node group's name has 3 to 25 lower-case letters, digits and hyphens and begins with a letter, got "
            f"{shown(found)}"
        )
    if found in RESERVED_NODE_GROUPS:
        raise ValueError(f"{found!r} is a group that is made for you; choose another name")
    return found


def instance_type_name(value: object) -> str:
    """The name of a type, or of an UltraServer; whether there is such a one is seen when the whole file is."""
    what = "an instance type, such as p5en.48xlarge"
    found = text(value, what)
    if INSTANCE_TYPE.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, got {shown(found)}; {did_you_mean(found, INSTANCE_TYPES)}".rstrip("; "))


def ultraserver_name(value: object) -> str:
    """The name of an UltraServer that is declared."""
    what = "the name of an UltraServer, such as u-p6e-gb300x72"
    found = text(value, what)
    if found.startswith("u-") and INSTANCE_TYPE.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, got {shown(found)}")


def declared_type_name(value: object) -> str:
    """The name of an instance type that is declared."""
    found = str(value)
    if found in INSTANCE_TYPES:
        raise ValueError(f"{found} is a type of the catalogue already; name yours otherwise, or remove it")
    if INSTANCE_TYPE.fullmatch(found) and not found.startswith("u-"):
        return found
    raise ValueError(f"must be an instance type, such as p6e-gb300.36xlarge, got {shown(found)}")


def architecture(value: object) -> str:
    """The architecture of a CPU, in EC2's words."""
    others = {"amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "aarch64": "arm64", "arm": "arm64"}
    if isinstance(value, str) and value.lower() in others:
        raise ValueError(f"an architecture is x86_64 or arm64, got {shown(value)}; write {others[value.lower()]}")
    return one_of(value, ("x86_64", "arm64"), "an architecture")


def gpu_name(value: object) -> str:
    """The model of a GPU, known or not."""
    return matching(value, GPU, "the model of a GPU, such as GB200")


def layout(value: object) -> Layout:
    """A layout of network interfaces."""
    found = one_of(value, LAYOUTS, "a layout of network interfaces")
    return next(known for known in LAYOUTS if known == found)


def placement_group_name(value: object) -> str:
    """The name of a placement group that is there already."""
    return matching(value, PLACEMENT_GROUP, "the name of a placement group")


def taints(value: object) -> dict[str, str]:
    """Taints of nodes: the key of each, and what it does to pods that don't tolerate it."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping of keys to effects, such as {{dedicated: NoSchedule}}, got {shown(value)}")
    if len(value) > _MOST_TAINTS:
        raise ValueError(
            f"a node group has at most {_MOST_TAINTS} taints beside those of this library, got {len(value)}"
        )
    wrong = []
    for key, effect in value.items():
        if not isinstance(key, str) or not TAINT_KEY.fullmatch(key):
            message = (
                "a taint's key has letters, digits, dots, hyphens and underscores, 63 at most, perhaps after a domain "
                f"and a slash, 253 in all, got {shown(key)}"
            )
            wrong.append(Problem(path=(str(key),), at_key=True, message=message))
        elif key in TAKEN_TAINTS:
            message = f"{key} is on these nodes where it belongs; remove it"
            wrong.append(Problem(path=(key,), at_key=True, message=message))
        elif key.partition("/")[0] in _CONTROLLED:
            message = f"{key} is set and taken away by its own controller; choose a key of yours, such as dedicated"
            wrong.append(Problem(path=(key,), at_key=True, message=message))
        if effect not in TAINT_EFFECTS:
            message = f"what a taint does is one of {', '.join(TAINT_EFFECTS)}, got {shown(effect)}"
            wrong.append(Problem(path=(str(key),), message=message))
    if wrong:
        raise FieldProblems(wrong)
    return dict(value)


def labels(value: object) -> dict[str, str]:
    """Labels of nodes."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping of names to texts, got {shown(value)}")
    what = "letters, digits, dots, hyphens and underscores, 63 at most, and begins and ends with a letter or digit"
    wrong = []
    for key, word in value.items():
        if not LABEL_NAME.fullmatch(key):
            message = (
                "a label's name has letters, digits, dots and underscores, 62 at most, begins with a letter and is not "
                f"u, got {shown(key)}"
            )
            wrong.append(Problem(path=(key,), at_key=True, message=message))
        if not isinstance(word, str):
            message = f"a label's value must be a text, got {shown(word)}; put it in quotes"
            wrong.append(Problem(path=(key,), message=message))
        elif not LABEL.fullmatch(word):
            wrong.append(Problem(path=(key,), message=f"a label's value has {what}, got {shown(word)}"))
    if wrong:
        raise FieldProblems(wrong)
    return dict(value)
