"""Alerts of GPUs, and of NVLink and PCIe between them."""

from ultracluster.hardware.xids import XidPolicy
from ultracluster.metrics.alert import Alert, Severity
from ultracluster.metrics.metric import NODE, Profile

_NODE = ", ".join(NODE)
_OURS = "Judgement, not published: change it when your fleet says otherwise."
_XIDS = "NVIDIA's Xid catalogue and the lists of AWS, as `ultracluster.hardware.xids` holds them with their sources."
_DRAIN = "Drain the node: `scontrol update nodename=NODE state=drain reason=ALERT`, or `kubectl cordon NODE`."
_DMESG = "`dmesg -T | grep -i xid` on the node."


def _xid(policy: XidPolicy, name: str, window: str, severity: Severity, means: str, act: tuple[str, ...]) -> Alert:
    return Alert(
        name=name,
        severity=severity,
        basis=_XIDS,
        means=means,
        act=act,
        # dcgm-exporter's window of five minutes is too short for somebody to come; a sticky last XID never clears.
        expression=f"max_over_time(node:xid_{policy}:count[{window}]) > 0",
        summary="XID {{ $labels.xid }} on node {{ $labels.instance }}",
        look=(
            "The label `xid`, and NVIDIA's page on it: https://docs.nvidia.com/deploy/xid-errors/.",
            _DMESG,
            "Whether other nodes of the same job have it too: then suspect the program or the fabric.",
        ),
    )


def _grew(metric: str, by: int = 0) -> str:
    return f"max by ({_NODE}) (increase({metric}[15m])) > {by}"


