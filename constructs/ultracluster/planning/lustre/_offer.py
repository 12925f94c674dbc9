"""Offer of FSx for Lustre by zone."""

from dataclasses import dataclass

from ultracluster.catalogue.ec2 import ZONE_ID, is_local_zone, region_of_zone
from ultracluster.catalogue.storage import lustre
from ultracluster.catalogue.storage import lustre_places as places


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreOffer:
    """Offer of FSx in a zone. Default: everything.

    Args:
        tiers: Tiers of PERSISTENT_2 on SSD in MB/s/TiB; none where PERSISTENT_2 is not sold.
        efa: Whether file systems can have EFA.
        intelligent_tiering: Whether PERSISTENT_2 is sold as Intelligent-Tiering.
        scratch: Whether SCRATCH_2 is sold.
        versions: Versions of Lustre.
    """

    tiers: tuple[int, ...] = tuple(tier.mb_per_s_per_tib for tier in lustre.TIERS)
    efa: bool = True
    intelligent_tiering: bool = True
    scratch: bool = True
    versions: tuple[str, ...] = lustre.VERSIONS


def lustre_offer(zone: str) -> LustreOffer:
    """Return the offer of FSx for Lustre in a zone.

    Args:
        zone: A zone id, such as `use2-az1`.
    """
    if is_local_zone(zone):
        match = ZONE_ID.fullmatch(zone)
        place = match["local"][1:4] if match else ""
        return LustreOffer(
            tiers=places.LESSER_TIERS if place in places.LOCAL_ZONES_WITH_PERSISTENT_2 else (),
            efa=False,
            intelligent_tiering=False,
            scratch=place in places.LOCAL_ZONES_WITH_SCRATCH_2,
        )
    region = region_of_zone(zone)
    everything = LustreOffer()
    tiers = places.LESSER_TIERS if region in places.LESSER_REGIONS else everything.tiers
    return LustreOffer(
        tiers=() if region in places.WITHOUT_PERSISTENT_2 else tiers,
        efa=region not in places.LESSER_REGIONS | places.WITHOUT_PERSISTENT_2,
        intelligent_tiering=region not in places.WITHOUT_INTELLIGENT_TIERING,
        scratch=region not in places.WITHOUT_SCRATCH_2,
    )
