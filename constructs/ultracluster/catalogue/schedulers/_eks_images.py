"""AWS's images of managed node groups."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.provenance import Source, Stated
from ultracluster.catalogue.schedulers._eks import NodeOs, is_dated_release

_BOTTLEROCKET_DRIVERS = Source(
    "https://bottlerocket.dev/en/os/1.68.x/version-information/gpu-drivers/1.68.0/ "
    "https://github.com/bottlerocket-os/bottlerocket/issues/4889",
    read_on="2026-11-27",
)
_TWO_DRIVERS = Source("https://github.com/awslabs/amazon-eks-ami/issues/2768", read_on="2026-11-27", as_of="2026-09-21")
#: First version of Kubernetes whose Bottlerocket image has driver 595, beside 580.
BOTTLEROCKET_595: Annotated[str, Stated(_BOTTLEROCKET_DRIVERS, columns="version of Kubernetes")] = "1.37"
#: Release of AWS's image with Amazon Linux 2023 from which on it has driver 595 too, and takes it for G7.
AL2023_595: Annotated[str, Stated(_TWO_DRIVERS, columns="day")] = "2026-09-17"


def check_driver(record: InstanceType, os: NodeOs, *, version: str, release: str | None) -> list[str]:
    """Return the error of a type that needs driver 595, if the image of EKS has none; empty otherwise.

    Args:
        record: Type of the nodes.
        os: Their operating system.
        version: Version of Kubernetes.
        release: Release of the image, or None for the newest.
    """
    if record.software is None or int(record.software.driver.split(".")[0]) < 595:
        return []
    needs = f"{record.name} needs NVIDIA driver {record.software.driver}"
    if os == "bottlerocket":
        minor, first = (int(text.split(".")[1]) for text in (version, BOTTLEROCKET_595))
        if minor >= first:
            return []
        return [f"{needs}, and Bottlerocket has it from Kubernetes {BOTTLEROCKET_595} on: its nodes would not join"]
    if release is not None and is_dated_release(release):
        built = date.fromisoformat(release.rpartition("-")[2])
        if built < date.fromisoformat(AL2023_595):
            return [f"{needs}, and AWS's image has it since {AL2023_595}; use a newer release than {release}"]
    return []


def ami_type(os: NodeOs, record: InstanceType) -> str:
    """Return the `AmiType` of a managed node group.

    See: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html (read 2026-11-21)
    """
    arm = record.architecture == "arm64"
    if os == "bottlerocket":
        return f"BOTTLEROCKET_{'ARM_64' if arm else 'x86_64'}{'_NVIDIA' if record.gpus else ''}"
    if not record.gpus:
        return "AL2023_ARM_64_STANDARD" if arm else "AL2023_x86_64_STANDARD"
    return "AL2023_ARM_64_NVIDIA" if arm else "AL2023_x86_64_NVIDIA"


def release_parameter(version: str, os: NodeOs, record: InstanceType) -> str:
    """Return the public parameter of Systems Manager with the newest release of AWS's image of a managed node group.

    See: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html and
    https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html (read 2026-11-26)
    """
    if os == "bottlerocket":
        variant = f"aws-k8s-{version}{'-nvidia' if record.gpus else ''}"
        return f"/aws/service/bottlerocket/{variant}/{record.architecture}/latest/image_version"
    variant = f"{record.architecture}/{'nvidia' if record.gpus else 'standard'}"
    return f"/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/{variant}/recommended/release_version"
