"""The metrics of nodes: the machine, its EFA devices, its mounts.

Sources:

- `node_amazonefa_*`: the names of AWS's collector, https://github.com/awslabs/awsome-distributed-training,
  4.validation_and_observability/3.efa-node-exporter (commit 0edaf15 of 2026-06-01, read 2026-11-20). They are counters
  for all that they lack `_total`. Ours come from the script node-metrics.sh, under the same names.
- `node_*`: https://github.com/prometheus/node_exporter (1.11.1, read 2026-11-20).
- `ultracluster_*`: the scripts node-metrics.sh and mount-check.sh.
"""

from ultracluster.metrics.metric import NODE, Metric, Profile, Unit, of

_BY = ", ".join(NODE)
EFA = (*NODE, "device")
MOUNT = (*NODE, "path")

#: EFA's counters that are kept, of the 35 that there are: what flows, and what says that something is wrong.
EFA_COUNTERS = (
    "tx_bytes", "rx_bytes", "tx_pkts", "rx_drops", "retrans_pkts",
    "impaired_remote_conn_events", "unresponsive_remote_events",
)  # fmt: skip
#: More of them, with the profile `full`.
EFA_COUNTERS_FULL = (
    "rx_pkts", "send_bytes", "recv_bytes", "rdma_read_bytes", "rdma_read_resp_bytes", "rdma_write_bytes",
    "rdma_write_recv_bytes", "retrans_bytes", "retrans_timeout_events", "rdma_read_wr_err", "rdma_write_wr_err",
)  # fmt: skip


def _node(what: str, unit: Unit, text: str, expression: str, profile: Profile = Profile.BASIC) -> Metric:
    return Metric(name=f"node:{what}", unit=unit, help=text, labels=NODE, expression=expression, profile=profile)


def _efa(what: str, unit: Unit, text: str, expression: str, profile: Profile = Profile.STANDARD) -> Metric:
    return Metric(name=f"efa:{what}", unit=unit, help=text, labels=EFA, expression=expression, profile=profile)


def _efa_rate(counter: str, by: str = f"{_BY}, device") -> str:
    return f"sum by ({by}) (rate(node_amazonefa_{counter}[5m]))"


def _mount(what: str, unit: Unit, text: str, source: str) -> Metric:
    return Metric(name=f"mount:{what}", unit=unit, help=text, labels=MOUNT, sources=of(source))


_LOCAL = 'fstype!~"lustre|nfs.*|tmpfs|overlay|fuse.*|autofs|squashfs|ramfs"'

_MACHINE = (
    Metric(name="node:up:bool", unit="bool", labels=NODE,
           help="Whether node_exporter answers its agent. A node that is dead has no series at all.",
           expression=f'max by ({_BY}) (last_over_time(up{{job="node"}}[2m]))'),
    Metric(name="node:name:info", unit="info", labels=(*NODE, "node"),
           help="The name of the node in Slurm or Kubernetes.",
           expression=f"max by ({_BY}, node) (ultracluster_node_info)"),
    _node("boot:timestamp_seconds", "timestamp_seconds", "When the node booted.",
          f"max by ({_BY}) (node_boot_time_seconds)"),
    _node("cpu_busy:ratio", "ratio", "Share of the CPUs' time that was not idle.",
          f'1 - sum by ({_BY}) (rate(ultracluster_cpu_seconds_total{{mode=~"idle|iowait"}}[5m])) / '
          f"sum by ({_BY}) (rate(ultracluster_cpu_seconds_total[5m]))"),
    _node("load1:number", "number", "Processes that run or wait for a CPU, over a minute.",
          f"max by ({_BY}) (node_load1)", Profile.STANDARD),
    _node("memory_available:bytes", "bytes", "Memory that programs could still have.",
          f"max by ({_BY}) (node_memory_MemAvailable_bytes)"),
    _node("memory:bytes", "bytes", "Memory of the node.", f"max by ({_BY}) (node_memory_MemTotal_bytes)"),
    _node("network_tx:bytes_per_second", "bytes_per_second", "What the node sends over IP (ENA), without EFA.",
          f'sum by ({_BY}) (rate(node_network_transmit_bytes_total{{device!="lo"}}[5m]))', Profile.STANDARD),
    _node("network_rx:bytes_per_second", "bytes_per_second", "What the node receives over IP (ENA), without EFA.",
          f'sum by ({_BY}) (rate(node_network_receive_bytes_total{{device!="lo"}}[5m]))', Profile.STANDARD),
    _node("disk_read:bytes_per_second", "bytes_per_second", "What is read from local disks.",
          f"sum by ({_BY}) (rate(node_disk_read_bytes_total[5m]))", Profile.STANDARD),
    _node("disk_write:bytes_per_second", "bytes_per_second", "What is written to local disks.",
          f"sum by ({_BY}) (rate(node_disk_written_bytes_total[5m]))", Profile.STANDARD),
    Metric(name="node:filesystem_free:ratio", unit="ratio", labels=(*NODE, "mountpoint"),
           help="Free share of a local file system.",
           expression=f"min by ({_BY}, mountpoint) (node_filesystem_avail_bytes{{{_LOCAL}}} / "
           f"(node_filesystem_size_bytes{{{_LOCAL}}} > 0))"),
    Metric(name="node:health:bool", unit="bool", labels=(*NODE, "check"),
           help="Whether a check of the node is well: the mounts, EFA for Lustre, the local disks, and others.",
           sources=of("ultracluster_health_ok")),
)  # fmt: skip

