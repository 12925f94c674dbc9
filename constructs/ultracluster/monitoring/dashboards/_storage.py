"""File systems as the nodes see them."""

from ultracluster.monitoring.dashboards._common import ANY_IS_BAD, CLUSTER, LEAST, MOST, TO_NODE, of, together
from ultracluster.monitoring.dashboards._spec import Dashboard, series, stat, table

STORAGE = Dashboard(
    uid="ultracluster-storage",
    title="Storage",
    about="Is every node's storage mounted, fast and over EFA? The service's own figures are CloudWatch's.",
    variables=(CLUSTER,),
    rows={
        "Mounts": (
            stat("Nodes with a lost mount", "They are drained: a job on them would hang or write to the root disk.",
                 (of("ultracluster_node_mount_mounted", over="count(group by (instance) ({} == 0)) or vector(0)"),),
                 steps=ANY_IS_BAD),
            stat("Nodes that fell back to TCP",
                 "Lustre over TCP has a fraction of the speed, and nothing else shows it.",
                 (of("ultracluster_node_mount_over_efa", over="count(group by (instance) ({} == 0)) or vector(0)"),),
                 steps=ANY_IS_BAD),
            stat("Slowest check", "How long the slowest node takes to look at a mount. Seconds mean a hanging server.",
                 (of("ultracluster_node_mount_check_seconds", over="max({})"),), unit="s"),
            table("Mounts that are not well", "Not mounted, over TCP, or without an answer for three minutes. Empty is "
                  "good.",
                  (together("max by (instance, path) ({} == 0 or {} == 0 or time() - {} > 180)",
                            "ultracluster_node_mount_mounted", "ultracluster_node_mount_over_efa",
                            "ultracluster_node_mount_last_success_timestamp_seconds", legend="{{node}}"),),
                  width=24, height=6, to=TO_NODE, columns={"instance": "Node", "node": "Name", "path": "Path"}),
            series("Nodes that Lustre evicted", "Programs on them fail with an error. Several at once: its servers or "
                   "the network.",
                   (of("ultracluster_node_lustre_evictions", "{{node}} {{instance}} {{filesystem}}", over=MOST),),
                   width=24, height=6, least=0, to=TO_NODE),
        ),
        "Traffic": (
            series("Lustre, whole cluster",
                   "Peaks of writing are checkpoints. Compare with what the file system was sized for.",
                   (of("node_filesystem:ultracluster_lustre_read_bytes:rate5m", "{{filesystem}} read",
                       over="sum by (filesystem) ({})"),
                    of("node_filesystem:ultracluster_lustre_write_bytes:rate5m", "{{filesystem}} written",
                       over="sum by (filesystem) ({})")), width=12, least=0, unit="Bps"),
            series("Nodes that read most",
                   "One node that reads for all the others is a data loader that does not shard.",
                   (of("node_filesystem:ultracluster_lustre_read_bytes:rate5m", "{{node}} {{instance}}", over=MOST),),
                   width=12, least=0, unit="Bps", to=TO_NODE),
            series("Nodes that write most", "In a sharded checkpoint all nodes write alike.",
                   (of("node_filesystem:ultracluster_lustre_write_bytes:rate5m", "{{node}} {{instance}}", over=MOST),),
                   width=12, least=0, unit="Bps", to=TO_NODE),
            series("Least free space on local disks", "Container images and logs fill them.",
                   (of("ultracluster_node_filesystem_free_ratio", "{{node}} {{instance}} {{mountpoint}}", over=LEAST),),
                   width=12, unit="percentunit", least=0, to=TO_NODE, steps=((None, "red"), (0.1, "green"))),
        ),
    },
)  # fmt: skip
