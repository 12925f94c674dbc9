"""Deployment types of FSx for Lustre by region.

The page lists the Regions of the partitions aws and aws-us-gov. Regions that it does not list, such as China's, count
as full here: only what AWS excludes is excluded.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html, Deployment type availability
(read 2026-11-21)
"""

from __future__ import annotations

from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_USING_FSX_LUSTRE = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html", read_on="2026-11-21"
)

# Only the two lower tiers of PERSISTENT_2, without EFA, and no Intelligent-Tiering; the Local Zones below too.
LESSER_REGIONS: Annotated[frozenset[str], Stated(_USING_FSX_LUSTRE, columns="Regions")] = frozenset(
    {"il-central-1", "mx-central-1"}
)
LESSER_TIERS: Annotated[tuple[int, ...], Stated(_USING_FSX_LUSTRE, "MB/s/TiB")] = (125, 250)

WITHOUT_PERSISTENT_2: Annotated[frozenset[str], Stated(_USING_FSX_LUSTRE, columns="Regions")] = frozenset(
    {"me-central-1", "me-south-1"}
)
WITHOUT_INTELLIGENT_TIERING: Annotated[frozenset[str], Stated(_USING_FSX_LUSTRE, columns="Regions")] = frozenset(
    {*LESSER_REGIONS, *WITHOUT_PERSISTENT_2, "us-gov-east-1", "us-gov-west-1"},
)
WITHOUT_SCRATCH_2: Annotated[frozenset[str], Stated(_USING_FSX_LUSTRE, columns="Regions")] = frozenset(
    {"ap-southeast-5", "ap-southeast-6", "ap-southeast-7", "ap-east-2", "ca-west-1", "mx-central-1"}
)

# Places of Local Zones, as zone ids have them: Atlanta, Dallas, South Bend and Phoenix; Los Angeles has SCRATCH_2 (and
# PERSISTENT_1) only, and others are not listed. South Bend's id is on no page yet; AWS uses the codes of airports.
LOCAL_ZONES_WITH_PERSISTENT_2: Annotated[frozenset[str], Stated(_USING_FSX_LUSTRE, columns="Local Zones")] = frozenset(
    {"atl", "dfw", "sbn", "phx"}
)
LOCAL_ZONES_WITH_SCRATCH_2: Annotated[frozenset[str], Stated(_USING_FSX_LUSTRE, columns="Local Zones")] = frozenset(
    {"lax"}
)
