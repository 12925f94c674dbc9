"""Alerts on GPUs, NVLink and PCIe."""

from ultracluster.catalogue.monitoring import RESTART_ON_A100, XidPolicy, xids
from ultracluster.monitoring.alerts._alert import (
    BY_NODE,
    CELSIUS,
    DRAIN,
    FORGET,
    NUMBER,
    PER_SECOND,
    REBOOT,
    RESET,
    SAMPLES,
    SHARE,
    UNTIL,
    Alert,
    Severity,
)
from ultracluster.monitoring.names import RESTART_SELECTOR

_XIDS = (
    "NVIDIA's Xid catalogue and the lists of AWS, as `ultracluster.catalogue.monitoring` holds them with their sources."
)
_XID_LOG = "`sudo journalctl -k --grep xid` on the node."

# What shows for as long as nobody has reset the GPU or replaced the node.
_NOT_RECOVERED = (
    "ultracluster_node_gpu_recovery_required > 0 or ultracluster_node_expected_gpus > on (cluster, instance) "
    "group_left () node:ultracluster_gpus:count or ultracluster_gpu_ecc_uncorrected_errors_total > 0 or "
    'ultracluster_node_health_ok{check="devices"} == 0'
)


def _xid(policy: XidPolicy, severity: Severity, description: str, *actions: str) -> Alert:
    # dcgm-exporter's window is five minutes. The last XID stays until the driver is loaded again: that is how long a
    # node with a fatal one must not be used. A reset of the GPU does not clear it: another metric remembers those.
    window = "30m" if policy is XidPolicy.FATAL else "5m"
    errors = f"node_xid:ultracluster_gpu_xid_errors_{policy}:sum"
    expr = f"max_over_time({errors}[{window}]) > 0"
    if policy is XidPolicy.FATAL:
        codes = "|".join(map(str, xids(policy)))
        last = "node_xid:ultracluster_gpu_last_xid:count"
        expr += f' or {last}{{xid=~"{codes}"}} or {last}{{{RESTART_SELECTOR}}}'
        # A GPU that is gone has no last XID.
        expr += f" or max_over_time({errors}[1d]) > 0 and on (cluster, instance) ({_NOT_RECOVERED})"
    if policy is XidPolicy.RESET:
        expr = f"{errors} > 0 or ultracluster_node_xid_timestamp_seconds"
    return Alert(
        name=f"GpuXid{policy.capitalize()}",
        severity=severity,
        for_="1m" if policy is XidPolicy.RESET else "0m",
        expr=expr,
        summary="XID {{ $labels.xid }} on node {{ $labels.instance }}",
        description=description,
        diagnosis=(
            "The label `xid`, and NVIDIA's page on it: https://docs.nvidia.com/deploy/xid-errors/.",
            _XID_LOG,
            "Whether other nodes of the same job have it too: then suspect the program or the fabric.",
        ),
        actions=actions,
        rationale=f"{_XIDS} {UNTIL}" if policy is XidPolicy.RESET else _XIDS,
    )


def _grew(errors: str) -> str:
    return f"max by ({BY_NODE}) (increase(ultracluster_gpu_nvlink_{errors}_total[15m]))"


# Each with a label, or `or` would take the first alone.
_RESENT = ("replays", "crc_errors", "effective_errors")
_NVLINK = " or ".join(f'label_replace({_grew(errors)}, "of", "{errors}", "", "")' for errors in _RESENT)

