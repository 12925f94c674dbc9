"""Deployment type and storage type for a goal."""

from dataclasses import replace
from enum import Enum

from ultracluster.planning.lustre._goal import LustreGoal
from ultracluster.planning.lustre._offer import LustreOffer
from ultracluster.planning.lustre._spec import LustreOverrides


class Kind(Enum):
    """Reason of the deployment type and storage type, in a sentence."""

    ASKED = "{type}, as requested"
    LASTING = "PERSISTENT_2 on SSD: it is durable, all of it is fast, and it supports EFA"
    LARGE_AND_COLD = (
        "Intelligent-Tiering: of {gib:,} GiB only {working_set:,} GiB are read again and again; those lie in its SSD "
        "read cache, and the rest is billed as it is stored"
    )
    COLD_YET_LINKED = "PERSISTENT_2 on SSD: Intelligent-Tiering does not support data repository associations"
    COLD_YET_NOT_SOLD = "PERSISTENT_2 on SSD: FSx does not offer Intelligent-Tiering here"
    TEMPORARY = "SCRATCH_2: all of it may be lost, and PERSISTENT_2 would need no fewer GiB"
    TEMPORARY_YET_PERSISTENT = "PERSISTENT_2 on SSD, though all of it may be lost: it needs fewer GiB than SCRATCH_2"
    TEMPORARY_YET_NOT_SOLD = "PERSISTENT_2 on SSD, though all of it may be lost: FSx does not offer SCRATCH_2 here"


def kind_of(goal: LustreGoal, offer: LustreOffer, overrides: LustreOverrides) -> tuple[LustreOverrides, Kind]:
    """Return the overrides with deployment type and storage type, and the reason."""
    stated = overrides.deployment_type or overrides.storage_type or overrides.is_intelligent_tiering
    if stated or overrides.mb_per_s_per_tib is not None:
        storage = overrides.storage_type or ("INTELLIGENT_TIERING" if overrides.is_intelligent_tiering else "SSD")
        kind = overrides.deployment_type or "PERSISTENT_2"
        return replace(overrides, deployment_type=kind, storage_type=storage), Kind.ASKED
    on_ssd = replace(overrides, deployment_type="PERSISTENT_2", storage_type="SSD")
    if goal.working_set_gib is not None and goal.working_set_gib < goal.gib and overrides.capacity_gib is None:
        if goal.associations:
            return on_ssd, Kind.COLD_YET_LINKED
        if not offer.intelligent_tiering:
            return on_ssd, Kind.COLD_YET_NOT_SOLD
        return replace(on_ssd, storage_type="INTELLIGENT_TIERING"), Kind.LARGE_AND_COLD
    metadata = overrides.metadata_mode is not None or overrides.metadata_iops is not None
    if goal.temporary and not (goal.backups or overrides.efa or metadata):
        if not offer.scratch:
            return on_ssd, Kind.TEMPORARY_YET_NOT_SOLD
        return replace(on_ssd, deployment_type="SCRATCH_2"), Kind.TEMPORARY
    return on_ssd, Kind.LASTING
