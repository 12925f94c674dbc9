"""Metrics of GPUs, with every name and unit that dcgm-exporter has had for them.

Sources:

- Names before and after DCGM 4.6.0: the header dcgm_fields.h of https://github.com/NVIDIA/DCGM (commit 72fa3fe of
  2026-07-06, read 2026-11-20), which keeps the old ones as aliases.
- Fields in base units, new with DCGM 4.7 and with ids of their own (1600 to 1649):
  https://github.com/NVIDIA/go-dcgm (the test of base unit fields, read 2026-11-21) and
  https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html (read 2026-09-19 by the page that
  quotes it).
- Old units: https://github.com/NVIDIA/dcgm-exporter, etc/default-counters.csv (commit d5e5f51 of 2026-05-12, read
  2026-11-21).

`DCGM_FI_DEV_GPU_UTIL_RATIO` is a trap: in DCGM 4.6 it is another name of field 203, a percentage, and from 4.7 on field
1613, from 0 to 1. So our list of counters asks DCGM 4.6 for the old name; see `counters`. What slips through is seen by
the alert `GpuMetricImplausible`.
"""

from ultracluster.catalogue.monitoring import RESTART_ON_A100, RESTART_TYPES, XIDS, XidPolicy, xids
from ultracluster.monitoring.names._metric import GPU, NODE, Profile, aggregated, recorded, renamed

_MIB = 2**20

_STATE = (
    recorded("ultracluster_gpu_temperature_celsius", "celsius", "Temperature of the GPU.", GPU,
             *renamed("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS")),
    recorded("ultracluster_gpu_memory_temperature_celsius", "celsius", "Temperature of the GPU's memory.", GPU,
             *renamed("DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS"), profile=Profile.STANDARD),
    recorded("ultracluster_gpu_power_watts", "watts", "Power that the board draws.", GPU,
             *renamed("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS")),
    recorded("ultracluster_gpu_power_limit_watts", "watts", "Power that the board may draw.", GPU,
             *renamed("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS")),
    recorded("ultracluster_gpu_energy_joules_total", "joules", "Energy since the driver was loaded.", GPU,
             *renamed("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL", scale=0.001),
             profile=Profile.STANDARD),
    recorded("ultracluster_gpu_sm_clock_hertz", "hertz", "Clock of the streaming multiprocessors.", GPU,
             *renamed("DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_SM_CLOCK_HERTZ", scale=1e6)),
    recorded("ultracluster_gpu_memory_used_bytes", "bytes", "Memory of the GPU in use.", GPU,
             *renamed("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_USED_BYTES", scale=_MIB)),
    recorded("ultracluster_gpu_memory_free_bytes", "bytes", "Memory of the GPU that is free.", GPU,
             *renamed("DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_FREE_BYTES", scale=_MIB), profile=Profile.STANDARD),
)  # fmt: skip

