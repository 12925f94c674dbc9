"""Number of series from targets scraped once for a cluster: Slurm's controller, kube-state-metrics, Kueue.

Sources, each read 2026-11-21:

- Slurm: https://github.com/SchedMD/slurm, src/plugins/metrics/openmetrics/openmetrics.c (tag slurm-25-11-7-1).
- kube-state-metrics: https://github.com/kubernetes/kube-state-metrics, internal/store/node.go and pod.go (tag v2.19.1):
  three series for each condition of a node, five for each pod, one for its labels.
- Kueue: https://github.com/kubernetes-sigs/kueue, pkg/metrics/metrics.go (tag v0.19.2).
- Conditions of EKS's agent: https://docs.aws.amazon.com/eks/latest/userguide/node-health.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from ultracluster.monitoring.collectors import SLURM_PAGES
from ultracluster.monitoring.names import (
    CLUSTER_METRICS,
    KUBERNETES_METRICS,
    SLURM_JOB_STATES,
    SLURM_METRICS,
    SLURM_NODE_STATES,
    SLURM_QUEUE_STATES,
    Metric,
    Profile,
    metrics,
)
from ultracluster.rules import Refusal

# What every scrape adds: up, its duration, samples before and after, new series.
PER_SCRAPE = 5
# Those of the controller's four pages that stand still, of a queue, and of a node.
_SLURM_FULL, _SLURM_QUEUE_FULL, _SLURM_NODE_FULL = 28 + 29 + 1 + 58, 70, 8
_STATUSES, _PHASES = 3, 5
# Ready and AcceleratedHardwareReady; beside them the kubelet's other three and the agent's other four.
_CONDITIONS, _CONDITIONS_FULL = 2, 9
# Nine of DaemonSets of the add-ons, charts and collectors, and what jobs bring: an estimate.
_PODS = 12
# A queue: 17 buckets of a histogram for each priority that its jobs had, of which the platform has two.
_BUCKETS, _PRIORITIES = 17, 2
# Pods that were not ready at the start, or again after it.
_NOT_READY = 2
# Further series of Kueue for a queue, and of its controller: estimates, not measured.
_KUEUE_QUEUE_FULL, _KUEUE_FULL = 400, 2_000
_KUEUE_REPLICAS = 2
# Of the nodes: node_exporter, dcgm-exporter, the agent itself.
_EXPORTERS = 3
# A healthy cluster has none of these.
_QUIET = {
    "ultracluster_kube_accelerator_unhealthy",
    "ultracluster_kube_node_breaker_open",
    "ultracluster_kube_node_not_ready",
    "ultracluster_slurm_blocked_jobs",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmSource:
    """Slurm's controller.

    Args:
        queues: Its partitions.
        scrapers: Login nodes that scrape it. Each sends all samples.

    Raises:
        Refusal: If a number is below 0.
    """

    #: Scrape interval, in seconds.
    interval_s: ClassVar[int] = 60
    queues: int
    scrapers: int = 1

    def __post_init__(self) -> None:
        """Validate the numbers."""
        check_numbers(("queues", self.queues), ("scrapers", self.scrapers))

    def sent(self, nodes: int, profile: Profile) -> int:
        """Return the number of series that are sent."""
        # Beside nodes and jobs by state, the queue of the accounting.
        series = len(SLURM_NODE_STATES) + len(SLURM_JOB_STATES) + 1
        # The jobs of a queue by state, and its GPUs.
        series += (len(SLURM_QUEUE_STATES) + 1) * self.queues
        if profile >= Profile.FULL:
            series = _SLURM_FULL + _SLURM_QUEUE_FULL * self.queues + _SLURM_NODE_FULL * nodes
        return self.scrapers * (series + PER_SCRAPE * len(SLURM_PAGES))

    def recorded(self, groups: int, profile: Profile) -> int:
        """Return the number of recorded series of the cluster as a whole."""
        times = {
            "ultracluster_slurm_nodes": len(SLURM_NODE_STATES),
            "ultracluster_slurm_jobs": len(SLURM_JOB_STATES),
            "partition": self.queues,
            "state": len(SLURM_QUEUE_STATES),
            "ultracluster_source_up": 1,
            "job": _EXPORTERS + len(SLURM_PAGES),
        }
        return _recorded(profile, SLURM_METRICS, times, groups)


@dataclass(frozen=True, kw_only=True, slots=True)
class KubernetesSource:
    """kube-state-metrics, and Kueue beside it. Pods that have metrics of their own are not counted.

    Args:
        queues: Kueue's ClusterQueues, or 0 for another scheduler.
        pods: Pods of a node.

    Raises:
        Refusal: If a number is below 0.
    """

    #: Scrape interval, in seconds.
    interval_s: ClassVar[int] = 30
    queues: int
    pods: int = _PODS

    def __post_init__(self) -> None:
        """Validate the numbers."""
        check_numbers(("queues", self.queues), ("pods", self.pods))

    def sent(self, nodes: int, profile: Profile) -> int:
        """Return the number of series that are sent."""
        full = profile >= Profile.FULL
        # Beside its conditions, whether it takes pods.
        node = (_CONDITIONS_FULL * _STATUSES + 1 if full else _CONDITIONS * _STATUSES) + _PHASES * self.pods
        # A pod of each node has a label of its job.
        state = nodes * (node + min(self.pods, 1)) + PER_SCRAPE
        if not self.queues:
            return state
        # Workloads that wait, in two states, and those that run.
        queue = 3 + (_BUCKETS + _NOT_READY) * _PRIORITIES + (_KUEUE_QUEUE_FULL if full else 0)
        return state + queue * self.queues + _KUEUE_REPLICAS * (PER_SCRAPE + (_KUEUE_FULL if full else 0))

    def recorded(self, groups: int, profile: Profile) -> int:
        """Return the number of recorded series of the cluster as a whole."""
        sources = 1 + bool(self.queues)
        times = {
            "phase": _PHASES,
            "cluster_queue": self.queues,
            "ultracluster_source_up": sources,
            "job": _EXPORTERS + sources,
        }
        return _recorded(profile, KUBERNETES_METRICS, times, groups)


def check_numbers(*numbers: tuple[str, int]) -> None:
    """Refuse numbers below 0."""
    if problems := [f"{name} must be 0 or more, got {number}" for name, number in numbers if number < 0]:
        raise Refusal("", problems)


def _recorded(profile: Profile, scheduler: tuple[Metric, ...], times: Mapping[str, int], groups: int) -> int:
    """Count the series of the cluster as a whole; `times` has those of a metric, or of a label."""
    counts = {"cluster": 1, "group": groups, **times}
    total = groups  # how many nodes are expected
    for metric in metrics(profile):
        counted = metric in (*CLUSTER_METRICS, *scheduler) and "instance" not in metric.labels
        if counted and metric.name not in _QUIET:
            total += counts.get(metric.name) or prod(counts[label] for label in metric.labels)
    return total
