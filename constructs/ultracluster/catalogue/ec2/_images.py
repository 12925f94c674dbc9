"""Public parameters of AWS's newest AMIs.

All but EKS's parameters with a release re-resolve: a stack that uses one takes another AMI at its next
deployment, and replaces nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from ultracluster.catalogue.ec2._instance_type import Architecture
from ultracluster.catalogue.provenance import Source, Stated

_GUIDE = Source(
    "https://docs.aws.amazon.com/pcs/latest/userguide/ "
    "https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html https://bottlerocket.dev "
    "https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html "
    "https://docs.aws.amazon.com/linux/al2023/ug/ec2.html",
    read_on="2026-11-20",
)
_DLAMI = Source(
    "https://docs.aws.amazon.com/dlami/latest/devguide/ https://github.com/NVIDIA/open-gpu-kernel-modules",
    read_on="2026-11-22",
)

#: Images by who they are for: AWS PCS, EKS on Amazon Linux 2023 or Bottlerocket, the same without GPUs, plain EC2
#: (DLAMI), and Amazon Linux 2023 itself.
ImageFamily = Literal["pcs", "eks", "eks-standard", "bottlerocket", "bottlerocket-standard", "dlami", "al2023"]

# https://docs.aws.amazon.com/pcs/latest/userguide/ (PCS-ready DLAMI, only `latest` exists);
# https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html;
# https://bottlerocket.dev (variants aws-k8s-*-nvidia);
# https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html (all read 2026-11-20);
# https://docs.aws.amazon.com/linux/al2023/ug/ec2.html (read 2026-11-22)
_PARAMETERS: Annotated[
    dict[ImageFamily, str], Stated(_GUIDE, columns="family of images: name of the parameter in Systems Manager")
] = {
    "pcs": "/aws/service/pcs/ami/dlami-base-ubuntu2404/{architecture}/latest/ami-id",
    "eks": "/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/{architecture}/nvidia/recommended/image_id",
    "eks-standard": "/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/{architecture}/standard/recommended/"
    "image_id",
    "bottlerocket-standard": "/aws/service/bottlerocket/aws-k8s-{kubernetes}/{architecture}/latest/image_id",
    "bottlerocket": "/aws/service/bottlerocket/aws-k8s-{kubernetes}-nvidia/{architecture}/latest/image_id",
    "al2023": "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{architecture}",
    "dlami": "/aws/service/deeplearning/ami/{architecture}/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id",
}
#: Families with accelerators that AWS's images for NVIDIA GPUs do not drive, each with the reason. These images have
#: NVIDIA's open kernel modules: https://docs.aws.amazon.com/dlami/latest/devguide/ (release notes, supported instances)
#: and https://github.com/NVIDIA/open-gpu-kernel-modules, README.md: Turing or later (both read 2026-11-22)
NO_NVIDIA_DRIVER: Annotated[Mapping[str, str], Stated(_DLAMI, columns="family of instances: its accelerators")] = (
    MappingProxyType(
        {
            **dict.fromkeys(("inf1", "inf2", "trn1", "trn1n", "trn2", "trn2u", "trn3"), "AWS Neuron"),
            **dict.fromkeys(("dl1", "dl2q"), "accelerators that are not NVIDIA's"),
            **dict.fromkeys(("g4ad",), "AMD GPUs"),
            **dict.fromkeys(("g2", "g3", "g3s", "p2", "p3", "p3dn"), "NVIDIA GPUs older than Turing"),
        }
    )
)
_ARCHITECTURES: tuple[Architecture, ...] = ("x86_64", "arm64")


def image_parameter(family: ImageFamily, architecture: Architecture, kubernetes: str | None = None) -> str:
    """Return the name of the public parameter with the id of the newest AMI.

    Args:
        family: AMI family.
        architecture: CPU architecture.
        kubernetes: Version such as `1.34`, for the images of EKS.

    Raises:
        ValueError: If an EKS image is requested without a Kubernetes version.
    """
    pattern = _PARAMETERS[family]
    if "{kubernetes}" in pattern and not kubernetes:
        raise ValueError(f"an image of {family} is for one version of Kubernetes: pass kubernetes='1.34'")
    return pattern.format(architecture=architecture, kubernetes=kubernetes)


def architecture_of(parameter: str) -> Architecture | None:
    """Return the architecture in the name of a public parameter, or None."""
    parts = parameter.replace("-", "/").split("/")
    return next((name for name in _ARCHITECTURES if name in parts), None)


def without_driver(name: str) -> str | None:
    """Return what an instance type has that AWS's images for NVIDIA GPUs do not drive, or None."""
    return NO_NVIDIA_DRIVER.get(name.partition(".")[0])


def moves(parameter: str) -> bool:
    """Return True if a parameter re-resolves, as AWS's `latest` and `recommended` do."""
    return bool({"latest", "recommended"} & set(parameter.split("/")))
