"""Variables, colors and links that several dashboards share."""

from ultracluster.monitoring.dashboards._spec import Query, Variable

#: Variable with the names of the clusters.
CLUSTER = Variable(name="cluster", title="Cluster", metric="ultracluster_node_up", label="cluster")
JOB = Variable(name="job", title="Job", metric="job:ultracluster_gpus:count", label="job_id", newest_first=True)
# Nodes of the time that is shown, by name and id. A node without a name is there by its id. Once an hour is enough, and
# takes a sixtieth of the samples of a query, which AMP limits.
_NAMES, _UP = (
    f'({name}{{cluster=~"$cluster"}} or last_over_time({name}{{cluster=~"$cluster"}}[$__range:1h]))'
    for name in ("ultracluster_node_name_info", "ultracluster_node_up")
)
_NODES = (
    f"label_join(group by (instance, node) {_NAMES} or on (instance) group by (instance) {_UP}, "
    '"shown", " ", "node", "instance")'
)
NODE = Variable(name="node", title="Node", label="instance", shown=_NODES)
NODES = Variable(name="node", title="Nodes", label="instance", shown=_NODES, several=True)

TO_JOB = ("ultracluster-job", "job_id")
TO_NODE = ("ultracluster-node", "instance")

#: Nothing is fine, anything is not.
ANY_IS_BAD = ((None, "green"), (1, "red"))
ANY_IS_ODD = ((None, "green"), (1, "orange"))
#: Hot: 80 and 85 degrees are where AWS's own alerts for HyperPod stand,
#: https://github.com/aws/sagemaker-hyperpod-cluster-setup (commit b920fcf of 2025-08-29, read 2026-11-20).
HEAT = ((None, "green"), (80, "orange"), (85, "red"))
#: The ten that are highest or lowest at the end of what is shown, from its start on. `topk` alone chooses for
#: each moment, and draws as many series as were ever among the ten.
#: https://prometheus.io/blog/2021/02/18/introducing-the-@-modifier/ (read 2026-11-21)
MOST = "{0} and topk(10, {0} @ end())"
LEAST = "{0} and bottomk(10, {0} @ end())"
#: States in the same color wherever they are: what works is green, what could is blue, what can't is red.
OF_NODES = {"alloc": "green", "mixed": "light-green", "idle": "blue", "powering_up": "light-blue", "maint": "purple",
            "powered_down": "yellow", "drain": "orange", "noresp": "light-red", "down": "red",
            "fail": "dark-red"}  # fmt: skip
OF_JOBS = {"running": "green", "completing": "light-green", "pending": "blue", "timeout": "orange", "failed": "red",
           "node_failed": "dark-red"}  # fmt: skip
OF_PODS = {"Running": "green", "Succeeded": "light-green", "Pending": "blue", "Unknown": "orange", "Failed": "red"}


# The name that the scheduler gave a node, of which a node that is new may have had two.
_NAME = 'topk by (cluster, instance) (1, ultracluster_node_name_info{cluster="$cluster"} @ end())'


def named(expression: str) -> str:
    """Return series of nodes with the label `node`, the name in Slurm or Kubernetes; those without one as they are."""
    return f"({expression}) * on (instance) group_left (node) {_NAME} or on (instance) ({expression})"


def together(expression: str, *metrics: str, legend: str = "", within: str = "") -> Query:
    """Return an expression over metrics of the selected cluster.

    Args:
        expression: PromQL with `{}`, or `{0}`, `{1}`, in place of the metrics.
        metrics: Names of recorded metrics.
        legend: Name of a series.
        within: Further matchers, such as `instance=~"$node"`.
    """
    matchers = ", ".join(filter(None, ('cluster="$cluster"', within)))
    filled = expression.format(*(f"{metric}{{{matchers}}}" for metric in metrics))
    return Query(named(filled) if "{{node}}" in legend else filled, legend)


def of(metric: str, legend: str = "", *, within: str = "", over: str = "{}") -> Query:
    """Return a metric of the selected cluster, or an expression over it such as `MOST`; see `together`."""
    return together(over, metric, legend=legend, within=within)


#: Nodes of the cluster file that do not answer. Those of groups that are not expected make up for none.
NODES_MISSING = together(
    "sum(clamp_min({0} - on (cluster, group) ({1} or on (cluster, group) {0} * 0), 0))",
    "ultracluster_group_expected_nodes",
    "group:ultracluster_node_up:sum",
)
#: What a node should have and lacks: nothing to count is no series.
LACKS = "{0} - on (cluster, instance) ({1} or on (cluster, instance) {0} * 0)"
