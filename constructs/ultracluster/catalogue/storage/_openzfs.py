"""FSx for OpenZFS: deployment types, throughput capacities, storage capacities, regions.

The storage class is SSD throughout; Intelligent-Tiering is sold for MULTI_AZ_1 only.

See: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/availability-durability.html and
managing-throughput-capacity.html (read 2026-11-21)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

from ultracluster.catalogue.provenance import Source, Stated

_DEPLOYMENT_TYPES = Source(
    "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/availability-durability.html "
    "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/managing-throughput-capacity.html",
    read_on="2026-11-21",
)
_AVAILABLE = Source(
    "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/available-aws-regions.html", read_on="2026-11-21"
)
_LIMITS = Source(
    "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limits.html "
    "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/managing-storage-capacity.html",
    read_on="2026-11-21",
)
_PERFORMANCE = Source("https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance.html", read_on="2026-11-21")
_USING_BACKUPS = Source("https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/using-backups.html", read_on="2026-11-21")
_NFS_EXPORT = Source(
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSNfsExport.html", read_on="2026-11-21"
)
_PERFORMANCE_SSD = Source(
    "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance-ssd.html", read_on="2026-11-21"
)
_MOUNTING_VOLUMES = Source(
    "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/mounting-volumes.html", read_on="2026-11-21"
)

DeploymentType = Literal["SINGLE_AZ_1", "SINGLE_AZ_HA_1", "SINGLE_AZ_2", "SINGLE_AZ_HA_2", "MULTI_AZ_1"]

_FIRST = (128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)


class OpenZfsDeployment(NamedTuple):
    """A deployment type.

    Args:
        throughput_mb_per_s: Valid throughput capacities, in MB/s.
        most_iops: Maximum provisioned SSD IOPS.
        highly_available: A second server takes over, typically within 60 seconds. Without one, a failure and
            the weekly maintenance take the file system away for about 30 minutes.
        zones: Availability Zones that hold the data, one subnet in each.
    """

    throughput_mb_per_s: tuple[int, ...]
    most_iops: int
    highly_available: bool
    zones: int = 1

    @property
    def addresses(self) -> int:
        """Return its addresses in its subnets: one for each server, and a floating one between two of them."""
        return 3 if self.highly_available else 1


DEPLOYMENTS: Annotated[
    Mapping[DeploymentType, OpenZfsDeployment],
    Stated(
        _DEPLOYMENT_TYPES,
        columns="type of deployment: throughput_mb_per_s in MB/s; most_iops in IOPS; highly_available; "
        "zones in Availability Zones",
    ),
] = MappingProxyType(
    {
        "SINGLE_AZ_1": OpenZfsDeployment(throughput_mb_per_s=(64, *_FIRST), most_iops=160_000, highly_available=False),
        "SINGLE_AZ_HA_1": OpenZfsDeployment(throughput_mb_per_s=_FIRST, most_iops=160_000, highly_available=True),
        "SINGLE_AZ_2": OpenZfsDeployment(throughput_mb_per_s=_SECOND, most_iops=400_000, highly_available=False),
        "SINGLE_AZ_HA_2": OpenZfsDeployment(throughput_mb_per_s=_SECOND, most_iops=400_000, highly_available=True),
        # Some regions stop at 5,120 MB/s and 160,000 IOPS: the service refuses more there.
        "MULTI_AZ_1": OpenZfsDeployment(throughput_mb_per_s=_SECOND, most_iops=400_000, highly_available=True, zones=2),
    }
)

# Where the second generation is sold, with one server and with two.
_SECOND_GENERATION: Annotated[frozenset[str], Stated(_AVAILABLE, columns="Regions")] = frozenset(
    {
        *("us-east-1", "us-east-2", "us-west-1", "us-west-2", "us-gov-west-1", "ca-central-1", "sa-east-1"),
        *("eu-central-1", "eu-central-2", "eu-north-1", "eu-south-2", "eu-west-1", "eu-west-2"),
        *("ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-south-2", "ap-southeast-1", "ap-southeast-2"),
    }
)
# Where two servers of the first generation are sold.
_FIRST_GENERATION_HA: Annotated[frozenset[str], Stated(_AVAILABLE, columns="Regions")] = frozenset(
    {
        *("us-west-1", "us-gov-east-1", "ca-west-1", "mx-central-1", "sa-east-1"),
        *("eu-north-1", "eu-south-1", "eu-west-2", "eu-west-3", "af-south-1", "il-central-1", "me-south-1"),
        *("ap-east-1", "ap-east-2", "ap-northeast-2", "ap-northeast-3", "ap-south-2", "ap-southeast-3"),
        *("ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7"),
    }
)
# Where neither is.
_NOT_ONE_ZONE_HA: Annotated[frozenset[str], Stated(_AVAILABLE, columns="Regions")] = frozenset({"me-central-1"})

# SSD storage; each GiB brings three IOPS, more are bought. Single-AZ 1 and Multi-AZ hold 512 TiB in some regions only.
SMALLEST_GIB: Annotated[int, Stated(_LIMITS, "GiB")] = 64
LARGEST_GIB: Annotated[int, Stated(_LIMITS, "GiB")] = 524_288
IOPS_PER_GIB: Annotated[int, Stated(_LIMITS, "IOPS/GiB")] = 3
#: Above this, writes become slow; AWS recommends to stay below.
FULL_PERCENT: Annotated[int, Stated(_PERFORMANCE, "%")] = 80

# Days that automatic backups are kept; 0 switches them off. AWS's console proposes 30.
MOST_BACKUP_DAYS: Annotated[int, Stated(_USING_BACKUPS, "d")] = 90
BACKUP_DAYS: Annotated[int, Stated(_USING_BACKUPS, "d")] = 30

# Address ranges and addresses that one volume's exports name.
MOST_CLIENT_RANGES: Annotated[int, Stated(_NFS_EXPORT, "ranges")] = 25

# TCP connections of clients that a server takes, by its throughput in MB/s; every larger one takes the last.
_CONNECTIONS: Annotated[dict[int, int], Stated(_PERFORMANCE_SSD, "connections, by throughput in MB/s")] = {
    64: 4_096,
    128: 8_192,
    160: 8_192,
    256: 16_384,
    320: 16_384,
}
_MOST_CONNECTIONS: Annotated[int, Stated(_PERFORMANCE_SSD, "connections")] = 32_768

# Bytes of one read or write; smaller on the two servers with little memory.
_TRANSFER_BYTES: Annotated[dict[int, int], Stated(_MOUNTING_VOLUMES, "bytes, by throughput in MB/s")] = {
    64: 262_144,
    128: 524_288,
}
_MOST_TRANSFER_BYTES: Annotated[int, Stated(_MOUNTING_VOLUMES, "bytes")] = 1_048_576


def sold_in(deployment_type: DeploymentType, region: str) -> bool:
    """Return True if a region has a deployment type; newer regions are assumed to have it."""
    known = _SECOND_GENERATION | _FIRST_GENERATION_HA | _NOT_ONE_ZONE_HA
    if region not in known:
        return True
    if deployment_type in ("SINGLE_AZ_2", "SINGLE_AZ_HA_2"):
        return region in _SECOND_GENERATION
    return region in _FIRST_GENERATION_HA if deployment_type == "SINGLE_AZ_HA_1" else True


def connections(throughput_mb_per_s: int) -> int:
    """Return the maximum TCP connections of a server of a throughput; a client opens one or more."""
    return _CONNECTIONS.get(throughput_mb_per_s, _MOST_CONNECTIONS)


def transfer_bytes(throughput_mb_per_s: int) -> int:
    """Return the largest `rsize` and `wsize` of a server of a throughput."""
    return _TRANSFER_BYTES.get(throughput_mb_per_s, _MOST_TRANSFER_BYTES)
