"""Instances that build images, their price, and how long a build takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ultracluster.catalogue.ec2._instance_type import Architecture


@dataclass(frozen=True, kw_only=True, slots=True)
class Builder:
    """An instance type that builds images.

    Args:
        type: Name of the type: 16 vCPUs, because programs are compiled.
        usd_per_hour: Price on demand for Linux in us-east-1.
    """

    type: str
    usd_per_hour: float


#: By architecture. Prices of https://aws.amazon.com/ec2/pricing/on-demand/, as several public price tables record them
#: (read 2026-11-22).
BUILDERS: Mapping[Architecture, Builder] = MappingProxyType(
    {
        "x86_64": Builder(type="c7i.4xlarge", usd_per_hour=0.714),
        "arm64": Builder(type="c7g.4xlarge", usd_per_hour=0.58),
    }
)
#: What AWS's sample for PCS takes for an image with Enroot and Pyxis, on the same parent:
#: https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs/docs/CUSTOM-AMI.md (commit 95b939c of
#: 2026-07-23, read 2026-11-22). The images here have more, so it is a lower bound.
BUILD_MINUTES = 30
