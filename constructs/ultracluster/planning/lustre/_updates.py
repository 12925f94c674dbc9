"""Updates of a Lustre file system that FSx rejects, although its CloudFormation schema allows them.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html and
https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreMetadataConfiguration.html
(read 2026-11-21), and increase-throughput-capacity.html of the LustreGuide (read 2026-11-27)
"""

from collections.abc import Mapping
from math import gcd
from typing import Any

from ultracluster.catalogue.storage import lustre
from ultracluster.catalogue.storage import lustre_intelligent_tiering as tiering
from ultracluster.catalogue.storage import lustre_metadata as metadata

_LUSTRE = "LustreConfiguration"
_TIER = f"{_LUSTRE}.PerUnitStorageThroughput"
_CACHE = f"{_LUSTRE}.DataReadCacheConfiguration"
_CONFIG = f"{_LUSTRE}.MetadataConfiguration"
_MODE, _IOPS = f"{_CONFIG}.Mode", f"{_CONFIG}.Iops"
_AUTOMATIC, _PROVISIONED = metadata.METADATA_MODES
_TIERED = "INTELLIGENT_TIERING"
_ONLY_GROW = "metadata IOPS only grow"


def update_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties of an AWS::FSx::FileSystem whose change FSx rejects, with the reason.

    A capacity must be a multiple of what one storage server holds. Provisioned metadata IOPS that replace the
    IOPS of AUTOMATIC must not be fewer.

    Args:
        old: The properties before the update, with scalars as text: "43200", "true".
        new: The properties after it.
    """
    if new.get("FileSystemType") != "LUSTRE":
        return {}
    rules = (_capacity_problems, _metadata_problems, _cache_problems, _fixed_problems)
    return {path: reason for rule in rules for path, reason in rule(old, new).items()}


def _fixed_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return what keeps the tier, or EFA, of a file system whose plan has another one after an edit."""
    before, after = (side.get("LustreConfiguration") for side in (old, new))
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return {}
    was, now = (str(config.get("EfaEnabled", "false")) for config in (before, after))
    if {was, now} == {"true", "false"}:
        return {f"{_LUSTRE}.EfaEnabled": f"to keep the file system, write `efa: {was}` in storage.lustre"}
    if was != "true" or (sizes := _at_its_tier(old, new, before, after, efa=True)) is None:
        return {}
    tier, size, equal, step = sizes
    larger = f", or {equal} GiB for what this edit plans" if equal > size + step else ""
    return {
        _TIER: f"to grow it at its tier, write in storage.lustre `tier: {tier} MB/s/TiB, capacity: {size + step} GiB, "
        f"efa: true`{larger}: steps of {step:,} GiB"
    }


