"""Requirements of Amazon FSx beyond the registry schema. Sources were read on 2026-11-22, 24 and 26."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.registry._rule_values import in_words, number_at, text_at

# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreMetadataConfiguration.html
_METADATA_IOPS = (1500, 3000, 6000, *range(12_000, 192_001, 12_000))
_TIME = r"([01]\d|2[0-3]):[0-5]\d"
_LONGEST_RETENTION_DAYS = 90
_SMALLER, _LARGER = (
    (64, 128, 256, 512, 1024, 2048, 3072, 4096),
    (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10_240),
)
# Throughput in MB/s by deployment type. The page lists the steps of those with high availability by their range.
_OPENZFS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "SINGLE_AZ_1": _SMALLER,
        "SINGLE_AZ_HA_1": _SMALLER,
        "SINGLE_AZ_2": _LARGER,
        "SINGLE_AZ_HA_2": _LARGER,
        "MULTI_AZ_1": _LARGER,
    }
)


def lustre_file_system(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the capacity, the tier, metadata IOPS and times of a Lustre file system."""
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html,
    # API_CreateFileSystemLustreConfiguration.html
    if properties.get("FileSystemType") != "LUSTRE" or properties.get("BackupId"):
        return
    configuration = properties.get("LustreConfiguration")
    configuration = configuration if isinstance(configuration, Mapping) else {}
    kind = configuration.get("DeploymentType", "SCRATCH_1")
    storage = properties.get("StorageType", "SSD")
    capacity, tier = number_at(properties, "StorageCapacity"), number_at(configuration, "PerUnitStorageThroughput")
    tiers = _TIERS.get((kind, storage), ()) if isinstance(kind, str) and isinstance(storage, str) else ()
    if tier is not None and tiers and tier not in tiers:
        yield f"#/LustreConfiguration/PerUnitStorageThroughput: {kind} {storage} has {in_words(tiers)}, got {tier}"
    if tiers and "PerUnitStorageThroughput" not in configuration:
        yield "#/LustreConfiguration/PerUnitStorageThroughput: a persistent file system needs a tier"
    if capacity is not None and (problem := _capacity_problem(str(kind), str(storage), tier, capacity)):
        yield f"#/StorageCapacity: {problem}, got {capacity:,}"
    subnets = properties.get("SubnetIds")
    if isinstance(subnets, list) and len(subnets) != 1:
        yield f"#/SubnetIds: Lustre has one subnet, got {len(subnets)}"
    iops = number_at(configuration, "MetadataConfiguration.Iops")
    if iops is not None and storage == "SSD" and iops not in _METADATA_IOPS:
        values = "1,500, 3,000, 6,000, 12,000 or a multiple of 12,000 up to 192,000"
        yield f"#/LustreConfiguration/MetadataConfiguration/Iops: {values}, got {iops:,}"
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html and lustre-versions (read 2026-11-26)
    if kind in ("SCRATCH_1", "SCRATCH_2") and number_at(configuration, "AutomaticBackupRetentionDays"):
        yield f"#/LustreConfiguration/AutomaticBackupRetentionDays: {kind} has no backups"
    if kind == "PERSISTENT_2" and text_at(properties, "FileSystemTypeVersion") == "2.10":
        yield "#/FileSystemTypeVersion: PERSISTENT_2 needs Lustre 2.12 or later, got 2.10"
    yield from _times("LustreConfiguration", configuration)


_TIERS: Mapping[tuple[str, str], tuple[int, ...]] = MappingProxyType(
    {
        ("PERSISTENT_1", "SSD"): (50, 100, 200),
        ("PERSISTENT_1", "HDD"): (12, 40),
        ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
    }
)


def _capacity_problem(kind: str, storage: str, tier: int | None, capacity: int) -> str:
    if kind == "SCRATCH_1":
        return "" if capacity in (1200, 2400) or capacity % 3600 == 0 else "1,200, 2,400 or a multiple of 3,600 GiB"
    if storage == "HDD":
        step = {12: 6000, 40: 1800}.get(tier or 0, 600)
        return "" if capacity > 0 and capacity % step == 0 else f"a multiple of {step:,} GiB"
    if storage == "SSD" and not (capacity == 1200 or (capacity > 0 and capacity % 2400 == 0)):
        return "1,200 or a multiple of 2,400 GiB"
    return ""


def openzfs_file_system(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the capacity, the throughput and times of an OpenZFS file system."""
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html,
    # API_CreateFileSystemOpenZFSConfiguration.html
    if properties.get("FileSystemType") != "OPENZFS" or properties.get("BackupId"):
        return
    configuration = properties.get("OpenZFSConfiguration")
    configuration = configuration if isinstance(configuration, Mapping) else {}
    kind, rate = configuration.get("DeploymentType"), number_at(configuration, "ThroughputCapacity")
    steps = _OPENZFS.get(kind, ()) if isinstance(kind, str) else ()
    if rate is not None and steps and rate not in steps:
        yield f"#/OpenZFSConfiguration/ThroughputCapacity: {kind} has {in_words(steps)} MB/s, got {rate}"
    capacity = number_at(properties, "StorageCapacity")
    if capacity is not None and properties.get("StorageType", "SSD") == "SSD" and not 64 <= capacity <= 524_288:
        yield f"#/StorageCapacity: 64 to 524,288 GiB, got {capacity:,}"
    subnets, several = properties.get("SubnetIds"), kind == "MULTI_AZ_1"
    if isinstance(subnets, list) and isinstance(kind, str) and len(subnets) != (2 if several else 1):
        yield f"#/SubnetIds: {kind} needs {'two subnets' if several else 'one subnet'}, got {len(subnets)}"
    yield from _times("OpenZFSConfiguration", configuration)


def _times(section: str, configuration: Mapping[str, Any]) -> Iterator[str]:
    days = number_at(configuration, "AutomaticBackupRetentionDays")
    if days is not None and not 0 <= days <= _LONGEST_RETENTION_DAYS:
        yield f"#/{section}/AutomaticBackupRetentionDays: 0 to {_LONGEST_RETENTION_DAYS} days, got {days}"
    week = text_at(configuration, "WeeklyMaintenanceStartTime")
    if week is not None and not re.fullmatch(f"[1-7]:{_TIME}", week):
        yield f"#/{section}/WeeklyMaintenanceStartTime: d:HH:MM with a day from 1 to 7, got {week}"
    day = text_at(configuration, "DailyAutomaticBackupStartTime")
    if day is not None and not re.fullmatch(_TIME, day):
        yield f"#/{section}/DailyAutomaticBackupStartTime: HH:MM, got {day}"
