"""Changes of a Lustre file system's metadata configuration that FSx refuses.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html and
https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreMetadataConfiguration.html
(read 2026-11-21)
"""

from collections.abc import Mapping
from typing import Any

from ultracluster.hardware.lustre_metadata import INTELLIGENT_TIERING_IOPS, METADATA_MODES, SSD_IOPS, included_iops

_CONFIG = "LustreConfiguration.MetadataConfiguration"
_MODE, _IOPS = f"{_CONFIG}.Mode", f"{_CONFIG}.Iops"
_AUTOMATIC, _PROVISIONED = METADATA_MODES
_TIERED = "INTELLIGENT_TIERING"


def metadata_refusals(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Give the properties whose change FSx refuses, with the reason.

    AUTOMATIC has IOPS too, those that come with the capacity: what is provisioned in its stead must be as many.

    Args:
        old: The properties of a file system before, in normal form.
        new: Its properties after.
    """
    before, after = _metadata(old), _metadata(new)
    if before is None or before == after:
        # One that is added: `hardware.replacement` knows that it cannot be.
        return {}
    if after is None:
        return {_CONFIG: "a metadata configuration cannot be taken away after creation"}
    # What has no mode is an intrinsic that nobody has resolved; so is a mode that is none.
    if not all(isinstance(one, Mapping) and one.get("Mode") in METADATA_MODES for one in (before, after)):
        return {_CONFIG: "metadata IOPS only grow, and nobody can tell from the template whether they do"}
    tiered = new.get("StorageType") == _TIERED
    if after.get("Mode") == _AUTOMATIC:
        return _automatic(before, after, old, tiered=tiered)
    found = _provisioned(before, after, old, tiered=tiered)
    if not found and old.get("StorageCapacity") != new.get("StorageCapacity"):
        found = {
            _IOPS: "FSx does not grow metadata IOPS and capacity at once; deploy the IOPS first, then the capacity"
        }
    return found


def _automatic(
    before: Mapping[str, Any], after: Mapping[str, Any], old: Mapping[str, Any], *, tiered: bool
) -> dict[str, str]:
    if tiered:
        return {_MODE: f"Intelligent-Tiering takes {_PROVISIONED} only"}
    if "Iops" in after:
        return {_IOPS: f"{_AUTOMATIC} takes no number of metadata IOPS; write {_PROVISIONED}, or no number"}
    has, comes = _number(before.get("Iops")), _included(old)
    if before.get("Mode") == _AUTOMATIC:
        return {}
    if has is None or comes is None:
        return {_MODE: "metadata IOPS only grow, and nobody can tell from the template whether these would shrink"}
    if has > comes:
        why = f"metadata IOPS only grow: it has {has:,}, and {_AUTOMATIC} would give {comes:,} for its capacity"
        return {_MODE: f"{why}; keep {_PROVISIONED}"}
    return {}


def _provisioned(
    before: Mapping[str, Any], after: Mapping[str, Any], old: Mapping[str, Any], *, tiered: bool
) -> dict[str, str]:
    wanted = _number(after.get("Iops"))
    if wanted is None:
        missing = f"{_PROVISIONED} needs a number of metadata IOPS"
        unknown = "metadata IOPS only grow, and nobody can tell from the template whether they do"
        return {_IOPS: unknown if "Iops" in after else missing}
    allowed = INTELLIGENT_TIERING_IOPS if tiered else SSD_IOPS
    if wanted not in allowed:
        says = "6,000 or 12,000" if tiered else "1,500, 3,000, 6,000, or a multiple of 12,000 up to 192,000"
        return {_IOPS: f"metadata IOPS are {says}"}
    if before.get("Mode") != _AUTOMATIC:
        # Two numbers: `hardware.replacement` knows that they only grow.
        return {}
    has = _included(old)
    if has is None:
        return {_IOPS: f"metadata IOPS only grow, and nobody can tell how many {_AUTOMATIC} gave before"}
    if wanted < has:
        return {_IOPS: f"metadata IOPS only grow: {_AUTOMATIC} gave {has:,} for its capacity, and {wanted:,} are fewer"}
    return {}


def _metadata(properties: Mapping[str, Any]) -> Any:
    config = properties.get("LustreConfiguration")
    return config.get("MetadataConfiguration") if isinstance(config, Mapping) else config


def _included(properties: Mapping[str, Any]) -> int | None:
    capacity = _number(properties.get("StorageCapacity"))
    return None if capacity is None else included_iops(capacity)


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 20 else None
