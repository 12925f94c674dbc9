"""Dashboard of the metrics pipeline."""

from ultracluster.monitoring.dashboards.builder._common import ANSWERS, ANY_IS_BAD, CLUSTER, MOST, TO_NODE, of
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, Panel, Query, Row

PIPELINE = Dashboard(
    uid="ultracluster-pipeline",
    title="Pipeline",
    about="Do the collectors see everything, and does it arrive? Look here when a dashboard is empty.",
    variables=(CLUSTER,),
    rows=(
        Row(
            title="Collectors",
            panels=(
                Panel(kind="stat", title="Nodes without metrics", width=6, height=4, steps=ANY_IS_BAD,
                      queries=(Query(expr='sum(ultracluster_group_expected_nodes{cluster="$cluster"}) - '
                                     '(sum(group:ultracluster_node_up:sum{cluster="$cluster"}) or vector(0))'),),
                      why="Nodes of the cluster file that send nothing."),
                Panel(kind="stat", title="Exporters down", width=6, height=4, steps=ANY_IS_BAD,
                      queries=(of("ultracluster_exporter_up", over="count({} == 0) or vector(0)"),),
                      why="On nodes that do answer. dcgm-exporter down is often a GPU that fell off the bus."),
                Panel(kind="stat", title="Active series", width=6, height=4,
                      queries=(of("scrape_job:scrape_samples_post_metric_relabeling:sum", over="sum({})"),),
                      why="What is paid for and counted against the workspace's quota."),
                Panel(kind="stat", title="Furthest behind", width=6, height=4, unit="s",
                      queries=(of("ultracluster_remote_write_lag_seconds", over="max({})"),),
                      why="How far the slowest node's agent is behind in sending."),
                Panel(kind="table", title="Exporters that do not answer", width=24, height=6, to=TO_NODE,
                      queries=(of("ultracluster_exporter_up", over="max by (instance, job, group) ({} == 0)"),),
                      columns={"instance": "Node", "job": "Exporter", "group": "Node group"}, why="Empty is good."),
                Panel(kind="state-timeline", title="Asked once for the cluster", width=24, height=5, words=ANSWERS,
                      queries=(of("ultracluster_source_up", "{{job}}"),),
                      why="Slurm's controller, or kube-state-metrics and Kueue. A row that ends has nobody who asks."),
            ),
        ),
        Row(
            title="On the way",
            panels=(
                Panel(kind="timeseries", title="Series by exporter", width=12, least=0,
                      queries=(of("scrape_job:scrape_samples_post_metric_relabeling:sum", "{{job}}"),),
                      why="A jump is a new label with many values: find it before the bill does."),
                Panel(kind="timeseries", title="Agents furthest behind", width=12, least=0, unit="s", to=TO_NODE,
                      queries=(of("ultracluster_remote_write_lag_seconds", "{{instance}}", over=MOST),),
                      why="All of them: the workspace throttles. One: its network."),
                Panel(kind="timeseries", title="Samples lost", width=12, least=0, unit="cps", to=TO_NODE,
                      queries=(of("node:ultracluster_remote_write_samples_lost:sum_rate5m", "{{instance}}", over=MOST),
                               ),
                      why="Refused or dropped on the way."),
                Panel(kind="timeseries", title="Oldest text file", width=12, least=0, unit="s", to=TO_NODE,
                      queries=(of("ultracluster_textfile_age_seconds", "{{instance}}", over=MOST),),
                      why="The node's own checks write it every minute; an old one is a check that hangs."),
            ),
        ),
    ),
)  # fmt: skip
