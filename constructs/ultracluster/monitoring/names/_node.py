"""Metrics of nodes: the machine, its EFA devices, its mounts.

Sources:

- `node_amazonefa_*`: the names of AWS's collector, https://github.com/awslabs/awsome-distributed-training,
  4.validation_and_observability/3.efa-node-exporter (commit 0edaf15 of 2026-06-01, read 2026-11-20). They are counters
  for all that they lack `_total`. Ours come from the script node-metrics.sh, under the same names.
- `node_*`: https://github.com/prometheus/node_exporter (1.11.1, read 2026-11-20).
- `ultracluster_*`: the scripts node-metrics.sh and mount-check.sh.
"""

from ultracluster.monitoring.names._metric import NODE, Profile, aggregated, recorded

_BY = ", ".join(NODE)
_MOUNT = (*NODE, "path")

#: EFA counters that are kept, out of 35: traffic and errors.
EFA_COUNTERS = (
    "tx_bytes", "rx_bytes", "tx_pkts", "rx_drops", "retrans_pkts",
    "impaired_remote_conn_events", "unresponsive_remote_events",
)  # fmt: skip
#: More of them, with the profile `full`.
EFA_COUNTERS_FULL = (
    "rx_pkts", "send_bytes", "recv_bytes", "rdma_read_bytes", "rdma_read_resp_bytes", "rdma_write_bytes",
    "rdma_write_recv_bytes", "retrans_bytes", "retrans_timeout_events", "rdma_read_wr_err", "rdma_write_wr_err",
)  # fmt: skip


def _efa_rate(counter: str) -> str:
    return f"sum by ({_BY}) (rate(node_amazonefa_{counter}[5m]))"


# The check of all mounts of a node runs each minute.
_LAST = "ultracluster_node_mount_last_success_timestamp_seconds"
_SILENT = f'(time() - {_LAST} > 90 and on (cluster, instance) ultracluster_node_health_ok{{check="mounts"}} == 0)'


def _slowest(way: str) -> str:
    metric = f"node_device:node_amazonefa_{way}_bytes:rate5m"
    median, quarter = (f"quantile by ({_BY}) ({share}, {metric})" for share in (0.5, 0.25))
    return f"min by ({_BY}) ({metric}) / ({median} and {quarter} > 1e7)"


_RECOVERED = "ultracluster_node_recovered_timestamp_seconds"
_FAILURES = "ultracluster_gpu_nvlink_recovery_failures_total"
_LINK = "ultracluster_node_nvlink_failed_timestamp_seconds"
_XID, _SWITCH = "ultracluster_node_xid_timestamp_seconds", "ultracluster_node_nvswitch_fatal_timestamp_seconds"


def _until_recovered(metric: str, errors: str, window: int) -> str:
    """Return when there last were errors, which their source reports for so many seconds.

    Until the node has booted or an administrator has dealt with them, and not for nodes that are gone for an hour.
    """
    last = f"last_over_time({metric}[5m])"
    return (
        f"({errors}) * 0 + time() or {last} > time() - 604800 and on (cluster, instance) "
        f"last_over_time(ultracluster_node_up[1h]) unless ({last} < on (cluster, instance) "
        f"group_left () ({_RECOVERED} + {window}))"
    )


_LOCAL = 'fstype!~"lustre|nfs.*|tmpfs|overlay|fuse.*|autofs|squashfs|ramfs"'

