"""Counters file of dcgm-exporter: the default one has no ECC errors, NVLink errors or clock events."""

from enum import StrEnum

from ultracluster.catalogue.ec2 import Gpu
from ultracluster.monitoring.names import CLOCK_EVENTS_WINDOW, DCGM_METRICS, XID_WINDOW, Metric, Profile, Source


class Dcgm(StrEnum):
    """Releases of DCGM, by the names of their fields."""

    #: 4.5 and 4.6, which accepts the old names too.
    BEFORE_4_7 = "old"
    #: 4.7 and later: base units, under names of their own.
    FROM_4_7 = "new"


# On GB200, DCGM does not give single-bit errors together with the counters of NVLink 5:
# https://github.com/NVIDIA/dcgm-exporter/issues/581 (open when read on 2026-11-20).
_NOT_WITH_NVLINK5 = frozenset({"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"})
_NVLINK5 = 5


def counters(gpu: Gpu | None, profile: Profile = Profile.STANDARD, *, dcgm: Dcgm = Dcgm.BEFORE_4_7) -> str:
    """Return the counters file for a type of GPU.

    Args:
        gpu: GPU, whose NVLink generation decides which fields exist, or None if it is not known. DCGM is then asked for
            the fields of all generations, and gives those that exist.
        profile: Metrics profile.
        dcgm: Release of DCGM in the exporter.

    See: https://github.com/NVIDIA/dcgm-exporter#changing-metrics (read 2026-11-21)
    """
    # A comma ends a column.
    lines = [
        f"{source.name}, {'counter' if metric.counter else 'gauge'}, " + metric.help.replace(",", ";")
        for metric in DCGM_METRICS
        for source in fields(metric, gpu, dcgm)
        if metric.profile <= profile
    ]
    lines.append(f"{XID_WINDOW}, gauge, XIDs of the five minutes before by code.")
    if profile >= Profile.STANDARD:
        lines.append(f"{CLOCK_EVENTS_WINDOW}, gauge, Samples of the five minutes before with a reason to slow down.")
    return "".join(f"{line}\n" for line in lines)


def fields(metric: Metric, gpu: Gpu | None, dcgm: Dcgm = Dcgm.BEFORE_4_7) -> tuple[Source, ...]:
    """Return the DCGM fields that a metric is recorded from on a GPU; empty if the GPU has no such field."""
    nvlink5 = None if gpu is None else gpu.nvlink_generation >= _NVLINK5
    # A GPU that is not known may be like GB200.
    may_fail = gpu is None or (nvlink5 and gpu.c2c_gb_per_s)
    without = gpu is not None and not gpu.nvlink_generation
    return tuple(
        source
        for source in metric.sources
        if source.dcgm in ("any", dcgm.value)
        and (nvlink5 is None or source.nvlink5 in (None, nvlink5))
        and not (may_fail and source.name in _NOT_WITH_NVLINK5)
        and not (without and "NVLINK" in source.name)
    )