_EFA = (
    _node("efa_devices:count", "count", "EFA devices of which the driver knows.",
          f"count by ({_BY}) (node_amazonefa_info)"),
    Metric(name="node:efa_devices_expected:count", unit="count", labels=NODE,
           help="EFA devices that the node was given.", sources=of("ultracluster_expected_efa_devices")),
    _node("efa_tx:bytes_per_second", "bytes_per_second", "What all EFA devices of the node send.",
          _efa_rate("tx_bytes", _BY)),
    _node("efa_rx:bytes_per_second", "bytes_per_second", "What all EFA devices of the node receive.",
          _efa_rate("rx_bytes", _BY)),
    _node("efa_rx_drops:per_second", "per_second", "Packets that arrived and were dropped, over all EFA devices.",
          _efa_rate("rx_drops", _BY)),
    _node("efa_retransmit:ratio", "ratio", "Packets sent again as a share of those sent; none below 1,000 a second.",
          f"{_efa_rate('retrans_pkts', _BY)} / ({_efa_rate('tx_pkts', _BY)} > 1000)"),
    _node("efa_path_trouble:per_second", "per_second", "Events of remote ends that do not answer or answer badly.",
          f"{_efa_rate('unresponsive_remote_events', _BY)} + {_efa_rate('impaired_remote_conn_events', _BY)}"),
    _efa("tx:bytes_per_second", "bytes_per_second", "What the device sends.", _efa_rate("tx_bytes")),
    _efa("rx:bytes_per_second", "bytes_per_second", "What the device receives.", _efa_rate("rx_bytes")),
    _efa("rx_drops:per_second", "per_second", "Packets that arrived and were dropped; a device without has no series.",
         f"{_efa_rate('rx_drops')} > 0"),
    _efa("retransmits:per_second", "per_second", "Packets sent again; a device without has no series.",
         f"{_efa_rate('retrans_pkts')} > 0"),
)  # fmt: skip

_MOUNTS = (
    _mount("mounted:bool", "bool", "Whether it is mounted.", "ultracluster_mount_mounted"),
    _mount("over_efa:bool", "bool", "Whether a read of it went over EFA (1) or TCP (0); none where TCP is right.",
           "ultracluster_mount_over_efa"),
    _mount("check:seconds", "seconds", "How long the last check of it took.", "ultracluster_mount_check_seconds"),
    _mount("last_success:timestamp_seconds", "timestamp_seconds", "When a check last found nothing wrong with it.",
           "ultracluster_mount_last_success_timestamp_seconds"),
    Metric(name="lustre:read:bytes_per_second", unit="bytes_per_second", labels=(*NODE, "filesystem"),
           help="What programs on the node read from a Lustre file system.", profile=Profile.STANDARD,
           expression=f"sum by ({_BY}, filesystem) (rate(ultracluster_lustre_read_bytes_total[5m]))"),
    Metric(name="lustre:write:bytes_per_second", unit="bytes_per_second", labels=(*NODE, "filesystem"),
           help="What programs on the node write to a Lustre file system.", profile=Profile.STANDARD,
           expression=f"sum by ({_BY}, filesystem) (rate(ultracluster_lustre_write_bytes_total[5m]))"),
)  # fmt: skip

NODE_METRICS = (*_MACHINE, *_EFA, *_MOUNTS)
