"""Metrics of nodes: the machine, its EFA devices, its mounts.

Sources:

- `node_amazonefa_*`: the names of AWS's collector, https://github.com/awslabs/awsome-distributed-training,
  4.validation_and_observability/3.efa-node-exporter (commit 0edaf15 of 2026-06-01, read 2026-11-20). They are counters
  for all that they lack `_total`. Ours come from the script node-metrics.sh, under the same names.
- `node_*`: https://github.com/prometheus/node_exporter (1.11.1, read 2026-11-20).
- `ultracluster_*`: the scripts node-metrics.sh and mount-check.sh.
"""

from ultracluster.monitoring.names._metric import NODE, Metric, Profile, Unit, of

_BY = ", ".join(NODE)
EFA = (*NODE, "device")
MOUNT = (*NODE, "path")

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


def _node(name: str, unit: Unit, text: str, expression: str, profile: Profile = Profile.BASIC) -> Metric:
    return Metric(name=name, unit=unit, help=text, labels=NODE, expr=expression, profile=profile)


def _efa(name: str, unit: Unit, text: str, expression: str, profile: Profile = Profile.STANDARD) -> Metric:
    return Metric(name=name, unit=unit, help=text, labels=EFA, expr=expression, profile=profile)


def _efa_rate(counter: str, by: str = f"{_BY}, device") -> str:
    return f"sum by ({by}) (rate(node_amazonefa_{counter}[5m]))"


def _mount(name: str, unit: Unit, text: str, source: str) -> Metric:
    return Metric(name=name, unit=unit, help=text, labels=MOUNT, sources=of(source))


_LOCAL = 'fstype!~"lustre|nfs.*|tmpfs|overlay|fuse.*|autofs|squashfs|ramfs"'

_MACHINE = (
    Metric(name="ultracluster_node_up", unit="bool", labels=NODE,
           help="Whether node_exporter answers its agent. A node that is dead has no series at all.",
           expr=f'max by ({_BY}) (last_over_time(up{{job="node"}}[2m]))'),
    Metric(name="ultracluster_node_name_info", unit="info", labels=(*NODE, "node"),
           help="The name of the node in Slurm or Kubernetes.",
           expr=f"max by ({_BY}, node) (ultracluster_node_info)"),
    _node("ultracluster_node_boot_timestamp_seconds", "timestamp_seconds", "When the node booted.",
          f"max by ({_BY}) (node_boot_time_seconds)"),
    _node("node:ultracluster_cpu_busy:ratio_rate5m", "ratio", "Share of the CPUs' time that was not idle.",
          f'1 - sum by ({_BY}) (rate(ultracluster_cpu_seconds_total{{mode=~"idle|iowait"}}[5m])) / '
          f"sum by ({_BY}) (rate(ultracluster_cpu_seconds_total[5m]))"),
    _node("ultracluster_node_load1", "number", "Processes that run or wait for a CPU, over a minute.",
          f"max by ({_BY}) (node_load1)", Profile.STANDARD),
    _node("ultracluster_node_memory_available_bytes", "bytes", "Memory that programs could still have.",
          f"max by ({_BY}) (node_memory_MemAvailable_bytes)"),
    _node("ultracluster_node_memory_bytes", "bytes", "Memory of the node.",
          f"max by ({_BY}) (node_memory_MemTotal_bytes)"),
    _node("node:node_network_transmit_bytes:sum_rate5m", "bytes_per_second",
          "What the node sends over IP (ENA), without EFA.",
          f'sum by ({_BY}) (rate(node_network_transmit_bytes_total{{device!="lo"}}[5m]))', Profile.STANDARD),
    _node("node:node_network_receive_bytes:sum_rate5m", "bytes_per_second",
          "What the node receives over IP (ENA), without EFA.",
          f'sum by ({_BY}) (rate(node_network_receive_bytes_total{{device!="lo"}}[5m]))', Profile.STANDARD),
    _node("node:node_disk_read_bytes:sum_rate5m", "bytes_per_second", "What is read from local disks.",
          f"sum by ({_BY}) (rate(node_disk_read_bytes_total[5m]))", Profile.STANDARD),
    _node("node:node_disk_written_bytes:sum_rate5m", "bytes_per_second", "What is written to local disks.",
          f"sum by ({_BY}) (rate(node_disk_written_bytes_total[5m]))", Profile.STANDARD),
    Metric(name="ultracluster_node_filesystem_free_ratio", unit="ratio", labels=(*NODE, "mountpoint"),
           help="Free share of a local file system.",
           expr=f"min by ({_BY}, mountpoint) (node_filesystem_avail_bytes{{{_LOCAL}}} / "
           f"(node_filesystem_size_bytes{{{_LOCAL}}} > 0))"),
    Metric(name="ultracluster_node_health_ok", unit="bool", labels=(*NODE, "check"),
           help="Whether a check of the node is well: the mounts, EFA for Lustre, the local disks, and others.",
           sources=of("ultracluster_health_ok")),
)  # fmt: skip

