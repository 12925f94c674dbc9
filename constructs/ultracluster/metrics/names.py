"""Every metric of ours, in the order in which they can be recorded: each only reads exporters and those before it."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.metrics.fleet_names import EXPECTED_NODES, FLEET_METRICS, GROUP, PROBLEM
from ultracluster.metrics.gpu_names import GPU_METRICS, GPU_NODE_METRICS
from ultracluster.metrics.job_names import INFERENCE_METRICS, JOB_METRICS
from ultracluster.metrics.metric import NODE, Metric, Profile
from ultracluster.metrics.node_names import NODE_METRICS

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

#: Those that no recording rule of a family makes, with their labels: the inventory, and what is wrong with a node.
OTHERS: Mapping[str, tuple[str, ...]] = MappingProxyType({EXPECTED_NODES: GROUP, PROBLEM: (*NODE, "problem")})


def metrics(profile: Profile) -> tuple[Metric, ...]:
    """The metrics that a profile has."""
    return tuple(metric for metric in METRICS.values() if metric.profile <= profile)
