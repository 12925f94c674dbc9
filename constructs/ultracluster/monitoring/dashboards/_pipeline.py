"""Dashboard of the metrics pipeline."""

from ultracluster.monitoring.dashboards._common import ANY_IS_BAD, CLUSTER, MOST, NODES_MISSING, TO_NODE, of
from ultracluster.monitoring.dashboards._spec import Dashboard, series, stat, table, timeline

_ANSWERS = {1: ("answers", "green"), 0: ("silent", "red")}

PIPELINE = Dashboard(
    uid="ultracluster-pipeline",
    title="Pipeline",
    about="Do the collectors see everything, and does it arrive? Look here when a dashboard is empty.",
    variables=(CLUSTER,),
    rows={
        "Collectors": (
            stat("Nodes without metrics", "Nodes of the cluster file that send nothing.",
                 (NODES_MISSING,), width=6, steps=ANY_IS_BAD),
            stat("Exporters down", "On nodes that do answer. dcgm-exporter down is often a GPU that fell off the bus.",
                 (of("ultracluster_exporter_up", over="count({} == 0) or vector(0)"),), width=6, steps=ANY_IS_BAD),
            stat("Active series", "What is paid for and counted against the workspace's quota.",
                 (of("scrape_job:scrape_samples_post_metric_relabeling:sum", over="sum({})"),), width=6),
            stat("Furthest behind", "How far the slowest node's agent is behind in sending.",
                 (of("ultracluster_remote_write_lag_seconds", over="max({})"),), width=6, unit="s"),
            table("Exporters that do not answer", "Empty is good.",
                  (of("ultracluster_exporter_up", "{{node}}", over="max by (instance, job, group) ({} == 0)"),),
                  width=24, height=6, to=TO_NODE,
                  columns={"instance": "Node", "node": "Name", "job": "Exporter", "group": "Node group"}),
            timeline("Scraped once for the cluster",
                     "Slurm's controller, or kube-state-metrics and Kueue. A row that ends is no longer scraped.",
                     (of("ultracluster_source_up", "{{job}}"),), width=24, height=5, words=_ANSWERS),
        ),
        "On the way": (
            series("Series by exporter", "A jump is a new label with many values: find it before the bill does.",
                   (of("scrape_job:scrape_samples_post_metric_relabeling:sum", "{{job}}"),), width=12, least=0),
            series("Agents furthest behind", "All of them: the workspace throttles. One: its network.",
                   (of("ultracluster_remote_write_lag_seconds", "{{node}} {{instance}}", over=MOST),),
                   width=12, least=0, unit="s", to=TO_NODE),
            series("Samples lost", "Refused or dropped on the way.",
                   (of("node:ultracluster_remote_write_samples_lost:sum_rate5m", "{{node}} {{instance}}", over=MOST),),
                   width=12, least=0, unit="cps", to=TO_NODE),
            series("Oldest text file", "The node's own checks write it every minute; an old one is a check that hangs.",
                   (of("ultracluster_textfile_age_seconds", "{{node}} {{instance}}", over=MOST),),
                   width=12, least=0, unit="s", to=TO_NODE),
        ),
    },
)  # fmt: skip
