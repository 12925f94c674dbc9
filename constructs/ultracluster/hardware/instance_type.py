"""What an EC2 instance type is to a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ultracluster.hardware.gpus import GPUS, Gpu

Architecture = Literal["x86_64", "arm64"]
Purchase = Literal["on-demand", "spot", "capacity-block"]
Kind = Literal["interface", "efa", "efa-only"]

_MIB_PER_GIB = 1024


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
        software: Oldest software of a custom image. None: not known.
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
    software: SoftwareFloor | None = None

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

        What the API does not say (EFA bandwidth, NVLink, Lustre, software) stays None.

        Args:
            item: One element of `InstanceTypes`, as boto3 or the AWS CLI gives it.

        Raises:
            ValueError: When the item lacks what a cluster needs to know; all that is missing is named.

        See: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html (read 2026-11-20)
        """
        return _from_api(item)


def _from_api(item: Mapping[str, Any]) -> InstanceType:
    problems: list[str] = []

    def get(path: str, kind: type | tuple[type, ...]) -> Any:
        value: Any = item
        for step in path.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if not isinstance(value, kind) or isinstance(value, bool):
            problems.append(f"{path} must be {_word(kind)}, got {value!r}"[:200])
            return None
        return value

    name = get("InstanceType", str)
    vcpus = get("VCpuInfo.DefaultVCpus", int)
    memory = get("MemoryInfo.SizeInMiB", int)
    architectures = get("ProcessorInfo.SupportedArchitectures", list)
    cards = get("NetworkInfo.NetworkCards", list)
    per_interface = get("NetworkInfo.Ipv4AddressesPerInterface", int)
    parsed = tuple(_card(card, i, problems) for i, card in enumerate(cards or ()))
    known = [a for a in architectures or () if a in ("x86_64", "arm64")]
    if architectures is not None and not known:
        problems.append(f"ProcessorInfo.SupportedArchitectures must name x86_64 or arm64, got {architectures!r}")
    if cards is not None and not cards:
        problems.append("NetworkInfo.NetworkCards must hold at least one card, got none")
    network = item.get("NetworkInfo") if isinstance(item.get("NetworkInfo"), Mapping) else {}
    assert isinstance(network, Mapping)
    efa = get("NetworkInfo.EfaInfo.MaximumEfaInterfaces", int) if network.get("EfaSupported") else 0
    if problems:
        raise ValueError(
            "not an item of DescribeInstanceTypes:\n"
            + "\n".join(f"- {problem}" for problem in problems)
            + "\npass one element of InstanceTypes, whole: aws ec2 describe-instance-types --instance-types NAME"
        )
    gpus = ((item.get("GpuInfo") or {}).get("Gpus") or [{}])[0]
    disks = ((item.get("InstanceStorageInfo") or {}).get("Disks") or [{}])[0]
    ebs = ((item.get("EbsInfo") or {}).get("EbsOptimizedInfo") or {}).get("MaximumBandwidthInMbps")
    usage = item.get("SupportedUsageClasses") or ("on-demand",)
    return InstanceType(
        name=name,
        architecture=known[0],
        cpu=(item.get("ProcessorInfo") or {}).get("Manufacturer") or "unknown",
        vcpus=vcpus,
        cores=(item.get("VCpuInfo") or {}).get("DefaultCores") or vcpus,
        memory_gib=memory / _MIB_PER_GIB,
        gpus=gpus.get("Count", 0),
        gpu_model=gpus.get("Name"),
        gpu=_gpu(gpus),
        nvme=(disks.get("Count", 0), disks.get("SizeInGB", 0)),
        cards=parsed,
        max_efa=efa,
        ipv4_per_interface=per_interface,
        ebs_gbps=None if ebs is None else ebs / 1000,
        purchase=tuple(word for word in ("on-demand", "spot", "capacity-block") if word in usage),
        placement_strategies=tuple((item.get("PlacementGroupInfo") or {}).get("SupportedStrategies") or ()),
        source="EC2 DescribeInstanceTypes, handed in",
        read_on="not known",
    )


def _gpu(item: Mapping[str, Any]) -> Gpu | None:
    """The facts of a GPU that the API names; two of one name differ by their memory."""
    mib = (item.get("MemoryInfo") or {}).get("SizeInMiB", 0)
    # The API gives usable memory, ours is in whole GiB.
    named = [gpu for gpu in GPUS.values() if gpu.model.split()[0] == item.get("Name")]
    return next((gpu for gpu in named if abs(gpu.hbm_gib - mib / _MIB_PER_GIB) < 1), None)


def _card(card: Any, position: int, problems: list[str]) -> NetworkCard:
    where = f"NetworkInfo.NetworkCards[{position}]"
    card = card if isinstance(card, Mapping) else {}
    index, most = card.get("NetworkCardIndex"), card.get("MaximumNetworkInterfaces")
    # An answer from before EFA-only existed has no InterfaceTypes.
    kinds = card.get("InterfaceTypes")
    if not isinstance(index, int) or not isinstance(most, int):
        problems.append(f"{where} must give NetworkCardIndex and MaximumNetworkInterfaces as whole numbers")
    if not isinstance(kinds, list) or not set(kinds) <= {"interface", "efa", "efa-only"}:
        problems.append(
            f"{where}.InterfaceTypes must be a list of interface, efa, efa-only, got {kinds!r}; ask EC2 anew"
        )
        kinds = []
    return NetworkCard(
        index=index if isinstance(index, int) else position,
        kinds=tuple(kinds),
        max_interfaces=most if isinstance(most, int) else 0,
        ena_gbps=card.get("PeakBandwidthInGbps"),
    )


def _word(kind: type | tuple[type, ...]) -> str:
    return {str: "a text", int: "a whole number", list: "a list"}.get(kind, "given")  # type: ignore[arg-type]
