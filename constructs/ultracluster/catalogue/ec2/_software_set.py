"""Software that jobs need on a type of nodes: the oldest version of each part, and the one that this release pins.

The oldest versions of driver, CUDA, EFA installer, GDRCopy and NCCL are in `_types.py`, from EC2's guide. What follows
from them, or from the architecture of the GPU, is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, get_args

from ultracluster.catalogue.ec2 import _software as software
from ultracluster.catalogue.ec2._instance_type import InstanceType
from ultracluster.catalogue.provenance import Source, Stated

_GUIDE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html"
_CHANGELOG = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-changelog.html"
_VARIABLES = "https://github.com/aws/aws-ofi-nccl/blob/master/doc/efa-env-var.md"
_EFA = Source(f"{_CHANGELOG} {_VARIABLES}", read_on="2026-11-27", as_of="2026-10-22")
_PYTORCH_IMAGE = "https://github.com/aws/deep-learning-containers (commit e0ecede), PyTorch 2.13 for EC2"

_NEWER_STAYS = "a newer one of AWS's image stays"
#: Libfabric and aws-ofi-nccl of an EFA installer. Of the oldest, 1.24.1, the changelog has no version of the plugin:
#: both are the oldest with which NCCL needs no variables.
EFA_CONTENTS: Annotated[
    Mapping[str, tuple[str, str]], Stated(_EFA, columns="EFA installer: libfabric and aws-ofi-nccl")
] = MappingProxyType(
    {
        "1.24.1": ("1.18", "1.7"),
        "1.41.0": ("2.1.0amzn2.0", "1.14.2"),
        "1.42.0": ("2.1.0amzn3.0", "1.15.0"),
        "1.43.1": ("2.1.0amzn5.0", "1.16.2"),
        "1.44.0": ("2.3.1amzn1.0", "1.17.1"),
        "1.50.0": ("2.6.0amzn1.0", "1.21.1"),
    }
)
_BROADCAST = Source(
    "https://github.com/aws/deep-learning-containers/pull/6668", read_on="2026-11-27", as_of="2026-08-27"
)
#: Oldest aws-ofi-nccl of a container image: 1.18.0 hangs in large broadcasts between nodes. That of a node serves its
#: own checks alone.
PLUGIN_OF_IMAGES: Annotated[str, Stated(_BROADCAST, columns="version")] = "1.20.0"
_FRAMEWORKS = Source(
    "https://github.com/pytorch/pytorch.github.io/pull/1989 https://github.com/NVIDIA/TransformerEngine/pull/1418 "
    "https://github.com/NVIDIA/TransformerEngine/issues/1421",
    read_on="2026-11-25",
    as_of="2025-04-23",
)
#: Oldest PyTorch and Transformer Engine of a model of GPU: those that support Blackwell. B300 needs CUDA 13.0, which
#: PyTorch has since 2.9.0. Older GPUs have none that is newer than what the other parts need.
FRAMEWORKS: Annotated[
    Mapping[str, tuple[str, str]], Stated(_FRAMEWORKS, columns="model of GPU: PyTorch and Transformer Engine")
] = MappingProxyType({"B200": ("2.7.0", "2.0"), "GB200": ("2.7.0", "2.0"), "B300": ("2.9.0", "2.0")})
_NIXL_SOURCE = Source(
    "https://github.com/ai-dynamo/nixl/pull/784 https://github.com/llm-d/llm-d/pull/741",
    read_on="2026-11-25",
    as_of="2026-02-14",
)
#: Oldest NIXL that is known to run its backend LIBFABRIC on EFA. Its backend UCX falls back to TCP there, so no version
#: of UCX is required.
NIXL: Annotated[str, Stated(_NIXL_SOURCE, columns="version")] = "0.9.0"

_GRACE_DRIVERS = Source(
    "https://docs.nvidia.com/datacenter/tesla/tesla-release-notes-595-91-07/index.html, by "
    "https://github.com/NVIDIA/aicr/issues/2383; https://github.com/awslabs/amazon-eks-ami, doc/usage/g7-ami.md",
    read_on="2026-11-27",
    as_of="2026-08-28",
)
#: Driver from which on EFA does not access the memory of a model of GPU. NVIDIA's notes of 595 name P6e-GB200; on
#: p6e-gb300r.36xlarge NCCL between nodes ended, and ran with 580.173.02. NVLink within an UltraServer works.
DRIVER_BELOW: Annotated[Mapping[str, str], Stated(_GRACE_DRIVERS, columns="model of GPU: driver")] = MappingProxyType(
    {"GB200": "595", "GB300": "595"}
)

Part = Literal[
    "driver",
    "driver-below",
    "efa-installer",
    "libfabric",
    "aws-ofi-nccl",
    "gdrcopy",
    "cuda",
    "nccl",
    "pytorch",
    "transformer-engine",
    "nixl",
    "ucx",
]
#: Names of all parts.
PARTS: tuple[str, ...] = get_args(Part)
#: Parts whose version nodes and images report: an oldest one can be required of them.
REPORTED = PARTS[:-1]


class SoftwareVersion(NamedTuple):
    """Versions of one part of the software.

    Args:
        name: Name of the part.
        place: Whether the image of the node has it, or the container image of a job.
        oldest: Oldest version that the type needs, or None if none is published.
        pinned: Version that nodes or the container images of this release have, or None if none is pinned.
        source: Source of the oldest version.
        pinned_by: Source of the pinned version, or an empty text.
    """

    name: Part
    place: Literal["node", "container"]
    oldest: str | None
    pinned: str | None
    source: str
    pinned_by: str = ""


def oldest_software(
    record: InstanceType, place: Literal["node", "container"], replaced: Mapping[str, str]
) -> dict[str, str]:
    """Return the oldest versions that a type needs, on nodes or in container images.

    Args:
        record: Instance type.
        place: Nodes, or container images.
        replaced: Versions that replace them, by name of the part. Without `driver-below` there, every newer driver is
            accepted: only jobs over EFA need an older one.
    """
    oldest = {part.name: replaced.get(part.name, part.oldest) for part in software_set(record) if part.place == place}
    if place == "container" and record.gpu:
        oldest["aws-ofi-nccl"] = replaced.get("aws-ofi-nccl", PLUGIN_OF_IMAGES)
    if "driver-below" not in replaced or driver_below(record) is None:
        oldest.pop("driver-below", None)
    return {name: version for name, version in oldest.items() if version}


def driver_below(record: InstanceType) -> str | None:
    """Return the driver from which on EFA does not access the memory of the GPUs of a type, or None."""
    return DRIVER_BELOW.get(record.gpu_model or "")


def software_set(record: InstanceType) -> tuple[SoftwareVersion, ...]:
    """Return the software that jobs need on a type with GPUs; empty for other types."""
    if record.gpu is None:
        return ()
    floor = record.software
    libfabric, plugin = EFA_CONTENTS.get(floor.efa_installer, (None, None)) if floor else (None, None)
    pytorch, engine = FRAMEWORKS.get(record.gpu_model or "", (None, None))
    own_libfabric, own_plugin = EFA_CONTENTS[software.EFA.version]
    efa_of = f"EFA installer {software.EFA.version}: {_CHANGELOG}; {_NEWER_STAYS}"
    driver = floor.driver if floor else None
    drivers = ", ".join(f"{version} ({service.upper()})" for service, version in software.DRIVERS.items())

    def on_node(name: Part, oldest: str | None, pinned: str | None, source: str, by: str = "") -> SoftwareVersion:
        return SoftwareVersion(name=name, place="node", oldest=oldest, pinned=pinned, source=source, pinned_by=by)

    def in_image(name: Part, oldest: str | None, pinned: str | None, source: str) -> SoftwareVersion:
        by = _PYTORCH_IMAGE if pinned else ""
        return SoftwareVersion(name=name, place="container", oldest=oldest, pinned=pinned, source=source, pinned_by=by)

    return (
        on_node("driver", driver, drivers, _GUIDE, "AWS's newest images"),
        on_node("driver-below", driver_below(record), None, _GRACE_DRIVERS.name),
        on_node(
            "efa-installer",
            floor.efa_installer if floor else None,
            software.EFA.version,
            _GUIDE,
            f"efa-changelog.html; {_NEWER_STAYS}",
        ),
        on_node("libfabric", libfabric, own_libfabric, _CHANGELOG, efa_of),
        on_node("aws-ofi-nccl", plugin, own_plugin, _CHANGELOG, efa_of),
        on_node("gdrcopy", floor.gdrcopy if floor else None, None, _GUIDE),
        in_image("cuda", floor.cuda if floor else None, "13.3", _GUIDE),
        in_image("nccl", floor.nccl if floor else None, "2.30.7", _GUIDE),
        in_image("pytorch", pytorch, "2.13.0", _FRAMEWORKS.name.split()[0]),
        in_image("transformer-engine", engine, "2.17.0", _FRAMEWORKS.name.split()[1]),
        in_image("nixl", NIXL, None, _NIXL_SOURCE.name.split()[1]),
        in_image("ucx", None, None, "not used over EFA: https://github.com/ai-dynamo/dynamo, docs/.../eks/efa.md"),
    )
