"""Recorded metrics, and the exporter metrics that they come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Literal

from ultracluster.rules import Refusal

#: Unit of a metric. `bool` is 0 or 1; `info` is always 1 and has its information in labels.
Unit = Literal[
    "bool", "bytes", "bytes_per_second", "celsius", "code", "count", "gb_per_s", "hertz", "info", "joules", "number",
    "per_second", "ratio", "seconds", "timestamp_seconds", "watts",
]  # fmt: skip

#: Labels of everything that comes from a node.
#: `instance` is the id of the EC2 instance, `zone` the id of its zone, `group` its node group.
NODE = ("cluster", "instance", "instance_type", "zone", "group")
#: `gpu` is the index of the GPU in its node, from 0.
GPU = (*NODE, "gpu")
#: `job_id` is Slurm's job id, or namespace and name of the Kubernetes job that owns the pods.
JOB = ("cluster", "job_id")
CLUSTER = ("cluster",)
GROUP = ("cluster", "group")
MODEL = ("cluster", "model_name")
#: `instance` is the node on Slurm, and the address of the pod on Kubernetes.
SERVER = (*MODEL, "job_id", "instance")
#: Labels that each level of an aggregation keeps.
LEVELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "account_user": (*CLUSTER, "account", "user"),
        "cluster": CLUSTER,
        "cluster_phase": (*CLUSTER, "phase"),
        "cluster_queue": (*CLUSTER, "cluster_queue"),
        "group": GROUP,
        "job": JOB,
        "job_cause": (*JOB, "cause"),
        "job_collective": (*JOB, "collective", "message_size"),
        "model": MODEL,
        "node": NODE,
        "node_device": (*NODE, "device"),
        "node_filesystem": (*NODE, "filesystem"),
        "node_job": (*NODE, "job_id"),
        "node_xid": (*NODE, "xid"),
        "server": SERVER,
        "scrape_job": (*CLUSTER, "job"),
    }
)


class Profile(IntEnum):
    """Metrics profile: how much is collected. Each profile includes the ones before it."""

    BASIC = 1
    STANDARD = 2
    FULL = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A metric of an exporter.

    Args:
        name: Name in the exporter.
        scale: Factor from its unit to the unit of the recorded metric.
        dcgm: Releases of DCGM that have this name: before 4.7, from 4.7 on, or any.
        nvlink5: True if only GPUs with NVLink 5 have it, False if only GPUs without.
    """

    name: str
    scale: float = 1
    dcgm: Literal["any", "old", "new"] = "any"
    nvlink5: bool | None = None

    @property
    def promql(self) -> str:
        """PromQL of the metric in the recorded unit."""
        return self.name if self.scale == 1 else f"{self.name} * {self.scale:.12g}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """A recorded metric. Alerts and dashboards read only these.

    Args:
        name: `ultracluster_<subsystem>_<name>_<unit>` or `level:metric:operations`, see the package.
        unit: Unit of its values.
        help: One sentence.
        labels: All of its labels.
        sources: Exporter metrics under every name of every version; the highest value is recorded.
        expr: PromQL, if it does not only read sources.
        profile: Smallest profile that has it.
    """

    name: str
    unit: Unit
    help: str
    labels: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    expr: str = ""
    profile: Profile = Profile.BASIC

    def __post_init__(self) -> None:
        """Validate that there are sources or an expression."""
        if bool(self.sources) == bool(self.expr):
            raise Refusal(self.name, "give either sources or an expression")

    @property
    def counter(self) -> bool:
        """True if the metric only grows until it is reset: use `rate` or `increase`."""
        return self.name.endswith("_total")

    @property
    def promql(self) -> str:
        """Expression of the recording rule.

        `max by` takes off what exporters label beside (host names under changing labels, pods, UUIDs), so that another
        version of an exporter makes no new series, and the two of an upgrade under way are one.
        """
        if self.expr:
            return self.expr
        return f"max by ({', '.join(self.labels)}) ({' or '.join(source.promql for source in self.sources)})"


def recorded(
    name: str,
    unit: Unit,
    help: str,
    labels: tuple[str, ...],
    *sources: str | Source,
    expr: str = "",
    profile: Profile = Profile.BASIC,
) -> Metric:
    """Return the metric `ultracluster_<subsystem>_<name>_<unit>`, from sources or an expression."""
    read = tuple(Source(name=source) if isinstance(source, str) else source for source in sources)
    return Metric(name=name, unit=unit, help=help, labels=labels, sources=read, expr=expr, profile=profile)


def aggregated(
    name: str, unit: Unit, help: str, source: str = "", *, expr: str = "", profile: Profile = Profile.BASIC
) -> Metric:
    """Return the metric `level:metric:operations`. Its labels, and by default its expression, follow from the name.

    Args:
        name: Name of the metric.
        unit: Unit of its values.
        help: One sentence.
        source: Aggregated metric. By default, the one in the name, with `_total` if a rate is taken.
        expr: PromQL, if it is not `OPERATION by (LABELS) (SOURCE)`, or the same of a rate.
        profile: Smallest profile that has it.
    """
    level, metric, operations = name.split(":")
    operation, rate, window = operations.partition("rate")
    labels = LEVELS[level]
    read = f"rate({source or f'{metric}_total'}[{window}])" if rate else source or metric
    expr = expr or f"{operation.rstrip('_') or 'sum'} by ({', '.join(labels)}) ({read})"
    return Metric(name=name, unit=unit, help=help, labels=labels, expr=expr, profile=profile)


def renamed(old: str, new: str, *, scale: float = 1, nvlink5: bool | None = None) -> tuple[Source, ...]:
    """Return a DCGM field under its old name, with a scale, and under its new one, in base units."""
    return (
        Source(name=old, scale=scale, dcgm="old", nvlink5=nvlink5),
        Source(name=new, dcgm="new", nvlink5=nvlink5),
    )
