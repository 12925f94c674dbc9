"""Generate the reference of the metrics, their number and their cost."""

from pathlib import Path

from docs_reference.markdown import page, table
from ultracluster.catalogue.ec2 import instance_type
from ultracluster.clusterfile import load
from ultracluster.monitoring import KubernetesSource, SlurmSource, volume
from ultracluster.monitoring._description import describe
from ultracluster.monitoring._volume import recorded_series, scraped_series
from ultracluster.monitoring.names import METRICS, Metric, Profile

_TYPES = ("p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge")
_NODES = (64, 1_000, 10_000)
_SOURCES = (
    ("Slurm's controller: 2 queues, scraped by 2 login nodes", SlurmSource(queues=2, scrapers=2)),
    ("kube-state-metrics and Kueue: 12 pods for each node, 3 queues", KubernetesSource(queues=3)),
)
_ABOUT = """Recording rules write these metrics from those of the exporters, under the names of every exporter version.
Alerts and dashboards read only these. `instance` is the EC2 instance id, `zone` the zone id, `group` the
node group, `gpu` an index from 0. "Recorded from" are the metrics of exporters, or the expression of the rule; a long
one is in `constructs/ultracluster/monitoring/names`. [Monitoring](../guides/monitoring.md) covers collection."""
_JOBS = """Programs of jobs write these metrics, and no other label:
[report progress](../guides/jobs.md#report-progress) covers where. Names that end in
`_total` are counters, the others gauges."""
# A test compares the names with those of `ultracluster_job.py`.
_OF_JOBS = (
    ("train_step", "last completed step"),
    ("train_step_seconds", "duration of that step"),
    ("train_tokens_total", "tokens trained on, discarded steps included"),
    (
        "train_mfu_ratio",
        "model FLOPs utilisation: 6 x parameters x tokens a second / (GPUs x peak FLOP/s), from 0 to 1",
    ),
    ("train_loss", "loss of that step; NaN is an alert"),
    ("train_last_checkpoint_timestamp_seconds", "when the last checkpoint was complete, in Unix time"),
    ("train_checkpoint_seconds", "time that the training waited for it"),
    ("train_checkpoint_interval_seconds", "planned time between two checkpoints"),
    (
        "train_checkpoint_in_progress",
        "1 while the training waits for a checkpoint, otherwise 0: for half an hour that is no hang",
    ),
    ("train_startup_seconds", "time from the start of the job to the first step"),
    ("train_restarts_total", "restarts of the job"),
    ("train_productive_seconds_total", "time in steps that were kept"),
    ("train_lost_seconds_total", "other time, by the label `cause`: `startup`, `checkpoint`, `repeated`"),
    ("train_finished", "1 once the training is over, otherwise 0: alerts on hangs, steps and checkpoints end"),
    (
        "train_waiting",
        "1 while ranks wait for what one of them does on its CPU, otherwise 0: for 45 minutes that is no hang",
    ),
    ("train_service", "1 if the job is a server, which may wait for requests: neither `JobHung` nor `JobIdleGpus`"),
)
_COST = """Active series, sent plus recorded, by [profile](../guides/monitoring.md#what-is-collected). Prices are those
of us-east-1, without queries of dashboards: https://aws.amazon.com/prometheus/pricing/ (the first tier of samples read
2026-11-20; the lower tiers, storage and queries were not read again)."""
_LONGEST_EXPRESSION = 240
# Measured from outside, with the rules and collectors of the commit 1b7bbf6 of 2026-11-22.
_BEFORE_USD = 281.5
_BEFORE = """A node of `examples/slurm-512-gpus.yaml` costs ${after:.2f} a month: ${total:,.0f} for its {nodes} nodes.
It cost ${before:.2f} in the state of 2026-11-22 (commit 1b7bbf6), before labels of devices and pods were removed. The
alerts, job metrics and topology that were added since are in the ${after:.2f}. Logs are apart: CloudWatch takes $0.50
a GB in us-east-1 (https://c3x.dev/blog/cloudwatch-logs-cost-optimization of 2026-06, read 2026-11-25). A Slurm node
that writes a line of 150 bytes each second sends 0.4 GB a month, which is $0.20."""


def metrics_page() -> str:
    """Page with all metrics by their first word, and with series and cost."""
    subjects: dict[str, list[tuple[str, ...]]] = {}
    for metric in METRICS.values():
        row = (f"`{metric.name}`", metric.unit, metric.profile.name.lower(), metric.help, _expression(metric))
        subjects.setdefault(_subject(metric.name), []).append(row)
    sections = [
        f"## {subject}\n\n{table(('metric', 'unit', 'from profile', 'meaning', 'recorded from'), rows)}"
        for subject, rows in subjects.items()
    ]
    jobs = table(("metric", "meaning"), [(f"`{name}`", meaning) for name, meaning in _OF_JOBS])
    sections.append(f"## Metrics of jobs\n\n{_JOBS}\n\n{jobs}")
    return page("Metrics", _ABOUT, *sections, f"## Series and cost\n\n{_COST}\n\n{_before()}\n\n{_volumes()}")


def _expression(metric: Metric) -> str:
    """Return the sources of a metric, or its expression if that is short."""
    text = " or ".join(source.promql for source in metric.sources) or " ".join(metric.expr.split())
    return f"`{text}`" if len(text) <= _LONGEST_EXPRESSION else ""


def _before() -> str:
    """Cost of a node before and after."""
    cluster = load(Path(__file__).parents[2] / "examples" / "slurm-512-gpus.yaml")
    total = (describe(cluster).facts or {})["usd_per_month"]
    nodes = sum(group.count for group in cluster.node_groups)
    return _BEFORE.format(after=total / nodes, total=total, nodes=nodes, before=_BEFORE_USD / nodes)


def _subject(name: str) -> str:
    """Subsystem of a metric: the word after the prefix, or the level of a recording rule."""
    return name.removeprefix("ultracluster_").partition("_")[0] if ":" not in name else name.partition(":")[0]


def _volumes() -> str:
    profiles = tuple(profile.name.lower() for profile in Profile)
    by_type = []
    for name in _TYPES:
        node = instance_type(name)
        cells = []
        for profile in Profile:
            sent = scraped_series(node, profile, efa_devices=node.max_efa)
            recorded = recorded_series(node, profile, efa_devices=node.max_efa)
            cells.append(f"{sent} + {recorded} = {sent + recorded}")
        by_type.append((name, *cells))
    node = instance_type("p5.48xlarge")
    by_nodes = []
    for count in _NODES:
        estimates = [volume([(node, node.max_efa, count)], profile) for profile in Profile]
        cells = [
            f"{one.series:,} series, {one.samples_per_s:,.0f} samples/s, ${one.usd_per_month:,.0f} a month, "
            f"${one.usd_per_month / count:,.2f} a node"
            for one in estimates
        ]
        by_nodes.append((f"{count:,}", *cells))
    by_source = []
    for title, source in _SOURCES:
        counts = [(source.sent(1_000, profile), source.recorded(1, profile)) for profile in Profile]
        by_source.append((title, *(f"{sent:,} + {recorded:,} = {sent + recorded:,}" for sent, recorded in counts)))
    return "\n\n".join(
        [
            table(("each node", *profiles), by_type),
            table(("nodes of p5.48xlarge", *profiles), by_nodes),
            table(("once for a cluster of 1,000 nodes", *profiles), by_source),
        ]
    )