_ACTIVITY = (
    recorded("ultracluster_gpu_utilization_ratio", "ratio",
             "Share of time with any kernel on the GPU; a hung collective has 1.", GPU,
             *renamed("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", scale=0.01)),
    recorded("ultracluster_gpu_engine_active_ratio", "ratio",
             "Share of time in which the graphics or compute engine was active.", GPU,
             *renamed("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO")),
    recorded("ultracluster_gpu_sm_active_ratio", "ratio",
             "Share of cycles with a warp on a multiprocessor, over all of them.", GPU,
             *renamed("DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO")),
    recorded("ultracluster_gpu_tensor_active_ratio", "ratio",
             "Share of cycles in which the tensor pipe was active: the honest activity.", GPU,
             *renamed("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO")),
    recorded("ultracluster_gpu_memory_active_ratio", "ratio",
             "Share of cycles in which the GPU's memory was read or written.", GPU,
             *renamed("DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO")),
    recorded("ultracluster_gpu_sm_occupancy_ratio", "ratio",
             "Resident warps as a share of what the multiprocessors take.", GPU,
             *renamed("DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_SM_OCCUPANCY_RATIO"), profile=Profile.FULL),
    recorded("ultracluster_gpu_fp64_active_ratio", "ratio", "Share of cycles in which the FP64 pipe was active.", GPU,
             *renamed("DCGM_FI_PROF_PIPE_FP64_ACTIVE", "DCGM_FI_PROF_FP64_UTIL_RATIO"), profile=Profile.FULL),
    recorded("ultracluster_gpu_fp32_active_ratio", "ratio", "Share of cycles in which the FP32 pipe was active.", GPU,
             *renamed("DCGM_FI_PROF_PIPE_FP32_ACTIVE", "DCGM_FI_PROF_FP32_UTIL_RATIO"), profile=Profile.FULL),
    recorded("ultracluster_gpu_fp16_active_ratio", "ratio", "Share of cycles in which the FP16 pipe was active.", GPU,
             *renamed("DCGM_FI_PROF_PIPE_FP16_ACTIVE", "DCGM_FI_PROF_FP16_UTIL_RATIO"), profile=Profile.FULL),
    recorded("ultracluster_gpu_nvlink_tx_bytes_per_second", "bytes_per_second",
             "What the GPU sends over NVLink, headers included.", GPU, "DCGM_FI_PROF_NVLINK_TX_BYTES"),
    recorded("ultracluster_gpu_nvlink_rx_bytes_per_second", "bytes_per_second",
             "What the GPU receives over NVLink, headers included.", GPU, "DCGM_FI_PROF_NVLINK_RX_BYTES",
             profile=Profile.STANDARD),
    recorded("ultracluster_gpu_pcie_tx_bytes_per_second", "bytes_per_second",
             "What the GPU sends over PCIe, headers included.", GPU, "DCGM_FI_PROF_PCIE_TX_BYTES",
             profile=Profile.FULL),
    recorded("ultracluster_gpu_pcie_rx_bytes_per_second", "bytes_per_second",
             "What the GPU receives over PCIe, headers included.", GPU, "DCGM_FI_PROF_PCIE_RX_BYTES",
             profile=Profile.FULL),
)  # fmt: skip

