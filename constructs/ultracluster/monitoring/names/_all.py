"""All recorded metrics, in evaluation order: each reads only exporters and metrics before it."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.monitoring.names._fleet import (
    CAPACITY_END,
    ENDING_NODES,
    EXPECTED_NODES,
    FLEET_METRICS,
    JOB_CAUSE,
    JOB_PROBLEM,
    PROBLEM,
    PROBLEM_CAUSE,
    PROBLEM_DAY,
    PROBLEM_FIRST,
    PROBLEM_START,
    UNNAMED_PROBLEM,
    UNOWNED_PROBLEM,
)
from ultracluster.monitoring.names._gpu import GPU_METRICS, GPU_NODE_METRICS
from ultracluster.monitoring.names._inference import INFERENCE_METRICS
from ultracluster.monitoring.names._job import JOB_INFO, JOB_METRICS
from ultracluster.monitoring.names._metric import GROUP, JOB, NODE, Metric, Profile
from ultracluster.monitoring.names._node import NODE_METRICS

#: The groups of recording rules, by name.
FAMILIES: Mapping[str, tuple[Metric, ...]] = MappingProxyType(
    {
        "gpu": (*GPU_METRICS, *GPU_NODE_METRICS),
        "node": NODE_METRICS,
        "job": JOB_METRICS,
        "inference": INFERENCE_METRICS,
        "fleet": FLEET_METRICS,
    }
)

METRICS: Mapping[str, Metric] = MappingProxyType(
    {metric.name: metric for family in FAMILIES.values() for metric in family}
)

#: Metrics with their labels that no rule of a family records: the inventory, and the problems of nodes and jobs.
OTHERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        CAPACITY_END: GROUP,
        ENDING_NODES: GROUP,
        EXPECTED_NODES: GROUP,
        UNNAMED_PROBLEM: (*NODE, "problem"),
        UNOWNED_PROBLEM: (*JOB, "problem"),
        PROBLEM: (*NODE, "node", "problem"),
        JOB_PROBLEM: (*JOB, *JOB_INFO, "problem"),
        PROBLEM_START: ("cluster", "instance", "problem", "check", "xid"),
        PROBLEM_FIRST: ("cluster", "instance", "problem", "check", "xid", "cause"),
        PROBLEM_CAUSE: ("cluster", "instance", "problem", "check", "xid", "cause"),
        PROBLEM_DAY: ("cluster", "instance"),
        JOB_CAUSE: JOB,
    }
)


def metrics(profile: Profile) -> tuple[Metric, ...]:
    """Return the metrics of a profile."""
    return tuple(metric for metric in METRICS.values() if metric.profile <= profile)
