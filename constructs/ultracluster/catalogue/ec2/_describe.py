"""Parser of an item of EC2's DescribeInstanceTypes response."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from ultracluster.catalogue.ec2._gpus import GPUS, Gpu
from ultracluster.catalogue.ec2._instance_type import Architecture, InstanceType, Kind, NetworkCard, Purchase
from ultracluster.catalogue.ec2._types import INSTANCE_TYPES

_MIB_PER_GIB = 1024
_MISSING: Any = object()
_LONGEST_QUOTE = 60
# What AWS's guides say and the API does not, such as which cards share a physical NIC.
_NOT_IN_THE_API = (
    "cpu",
    "nvlink_domain",
    "efa_gbps",
    "efa_generation",
    "gpudirect_rdma",
    "efa_cards",
    "efa_pairs",
    "extra_ena_cards",
    "lustre_efa_interfaces",
    "gpudirect_storage",
    "ultraservers",
    "software",
    "variables",
)


def instance_type_from_api(item: Mapping[str, Any]) -> InstanceType:
    """Return a record from an item of EC2's DescribeInstanceTypes response, for types outside the catalogue.

    Facts that the API lacks (EFA bandwidth, NVLink, Lustre, software) are None, or come from the catalogue if
    that has the type; a known GPU brings its facts along. A type that is not in the catalogue counts as declared.

    Args:
        item: One element of `InstanceTypes`, as boto3 or the AWS CLI gives it.

    Raises:
        ValueError: If the item lacks required facts, with all that are missing.

    See: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html (read 2026-11-20)
    """
    problems: list[str] = []
    at = _Reader(item, problems)
    # EC2 marks macOS by a suffix (arm64_mac); the instructions are the same.
    named = [str(word).removesuffix("_mac") for word in at.items("ProcessorInfo.SupportedArchitectures")]
    architectures = [word for word in get_args(Architecture) if word in named]
    if named and not architectures:
        at.refuse("ProcessorInfo.SupportedArchitectures", "name x86_64 or arm64", named)
    cards = [
        _card(_Reader(card, problems, f"NetworkInfo.NetworkCards[{i}]."))
        for i, card in enumerate(at.items("NetworkInfo.NetworkCards"))
    ]
    indexes = sorted(card.index for card in cards)
    if not problems and (len(set(indexes)) < len(indexes) or 0 not in indexes):
        at.refuse("NetworkInfo.NetworkCards", "hold card 0, and no card twice", indexes)
    gpu = _Reader(next(iter(at.items("GpuInfo.Gpus", [])), {}), problems, "GpuInfo.Gpus[0].")
    disk = _Reader(next(iter(at.items("InstanceStorageInfo.Disks", [])), {}), problems, "InstanceStorageInfo.Disks[0].")
    gpu_model = gpu.text("Name", None)
    ebs_mbps = at.number("EbsInfo.EbsOptimizedInfo.MaximumBandwidthInMbps")
    usage = at.items("SupportedUsageClasses", ["on-demand"])
    vcpus = at.whole("VCpuInfo.DefaultVCpus", least=1)
    name = at.text("InstanceType") or ""
    known = INSTANCE_TYPES.get(name)
    record = InstanceType(
        name=name,
        architecture=architectures[0] if architectures else "x86_64",
        cpu=at.text("ProcessorInfo.Manufacturer", None) or "unknown",
        vcpus=vcpus,
        cores=at.whole("VCpuInfo.DefaultCores", vcpus, least=1),
        memory_gib=at.whole("MemoryInfo.SizeInMiB", least=1) / _MIB_PER_GIB,
        gpus=gpu.whole("Count", 0),
        gpu_model=gpu_model,
        gpu=_gpu(gpu_model, gpu.whole("MemoryInfo.SizeInMiB", 0)),
        nvme=(disk.whole("Count", 0), disk.whole("SizeInGB", 0)),
        cards=tuple(sorted(cards, key=lambda card: card.index)),
        max_efa=at.whole("NetworkInfo.EfaInfo.MaximumEfaInterfaces", least=1)
        if at.truth("NetworkInfo.EfaSupported")
        else 0,
        ipv4_per_interface=at.whole("NetworkInfo.Ipv4AddressesPerInterface", least=1),
        ebs_gbps=None if ebs_mbps is None else ebs_mbps / 1000,
        purchase=tuple(word for word in get_args(Purchase) if word in usage),
        placement_strategies=tuple(map(str, at.items("PlacementGroupInfo.SupportedStrategies", []))),
        source="EC2 DescribeInstanceTypes, handed in",
        read_on="not known",
        declared=known is None,
    )
    if problems:
        raise ValueError(
            "not an item of DescribeInstanceTypes:\n"
            + "\n".join(f"- {problem}" for problem in problems)
            + "\npass one element of InstanceTypes, whole: aws ec2 describe-instance-types --instance-types NAME"
        )
    if known is None:
        return record
    stated = {field: getattr(known, field) for field in _NOT_IN_THE_API}
    return replace(record, cards=_with_bandwidths(record.cards, known.cards), **stated)


def _with_bandwidths(cards: tuple[NetworkCard, ...], known: tuple[NetworkCard, ...]) -> tuple[NetworkCard, ...]:
    """Return cards with the bandwidths of the catalogue: the API gives one figure for ENA and EFA."""
    same = {card.index: card for card in known}
    return tuple(
        replace(card, ena_gbps=same[card.index].ena_gbps, efa_gbps=same[card.index].efa_gbps)
        if card.index in same
        else card
        for card in cards
    )


def _card(at: "_Reader") -> NetworkCard:
    # An answer from before EFA-only existed has no InterfaceTypes: a new one is one call away.
    names = at.items("InterfaceTypes")
    kinds: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind in names)
    if len(kinds) < len(names):
        at.refuse("InterfaceTypes", f"list some of {', '.join(get_args(Kind))}, each once", names)
    return NetworkCard(
        index=at.whole("NetworkCardIndex"),
        kinds=kinds,
        max_interfaces=at.whole("MaximumNetworkInterfaces"),
        ena_gbps=at.number("PeakBandwidthInGbps"),
    )


def _gpu(model: str | None, mib: int) -> Gpu | None:
    """Return the facts of a GPU of the API; two of the same name differ in memory."""
    # The API gives usable memory in MiB, ours is in whole GiB.
    named = [gpu for gpu in GPUS.values() if gpu.model.split()[0] == model]
    return next((gpu for gpu in named if abs(gpu.hbm_gib - mib / _MIB_PER_GIB) < 1), None)


class _Reader:
    """Reader of nested mappings by path, which collects errors instead of stopping at the first."""

    def __init__(self, root: Any, problems: list[str], prefix: str = "") -> None:
        self._root, self._problems, self._prefix = root, problems, prefix

    def refuse(self, path: str, must: str, answer: Any) -> None:
        quote = repr(answer)
        if len(quote) > _LONGEST_QUOTE:
            quote = f"{quote[:_LONGEST_QUOTE]}..."
        self._problems.append(f"{self._prefix}{path} must {must}, got {quote}")

    def text(self, path: str, default: str | None = _MISSING) -> str | None:
        value = self._find(path, default)
        if value is default or (isinstance(value, str) and value):
            return None if value is _MISSING else value
        self.refuse(path, "be a text", value)
        return None

    def whole(self, path: str, default: int = _MISSING, *, least: int = 0) -> int:
        value = self._find(path, default)
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        if value is not _MISSING:
            self.refuse(path, f"be a whole number, {least} or more", value)
        return least

    def number(self, path: str) -> float | None:
        value = self._find(path, None)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
            return float(value)
        if value is not None:
            self.refuse(path, "be a number, 0 or more", value)
        return None

    def truth(self, path: str) -> bool:
        value = self._find(path, False)
        if not isinstance(value, bool):
            self.refuse(path, "be true or false", value)
        return value is True

    def items(self, path: str, default: list[Any] = _MISSING) -> list[Any]:
        """Return a list, which must not be empty if it has no default."""
        value = self._find(path, default)
        if isinstance(value, list) and (value or default is not _MISSING):
            return value
        if value is not _MISSING:
            self.refuse(path, "be a list" if default is not _MISSING else "be a list with something in it", value)
        return []

    def _find(self, path: str, default: Any) -> Any:
        value = self._root
        for step in path.split("."):
            if value is None:
                break
            if not isinstance(value, Mapping):
                self.refuse(path, "lie in a mapping", value)
                return _MISSING if default is _MISSING else default
            value = value.get(step)
        if value is None and default is _MISSING:
            self._problems.append(f"{self._prefix}{path} is missing")
        return default if value is None else value