# *_VIOLATION is in nanoseconds, although older lists of counters differ: dcgm_fields.h.
_ERRORS = (
    recorded("ultracluster_gpu_last_xid", "code",
             "The last XID; it stays until the driver is reloaded. For recent ones: ultracluster_gpu_xid_errors.", GPU,
             *renamed("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR")),
    recorded("ultracluster_gpu_ecc_uncorrected_errors_total", "count",
             "Uncorrectable memory errors since the driver was loaded.", GPU, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"),
    recorded("ultracluster_gpu_ecc_corrected_errors_total", "count",
             "Corrected memory errors since the driver was loaded.", GPU, "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
             profile=Profile.STANDARD),
    recorded("ultracluster_gpu_rows_remapped", "count", "Rows of memory that were remapped for uncorrectable errors.",
             GPU, *renamed("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL"),
             profile=Profile.STANDARD),
    recorded("ultracluster_gpu_row_remap_failed", "bool", "Whether a row could not be remapped.", GPU,
             *renamed("DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_ROW_REMAP_FAILED")),
    recorded("ultracluster_gpu_row_remap_pending", "bool",
             "Whether a row waits for a reset of the GPU to be remapped.", GPU, "DCGM_FI_DEV_ROW_REMAP_PENDING"),
    recorded("ultracluster_gpu_pcie_replays_total", "count", "Packets that PCIe had to send again.", GPU,
             *renamed("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL"), profile=Profile.STANDARD),
    recorded("ultracluster_gpu_power_throttle_seconds_total", "seconds",
             "Time slowed down to stay within the power limit.", GPU,
             *renamed("DCGM_FI_DEV_POWER_VIOLATION", "DCGM_FI_DEV_GPU_POWER_THROTTLE_SECONDS_TOTAL", scale=1e-9),
             profile=Profile.STANDARD),
    recorded("ultracluster_gpu_thermal_throttle_seconds_total", "seconds", "Time slowed down because of heat.", GPU,
             *renamed("DCGM_FI_DEV_THERMAL_VIOLATION", "DCGM_FI_DEV_GPU_THERMAL_THROTTLE_SECONDS_TOTAL", scale=1e-9)),
    recorded("ultracluster_gpu_nvlink_crc_errors_total", "count",
             "Data that came over NVLink with a wrong checksum (up to NVLink 4).", GPU,
             *renamed("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_TOTAL",
                      nvlink5=False)),
    recorded("ultracluster_gpu_nvlink_replays_total", "count",
             "Packets that NVLink had to send again (up to NVLink 4).", GPU,
             *renamed("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL",
                      nvlink5=False)),
    recorded("ultracluster_gpu_nvlink_recoveries_total", "count", "Times that an NVLink had to be set up again.", GPU,
             *renamed("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_TOTAL",
                      nvlink5=False),
             *renamed("DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS", "DCGM_FI_DEV_NVLINK_RECOVERY_EVENT_TOTAL",
                      nvlink5=True)),
    recorded("ultracluster_gpu_nvlink_recovery_failures_total", "count",
             "Times that an NVLink could not be set up again (NVLink 5).", GPU,
             *renamed("DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS",
                      "DCGM_FI_DEV_NVLINK_RECOVERY_FAILED_TOTAL", nvlink5=True)),
    recorded("ultracluster_gpu_nvlink_effective_errors_total", "count",
             "Errors that NVLink's forward error correction left (NVLink 5).", GPU,
             *renamed("DCGM_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS", "DCGM_FI_DEV_NVLINK_EFFECTIVE_ERROR_TOTAL",
                      nvlink5=True)),
)  # fmt: skip

#: What dcgm-exporter itself counts, over the five minutes before: it falls back to nothing, unlike the last XID.
XID_WINDOW = "DCGM_EXP_XID_ERRORS_COUNT"
CLOCK_EVENTS_WINDOW = "DCGM_EXP_CLOCK_EVENTS_COUNT"

#: Namespace and name of a pod without a label of its job: the name ends in the index of its owner, such as -0-1-abcde
#: of a JobSet, or -worker-3 of a trainer.
POD_OF_JOB = "(.+?)(?:-worker|-master|-launcher)?(?:-[0-9]+)*(?:-[a-z0-9]{5})?"
_OF_POD = '(DCGM_FI_DEV_GPU_TEMP{pod!=""} or DCGM_FI_DEV_GPU_TEMP_CELSIUS{pod!=""})'

_UNCORRECTED, _CONTAINED = "ultracluster_gpu_ecc_uncorrected_errors_total", "ultracluster_gpu_ecc_contained_errors"

_WINDOWS = (
    recorded("ultracluster_gpu_xid_errors", "count",
             "XIDs of the five minutes before, by code. A GPU without one has no series.", (*GPU, "xid"),
             expr=f"max by ({', '.join(GPU)}, xid) ({XID_WINDOW}) > 0"),
    # DCGM counts a contained error as any other, and XID 94 distinguishes them.
    recorded(_CONTAINED, "count", "Uncorrectable memory errors of a GPU by its last contained one (XID 94), until its "
             "counter starts again. A GPU without one has no series.", GPU,
             expr=f'{_UNCORRECTED} and on (cluster, instance, gpu) ultracluster_gpu_xid_errors{{xid="94"}} or '
             f"last_over_time({_CONTAINED}[5m]) unless last_over_time({_CONTAINED}[5m]) > {_UNCORRECTED} "
             'and on (cluster, instance) last_over_time(up{job="node"}[1h])'),
    recorded("ultracluster_gpu_clock_events", "count",
             "Samples of the five minutes before with a reason to slow down. A GPU without one has no series.",
             (*GPU, "clock_event"), expr=f"max by ({', '.join(GPU)}, clock_event) ({CLOCK_EVENTS_WINDOW}) > 0",
             profile=Profile.STANDARD),
    recorded("ultracluster_kube_pod_job_info", "info", "Job of a pod of Kubernetes, by the labels of its controller.",
             ("cluster", "namespace", "pod", "job_id"),
             # Longer than kube-state-metrics is replaced: another id is another job.
             expr='max by (cluster, namespace, pod, job_id) (last_over_time(kube_pod_labels{job_id!=""}[10m]))'),
    # The textfile collector has it on Slurm. On Kubernetes, dcgm-exporter has the pod.
    recorded("ultracluster_gpu_job_info", "info", "Which job has the GPU.", (*GPU, "job_id"),
             expr=f"max by ({', '.join(GPU)}, job_id) (ultracluster_gpu_job or {_OF_POD} * "
             "on (cluster, namespace, pod) group_left (job_id) ultracluster_kube_pod_job_info or "
             f"label_replace(label_join({_OF_POD} unless on (cluster, namespace, pod) ultracluster_kube_pod_job_info, "
             f'"pod_path", "/", "namespace", "pod"), "job_id", "$1", "pod_path", "{POD_OF_JOB}")) * 0 + 1'),
)  # fmt: skip

#: Those that dcgm-exporter reads from DCGM, one field each.
DCGM_METRICS = (*_STATE, *_ACTIVITY, *_ERRORS)
GPU_METRICS = (*DCGM_METRICS, *_WINDOWS)


#: Selector of XIDs that need a restart on A100 and a reset elsewhere.
RESTART_SELECTOR = f'xid=~"{"|".join(map(str, RESTART_ON_A100))}", instance_type=~"{"|".join(RESTART_TYPES)}"'


def _of_policy(policy: XidPolicy) -> str:
    """Return the XIDs of a policy, on nodes of every generation of GPUs."""
    metric = "ultracluster_gpu_xid_errors"
    result = f"{metric}{{{_selector(policy)}}}"
    if policy is XidPolicy.FATAL:
        return f"{result} or {metric}{{{RESTART_SELECTOR}}}"
    return f"({result} unless {metric}{{{RESTART_SELECTOR}}})" if policy is XidPolicy.RESET else result


def _selector(policy: XidPolicy) -> str:
    """Return the label selector of a policy. Each code has exactly one; those without published advice are watched."""
    if policy is not XidPolicy.WATCH:
        return f'xid=~"{"|".join(map(str, xids(policy)))}"'
    others = "|".join(str(code) for code, other in XIDS.items() if other is not XidPolicy.WATCH)
    return f'xid!~"{others}"'


#: Of one node, from its GPUs. Here and not with the fleet: a group of rules is evaluated in order, and each further
#: group costs half a minute.
GPU_NODE_METRICS = (
    *(
        aggregated(f"node_xid:ultracluster_gpu_xid_errors_{policy}:sum", "count",
                   f"XIDs of the policy {policy} in the five minutes before, over the GPUs of the node.",
                   _of_policy(policy))
        for policy in XidPolicy
    ),
    # The last XID of a GPU stays until the driver is loaded again: right for those that only a restart cures.
    aggregated("node_xid:ultracluster_gpu_last_xid:count", "count", "GPUs of the node whose last XID this is.",
               expr=f'count_values by ({", ".join(NODE)}) ("xid", ultracluster_gpu_last_xid > 0)'),
    aggregated("node:ultracluster_gpus:count", "count", "GPUs that answer.", "ultracluster_gpu_temperature_celsius"),
    recorded("ultracluster_node_expected_gpus", "count", "GPUs that the instance type has.", NODE,
             "ultracluster_expected_gpus"),
    aggregated("node:ultracluster_gpu_power_watts:sum", "watts", "Power that the GPUs of the node draw."),
    aggregated("node:ultracluster_gpu_tensor_active_ratio:avg", "ratio", "Tensor activity, mean over the GPUs."),
)  # fmt: skip