def update_effects(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties of an AWS::FSx::FileSystem whose update FSx accepts and jobs notice, with advice."""
    before, after = (side.get("LustreConfiguration") for side in (old, new))
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return {}
    result = {}
    with_efa = str(before.get("EfaEnabled", "false")).lower() == "true"
    if not with_efa and (sizes := _at_its_tier(old, new, before, after, efa=False)):
        tier, _, equal, _ = sizes
        result[_TIER] = (
            "to grow it without this, keep its tier: write in storage.lustre "
            f"`tier: {tier} MB/s/TiB, capacity: {equal} GiB`"
        )
    was, becomes = (config.get("DataReadCacheConfiguration") for config in (before, after))
    # FSx keeps the contents of a cache that grows with the throughput.
    sized = _throughputs(before, after) and "SizeGiB" in (was or {}) and "SizeGiB" in (becomes or {})
    if was and becomes and was != becomes and not sized:
        result[_CACHE] = (
            "its contents are erased: reads are slower until it is filled again. FSx changes its size every six hours "
            "at most"
        )
    return result


def _at_its_tier(
    old: Mapping[str, Any], new: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], *, efa: bool
) -> tuple[int, int, int, int] | None:
    """Return the tier of a file system that gets another one, its size, the size of an equal plan, and the step."""
    tier, planned_tier = (_number(config.get("PerUnitStorageThroughput")) for config in (before, after))
    size, planned_size = (_number(side.get("StorageCapacity")) for side in (old, new))
    step = lustre.growth_step_gib(storage_type="SSD", mb_per_s_per_tib=tier, efa=efa)
    if not (tier and planned_tier and size and planned_size and step) or tier == planned_tier:
        return None
    # As much capacity, and as much throughput, as the new plan.
    return tier, size, -(-max(size, planned_size, -(-planned_size * planned_tier // tier)) // step) * step, step


def _cache_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    before, after = (_number(_cache(side).get("SizeGiB")) for side in (old, new))
    if before and (rates := _throughputs(*(side.get(_LUSTRE) for side in (old, new)))):
        return _ratio_problems(before, after, *rates)
    percent = tiering.LEAST_READ_CACHE_CHANGE_PERCENT
    if not before or not after or before == after or abs(after - before) * 100 >= before * percent:
        return {}
    below, above = before * (100 - percent) // 100, -(-before * (100 + percent) // 100)
    return {
        f"{_CACHE}.SizeGiB": f"the read cache changes by {percent} % or more at a time: to {below:,} GiB at most, or "
        f"to {above:,} GiB at least"
    }


def _ratio_problems(before: int, after: int | None, was: int, now: int) -> dict[str, str]:
    """Return what changes the read cache of each storage server; each has the same share of the throughput."""
    size, rest = divmod(before * now, was)
    if not rest and after == size:
        return {}
    multiple = was // gcd(was, now)
    remedy = (
        f"no whole size does; first deploy a read cache of a multiple of {multiple:,} GiB with the old throughput"
        if rest
        else f"write `read-cache: {size} GiB` in storage.lustre"
    )
    return {
        f"{_CACHE}.SizeGiB": f"FSx changes the throughput from {was:,} to {now:,} MB/s only if each storage server "
        f"keeps its read cache: {remedy}"
    }


def _throughputs(before: Any, after: Any) -> tuple[int, int] | None:
    """Return both throughputs of Intelligent-Tiering if an update changes it."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return None
    was, now = (_number(config.get("ThroughputCapacity")) for config in (before, after))
    return (was, now) if was and now and was != now else None


def _cache(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    config = properties.get(_LUSTRE)
    cache = config.get("DataReadCacheConfiguration") if isinstance(config, Mapping) else None
    return cache if isinstance(cache, Mapping) else {}


def _capacity_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    before, after = (_number(properties.get("StorageCapacity")) for properties in (old, new))
    # A smaller one is rejected by cdk_rehearsal.registry already.
    if before is None or after is None or after <= before:
        return {}
    config = new.get("LustreConfiguration")
    config = config if isinstance(config, Mapping) else {}
    tier, efa = _number(config.get("PerUnitStorageThroughput")), config.get("EfaEnabled") == "true"
    storage = str(new.get("StorageType") or "SSD")
    step = lustre.growth_step_gib(storage_type=storage, mb_per_s_per_tib=tier, efa=efa)
    if step is None or after % step == 0:
        return {}
    below, above = after // step * step, (after // step + 1) * step
    sizes = " and ".join(f"{gib:,} GiB" for gib in (below, above) if gib > before)
    kind = f"{tier or '?'} MB/s/TiB with EFA" if efa else storage
    return {
        "StorageCapacity": f"a Lustre file system ({kind}) grows in steps of {step:,} GiB, got {after:,} GiB; "
        f"next to it: {sizes}"
    }


def _metadata_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    before, after = _metadata(old), _metadata(new)
    # A configuration that is added is rejected by cdk_rehearsal.registry already.
    if before is None or before == after:
        return {}
    if after is None:
        return {_CONFIG: "a metadata configuration cannot be removed after creation"}
    # An unresolved intrinsic has no mode, or a mode that is an intrinsic itself.
    if not all(
        isinstance(config, Mapping) and config.get("Mode") in metadata.METADATA_MODES for config in (before, after)
    ):
        return {_CONFIG: f"{_ONLY_GROW}, and the template does not show whether they do"}
    tiered = new.get("StorageType") == _TIERED
    if after.get("Mode") == _AUTOMATIC:
        return _to_automatic(before, after, old, tiered=tiered)
    problems = _to_provisioned(before, after, old, tiered=tiered)
    if not problems and old.get("StorageCapacity") != new.get("StorageCapacity"):
        return {_IOPS: "FSx does not grow metadata IOPS and capacity at once; deploy the IOPS first, then the capacity"}
    return problems


def _to_automatic(
    before: Mapping[str, Any], after: Mapping[str, Any], old: Mapping[str, Any], *, tiered: bool
) -> dict[str, str]:
    if tiered:
        return {_MODE: f"Intelligent-Tiering supports {_PROVISIONED} only"}
    if "Iops" in after:
        return {_IOPS: f"{_AUTOMATIC} does not accept a number of metadata IOPS; write {_PROVISIONED}, or no number"}
    if before.get("Mode") == _AUTOMATIC:
        return {}
    provisioned, included = _number(before.get("Iops")), _included(old)
    if provisioned is None or included is None:
        return {_MODE: f"{_ONLY_GROW}, and the template does not show whether these would shrink"}
    if provisioned > included:
        return {
            _MODE: f"{_ONLY_GROW}: it has {provisioned:,}, and {_AUTOMATIC} would give {included:,} for its capacity; "
            f"keep {_PROVISIONED}"
        }
    return {}


def _to_provisioned(
    before: Mapping[str, Any], after: Mapping[str, Any], old: Mapping[str, Any], *, tiered: bool
) -> dict[str, str]:
    iops = _number(after.get("Iops"))
    if iops is None:
        missing = f"{_PROVISIONED} needs a number of metadata IOPS"
        return {_IOPS: f"{_ONLY_GROW}, and the template does not show whether they do" if "Iops" in after else missing}
    if iops not in (metadata.INTELLIGENT_TIERING_IOPS if tiered else metadata.SSD_IOPS):
        allowed = "6,000 or 12,000" if tiered else "1,500, 3,000, 6,000, or a multiple of 12,000 up to 192,000"
        return {_IOPS: f"metadata IOPS must be {allowed}, got {iops:,}"}
    # Two numbers are compared by cdk_rehearsal.registry already.
    if before.get("Mode") != _AUTOMATIC:
        return {}
    included = _included(old)
    if included is None:
        return {_IOPS: f"{_ONLY_GROW}, and the template does not show how many {_AUTOMATIC} gave"}
    if iops < included:
        return {_IOPS: f"{_ONLY_GROW}: {_AUTOMATIC} gave {included:,} for its capacity, and {iops:,} are fewer"}
    return {}


def _metadata(properties: Mapping[str, Any]) -> Any:
    config = properties.get("LustreConfiguration")
    return config.get("MetadataConfiguration") if isinstance(config, Mapping) else config


def _included(properties: Mapping[str, Any]) -> int | None:
    capacity = _number(properties.get("StorageCapacity"))
    return None if capacity is None else metadata.included_iops(capacity)


def _number(value: Any) -> int | None:
    text = str(value) if isinstance(value, str | int) else ""
    return int(text) if text.isdecimal() and len(text) < 20 else None