_MACHINE = (
    recorded("ultracluster_node_up", "bool",
             "Whether node_exporter answers its agent. A lost node has no series at all.", NODE,
             'last_over_time(up{job="node"}[2m])'),
    recorded("ultracluster_node_name_info", "info", "The name of the node in Slurm or Kubernetes.", (*NODE, "node"),
             "last_over_time(ultracluster_node_info[3h])"),
    recorded("ultracluster_node_topology_info", "info",
             "Network nodes above the node, from the top, and the Capacity Block of its UltraServer, as EC2 has them.",
             (*NODE, "network_node_1", "network_node_2", "network_node_3", "ultraserver"),
             "last_over_time(ultracluster_topology_info[1h])"),
    recorded("ultracluster_node_clock_offset_seconds", "seconds", "How far the clock is from its time source.", NODE,
             "node_timex_offset_seconds"),
    recorded("ultracluster_node_clock_synchronised", "bool", "Whether the kernel's clock is synchronised.", NODE,
             "node_timex_sync_status"),
    recorded("ultracluster_node_fabric_manager_up", "bool",
             "Whether NVIDIA's fabric manager runs; only on nodes that have it.", NODE,
             "ultracluster_fabric_manager_up"),
    recorded("ultracluster_node_nvswitch_errors", "count",
             "Errors of NVSwitches in the kernel log of ten minutes, by kind: fatal or other.", (*NODE, "kind"),
             "ultracluster_nvswitch_errors"),
    recorded("ultracluster_node_gpu_recovery_required", "count",
             "GPUs that need recovery by the last word of their driver: XID 154, or a fatal sub-code of 144 to 150.",
             (*NODE, "xid", "reason"), "ultracluster_gpu_recovery_required"),
    recorded("ultracluster_node_boot_timestamp_seconds", "timestamp_seconds", "When the node booted.", NODE,
             "node_boot_time_seconds"),
    recorded(_RECOVERED, "timestamp_seconds",
             "When the node booted, or an administrator last called health-check --forget-xids.", NODE,
             expr=f"max by ({_BY}) (node_boot_time_seconds or "
             'label_replace(ultracluster_xids_forgotten_timestamp_seconds, "of", "xids", "", ""))'),
    recorded(_XID, "timestamp_seconds", "When a GPU of the node last reported an XID that a reset ends; within seven "
             "days, and until the node has recovered.", (*NODE, "xid"),
             expr=_until_recovered(_XID, "node_xid:ultracluster_gpu_xid_errors_reset:sum > 0", 300)),
    recorded(_SWITCH, "timestamp_seconds", "When an NVSwitch of the node last had a fatal error; within seven days, "
             "and until the node has recovered.", NODE,
             expr=_until_recovered(
                 _SWITCH, f'max by ({_BY}) (ultracluster_node_nvswitch_errors{{kind="fatal"}}) > 0', 600)),
    # The driver, loaded again, counts from 0.
    recorded(_LINK, "timestamp_seconds", "When an NVLink of the node could last not be set up again; within seven "
             "days, and until the node has recovered or its driver is loaded again.", NODE,
             expr=f"({_until_recovered(_LINK, f'max by ({_BY}) (increase({_FAILURES}[15m])) > 0', 900)}) unless on "
                  f"(cluster, instance) max by (cluster, instance) ({_FAILURES}) == 0"),
    aggregated("node:ultracluster_cpu_busy:ratio_rate5m", "ratio", "Share of the CPUs' time that was not idle.",
               expr=f'1 - sum by ({_BY}) (rate(ultracluster_cpu_seconds_total{{mode=~"idle|iowait"}}[5m])) / '
               f"sum by ({_BY}) (rate(ultracluster_cpu_seconds_total[5m]))"),
    recorded("ultracluster_node_load1", "number", "Processes that run or wait for a CPU, over a minute.", NODE,
             "node_load1", profile=Profile.STANDARD),
    recorded("ultracluster_node_memory_available_bytes", "bytes", "Memory that programs could still have.", NODE,
             "node_memory_MemAvailable_bytes"),
    recorded("ultracluster_node_memory_bytes", "bytes", "Memory of the node.", NODE, "node_memory_MemTotal_bytes"),
    aggregated("node:node_network_transmit_bytes:sum_rate5m", "bytes_per_second",
               "What the node sends over IP (ENA), without EFA.", 'node_network_transmit_bytes_total{device!="lo"}'),
    aggregated("node:node_network_receive_bytes:sum_rate5m", "bytes_per_second",
               "What the node receives over IP (ENA), without EFA.", 'node_network_receive_bytes_total{device!="lo"}',
               profile=Profile.STANDARD),
    aggregated("node:node_disk_read_bytes:sum_rate5m", "bytes_per_second", "What is read from local disks.",
               profile=Profile.STANDARD),
    aggregated("node:node_disk_written_bytes:sum_rate5m", "bytes_per_second", "What is written to local disks.",
               profile=Profile.STANDARD),
    recorded("ultracluster_node_filesystem_free_ratio", "ratio", "Free share of a local file system.",
             (*NODE, "mountpoint"),
             expr=f"min by ({_BY}, mountpoint) (node_filesystem_avail_bytes{{{_LOCAL}}} / "
             f"(node_filesystem_size_bytes{{{_LOCAL}}} > 0))"),
    recorded("ultracluster_node_health_ok", "bool",
             "Whether a check of the node is well: the mounts, EFA for Lustre, the local disks, and others.",
             (*NODE, "check"), "ultracluster_health_ok"),
    aggregated("node:ultracluster_health_changes:max", "count",
               "Times in six hours that a check of the node, other than that of its mounts, failed or became well "
               "again.",
               expr=f'max by ({_BY}) (changes(ultracluster_node_health_ok{{check!="mounts"}}[6h]))'),
    recorded("ultracluster_node_software_ok", "bool",
             "Whether software that the image lacked was installed at the boot of the node.",
             (*NODE, "item"), "ultracluster_software_ok"),
)  # fmt: skip