GPU_ALERTS = (
    _xid(
        XidPolicy.FATAL,
        "GpuXidFatal",
        "30m",
        Severity.CRITICAL,
        "A GPU is lost until the node is restarted or replaced, such as by XID 79, fallen off the bus.",
        (
            _DRAIN,
            "Restart the instance; when it comes back with the same, replace it.",
            "Start the job again from its last checkpoint without the node.",
        ),
    ),
    _xid(
        XidPolicy.RESET,
        "GpuXidReset",
        "30m",
        Severity.CRITICAL,
        "A GPU needs a reset before it takes another job; what it computes until then cannot be trusted.",
        (
            _DRAIN,
            "When no process uses the GPU: `nvidia-smi --gpu-reset -i INDEX`.",
            "Resume the node; at the second time within days, replace it.",
        ),
    ),
    _xid(
        XidPolicy.WATCH,
        "GpuXidWatch",
        "5m",
        Severity.WARNING,
        "A GPU reported something that it recovered from. The node goes on.",
        ("Nothing now. When the same node has it again within a day, run `dcgmi diag -r 2` on it.",),
    ),
    _xid(
        XidPolicy.APPLICATION,
        "GpuXidApplication",
        "5m",
        Severity.INFO,
        "The program did something that a GPU refuses, such as an access out of bounds. The node is fine.",
        ("Tell the job's owner; nothing to do for the node.",),
    ),
    Alert(
        name="GpuEccUncorrected",
        severity=Severity.CRITICAL,
        expression=_grew("gpu:ecc_uncorrected:total"),
        summary="Uncorrectable memory error on node {{ $labels.instance }}",
        means="The memory of a GPU lost data. The process that used it has died or computes with wrong numbers.",
        look=("`nvidia-smi -q -d ECC,ROW_REMAPPER`.", _DMESG),
        act=(
            _DRAIN,
            "Reset the GPU, which remaps the row.",
            "Replace the node when a row cannot be remapped, or when it happens again within days.",
        ),
        basis="None is normal. HBM was 17 % of the unexpected interruptions of Llama 3 (arXiv 2407.21783).",
    ),
    Alert(
        name="GpuRowRemapFailed",
        severity=Severity.CRITICAL,
        expression=f"max by ({_NODE}) (gpu:row_remap_failed:bool) == 1",
        summary="A GPU of node {{ $labels.instance }} has no spare rows left",
        means="A bad row of the memory could not be replaced by a spare one. The GPU has to be replaced.",
        look=("`nvidia-smi -q -d ROW_REMAPPER`.",),
        act=(_DRAIN, "Replace the node."),
        basis="It is 0 or 1: https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/ (read 2026-11-20).",
    ),
    Alert(
        name="GpuRowRemapPending",
        severity=Severity.WARNING,
        wait="5m",
        expression=f"max by ({_NODE}) (gpu:row_remap_pending:bool) == 1",
        summary="A GPU of node {{ $labels.instance }} waits for a reset to remap a row",
        means="A bad row of the memory is known and will be replaced at the next reset of the GPU.",
        look=("`nvidia-smi -q -d ROW_REMAPPER`.",),
        act=("Let the job end, then reset the GPU before the next one.",),
        basis="It is 0 or 1: https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/ (read 2026-11-20).",
    ),
    Alert(
        name="GpuHardwareSlowdown",
        severity=Severity.CRITICAL,
        wait="5m",
        profile=Profile.STANDARD,
        expression=f'max by ({_NODE}) (gpu:clock_event:count{{clock_event=~"hw_slowdown|hw_thermal|hw_power_brake"}})'
        " > 0",
        summary="The hardware of node {{ $labels.instance }} slows a GPU down",
        means="Heat or power forces a GPU to a fraction of its clock. All other GPUs of the job wait for it.",
        look=("The clocks and temperatures of the node's GPUs.", "`nvidia-smi -q -d PERFORMANCE`."),
        act=(_DRAIN, "Replace the node: on EC2 neither cooling nor power is yours to mend."),
        basis="EKS's node monitoring agent looks for the same reasons (v1.7.0, read 2026-11-20); 5 minutes: judgement.",
    ),
    Alert(
        name="GpuThermalThrottle",
        severity=Severity.WARNING,
        wait="10m",
        expression=f"max by ({_NODE}) (rate(gpu:thermal_throttle:seconds_total[10m])) > 0.05",
        summary="A GPU of node {{ $labels.instance }} is slowed down by heat {{ $value | humanizePercentage }} of the "
        "time",
        means="A GPU lowers its clock because of heat for more than a twentieth of the time.",
        look=("Temperatures of the node's GPUs beside those of its neighbours.",),
        act=("Watch the step time. Replace the node when it is the slowest of its job.",),
        basis=_OURS,
    ),
    Alert(
        name="GpuTemperatureHigh",
        severity=Severity.WARNING,
        wait="5m",
        expression=f"max by ({_NODE}) (gpu:temperature:celsius) > 85",
        summary="A GPU of node {{ $labels.instance }} is at {{ $value }} °C",
        means="A GPU is hotter than it should become under full load.",
        look=("Whether its clock has fallen: `gpu:sm_clock:hertz`.",),
        act=("Nothing while the clock holds; else as for GpuHardwareSlowdown.",),
        basis="HyperPod's published rule has the same 85 °C (commit b920fcf of 2025-08-29, read 2026-11-21).",
    ),
    Alert(
        name="GpuMissing",
        severity=Severity.CRITICAL,
        wait="5m",
        # Nothing to count is no series: a node all of whose GPUs are silent would have no alert.
        expression="node:gpus_expected:count - on (cluster, instance) group_left () (node:gpus:count or "
        'node:gpus_expected:count * 0) > 0 and on (cluster, instance) pipeline:exporter_up:bool{job="dcgm"} == 1',
        summary="Node {{ $labels.instance }} lacks {{ $value }} GPUs",
        means="Fewer GPUs answer than the instance type has.",
        look=("`nvidia-smi -L`.", _DMESG),
        act=(_DRAIN, "Restart the instance, then replace it."),
        basis="The catalogue knows how many there are. 5 minutes: a node that boots.",
    ),
    Alert(
        name="NvlinkErrors",
        severity=Severity.WARNING,
        expression=f"{_grew('gpu:nvlink_recoveries:total')} or {_grew('gpu:nvlink_replays:total', 10)} or "
        f"{_grew('gpu:nvlink_crc_errors:total')} or {_grew('gpu:nvlink_effective_errors:total')}",
        summary="NVLink errors on node {{ $labels.instance }}",
        means="Data had to be sent again between GPUs, or a link was set up anew. Collectives in the node are slower.",
        look=("`nvidia-smi nvlink -e`.", "Whether XID 74 came with it."),
        act=("Run `dcgmi diag -r 3` when the job is done; replace the node when it finds the same.",),
        basis="Meta's GPU cluster monitoring alerts above 0, HyperPod above 10 replays (both read 2026-11-20); growth "
        "within 15 minutes, since the counters never fall.",
    ),
    Alert(
        name="NvlinkRecoveryFailed",
        severity=Severity.CRITICAL,
        expression=_grew("gpu:nvlink_recovery_failures:total"),
        summary="An NVLink of node {{ $labels.instance }} could not be set up again",
        means="A link between GPUs is down (NVLink 5). The job hangs or dies; in an UltraServer, its peers do too.",
        look=("`nvidia-smi nvlink -s`.", _DMESG),
        act=(_DRAIN, "Replace the node."),
        basis="None is normal.",
    ),
    Alert(
        name="PcieReplays",
        severity=Severity.WARNING,
        wait="15m",
        profile=Profile.STANDARD,
        expression=f"max by ({_NODE}) (rate(gpu:pcie_replays:total[15m])) > 0.1",
        summary="PCIe of a GPU of node {{ $labels.instance }} repeats {{ $value | humanize }} packets a second",
        means="The way between CPU and GPU loses packets. Copies from and to the GPU are slower.",
        look=("`nvidia-smi -q | grep -A3 Replay`.", "The width and speed of the link: `lspci -vv`."),
        act=("Replace the node when the job's input is slow.",),
        basis=_OURS,
    ),
    Alert(
        name="GpuMetricImplausible",
        severity=Severity.WARNING,
        wait="5m",
        expression=f"count by ({_NODE}) (gpu:utilization:ratio > 1.01 or gpu:tensor_active:ratio > 1.01 or "
        "gpu:sm_clock:hertz > 1e10 or gpu:sm_clock:hertz < 1e6 or gpu:power:watts > 5000 or "
        "gpu:temperature:celsius > 150) > 0",
        summary="Node {{ $labels.instance }} reports values that cannot be: another version of the exporter?",
        means="An exporter's units are not the ones that the recording rules know. Every other alert of GPUs is in "
        "doubt.",
        look=("The version of dcgm-exporter and of DCGM on the node.", "`ultracluster.metrics.gpu_names`."),
        act=("Pin the exporter to the version of this release, or add the new unit to the sources.",),
        basis="Beyond what any GPU of the catalogue can show.",
    ),
    Alert(
        name="GpuMetricsUnrecognised",
        severity=Severity.WARNING,
        wait="5m",
        expression='pipeline:exporter_up:bool{job="dcgm"} == 1 unless on (cluster, instance) node:gpus:count',
        summary="dcgm-exporter of node {{ $labels.instance }} answers, but nothing known comes from it",
        means="The exporter runs, and none of its metrics has a name that the recording rules know, or DCGM sees no "
        "GPU.",
        look=("`curl localhost:9400/metrics` on the node.", "`nvidia-smi -L`."),
        act=(
            "When it shows GPUs: another version of the exporter; see GpuMetricImplausible.",
            "When it shows none: as for GpuMissing.",
        ),
        basis="One of the two must be there.",
    ),
)
