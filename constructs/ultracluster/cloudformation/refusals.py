"""Updates that the service refuses: the facts of `hardware.replacement`, held against two versions of a resource."""

from collections.abc import Mapping
from typing import Any

from ultracluster.cloudformation.metadata_refusals import metadata_refusals
from ultracluster.cloudformation.normal import values
from ultracluster.hardware.lustre import growth_step_gib
from ultracluster.hardware.replacement import LEAST_GROWTH_PERCENT, ONLY_GROWS, UNCHANGEABLE, UpdateFact

_UNKNOWN = "nobody can tell from the template whether it grows"


def refusals(type_name: str, old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    """Give the properties whose change the service refuses, with the reason.

    Args:
        type_name: The resource type.
        old: Its properties before, in normal form (`normal`).
        new: Its properties after.
    """
    found: dict[str, str] = {}
    for fact in UNCHANGEABLE.get(type_name, ()):
        if _holds(fact, old) and _at(old, fact.path) != _at(new, fact.path):
            found.setdefault(fact.path, fact.reason)
    for fact in ONLY_GROWS.get(type_name, ()):
        before, after = _at(old, fact.path), _at(new, fact.path)
        if _holds(fact, old) and None not in (before, after) and before != after:
            first, second = _parts(before), _parts(after)
            if not first or not second:
                found.setdefault(fact.path, f"{fact.reason}, and {_UNKNOWN}")
            elif second < first:
                found.setdefault(fact.path, f"{fact.reason}: from {before} to {after} it would shrink")
    if type_name == "AWS::FSx::FileSystem":
        lustre = _at(new, "FileSystemType") == "LUSTRE"
        checks = (_off_the_grid, metadata_refusals) if lustre else (_grows_too_little,)
        for path, reason in (item for check in checks for item in check(old, new).items()):
            found.setdefault(path, reason)
    return found


def _grows_too_little(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    before, after = (_parts(_at(one, "StorageCapacity")) for one in (old, new))
    percent = LEAST_GROWTH_PERCENT.get(str(_at(new, "FileSystemType")))
    if percent is None or not before or not after or after <= before:
        return {}
    least = -(-before[0] * (100 + percent) // 100)
    if after[0] >= least:
        return {}
    return {
        "StorageCapacity": f"it grows by {percent} % or more at a time: from {before[0]:,} to {least:,} GiB at least"
    }


def _off_the_grid(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    before, after = (_parts(_at(one, "StorageCapacity")) for one in (old, new))
    if not before or not after or before == after:
        return {}
    tier = _parts(_at(new, "LustreConfiguration.PerUnitStorageThroughput"))
    efa = _at(new, "LustreConfiguration.EfaEnabled") == "true"
    storage = str(_at(new, "StorageType") or "SSD")
    step = growth_step_gib(storage_type=storage, mb_per_s_per_tib=tier[0] if tier else None, efa=efa)
    if step is None or after[0] % step == 0:
        return {}
    below, above = after[0] // step * step, (after[0] // step + 1) * step
    sizes = " and ".join(f"{gib:,} GiB" for gib in (below, above) if gib > before[0])
    what = f"{tier[0] if tier else '?'} MB/s/TiB with EFA" if efa else storage
    return {
        "StorageCapacity": f"a Lustre file system ({what}) grows in steps of {step:,} GiB, {after[0]:,} GiB is none; "
        f"next to it: {sizes}"
    }


def _holds(fact: UpdateFact, old: Mapping[str, Any]) -> bool:
    """Say whether a fact holds; what is no text is an intrinsic that nobody has resolved, and may be anything."""
    found = ((_at(old, path), wanted) for path, wanted in fact.only_if.items())
    return all(value in wanted or not isinstance(value, str | dict | None) for value, wanted in found)


def _at(properties: Mapping[str, Any], path: str) -> Any:
    return next(values(properties, path.split(".")), None)


def _parts(value: Any) -> tuple[int, ...]:
    """Give "43200" as (43200,) and "2.15" as (2, 15); empty for what is no number or version."""
    parts = value.split(".") if isinstance(value, str) else []
    return tuple(map(int, parts)) if parts and all(part.isdecimal() and len(part) < 20 for part in parts) else ()