_EFA = (
    _node("node:ultracluster_efa_devices:count", "count", "EFA devices of which the driver knows.",
          f"count by ({_BY}) (node_amazonefa_info)"),
    Metric(name="ultracluster_node_expected_efa_devices", unit="count", labels=NODE,
           help="EFA devices that the node was given.", sources=of("ultracluster_expected_efa_devices")),
    _node("node:node_amazonefa_tx_bytes:sum_rate5m", "bytes_per_second", "What all EFA devices of the node send.",
          _efa_rate("tx_bytes", _BY)),
    _node("node:node_amazonefa_rx_bytes:sum_rate5m", "bytes_per_second", "What all EFA devices of the node receive.",
          _efa_rate("rx_bytes", _BY)),
    _node("node:node_amazonefa_rx_drops:sum_rate5m", "per_second",
          "Packets that arrived and were dropped, over all EFA devices.",
          _efa_rate("rx_drops", _BY)),
    _node("node:node_amazonefa_retrans_pkts:ratio_rate5m", "ratio",
          "Packets sent again as a share of those sent; none below 1,000 a second.",
          f"{_efa_rate('retrans_pkts', _BY)} / ({_efa_rate('tx_pkts', _BY)} > 1000)"),
    _node("node:node_amazonefa_remote_events:sum_rate5m", "per_second",
          "Events of remote ends that do not answer or answer badly.",
          f"{_efa_rate('unresponsive_remote_events', _BY)} + {_efa_rate('impaired_remote_conn_events', _BY)}"),
    _efa("node_device:node_amazonefa_tx_bytes:rate5m", "bytes_per_second", "What the device sends.",
         _efa_rate("tx_bytes")),
    _efa("node_device:node_amazonefa_rx_bytes:rate5m", "bytes_per_second", "What the device receives.",
         _efa_rate("rx_bytes")),
    _efa("node_device:node_amazonefa_rx_drops:rate5m", "per_second",
         "Packets that arrived and were dropped; a device without has no series.",
         f"{_efa_rate('rx_drops')} > 0"),
    _efa("node_device:node_amazonefa_retrans_pkts:rate5m", "per_second",
         "Packets sent again; a device without has no series.",
         f"{_efa_rate('retrans_pkts')} > 0"),
)  # fmt: skip

_MOUNTS = (
    _mount("ultracluster_node_mount_mounted", "bool", "Whether it is mounted.", "ultracluster_mount_mounted"),
    _mount("ultracluster_node_mount_over_efa", "bool",
           "Whether a read of it went over EFA (1) or TCP (0); none where TCP is right.",
           "ultracluster_mount_over_efa"),
    _mount("ultracluster_node_mount_check_seconds", "seconds", "How long the last check of it took.",
           "ultracluster_mount_check_seconds"),
    _mount("ultracluster_node_mount_last_success_timestamp_seconds", "timestamp_seconds",
           "When a check last found nothing wrong with it.",
           "ultracluster_mount_last_success_timestamp_seconds"),
    Metric(name="node_filesystem:ultracluster_lustre_read_bytes:rate5m", unit="bytes_per_second",
           labels=(*NODE, "filesystem"),
           help="What programs on the node read from a Lustre file system.", profile=Profile.STANDARD,
           expr=f"sum by ({_BY}, filesystem) (rate(ultracluster_lustre_read_bytes_total[5m]))"),
    Metric(name="node_filesystem:ultracluster_lustre_write_bytes:rate5m", unit="bytes_per_second",
           labels=(*NODE, "filesystem"),
           help="What programs on the node write to a Lustre file system.", profile=Profile.STANDARD,
           expr=f"sum by ({_BY}, filesystem) (rate(ultracluster_lustre_write_bytes_total[5m]))"),
)  # fmt: skip

NODE_METRICS = (*_MACHINE, *_EFA, *_MOUNTS)