# EFA's counters lack `_total`.
_EFA = (
    aggregated("node:ultracluster_efa_devices:count", "count", "EFA devices of the driver.",
               "node_amazonefa_info"),
    recorded("ultracluster_node_expected_efa_devices", "count", "EFA devices that the node was given.", NODE,
             "ultracluster_expected_efa_devices"),
    aggregated("node:node_amazonefa_tx_bytes:sum_rate5m", "bytes_per_second",
               "What all EFA devices of the node send.", "node_amazonefa_tx_bytes"),
    aggregated("node:node_amazonefa_rx_bytes:sum_rate5m", "bytes_per_second",
               "What all EFA devices of the node receive.", "node_amazonefa_rx_bytes"),
    aggregated("node:node_amazonefa_rx_drops:sum_rate5m", "per_second",
               "Packets that arrived and were dropped, over all EFA devices.", "node_amazonefa_rx_drops"),
    aggregated("node:node_amazonefa_retrans_pkts:ratio_rate5m", "ratio",
               "Packets sent again as a share of those sent; none below 1,000 a second.",
               expr=f"{_efa_rate('retrans_pkts')} / ({_efa_rate('tx_pkts')} > 1000)"),
    aggregated("node:node_amazonefa_remote_events:sum_rate5m", "per_second",
               "Events of remote ends that do not answer or answer badly.",
               expr=f"{_efa_rate('unresponsive_remote_events')} + {_efa_rate('impaired_remote_conn_events')}"),
    aggregated("node_device:node_amazonefa_tx_bytes:rate5m", "bytes_per_second", "What the device sends.",
               "node_amazonefa_tx_bytes", profile=Profile.STANDARD),
    aggregated("node_device:node_amazonefa_rx_bytes:rate5m", "bytes_per_second", "What the device receives.",
               "node_amazonefa_rx_bytes", profile=Profile.STANDARD),
    aggregated("node:node_amazonefa_bytes:ratio_rate5m", "ratio",
               "What the node's slowest EFA device sends or receives, as a share of the median over its devices; "
               "none below 10 MB/s, or if a quarter of them has no traffic.",
               expr=f'min by ({_BY}) ({_slowest("tx")} or label_replace({_slowest("rx")}, "of", "rx", "", ""))',
               profile=Profile.STANDARD),
    *(
        aggregated(f"node_device:node_amazonefa_{counter}:rate5m", "per_second",
                   f"{text}; a device without has no series.",
                   expr=f"sum by ({_BY}, device) (rate(node_amazonefa_{counter}[5m])) > 0", profile=Profile.STANDARD)
        for counter, text in (("rx_drops", "Packets that arrived and were dropped"),
                              ("retrans_pkts", "Packets sent again"))
    ),
)  # fmt: skip

_HEALTH = (
    recorded("ultracluster_node_health_breaker_open", "bool",
             "Whether the circuit breaker, or the mode, holds an action of the health checks back.", (*NODE, "action"),
             "ultracluster_health_breaker_open"),
)  # fmt: skip

_MOUNTS = (
    recorded("ultracluster_node_mount_mounted", "bool", "Whether it is mounted.", _MOUNT,
             "ultracluster_mount_mounted"),
    recorded("ultracluster_node_mount_over_efa", "bool",
             "Whether a read of it went over EFA (1) or TCP (0); none where TCP is right.", _MOUNT,
             "ultracluster_mount_over_efa"),
    recorded("ultracluster_node_mount_check_seconds", "seconds", "How long the last check of it took.", _MOUNT,
             "ultracluster_mount_check_seconds"),
    recorded("ultracluster_node_mount_last_success_timestamp_seconds", "timestamp_seconds",
             "When a check last found nothing wrong with it.", _MOUNT,
             "ultracluster_mount_last_success_timestamp_seconds"),
    recorded("ultracluster_node_mount_outage", "bool",
             "Mounts that fail on more than half of the nodes that have them, of two nodes or more: the file system "
             "does not answer, and the nodes are well. Others have no series.", _MOUNT,
             expr=f"{_SILENT} * 0 + 1 and on (cluster, path) (count by (cluster, path) ({_SILENT}) > 1 and "
             f"count by (cluster, path) ({_SILENT}) > count by (cluster, path) ({_LAST}) / 2)"),
    recorded("ultracluster_node_lustre_evictions", "count",
             "Evictions of the node by targets of a Lustre file system in the kernel log of ten minutes; a node that "
             "none evicted has no series.", (*NODE, "filesystem"),
             expr=f"max by ({_BY}, filesystem) (ultracluster_lustre_evictions) > 0"),
    aggregated("node_filesystem:ultracluster_lustre_read_bytes:rate5m", "bytes_per_second",
               "What programs on the node read from a Lustre file system.", profile=Profile.STANDARD),
    aggregated("node_filesystem:ultracluster_lustre_write_bytes:rate5m", "bytes_per_second",
               "What programs on the node write to a Lustre file system.", profile=Profile.STANDARD),
)  # fmt: skip

NODE_METRICS = (*_MACHINE, *_EFA, *_HEALTH, *_MOUNTS)
