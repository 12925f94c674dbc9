"""What FSx for Lustre sells where."""

from dataclasses import dataclass

from ultracluster.hardware.lustre import LESSER_REGIONS, LESSER_TIERS
from ultracluster.hardware.zones import is_local_zone, region_of_zone
from ultracluster.planning.lustre import ALL_TIERS


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreOffer:
    """What FSx sells in a zone: the tiers in MB/s/TiB, and whether file systems can have EFA."""

    tiers: tuple[int, ...]
    efa: bool


def lustre_offer(zone: str) -> LustreOffer:
    """What FSx for Lustre sells in a zone.

    Args:
        zone: A zone id, such as `use2-az1`.
    """
    if is_local_zone(zone) or region_of_zone(zone) in LESSER_REGIONS:
        return LustreOffer(tiers=LESSER_TIERS, efa=False)
    return LustreOffer(tiers=ALL_TIERS, efa=True)
