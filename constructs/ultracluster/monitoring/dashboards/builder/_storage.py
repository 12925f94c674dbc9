"""File systems as the nodes see them."""

from ultracluster.monitoring.dashboards.builder._common import ANY_IS_BAD, CLUSTER, LEAST, MOST, TO_NODE, of
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, Panel, Query, Row

STORAGE = Dashboard(
    uid="ultracluster-storage",
    title="Storage",
    about="Is every node's storage mounted, fast and over EFA? The service's own figures are CloudWatch's.",
    variables=(CLUSTER,),
    rows=(
        Row(
            title="Mounts",
            panels=(
                Panel(kind="stat", title="Nodes with a lost mount", width=8, height=4, steps=ANY_IS_BAD,
                      queries=(of("ultracluster_node_mount_mounted",
                                  over="count(group by (instance) ({} == 0)) or vector(0)"),),
                      why="They are drained: a job on them would hang or write to the root disk."),
                Panel(kind="stat", title="Nodes that fell back to TCP", width=8, height=4, steps=ANY_IS_BAD,
                      queries=(of("ultracluster_node_mount_over_efa",
                                  over="count(group by (instance) ({} == 0)) or vector(0)"),),
                      why="Lustre over TCP has a fraction of the speed, and nothing else says so."),
                Panel(kind="stat", title="Slowest check", width=8, height=4, unit="s",
                      queries=(of("ultracluster_node_mount_check_seconds", over="max({})"),),
                      why="How long the slowest node takes to look at a mount. Seconds mean a hanging server."),
                Panel(kind="table", title="Mounts that are not well", width=24, height=6, to=TO_NODE,
                      queries=(Query(expr='max by (instance, path) '
                                     '(ultracluster_node_mount_mounted{cluster="$cluster"} == 0 or '
                                     'ultracluster_node_mount_over_efa{cluster="$cluster"} == 0)'),),
                      columns={"instance": "Node", "path": "Path"}, why="Empty is good."),
            ),
        ),
        Row(
            title="Traffic",
            panels=(
                Panel(kind="timeseries", title="Lustre, whole cluster", width=12, least=0, unit="Bps",
                      queries=(of("node_filesystem:ultracluster_lustre_read_bytes:rate5m", "{{filesystem}} read",
                                  over="sum by (filesystem) ({})"),
                               of("node_filesystem:ultracluster_lustre_write_bytes:rate5m", "{{filesystem}} written",
                                  over="sum by (filesystem) ({})")),
                      why="Peaks of writing are checkpoints. Compare with what the file system was sized for."),
                Panel(kind="timeseries", title="Nodes that read most", width=12, least=0, unit="Bps", to=TO_NODE,
                      queries=(of("node_filesystem:ultracluster_lustre_read_bytes:rate5m", "{{instance}}", over=MOST),),
                      why="One node that reads for all the others is a data loader that does not shard."),
                Panel(kind="timeseries", title="Nodes that write most", width=12, least=0, unit="Bps", to=TO_NODE,
                      queries=(of("node_filesystem:ultracluster_lustre_write_bytes:rate5m", "{{instance}}", over=MOST),
                               ),
                      why="In a sharded checkpoint all nodes write alike."),
                Panel(kind="timeseries", title="Least free space on local disks", width=12, unit="percentunit", least=0,
                      to=TO_NODE, steps=((None, "red"), (0.1, "green")),
                      queries=(of("ultracluster_node_filesystem_free_ratio", "{{instance}} {{mountpoint}}",
                                  over=LEAST),),
                      why="Container images and logs fill them."),
            ),
        ),
    ),
)  # fmt: skip
