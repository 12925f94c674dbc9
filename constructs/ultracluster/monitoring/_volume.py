"""Number of series and samples of a cluster, and their price in AMP.

Prices of us-east-1: https://aws.amazon.com/prometheus/pricing/ (first tier read 2026-11-20; the lower tiers and storage
as calculators of others quote the page, read 2026-11-28; that of queries is older knowledge: an estimate, never an
offer).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.monitoring import RETENTION_DAYS
from ultracluster.monitoring._cluster_volume import PER_SCRAPE, KubernetesSource, SlurmSource, check_numbers
from ultracluster.monitoring.collectors import INTERVAL_S, fields
from ultracluster.monitoring.names import DCGM_METRICS, EFA_COUNTERS, EFA_COUNTERS_FULL, Profile, metrics

_MONTH_DAYS = 30
_MONTH_S = _MONTH_DAYS * 86_400
# USD for ten million samples, and up to how many billion a month.
_TIERS_USD_PER_10M = ((2e9, 0.90), (252e9, 0.35), (float("inf"), 0.16))
_USD_PER_GB_MONTH = 0.03
_USD_PER_BILLION_QUERIED = 0.10
# What Prometheus itself needs for a sample after compression.
_BYTES_PER_SAMPLE = 2
_RULE_INTERVAL_S = 30
_COUNTS = ("EFA devices", "nodes")
# Most rules read the last sample; a quarter of them reads five minutes of them.
_SAMPLES_READ_PER_SERIES = 4

# Series that a healthy node does not have.
_QUIET = (
    "ultracluster_gpu_xid_errors", "ultracluster_gpu_clock_events", "ultracluster_node_gpu_recovery", "node_xid:",
    "ultracluster_node_mount_outage", "ultracluster_node_lustre_evictions", "server:",
    "ultracluster_inference_progress", "node_device:node_amazonefa_rx_drops:",
    "node_device:node_amazonefa_retrans_pkts:",
)  # fmt: skip
# Series of node_exporter's further collectors with the profile `full`: an estimate, not measured on such a node.
_FULL_EXTRAS = 300
_AGENT = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """Estimated ingestion of a workspace.

    Args:
        series: Active series.
        scraped: Those of them that exporters send; rules record the others.
        samples_per_s: Samples a second, those of the recording rules included.
        usd_per_month: Price of ingestion, storage and the rules' queries. Queries of dashboards are not included.
    """

    series: int
    scraped: int
    samples_per_s: float
    usd_per_month: float


def scraped_series(
    instance_type: InstanceType, profile: Profile, *, efa_devices: int, mounts: int = 1, filesystems: int = 2
) -> int:
    """Return the number of series that a healthy node sends."""
    gpus = instance_type.gpus
    gpu = instance_type.gpu
    of_gpus = gpus * sum(len(fields(metric, gpu)) for metric in DCGM_METRICS if metric.profile <= profile)
    counters = len(EFA_COUNTERS) + (len(EFA_COUNTERS_FULL) if profile >= Profile.FULL else 0)
    # Name and expected devices 3, CPU 8, memory 2, boot and age of the file 2, two checks of the health; topology 1
    # with GPUs; sent of each interface of IP.
    interfaces = min(8, instance_type.max_interfaces)
    of_node = 17 + bool(gpus) + gpus + efa_devices * (1 + counters) + 4 * mounts + 2 * filesystems + interfaces
    if profile >= Profile.STANDARD:
        # Load 1; received of each interface; read and written of each disk; Lustre 2.
        of_node += 1 + interfaces + 2 * max(1, instance_type.nvme[0]) + 2
    if profile >= Profile.FULL:
        of_node += _FULL_EXTRAS
    return of_gpus + of_node + _AGENT + PER_SCRAPE * (3 if gpus else 2)


def recorded_series(
    instance_type: InstanceType, profile: Profile, *, efa_devices: int, mounts: int = 1, filesystems: int = 2
) -> int:
    """Return the number of recorded series of a healthy, busy node; arguments as for `scraped_series`."""
    exporters = 3 if instance_type.gpus else 2
    times = {
        "gpu": instance_type.gpus, "device": efa_devices, "path": mounts, "mountpoint": filesystems, "check": 2,
        "job": exporters,
    }  # fmt: skip
    gpu = instance_type.gpu
    absent = {metric.name for metric in DCGM_METRICS if not instance_type.gpus or not fields(metric, gpu)}
    return sum(
        prod(times.get(label, 1) for label in metric.labels)
        for metric in metrics(profile)
        if "instance" in metric.labels and metric.name not in absent and not metric.name.startswith(_QUIET)
    )


def volume(
    nodes: Iterable[tuple[InstanceType, int, int]],
    profile: Profile = Profile.STANDARD,
    *,
    source: SlurmSource | KubernetesSource | None = None,
    retention_days: int = RETENTION_DAYS,
) -> Volume:
    """Estimate the ingestion of a cluster.

    Args:
        nodes: Type, EFA devices of a node, and number of nodes, for each node group.
        profile: Metrics profile.
        source: Targets scraped once for the cluster. By default, only nodes count.
        retention_days: Days that samples are kept. Default: 150.

    Raises:
        Refusal: If a number is below 0.
    """
    groups = list(nodes)
    check_numbers(
        *(
            (f"{kind.name}: {what}", number)
            for kind, *pair in groups
            for what, number in zip(_COUNTS, pair, strict=True)
        )
    )
    scraped = sum(scraped_series(kind, profile, efa_devices=efa) * count for kind, efa, count in groups)
    recorded = sum(recorded_series(kind, profile, efa_devices=efa) * count for kind, efa, count in groups)
    samples = scraped / INTERVAL_S[profile]
    if source is not None:
        once = source.sent(sum(count for _, _, count in groups), profile)
        scraped += once
        samples += once / source.interval_s
        recorded += source.recorded(sum(count > 0 for _, _, count in groups), profile)
    samples += recorded / _RULE_INTERVAL_S
    return Volume(
        series=scraped + recorded,
        scraped=scraped,
        samples_per_s=samples,
        usd_per_month=_usd(samples, scraped, retention_days),
    )


def _usd(samples_per_s: float, scraped: int, retention_days: int) -> float:
    month = samples_per_s * _MONTH_S
    cost, below = 0.0, 0.0
    for limit, price in _TIERS_USD_PER_10M:
        cost += max(min(month, limit) - below, 0) / 1e7 * price
        below = limit
    stored_gb = month * retention_days / _MONTH_DAYS * _BYTES_PER_SAMPLE / 1e9
    read = scraped * _SAMPLES_READ_PER_SERIES * _MONTH_S / _RULE_INTERVAL_S
    return cost + stored_gb * _USD_PER_GB_MONTH + read / 1e9 * _USD_PER_BILLION_QUERIED