GPU_ALERTS = (
    _xid(
        XidPolicy.FATAL,
        Severity.CRITICAL,
        "A GPU is lost until the node is restarted or replaced, such as by XID 79, fallen off the bus. XID "
        f"{' and '.join(map(str, RESTART_ON_A100))} need a restart on p4d and p4de, and a reset on later generations.",
        DRAIN,
        "Restart the instance; when it comes back with the same, replace it.",
        "Start the job again from its last checkpoint without the node.",
    ),
    _xid(
        XidPolicy.RESET,
        Severity.CRITICAL,
        "A GPU needs a reset before it takes another job; what it computes until then cannot be trusted.",
        DRAIN,
        REBOOT,
        f"{RESET} {FORGET}",
        "Resume the node; at the second time within days, replace it.",
    ),
    _xid(
        XidPolicy.WATCH,
        Severity.WARNING,
        "A GPU reported something that it recovered from. The node goes on.",
        "Nothing now. If the same node has it again within a day, run `dcgmi diag -r 2` on it.",
    ),
    _xid(
        XidPolicy.APPLICATION,
        Severity.INFO,
        "The program did something that a GPU refuses, such as an access out of bounds. The node is fine.",
        "Notify the job's owner. The node needs nothing.",
    ),
    Alert(
        name="GpuRecoveryRequired",
        severity=Severity.CRITICAL,
        for_="1m",
        expr="ultracluster_node_gpu_recovery_required > 0",
        summary="{{ $value }} GPUs of node {{ $labels.instance }} need recovery: XID {{ $labels.xid }}, "
        "{{ $labels.reason }}",
        description="The driver has set a recovery action (XID 154), or an NVLink of Blackwell had an error with a "
        "fatal sub-code (XID 144 to 150). The GPU takes no job until it is recovered.",
        diagnosis=(_XID_LOG, "The XIDs before it: the cause.", "`nvidia-smi -q | grep -A1 'Recovery Action'`."),
        actions=(
            DRAIN,
            REBOOT,
            f"{RESET} A reset is not enough for Node Reboot Required. In an UltraServer, all its nodes must be idle.",
            "At the second time within days, replace the node.",
        ),
        rationale="The driver decides. Sub-codes: NVIDIA's Xid catalogue, decode of 144 to 150 (read 2026-11-25). It "
        "ends when the driver reports the action None, or the node restarts.",
    ),
    Alert(
        name="GpuEccUncorrected",
        severity=Severity.CRITICAL,
        for_="1m",
        expr=f"max by ({BY_NODE}) (ultracluster_gpu_ecc_uncorrected_errors_total > 0 unless "
        "ultracluster_gpu_ecc_uncorrected_errors_total <= ultracluster_gpu_ecc_contained_errors)",
        summary="Uncorrectable memory error on node {{ $labels.instance }}",
        description="The memory of a GPU lost data, and no XID 94 reports that the error was contained: the GPU may "
        "compute with wrong numbers. A contained one ends a process: GpuXidWatch and GpuRowRemapPending report it.",
        diagnosis=("`nvidia-smi -q -d ECC,ROW_REMAPPER`.", _XID_LOG),
        actions=(
            DRAIN,
            REBOOT,
            f"{RESET} Either remaps the row.",
            "Replace the node when a row cannot be remapped, or when it happens again within days.",
        ),
        rationale="None is normal, and the counter stays until the GPU is reset. A100, H100 and Blackwell contain "
        "errors, A10G, L4 and L40S do not: https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/supported-gpus.html "
        "(read 2026-11-26). HBM was 17 % of the unexpected "
        "interruptions of Llama 3 (arXiv 2407.21783).",
    ),
    Alert(
        name="GpuEccCorrectedStorm",
        expr=f"max by ({BY_NODE}) (increase(ultracluster_gpu_ecc_corrected_errors_total[1h])) > 1000",
        threshold=1000,
        bounds=NUMBER,
        summary="{{ $value | humanize }} corrected memory errors in an hour on node {{ $labels.instance }}",
        description="The memory of a GPU corrects an error every few seconds. Nothing is lost yet; often a row fails "
        "next.",
        diagnosis=("`nvidia-smi -q -d ECC,ROW_REMAPPER`: the same GPU each time?",),
        actions=("Drain the node when its job ends, and run `dcgmi diag -r 3`.", "Replace it when it happens again."),
    ),
    Alert(
        name="GpuRowRemapFailed",
        severity=Severity.CRITICAL,
        for_="1m",
        expr=f"max by ({BY_NODE}) (ultracluster_gpu_row_remap_failed) == 1",
        summary="A GPU of node {{ $labels.instance }} has no spare rows left",
        description="A bad row of the memory could not be replaced by a spare one. The GPU has to be replaced.",
        diagnosis=("`nvidia-smi -q -d ROW_REMAPPER`.",),
        actions=(DRAIN, "Replace the node."),
        rationale="It is 0 or 1: https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/ (read 2026-11-20).",
    ),
    Alert(
        name="GpuRowRemapPending",
        for_="5m",
        expr=f"max by ({BY_NODE}) (ultracluster_gpu_row_remap_pending) == 1",
        summary="A GPU of node {{ $labels.instance }} waits for a reset to remap a row",
        description="A bad row of the memory is known and will be replaced at the next reset of the GPU.",
        diagnosis=("`nvidia-smi -q -d ROW_REMAPPER`.",),
        actions=(DRAIN, REBOOT, RESET),
        rationale="It is 0 or 1: https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/ (read 2026-11-20).",
    ),
    Alert(
        name="GpuHardwareSlowdown",
        severity=Severity.CRITICAL,
        for_="5m",
        expr=f"max by ({BY_NODE}) "
        f'(ultracluster_gpu_clock_events{{clock_event=~"hw_slowdown|hw_thermal|hw_power_brake"}})'
        " > 2",
        threshold=2,
        bounds=SAMPLES,
        summary="The hardware of node {{ $labels.instance }} slows a GPU down",
        description="Heat or power forces a GPU to a fraction of its clock, in more than two of the samples of five "
        "minutes, again and again. All other GPUs of the job wait for it.",
        diagnosis=("The clocks and temperatures of the node's GPUs.", "`nvidia-smi -q -d PERFORMANCE`."),
        actions=(DRAIN, "Replace the node: cooling and power of EC2 hosts are AWS's."),
        rationale="EKS's node monitoring agent looks for the same reasons (v1.7.0, read 2026-11-20). Five minutes have "
        "ten samples, twenty with the profile full: a single one is a peak of power. 2, and 5 minutes: judgement.",
    ),
    Alert(
        name="GpuThermalThrottle",
        for_="10m",
        expr=f"max by ({BY_NODE}) (rate(ultracluster_gpu_thermal_throttle_seconds_total[10m])) > 0.05",
        threshold=0.05,
        bounds=SHARE,
        summary="A GPU of node {{ $labels.instance }} is slowed down by heat {{ $value | humanizePercentage }} of the "
        "time",
        description="A GPU lowers its clock because of heat for more than a twentieth of the time.",
        diagnosis=("Temperatures of the node's GPUs beside those of other nodes.",),
        actions=("Watch the step time. Replace the node when it is the slowest of its job.",),
    ),
    Alert(
        name="GpuTemperatureHigh",
        for_="5m",
        expr=f"max by ({BY_NODE}) (ultracluster_gpu_temperature_celsius) > 85",
        threshold=85,
        bounds=CELSIUS,
        summary="A GPU of node {{ $labels.instance }} is at {{ $value }} °C",
        description="A GPU is hotter than it should become under full load.",
        diagnosis=("Whether its clock has fallen: `ultracluster_gpu_sm_clock_hertz`.",),
        actions=(
            "If the SM clock is normal, do nothing. If it has fallen, follow the runbook of GpuHardwareSlowdown.",
        ),
        rationale="HyperPod's published rule has the same 85 °C (commit b920fcf of 2025-08-29, read 2026-11-21).",
    ),
    Alert(
        name="GpuMissing",
        severity=Severity.CRITICAL,
        for_="5m",
        # Nothing to count is no series: a node all of whose GPUs are silent would have no alert.
        expr="ultracluster_node_expected_gpus - on (cluster, instance) group_left () (node:ultracluster_gpus:count or "
        'ultracluster_node_expected_gpus * 0) > 0 and on (cluster, instance) ultracluster_exporter_up{job="dcgm"} == 1',
        summary="Node {{ $labels.instance }} lacks {{ $value }} GPUs",
        description="Fewer GPUs answer than the instance type has.",
        diagnosis=("`nvidia-smi -L`.", _XID_LOG),
        actions=(DRAIN, "Restart the instance, then replace it."),
        rationale="The catalogue has their number. 5 minutes: a node that boots.",
    ),
    Alert(
        name="NvlinkErrors",
        # Errors are the ones to tune: a third recovery of a link, or a sixth error of a switch, is rare on every type.
        expr=f"{_grew('recoveries')} > 2 or "
        f"max by ({BY_NODE}) ({_NVLINK}) > 10 or "
        f'max by ({BY_NODE}) (ultracluster_node_nvswitch_errors{{kind="other"}}) > 5',
        threshold=10,
        bounds=NUMBER,
        summary="NVLink errors on node {{ $labels.instance }}",
        description="Data had to be sent again between GPUs, a link was recovered, or NVSwitches reported more than "
        "five errors that are not fatal in ten minutes. Collectives in the node are slower.",
        diagnosis=("`nvidia-smi nvlink -e`.", "Whether XID 74 came with it."),
        actions=("Run `dcgmi diag -r 3` when the job is done; replace the node when it finds the same.",),
        rationale="HyperPod alerts above 10 replays (read 2026-11-20); growth within 15 minutes, since the counters "
        "never fall. A link that is set up again once, or a few wrong checksums, happen on healthy nodes: judgement.",
    ),
    Alert(
        name="NvlinkRecoveryFailed",
        severity=Severity.CRITICAL,
        for_="1m",
        # A link that failed stays down until the driver is loaded again.
        expr=f"{_grew('recovery_failures')} > 0 or ultracluster_node_nvlink_failed_timestamp_seconds",
        summary="An NVLink of node {{ $labels.instance }} could not be set up again",
        description="A link between GPUs is down (NVLink 5). The job hangs or fails; in an UltraServer, its peers do "
        "too.",
        diagnosis=("`nvidia-smi nvlink -s`.", _XID_LOG),
        actions=(DRAIN, "Replace the node."),
        rationale="None is normal.",
    ),
    Alert(
        name="PcieReplays",
        for_="15m",
        expr=f"max by ({BY_NODE}) (rate(ultracluster_gpu_pcie_replays_total[15m])) > 0.1",
        threshold=0.1,
        bounds=PER_SECOND,
        summary="PCIe of a GPU of node {{ $labels.instance }} repeats {{ $value | humanize }} packets a second",
        description="The way between CPU and GPU loses packets. Copies from and to the GPU are slower.",
        diagnosis=("`nvidia-smi -q | grep -A3 Replay`.", "The width and speed of the link: `sudo lspci -vv`."),
        actions=("Replace the node when the job's input is slow.",),
    ),
    Alert(
        name="GpuMetricImplausible",
        for_="5m",
        expr=f"count by ({BY_NODE}) (ultracluster_gpu_utilization_ratio > 1.01 or "
        f"ultracluster_gpu_tensor_active_ratio > 1.01 or "
        "ultracluster_gpu_sm_clock_hertz > 1e10 or ultracluster_gpu_sm_clock_hertz < 1e6 or "
        "ultracluster_gpu_power_watts > 5000 or "
        "ultracluster_gpu_temperature_celsius > 150) > 0",
        summary="Node {{ $labels.instance }} reports impossible values: another version of the exporter?",
        description="An exporter's units differ from those in the recording rules. Every other GPU alert is in doubt.",
        diagnosis=("The version of dcgm-exporter and of DCGM on the node.", "`ultracluster.monitoring.names`."),
        actions=("Pin the exporter to the version of this release, or add the new unit to the sources.",),
        rationale="Beyond what any GPU of the catalogue can show.",
    ),
    Alert(
        name="GpuMetricsUnrecognised",
        for_="5m",
        expr='ultracluster_exporter_up{job="dcgm"} == 1 unless on (cluster, instance) node:ultracluster_gpus:count',
        summary="dcgm-exporter of node {{ $labels.instance }} answers, but has no known metric",
        description="The exporter runs, and none of its metrics has a name that the recording rules read, or DCGM "
        "sees no GPU.",
        diagnosis=("`curl localhost:9400/metrics` on the node.", "`nvidia-smi -L`."),
        actions=(
            "When it shows GPUs: another version of the exporter; see GpuMetricImplausible.",
            "When it shows none: as for GpuMissing.",
        ),
        rationale="One of the two must be there.",
    ),
)
