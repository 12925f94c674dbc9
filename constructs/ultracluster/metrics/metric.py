"""What a metric of ours is, and what of an exporter's it is made from."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

#: What a value counts or measures. `bool` is 0 or 1; `info` is always 1 and says something with its labels.
Unit = Literal[
    "bool", "bytes", "bytes_per_second", "celsius", "code", "count", "gb_per_s", "hertz", "info", "joules", "number",
    "per_second", "ratio", "seconds", "timestamp_seconds", "watts",
]  # fmt: skip

#: The labels that the collectors put on everything that comes from a node.
#: `instance` is the id of the EC2 instance, `zone` the id of its zone, `group` its node group.
NODE = ("cluster", "instance", "instance_type", "zone", "group")
#: `gpu` is the index of the GPU in its node, from 0.
GPU = (*NODE, "gpu")
#: `job_id` is Slurm's job id, or namespace and name of what the pods on Kubernetes belong to.
JOB = ("cluster", "job_id")


class Profile(IntEnum):
    """How much is collected; each profile holds the ones before it."""

    BASIC = 1
    STANDARD = 2
    FULL = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A metric of an exporter.

    Args:
        name: As the exporter spells it.
        scale: What its values are multiplied with to be in our unit.
        dcgm: Which releases of DCGM are asked for it by this name: those before 4.7, those from 4.7 on, or any.
        nvlink5: Whether only GPUs with NVLink 5 have it (True), or only those without (False).
    """

    name: str
    scale: float = 1
    dcgm: Literal["any", "old", "new"] = "any"
    nvlink5: bool | None = None

    @property
    def promql(self) -> str:
        """The metric in our unit."""
        return self.name if self.scale == 1 else f"{self.name} * {self.scale:.12g}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """A metric of ours: alerts and dashboards read these and nothing else.

    Args:
        name: `level:what:unit`. A level is what one series of it is about: gpu, node, efa, mount, job, group, cluster.
        unit: Of its values.
        help: One sentence.
        labels: All the labels that it has.
        sources: Exporters' metrics that it is made from, every name of every version; the highest of those there are.
        expression: PromQL, where it is more than that.
        profile: The smallest profile that has it.
        counter: Whether it only grows, until what it counts starts anew: take its `rate` or `increase`.
    """

    name: str
    unit: Unit
    help: str
    labels: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    expression: str = ""
    profile: Profile = Profile.BASIC
    counter: bool = False

    def __post_init__(self) -> None:
        """Check that it is made from one or the other."""
        if bool(self.sources) == bool(self.expression):
            raise ValueError(f"{self.name}: give either sources or an expression")

    @property
    def promql(self) -> str:
        """The recording rule's expression.

        `max by` takes off what exporters label beside (host names under changing labels, pods, UUIDs), so that another
        version of an exporter makes no new series, and the two of an upgrade under way are one.
        """
        if self.expression:
            return self.expression
        return f"max by ({', '.join(self.labels)}) ({' or '.join(source.promql for source in self.sources)})"


def of(*names: str, scale: float = 1) -> tuple[Source, ...]:
    """Sources of one scale."""
    return tuple(Source(name=name, scale=scale) for name in names)


def renamed(old: str, new: str, *, scale: float = 1, nvlink5: bool | None = None) -> tuple[Source, ...]:
    """A field of DCGM under its old name, in a unit to be scaled, and under its new one, in ours."""
    return (
        Source(name=old, scale=scale, dcgm="old", nvlink5=nvlink5),
        Source(name=new, dcgm="new", nvlink5=nvlink5),
    )
