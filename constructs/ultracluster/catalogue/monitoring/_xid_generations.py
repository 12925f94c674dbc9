"""Differences between generations of GPUs in the policies for XIDs.

Sources:

- NVIDIA's Xid catalogue, columns "Applies to" and the decode of 144 to 150:
  https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html (updated 2026-09-09, read 2026-11-25).
- Restart of A100 nodes: the health check of AWS's reference architectures, see `_xids`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.monitoring._xids import RESTART_ON_A100, XIDS, XidPolicy
from ultracluster.catalogue.provenance import Source, Stated

_CATALOGUE = Source(
    "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html", read_on="2026-11-25", as_of="2026-09-09"
)


class GpuGeneration(StrEnum):
    """Generation of GPUs, by the column of NVIDIA's Xid catalogue."""

    AMPERE = "A100"
    HOPPER = "H100"
    BLACKWELL = "B100"
    GRACE_BLACKWELL = "GB200"


_BEFORE_BLACKWELL = (GpuGeneration.AMPERE, GpuGeneration.HOPPER)
_BLACKWELL = (GpuGeneration.BLACKWELL, GpuGeneration.GRACE_BLACKWELL)
_SINCE_HOPPER = (GpuGeneration.HOPPER, *_BLACKWELL)

#: XID -> generations whose driver reports it, for XIDs that not all of them report.
REPORTED_BY: Annotated[Mapping[int, tuple[GpuGeneration, ...]], Stated(_CATALOGUE, columns="XID: generations")] = (
    MappingProxyType(
        {
            54: (*_BEFORE_BLACKWELL, GpuGeneration.BLACKWELL),
            **dict.fromkeys((74, 80), _BEFORE_BLACKWELL),
            93: (GpuGeneration.AMPERE,),
            **dict.fromkeys((*range(96, 106), 110, 141, 143, 151, 156, 157), _SINCE_HOPPER),
            **dict.fromkeys((121, 142), (GpuGeneration.GRACE_BLACKWELL,)),
            **dict.fromkeys((*range(126, 136), 139, *range(144, 151), 155, 159, 160, 161), _BLACKWELL),
            136: (GpuGeneration.HOPPER,),
            **dict.fromkeys((152, 153), ()),
        }
    )
)

#: XIDs of NVLink 5. Their sub-codes decide: those that the driver calls fatal need a reset, all others are watched. The
#: driver's recovery action, XID 154, comes first where it reports one (R565 and newer).
NVLINK5_XIDS: Annotated[tuple[int, ...], Stated(_CATALOGUE, columns="XIDs")] = tuple(range(144, 151))
#: Sub-codes that the driver calls fatal, and for which NVIDIA's catalogue has no action: a link that went down because
#: the peer or the host wanted it to. XID, and bits 20 to 25 of `intrinfo`.
NVLINK5_HARMLESS: Annotated[tuple[tuple[int, int], ...], Stated(_CATALOGUE, columns="XID, sub-code")] = (
    (149, 0b100110),
    (149, 0b101000),
)

# EC2's types with an A100: AWS's check restarts them where others need a reset.
RESTART_TYPES = ("p4d.24xlarge", "p4de.24xlarge")


def xid_policy(code: int, generation: GpuGeneration) -> XidPolicy | None:
    """Return the policy of an XID on a generation, or None if its driver does not report it.

    Args:
        code: XID. One without published advice is watched.
        generation: Generation of the GPU.
    """
    if generation not in REPORTED_BY.get(code, tuple(GpuGeneration)):
        return None
    if generation is GpuGeneration.AMPERE and code in RESTART_ON_A100:
        return XidPolicy.FATAL
    return XIDS.get(code, XidPolicy.WATCH)


def nvlink5_words() -> tuple[str, str]:
    """Return what scripts read: the XIDs of NVLink 5, and the harmless sub-codes as XID:SUBCODE."""
    harmless = " ".join(f"{code}:{sub_code}" for code, sub_code in NVLINK5_HARMLESS)
    return " ".join(map(str, NVLINK5_XIDS)), harmless
