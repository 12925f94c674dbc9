"""EC2 instance types."""

from dataclasses import dataclass
from typing import Literal

from ultracluster.catalogue.ec2._gpus import Gpu
from ultracluster.catalogue.ec2._ultraservers import UltraServer

Architecture = Literal["x86_64", "arm64"]
Purchase = Literal["on-demand", "spot", "capacity-block"]
Kind = Literal["interface", "efa", "efa-only"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkCard:
    """A network card of an instance.

    Args:
        index: NetworkCardIndex, from 0.
        kinds: Interface types that it supports.
        max_interfaces: Maximum number of interfaces of any type.
        ena_gbps: Bandwidth in Gbit/s of its ENA interface, or None if not known.
        efa_gbps: Bandwidth in Gbit/s of its EFA device, or None without EFA or if not known.
    """

    index: int
    kinds: tuple[Kind, ...]
    max_interfaces: int
    ena_gbps: float | None = None
    efa_gbps: float | None = None

    @property
    def takes_efa(self) -> bool:
        """True if the card supports an EFA device, with or without ENA."""
        return "efa" in self.kinds or "efa-only" in self.kinds


@dataclass(frozen=True, kw_only=True, slots=True)
class SoftwareFloor:
    """Minimum software versions of a custom image.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html (read 2026-11-20)
    """

    driver: str
    cuda: str
    efa_installer: str
    #: None if none is published.
    gdrcopy: str | None = None
    nccl: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """An EC2 instance type.

    Args:
        name: Name, such as `p5en.48xlarge`.
        architecture: CPU architecture.
        cpu: Name of the CPU, or its manufacturer.
        vcpus: vCPUs as EC2 counts them against quotas.
        cores: Physical cores.
        memory_gib: RAM in GiB.
        gpus: Number of GPUs; 0 for none.
        gpu: Facts of one GPU, or None without GPUs or for an unknown model.
        gpu_model: Name of the GPU in EC2, or None without GPUs.
        nvlink_domain: GPUs in one NVLink domain, including other instances of its UltraServer;
            1 without NVLink. None without GPUs or if not known.
        nvme: Number of local NVMe disks, and GB (10^9) of each.
        cards: Network cards by index.
        max_efa: Maximum number of EFA devices.
        efa_gbps: EFA bandwidth of an instance in Gbit/s. Not a sum over the cards, whose API figures are ENA's. None
            if not known.
        efa_generation: 1 to 4, or None if not known or sources disagree.
        ipv4_per_interface: Maximum IPv4 addresses of an interface.
        gpudirect_rdma: EFA reads and writes GPU memory. None if not known.
        efa_cards: Cards with EFA devices in AWS's guide, or None for all that support one.
        efa_pairs: Cards with EFA devices if each GPU has two that share its bandwidth, or None if none has.
        extra_ena_cards: Cards with a further ENA interface in AWS's guide for IP bandwidth, or None for all with room.
        lustre_efa_interfaces: EFA connections of a client to an EFA-enabled FSx for Lustre file system. None if
            it cannot be such a client, or if not known.
        gpudirect_storage: FSx for Lustre supports GPUDirect Storage on it. None if not known.
        ebs_gbps: EBS bandwidth in Gbit/s, or None if not known.
        purchase: Purchase options.
        placement_strategies: Supported placement group strategies.
        ultraservers: UltraServers that it is only available in. By default, none.
        software: Minimum software versions of a custom image, or None if not known.
        variables: Environment variables that programs need on it, and their values.
        declared: The user declared it, so this release has not verified its figures.
        source: Source of the figures.
        read_on: Date on which the source was read.
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
    efa_pairs: tuple[int, ...] | None = None
    extra_ena_cards: tuple[int, ...] | None = None
    lustre_efa_interfaces: int | None = None
    gpudirect_storage: bool | None = None
    ebs_gbps: float | None = None
    purchase: tuple[Purchase, ...] = ("on-demand", "spot")
    placement_strategies: tuple[str, ...] = ("cluster", "partition", "spread")
    ultraservers: tuple[UltraServer, ...] = ()
    software: SoftwareFloor | None = None
    variables: tuple[tuple[str, str], ...] = ()
    declared: bool = False

    @property
    def supports_efa(self) -> bool:
        """True if it supports EFA."""
        return self.max_efa > 0

    @property
    def max_interfaces(self) -> int:
        """Maximum number of network interfaces of any type on all cards."""
        return sum(card.max_interfaces for card in self.cards)
