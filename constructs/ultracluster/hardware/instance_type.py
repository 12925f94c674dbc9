"""What an EC2 instance type is to a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ultracluster.hardware.gpus import Gpu
from ultracluster.hardware.ultraservers import UltraServer

Architecture = Literal["x86_64", "arm64"]
Purchase = Literal["on-demand", "spot", "capacity-block"]
Kind = Literal["interface", "efa", "efa-only"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkCard:
    """One network card of an instance.

    Args:
        index: NetworkCardIndex, from 0.
        kinds: The kinds of interface that it takes.
        max_interfaces: How many interfaces, of whatever kind, it takes.
        ena_gbps: Bandwidth in Gbit/s of its ENA interface. None: not known.
        efa_gbps: Bandwidth in Gbit/s of its EFA device. None: it has none, or it is not known.
    """

    index: int
    kinds: tuple[Kind, ...]
    max_interfaces: int
    ena_gbps: float | None = None
    efa_gbps: float | None = None

    @property
    def takes_efa(self) -> bool:
        """Whether an EFA device, with or without ENA, fits on the card."""
        return "efa" in self.kinds or "efa-only" in self.kinds


@dataclass(frozen=True, kw_only=True, slots=True)
class SoftwareFloor:
    """The oldest software that a custom image may carry.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html (read 2026-11-20)
    """

    driver: str
    cuda: str
    efa_installer: str
    gdrcopy: str
    nccl: str


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """An EC2 instance type.

    Args:
        name: Such as `p5en.48xlarge`.
        architecture: Of the CPU.
        cpu: Name of the CPU, or its manufacturer.
        vcpus: vCPUs as EC2 counts them against quotas.
        cores: Physical cores.
        memory_gib: RAM in GiB.
        gpus: Number of GPUs; 0 for none.
        gpu: Facts of one GPU. None: no GPU, or a model that this release does not know.
        gpu_model: Name of the GPU as EC2 gives it. None: no GPU.
        nvlink_domain: GPUs that share one NVLink domain, with other instances of its UltraServer where there is one;
            1: the GPUs have no NVLink. None: not known, or no GPU.
        nvme: Number of local NVMe disks, and GB (10^9) of each.
        cards: Network cards by index.
        max_efa: EFA devices that an instance takes in all.
        efa_gbps: EFA bandwidth of an instance in Gbit/s. Not a sum over the cards, whose API figures are ENA's. None:
            not known.
        efa_generation: 1 to 4. None: not known, or sources disagree.
        ipv4_per_interface: IPv4 addresses that an interface takes.
        gpudirect_rdma: Whether EFA reads and writes GPU memory. None: not known.
        efa_cards: Cards that AWS's guide puts EFA devices on. None: all that take one.
        extra_ena_cards: Cards that AWS's guide adds an ENA interface on for more IP bandwidth. None: all with room.
        lustre_efa_interfaces: EFA connections that a client opens to an EFA-enabled FSx for Lustre file system. None:
            it can't be such a client, or it is not known.
        gpudirect_storage: Whether FSx for Lustre supports GPUDirect Storage on it. None: not known.
        ebs_gbps: EBS bandwidth in Gbit/s. None: not known.
        purchase: Ways to buy it.
        placement_strategies: Strategies of placement groups that take it.
        ultraservers: UltraServers that it comes in; it is then sold in those only. Default: none.
        software: Oldest software of a custom image. None: not known.
        declared: Whether its user describes it, so that no figure of it was checked by this release.
        source: Where the figures stand.
        read_on: The day they were read there.
    """

    name: str
    architecture: Architecture
    cpu: str
    vcpus: int
    cores: int
    memory_gib: float
    cards: tuple[NetworkCard, ...]
    ipv4_per_interface: int
    source: str
    read_on: str
    max_efa: int = 0
    efa_gbps: int | None = None
    efa_generation: int | None = None
    gpus: int = 0
    gpu: Gpu | None = None
    gpu_model: str | None = None
    nvlink_domain: int | None = None
    nvme: tuple[int, int] = (0, 0)
    gpudirect_rdma: bool | None = None
    efa_cards: tuple[int, ...] | None = None
    extra_ena_cards: tuple[int, ...] | None = None
    lustre_efa_interfaces: int | None = None
    gpudirect_storage: bool | None = None
    ebs_gbps: float | None = None
    purchase: tuple[Purchase, ...] = ("on-demand", "spot")
    placement_strategies: tuple[str, ...] = ("cluster", "partition", "spread")
    ultraservers: tuple[UltraServer, ...] = ()
    software: SoftwareFloor | None = None
    declared: bool = False

    @property
    def supports_efa(self) -> bool:
        """Whether it has an EFA device at all."""
        return self.max_efa > 0

    @property
    def max_interfaces(self) -> int:
        """Network interfaces, of whatever kind, that fit on all cards together."""
        return sum(card.max_interfaces for card in self.cards)

    @staticmethod
    def from_api(item: Mapping[str, Any]) -> "InstanceType":
        """A record from one item of EC2's DescribeInstanceTypes answer, so that a new type works on its first day.

        What the API does not say (EFA bandwidth, NVLink, Lustre, software) stays None, or comes from the catalogue when
        that has the type; a known GPU brings its facts along. A type that is not in the catalogue counts as declared.

        Args:
            item: One element of `InstanceTypes`, as boto3 or the AWS CLI gives it.

        Raises:
            ValueError: When the item lacks what a cluster needs to know; all that is missing is named.

        See: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html (read 2026-11-20)
        """
        # Here and not at the top: the reader knows the catalogue, and the catalogue is made of these.
        from ultracluster.hardware.describe import read

        return read(item)
