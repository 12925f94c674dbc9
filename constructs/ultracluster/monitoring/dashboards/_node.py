"""One node, down to its GPUs."""

from functools import partial

from ultracluster.monitoring.dashboards._common import ANY_IS_BAD, CLUSTER, HEAT, LACKS, NODE, TO_JOB, of, together
from ultracluster.monitoring.dashboards._spec import Dashboard, series, stat, table, timeline

_WELL = {1: ("well", "green"), 0: ("not well", "red")}
_NODE = 'instance="$node"'
_here = partial(of, within=_NODE)

NODE_DASHBOARD = Dashboard(
    uid="ultracluster-node",
    title="Node",
    about="What is wrong with this node: its GPUs one by one, its network, mounts and checks.",
    variables=(CLUSTER, NODE),
    rows={
        "Now": (
            stat("GPUs missing", "GPUs that the instance type has and that do not answer.",
                 (together(LACKS, "ultracluster_node_expected_gpus", "node:ultracluster_gpus:count",
                           within=_NODE),),
                 width=4, steps=ANY_IS_BAD),
            stat("EFA devices missing", "EFA devices of the instance type that the driver does not have.",
                 (together(LACKS, "ultracluster_node_expected_efa_devices", "node:ultracluster_efa_devices:count",
                           within=_NODE),),
                 width=4, steps=ANY_IS_BAD),
            stat("Up for", "Since its last boot.",
                 (_here("ultracluster_node_boot_timestamp_seconds", over="time() - {}"),), width=4, unit="s"),
            table("Jobs", "The jobs that the node works for.",
                  (_here("node_job:ultracluster_gpu_job_info:max", over="max by (job_id) ({})"),),
                  width=6, height=4, to=TO_JOB, columns={"job_id": "Job"}),
            table("Problems", "Alerts that stand for it.",
                  (_here("ultracluster_node_problem", over="max by (problem, xid, path) ({})"),),
                  width=6, height=4, columns={"problem": "Problem", "xid": "XID", "path": "Path"}),
            timeline("Checks", "What the node checks itself: mounts, local disks, and whether Lustre runs over EFA.",
                     (_here("ultracluster_node_health_ok", "{{check}}"),
                      _here("ultracluster_node_mount_mounted", "{{path}} mounted"),
                      _here("ultracluster_node_mount_over_efa", "{{path}} over EFA")), width=24, height=6, words=_WELL),
        ),
        "GPUs": (
            series("Tensor activity", "One GPU apart from the others is the one to look at.",
                   (_here("ultracluster_gpu_tensor_active_ratio", "GPU {{gpu}}"),), unit="percentunit", least=0),
            series("Temperature", "One far above the others has a cooling problem of its own.",
                   (_here("ultracluster_gpu_temperature_celsius", "GPU {{gpu}}"),), unit="celsius", steps=HEAT),
            series("Power", "What each board draws.", (_here("ultracluster_gpu_power_watts", "GPU {{gpu}}"),),
                   unit="watt"),
            series("Clock", "Falls when the GPU is throttled.",
                   (_here("ultracluster_gpu_sm_clock_hertz", "GPU {{gpu}}"),), unit="hertz"),
            series("Memory in use", "Of each GPU.", (_here("ultracluster_gpu_memory_used_bytes", "GPU {{gpu}}"),),
                   unit="bytes"),
            series("NVLink", "What each GPU sends to the others of its NVLink domain.",
                   (_here("ultracluster_gpu_nvlink_tx_bytes_per_second", "GPU {{gpu}}"),), least=0, unit="Bps"),
            series("XIDs", "Error codes of the driver within five minutes. Nothing drawn is good.",
                   (_here("ultracluster_gpu_xid_errors", "GPU {{gpu}} XID {{xid}}"),), least=0, steps=ANY_IS_BAD),
            series("Reasons to slow down",
                   "hw_thermal and hw_power_brake are the machine's fault; power_cap is normal at full load.",
                   (_here("ultracluster_gpu_clock_events", "GPU {{gpu}} {{clock_event}}"),), least=0),
            series("Corrected memory errors", "Of the last hour. Many of them announce an uncorrectable one.",
                   (_here("ultracluster_gpu_ecc_corrected_errors_total", "GPU {{gpu}}", over="increase({}[1h])"),),
                   least=0),
        ),
        "Machine": (
            series("EFA and IP", "Training traffic belongs on EFA. Much on IP is a job that fell back to TCP.",
                   (_here("node:node_amazonefa_tx_bytes:sum_rate5m", "EFA sent"),
                    _here("node:node_amazonefa_rx_bytes:sum_rate5m", "EFA received"),
                    _here("node:node_network_transmit_bytes:sum_rate5m", "IP sent"),
                    _here("node:node_network_receive_bytes:sum_rate5m", "IP received")), least=0, unit="Bps"),
            series("CPU", "Share of all CPUs.", (_here("node:ultracluster_cpu_busy:ratio_rate5m", "busy"),),
                   unit="percentunit", least=0, most=1),
            series("Memory available", "What programs could still have.",
                   (_here("ultracluster_node_memory_available_bytes", "available"),
                    _here("ultracluster_node_memory_bytes", "all")), least=0, unit="bytes"),
            series("Lustre", "What programs on the node read and write.",
                   (_here("node_filesystem:ultracluster_lustre_read_bytes:rate5m", "{{filesystem}} read"),
                    _here("node_filesystem:ultracluster_lustre_write_bytes:rate5m", "{{filesystem}} written")),
                   least=0, unit="Bps"),
            series("Local disks", "NVMe and root volume together.",
                   (_here("node:node_disk_read_bytes:sum_rate5m", "read"),
                    _here("node:node_disk_written_bytes:sum_rate5m", "written")), least=0, unit="Bps"),
            series("Free space", "Of local file systems. A full root volume drains the node.",
                   (_here("ultracluster_node_filesystem_free_ratio", "{{mountpoint}}"),),
                   unit="percentunit", least=0, most=1),
        ),
    },
)  # fmt: skip
