"""Instances that build images, their price, and how long a build takes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, NamedTuple

from ultracluster.catalogue.ec2._instance_type import Architecture
from ultracluster.catalogue.provenance import Source, Stated

_ON_DEMAND = Source("https://aws.amazon.com/ec2/pricing/on-demand/", read_on="2026-11-22")
_REFERENCE = Source("https://github.com/awslabs/awsome-distributed-ai", read_on="2026-11-22", as_of="2026-07-23")


class Builder(NamedTuple):
    """An instance type that builds images.

    Args:
        type: Name of the type: 16 vCPUs, because programs are compiled.
        usd_per_hour: Price on demand for Linux in us-east-1.
    """

    type: str
    usd_per_hour: float


#: By architecture. Prices of https://aws.amazon.com/ec2/pricing/on-demand/, as several public price tables record them
#: (read 2026-11-22).
BUILDERS: Annotated[
    Mapping[Architecture, Builder],
    Stated(_ON_DEMAND, columns="type: name; usd_per_hour: USD/h, on demand, Linux, us-east-1"),
] = MappingProxyType(
    {
        "x86_64": Builder(type="c7i.4xlarge", usd_per_hour=0.714),
        "arm64": Builder(type="c7g.4xlarge", usd_per_hour=0.58),
    }
)
#: What AWS's sample for PCS takes for an image with Enroot and Pyxis, on the same parent:
#: https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs/docs/CUSTOM-AMI.md (commit 95b939c of
#: 2026-07-23, read 2026-11-22). The images here have more, so it is a lower bound.
BUILD_MINUTES: Annotated[int, Stated(_REFERENCE, "min")] = 30

#: What the check of an image does not run on a builder, and what it does instead.
CHECKS_NOT_RUN: Mapping[str, str] = MappingProxyType(
    {
        "NVIDIA modules and nvidia-smi": "no GPU; modules and what they depend on are found for the kernel",
        "metrics of dcgm-exporter": "no GPU; it starts DCGM",
        "containers with GPUs, and enroot import": "no GPU, no registry; a container of a local image starts",
        "EFA, with kefalnd": "no EFA device; the driver is loaded, libfabric has its provider, kefalnd is found",
        "AWS's tool for Lustre over EFA": "no EFA device; its dry run",
        "mounts of Lustre and NFS": "no file system; modules are loaded, and NFS gets to the refusal of a connection",
        "PCS agent and slurmd": "no cluster; versions, and the hardware that slurmd sees",
        "IMEX": "no UltraServer; its unit is enabled",
        "sending of logs and metrics": "configurations are valid, and Prometheus signs a sample for a local server",
    }
)
