"""What the file decides of a file system itself, and FSx refuses: each told at its key."""

from collections.abc import Iterator
from dataclasses import replace

from ultracluster.clusterfile.needs import lustre_goal, lustre_overrides
from ultracluster.clusterfile.sections.storage import Lustre
from ultracluster.planning import LustreOffer, LustreOverrides, check_lustre
from ultracluster.planning.lustre_kind import kind_of

# What each key decides. Where two do not go together, the one that stands first here is told: the narrower one.
_DECIDES = {
    "metadata-iops": ("metadata_mode", "metadata_iops"),
    "capacity": ("capacity_gib",),
    "tier": ("mb_per_s_per_tib",),
    "read-cache": ("read_cache_mode", "read_cache_gib"),
    "lustre-version": ("lustre_version",),
    "throughput-capacity": ("throughput_capacity_mb_per_s",),
    "efa": ("efa",),
    "storage-type": ("storage_type",),
    "deployment-type": ("deployment_type",),
}


def check_choices(lustre: Lustre, offer: LustreOffer) -> Iterator[tuple[str | None, str]]:
    """Each refusal of FSx, and the key without which it would not be one. None: no single key is the reason."""
    stated = lustre_overrides(lustre)
    for message in _refusals(lustre, stated, offer):
        yield next((key for key in _DECIDES if _is_reason(lustre, key, message, stated, offer)), None), message


def _is_reason(lustre: Lustre, key: str, message: str, stated: LustreOverrides, offer: LustreOffer) -> bool:
    if getattr(lustre, key.replace("-", "_")) is None:
        return False
    without = replace(stated, **dict.fromkeys(_DECIDES[key]))
    return message not in _refusals(lustre, without, offer)


def _refusals(lustre: Lustre, overrides: LustreOverrides, offer: LustreOffer) -> list[str]:
    goal = lustre_goal(lustre)
    # What is left open is found from the goal, as it will be.
    stated, _ = kind_of(goal, offer, overrides)
    return check_lustre(stated, offer=offer, associations=goal.associations, backups=goal.backups)
