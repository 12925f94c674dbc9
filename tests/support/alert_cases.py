"""For every alert: exporters' samples in which it fires, in which it stays silent, and in which it clears."""

import re
from dataclasses import dataclass

Series = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Case:
    """Three stories of an alert, in samples a minute as promtool writes them: `0x9 1x9` is ten of 0, then ten of 1.

    Args:
        fires: Samples, and the minute in which it fires.
        silent: Samples close to those, and the minute in which it does not.
        clears: Samples, the minute in which it fires, and the one in which it has cleared.
    """

    fires: tuple[Series, int]
    silent: tuple[Series, int]
    clears: tuple[Series, int, int]


def node(metric: str, values: str, number: int = 1, /, **labels: str) -> Series:
    of_node = {
        "cluster": "llama",
        "instance": f"i-{number}",
        "instance_type": "p5.48xlarge",
        "zone": "use2-az1",
        "group": "train",
    }
    inside = ",".join(f'{key}="{value}"' for key, value in (of_node | labels).items())
    return {f"{metric}{{{inside}}}": values}


def gpu(metric: str, values: str, number: int = 1, index: int = 0, **labels: str) -> Series:
    # What dcgm-exporter labels beside: it must not matter.
    return node(metric, values, number, job="dcgm", gpu=str(index), UUID=f"GPU-{index}", **labels)


def up(values: str, job: str, number: int = 1) -> Series:
    return node("up", values, number, job=job)


def cluster(metric: str, values: str, **labels: str) -> Series:
    inside = ",".join(f'{key}="{value}"' for key, value in ({"cluster": "llama"} | labels).items())
    return {f"{metric}{{{inside}}}": values}


def job(metric: str, values: str, name: str = "7") -> Series:
    return node(metric, values, job="node", job_id=name)


def at_work(values: str = "1x90", number: int = 1, gpus: int = 2) -> Series:
    """GPUs of a node that belong to job 7."""
    result: Series = {}
    for index in range(gpus):
        result |= node("ultracluster_gpu_job", values, number, gpu=str(index), job_id="7")
    return result


def threshold(series: str, bad: str, good: str, *, wait: int = 0, window: int = 0, make: object = None) -> Case:
    """A value that is bad, is good, and becomes good again."""
    maker = make if callable(make) else gpu
    end = wait + 15
    return Case(
        fires=(maker(series, f"{bad}x60"), end),
        silent=(maker(series, f"{good}x60"), end),
        clears=(maker(series, f"{bad}x{end} {good}x{window + 20}"), end, end + window + 8),
    )


def counter(metric: str, step: float, *, wait: int = 0, ok: float = 0, hold: int = 0) -> Case:
    """A counter that grows, one that does not, and one that stops."""
    grown = 20 * step
    return Case(
        fires=(gpu(metric, f"0x9 {step}+{step}x60"), wait + 25),
        silent=(gpu(metric, f"5+{ok}x90"), wait + 25),
        clears=(
            gpu(metric, f"0x9 {step}+{step}x{wait + 19} {grown + wait * step}x{hold + 90}"),
            wait + 25,
            wait + 60 + hold,
        ),
    )


def xid(code: int, harmless: int, hold: int) -> Case:
    """Five minutes in dcgm-exporter's window, as after one XID; another's code does not count."""
    metric = "DCGM_EXP_XID_ERRORS_COUNT"
    once = "_x9 1x4 0x90"
    return Case(
        fires=(gpu(metric, once, xid=str(code)), 12),
        silent=(gpu(metric, once, xid=str(harmless)), 12),
        clears=(gpu(metric, once, xid=str(code)), 12, 17 + hold),
    )


def missing(expected: str, have: str, job_name: str, *, wait: int) -> Case:
    """Devices of which one is gone, all are there, one comes back."""
    base = node(expected, "2x60") | up("1x60", job_name)
    return Case(
        fires=(base | gpu(have, "40x60", device="a"), wait + 5),
        silent=(base | gpu(have, "40x60", device="a") | gpu(have, "40x60", index=1, device="b"), wait + 5),
        clears=(
            base | gpu(have, "40x60", device="a") | gpu(have, f"_x{wait + 9} 40x40", index=1, device="b"),
            wait + 5,
            wait + 15,
        ),
    )


def at_node(metric: str, values: str) -> Series:
    return node(metric, values, job="node")


def with_labels(**labels: str) -> object:
    return lambda metric, values: node(metric, values, **labels)


def slurm(metric: str, values: str) -> Series:
    return cluster(metric, values)


def efa(counter_name: str, bad: str, good: str, *, wait: int) -> Case:
    metric = f"node_amazonefa_{counter_name}"
    packets = node("node_amazonefa_tx_pkts", "0+600000x90", device="rdmap0s0", port="1")
    others = {
        f"node_amazonefa_{name}": node(f"node_amazonefa_{name}", "0x90", device="rdmap0s0", port="1")
        for name in ("unresponsive_remote_events", "impaired_remote_conn_events")
    }

    def made(values: str) -> Series:
        rest = {key: value for name, item in others.items() if name != metric for key, value in item.items()}
        return packets | rest | node(metric, values, device="rdmap0s0", port="1")

    return Case(
        fires=(made(f"0+{bad}x90"), wait + 10),
        silent=(made(f"0+{good}x90"), wait + 10),
        clears=(made(f"0+{bad}x{wait + 10} {int(bad) * (wait + 10)}x90"), wait + 10, wait + 25),
    )


_UTIL, _TENSOR, _ENGINE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
_MEMORY, _SM = "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_SM_ACTIVE"


def active(tensor: str, number: int = 1, *, util: str = "100x240", memory: str = "0.00001x240", sm: str = "0.12x240",
           gpus: int = 2) -> Series:  # fmt: skip
    """GPUs of a node that run a kernel all the time, which by default is a collective that waits."""
    result: Series = {}
    for index in range(gpus):
        for metric, values in ((_UTIL, util), (_TENSOR, tensor), (_MEMORY, memory), (_SM, sm)):
            result |= gpu(metric, values, number, index)
    return result


def _disk(free: float, loses: float) -> Series:
    """A file system that has a share free, and loses some in a minute."""
    labels = {"mountpoint": "/scratch", "fstype": "xfs", "job": "node"}
    return node("node_filesystem_size_bytes", "1x240", **labels) | node(
        "node_filesystem_avail_bytes", f"{free:g}-{loses:.6f}x240", **labels
    )


# Without `up` the node would be lost.
_ALIVE = up("1x300", "node") | at_work()
_STEPS = _ALIVE | active("0x240")
_CLOCK = "DCGM_FI_DEV_SM_CLOCK"


def _clocks(slow: str) -> Series:
    result: Series = {}
    for number in (1, 2, 3):
        result |= at_work(number=number, gpus=1) | gpu(_CLOCK, slow if number == 1 else "1900x90", number)
        result |= gpu(_ENGINE, "0.9x90", number)
    return result


def _collectives(late: str) -> Series:
    result: Series = {}
    for number in (1, 2, 3):
        result |= node(
            "nccl_collective_exec_time_microseconds", late if number == 1 else "4000x90", number,
            job_id="7", comm_name="dp", collective="AllReduce", message_size="1-2MB", n_nodes="3",
        )  # fmt: skip
    return result


def _tokens(metric: str, values: str) -> Series:
    return node(metric, values, model_name="llama")


def _two_nodes(second: str) -> Series:
    """Two nodes of job 7, of which the second falls silent: all of it, `up` too."""
    result = up("1x90", "node", 1) | at_work("1x90", 1)
    result |= up(second, "node", 2) | at_work(second, 2)
    return result


_LOST = _two_nodes("1x9")


def _nodes(*values: str) -> Series:
    return {key: value for number, item in enumerate(values) for key, value in up(item, "node", number).items()}


def _evicted(values: str, priority: str = "production", reason: str = "PodsReadyTimeout") -> Series:
    """The evictions that Kueue counts in a queue."""
    labels = {"cluster_queue": "a", "reason": reason, "priority_class": priority, "underlying_cause": "WaitForStart"}
    return cluster("kueue_evicted_workloads_total", values, **labels)


def _asked(values: str, name: str, number: int) -> Series:
    """Series of a source that a node's agent scrapes, while another node answers."""
    return up("1x200", "node", 1) | up(values, name, number)


def _devices(slow: str, until: int = 90) -> Series:
    """Three EFA devices of a node, of which one carries less, in bytes a minute."""
    result: Series = {}
    for device in range(3):
        for way in ("tx", "rx"):
            end = int(float(slow) * until)
            values = f"0+{slow}x{until} {end}+6e10x60" if device == 0 else "0+6e10x160"
            result |= node(f"node_amazonefa_{way}_bytes", values, device=f"rdmap{device}s0", port="1")
    return result


def _senders(slow: str) -> Series:
    """Four nodes of a job, of which one sends less over EFA, in bytes a minute."""
    result: Series = {}
    for number in range(1, 5):
        result |= at_work("1x300", number, gpus=1)
        values = f"0+{slow if number == 4 else '12e9'}x300"
        result |= node("node_amazonefa_tx_bytes", values, number, device="rdmap0s0", port="1")
    return result


def _flaps(times: int) -> Series:
    """A check that fails, and is well again, so many times in an hour."""
    values = " ".join(["1x5 0x5"] * times + ["1x500"])
    return node("ultracluster_health_ok", values, check="devices")


def _mounts(*each: str) -> Series:
    """Times at which the check of a mount last succeeded, on each node; the check of all mounts fails."""
    metric, result = "ultracluster_mount_last_success_timestamp_seconds", Series()
    for number, values in enumerate(each, 1):
        result |= node(metric, values, number, path="/fsx") | node(
            "ultracluster_health_ok", "0x90", number, check="mounts"
        )
    return result


def _served(tokens: str) -> Series:
    return _tokens("vllm:num_requests_running", "20x90") | _tokens("vllm:generation_tokens_total", tokens)


def _silent_job(values: str) -> Series:
    """The node that has job 7."""
    return up(values, "node", 1) | at_work(values, 1)


def _listed(values: str) -> Series:
    """A login node that answers, and job 7 in Slurm's list."""
    owner = {"user": "ada", "account": "nlp", "partition": "train", "name": "pretrain"}
    return up("1x90", "node", 9) | node("ultracluster_slurm_job_info", values, 9, job_id="7", **owner)


_XID_48 = gpu("DCGM_EXP_XID_ERRORS_COUNT", "_x9 1x4 0x300", xid="48")


def _lustre_evicts(number: int, minute: int, lines: str = "1", again: str = "") -> Series:
    """Targets of Lustre evict a node, of which its log has lines for ten minutes."""
    values = f"0x{minute - 1} {lines}x9 {again} 0x400"
    return node("ultracluster_lustre_evictions", values, number, filesystem="abcdbev4")


def _switch(kind: str) -> Series:
    """An error of an NVSwitch in the log of ten minutes."""
    return node("ultracluster_nvswitch_errors", "0x9 1x9 0x300", kind=kind, job="node")


CASES: dict[str, Case] = {
    "GpuXidFatal": xid(79, 48, 30),
    # Until the node boots: neither the window nor a day ends it.
    "GpuXidReset": Case(
        fires=(up("1x300", "node") | _XID_48, 200),
        silent=(up("1x300", "node") | gpu("DCGM_EXP_XID_ERRORS_COUNT", "_x9 1x4 0x90", xid="79"), 12),
        clears=(
            up("1x300", "node") | _XID_48 | node("ultracluster_xids_forgotten_timestamp_seconds", "_x29 1800x60"),
            25,
            35,
        ),
    ),
    # 999 is a code that nobody has published advice for.
    "GpuXidWatch": xid(999, 31, 5),
    "GpuXidApplication": xid(31, 63, 5),
    # Until the GPU is reset, for however long.
    "GpuEccUncorrected": threshold("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "1", "0"),
    "GpuEccCorrectedStorm": counter("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", 100, ok=2, hold=60),
    "GpuRowRemapFailed": threshold("DCGM_FI_DEV_ROW_REMAP_FAILURE", "1", "0"),
    "GpuRowRemapPending": threshold("DCGM_FI_DEV_ROW_REMAP_PENDING", "1", "0", wait=5),
    "GpuHardwareSlowdown": threshold(
        "DCGM_EXP_CLOCK_EVENTS_COUNT",
        "5",
        "2",
        wait=5,
        make=lambda metric, values: gpu(metric, values, clock_event="hw_thermal"),
    ),
    "GpuThermalThrottle": counter("DCGM_FI_DEV_THERMAL_VIOLATION", 6e9, wait=10, ok=1e9),
    "GpuTemperatureHigh": threshold("DCGM_FI_DEV_GPU_TEMP_CELSIUS", "90", "84", wait=5),
    "GpuMissing": missing("ultracluster_expected_gpus", "DCGM_FI_DEV_GPU_TEMP", "dcgm", wait=5),
    "NvlinkErrors": counter("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", 1, ok=0.1),
    # Until the driver is loaded again.
    "NvlinkRecoveryFailed": Case(
        fires=(up("1x90", "node") | gpu("DCGM_FI_DEV_NVLINK_RECOVERY_FAILED_TOTAL", "0x9 1x60"), 60),
        silent=(gpu("DCGM_FI_DEV_NVLINK_RECOVERY_FAILED_TOTAL", "1x60"), 25),
        clears=(up("1x90", "node") | gpu("DCGM_FI_DEV_NVLINK_RECOVERY_FAILED_TOTAL", "0x9 1x30 0x30"), 35, 50),
    ),
    "PcieReplays": counter("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", 60, wait=15, ok=1),
    "GpuMetricImplausible": threshold("DCGM_FI_DEV_GPU_UTIL_RATIO", "97", "0.97", wait=5),
    "GpuMetricsUnrecognised": Case(
        fires=(up("1x60", "dcgm") | gpu("DCGM_FI_DEV_GPU_TEMP_KELVIN", "300x60"), 10),
        silent=(up("1x60", "dcgm") | gpu("DCGM_FI_DEV_GPU_TEMP", "40x60"), 10),
        clears=(up("1x60", "dcgm") | gpu("DCGM_FI_DEV_GPU_TEMP", "_x12 40x60"), 10, 20),
    ),
    "NodeLost": Case(
        fires=(_LOST, 15),
        # The job has ended on both before the second is given back.
        silent=(
            up("1x90", "node", 1) | at_work("1x9", 1) | up("1x19", "node", 2) | at_work("1x9", 2),
            30,
        ),
        clears=(_two_nodes("1x9 _x9 1x60"), 15, 25),
    ),
    "NodesMissing": Case(
        fires=(_nodes("1x90", "1x90", "1x9"), 35),
        silent=(_nodes("1x90", "1x90", "1x90"), 35),
        clears=(_nodes("1x90", "1x90", "1x9 _x29 1x60"), 35, 45),
    ),
    "NodeUnhealthy": threshold("ultracluster_health_ok", "0", "1", wait=3, make=with_labels(check="devices")),
    "FileSystemUnavailable": Case(
        fires=(_mounts("0x90", "0x90", "0+60x90"), 30),
        silent=(_mounts("0x90", "0+60x90", "0+60x90"), 30),
        clears=(_mounts("0x90", "0x29 1800+60x60", "0+60x90"), 28, 35),
    ),
    "HealthBreakerOpen": threshold(
        "ultracluster_health_breaker_open", "1", "0", wait=2, make=with_labels(action="drain")
    ),
    "SoftwareMissing": threshold("ultracluster_software_ok", "0", "1", wait=5, make=with_labels(item="enroot")),
    "LustreOverTcp": threshold("ultracluster_mount_over_efa", "0", "1", wait=5, make=with_labels(path="/fsx")),
    "LustreClientsEvicted": Case(
        # Three nodes within an hour, one of them by two targets; two, of which one twice; and one node three times.
        fires=(_lustre_evicts(1, 10) | _lustre_evicts(2, 12, "2") | _lustre_evicts(3, 55), 60),
        silent=(_lustre_evicts(1, 10, again="0x29 1x9") | _lustre_evicts(2, 82, "31"), 100),
        clears=(_lustre_evicts(1, 10, again="0x29 1x9 0x29 1x9"), 100, 390),
    ),
    "MountSlow": threshold("ultracluster_mount_check_seconds", "4", "0.1", wait=10, make=with_labels(path="/fsx")),
    "NodeDiskFull": threshold(
        "node_filesystem_avail_bytes",
        "5",
        "50",
        wait=10,
        make=lambda metric, values: (
            node(metric, values, mountpoint="/", fstype="xfs")
            | node("node_filesystem_size_bytes", "100x90", mountpoint="/", fstype="xfs")
        ),
    ),
    "NodeDiskFilling": Case(
        fires=(_disk(0.25, 0.25 / 180), 100),
        silent=(_disk(0.25, 0.25 / 1800), 100),
        clears=(
            {key: values.replace("x240", "x110") + " 0.9x120" for key, values in _disk(0.25, 0.25 / 300).items()},
            100,
            190,
        ),
    ),
    "ClockSkew": threshold("node_timex_offset_seconds", "-0.2", "0.001", wait=10, make=at_node),
    "FabricManagerDown": threshold("ultracluster_fabric_manager_up", "0", "1", wait=5, make=at_node),
    "NvswitchFatal": Case(
        fires=(up("1x300", "node") | _switch("fatal"), 200),
        silent=(up("1x300", "node") | _switch("other"), 25),
        # The errors before the boot are in the log for ten minutes more.
        clears=(up("1x300", "node") | _switch("fatal") | node("node_boot_time_seconds", "_x24 840x60"), 20, 35),
    ),
    "GpuRecoveryRequired": threshold(
        "ultracluster_gpu_recovery_required",
        "1",
        "0",
        make=with_labels(xid="154", reason="GPU Reset Required", job="node"),
    ),
    "NodeMemoryLow": threshold(
        "node_memory_MemAvailable_bytes",
        "4",
        "40",
        wait=5,
        make=lambda metric, values: at_node(metric, values) | at_node("node_memory_MemTotal_bytes", "100x90"),
    ),
    "EfaDeviceMissing": missing("ultracluster_expected_efa_devices", "node_amazonefa_info", "node", wait=5),
    "EfaReceiveDrops": efa("rx_drops", "6000", "60", wait=10),
    "EfaRetransmits": efa("retrans_pkts", "12000", "600", wait=10),
    "EfaPathTrouble": efa("unresponsive_remote_events", "6", "0", wait=5),
    "JobLost": Case(
        fires=(_silent_job("1x9") | _listed("1x90"), 25),
        silent=(_silent_job("1x9") | _listed("1x9"), 25),
        clears=(_silent_job("1x9 _x20 1x60") | _listed("1x90"), 25, 45),
    ),
    "JobHung": Case(
        # Before the first step it would wait longer.
        fires=(_ALIVE | job("train_step", "5x90") | active("0x90"), 15),
        silent=(_ALIVE | job("train_step", "5x90") | active("0.4x90"), 15),
        clears=(_ALIVE | job("train_step", "5x90") | active("0x19 0.4x60"), 15, 25),
    ),
    "JobStepStalled": Case(
        fires=(_STEPS | job("train_step", "100+1x9 109x60"), 40),
        silent=(_STEPS | job("train_step", "100+1x90"), 40),
        clears=(_STEPS | job("train_step", "100+1x9 109x34 110+1x60"), 40, 48),
    ),
    "JobSlow": Case(
        fires=(at_work("1x300") | job("train_step_seconds", "10x180 12x120"), 220),
        silent=(at_work("1x300") | job("train_step_seconds", "10x180 11x120"), 220),
        clears=(at_work("1x300") | job("train_step_seconds", "10x180 12x60 10x120"), 220, 270),
    ),
    "CheckpointNever": Case(
        fires=(at_work("1x400") | job("train_step", "0+1x400"), 370),
        silent=(
            at_work("1x400")
            | job("train_step", "0+1x400")
            | job("train_last_checkpoint_timestamp_seconds", "_x60 3600x340"),
            370,
        ),
        clears=(
            at_work("1x400")
            | job("train_step", "0+1x400")
            | job("train_last_checkpoint_timestamp_seconds", "_x374 22500x60"),
            370,
            380,
        ),
    ),
    "LossSpike": Case(
        fires=(at_work("1x90") | job("train_loss", "2.1x60 5x60"), 70),
        silent=(at_work("1x90") | job("train_loss", "2.1x60 3x60"), 70),
        clears=(at_work("1x90") | job("train_loss", "2.1x60 5x15 2.1x60"), 70, 85),
    ),
    "EfaDeviceSlow": Case(
        fires=(_devices("1.2e10"), 25),
        silent=(_devices("5.4e10"), 25),
        clears=(_devices("1.2e10", until=24), 25, 45),
    ),
    "NodeFlapping": Case(
        fires=(_flaps(4), 60),
        silent=(_flaps(2), 60),
        clears=(_flaps(4), 60, 440),
    ),
    "JobIdleGpus": Case(
        fires=(at_work() | gpu(_ENGINE, "0.9x90") | gpu(_ENGINE, "0x90", index=1), 20),
        silent=(at_work() | gpu(_ENGINE, "0.9x90") | gpu(_ENGINE, "0.8x90", index=1), 20),
        clears=(at_work() | gpu(_ENGINE, "0.9x90") | gpu(_ENGINE, "0x24 0.9x60", index=1), 20, 30),
    ),
    "StragglerClock": Case(
        fires=(_clocks("1400x90"), 25),
        silent=(_clocks("1800x90"), 25),
        clears=(_clocks("1400x24 1900x60"), 25, 45),
    ),
    "StragglerEfa": Case(
        fires=(_senders("3e9") | job("train_step_seconds", "10x180 12x120"), 220),
        silent=(_senders("10e9") | job("train_step_seconds", "10x180 12x120"), 220),
        clears=(_senders("3e9") | job("train_step_seconds", "10x180 12x60 10x120"), 220, 270),
    ),
    "StragglerNccl": Case(
        fires=(_collectives("900x90"), 15),
        silent=(_collectives("3900x90"), 15),
        clears=(_collectives("900x19 3900x60"), 15, 25),
    ),
    "NcclRanksMissing": threshold("ultracluster_nccl_ras_missing_ranks", "8", "0", wait=5, make=job),
    "CheckpointStale": Case(
        fires=(
            _ALIVE
            | job("train_step", "0+1x90")
            | job("train_last_checkpoint_timestamp_seconds", "0x90")
            | job("train_checkpoint_interval_seconds", "600x90"),
            30,
        ),
        silent=(
            _ALIVE
            | job("train_step", "0+1x90")
            | job("train_last_checkpoint_timestamp_seconds", "0x9 600x90")
            | job("train_checkpoint_interval_seconds", "600x90"),
            28,
        ),
        clears=(
            _ALIVE
            | job("train_step", "0+1x90")
            | job("train_last_checkpoint_timestamp_seconds", "0x34 2100x60")
            | job("train_checkpoint_interval_seconds", "600x90"),
            30,
            40,
        ),
    ),
    "JobGoodputLow": Case(
        fires=(at_work("1x180") | job("train_productive_seconds_total", "0+30x180"), 60),
        # A job that has just begun.
        silent=(at_work() | job("train_productive_seconds_total", "0+55x180"), 40),
        # It starts again for half an hour, and says nothing.
        clears=(
            at_work("1x240") | job("train_productive_seconds_total", "0+57x30 _x30 0+57x180"),
            90,
            150,
        ),
    ),
    # One rank of two is enough. promtool takes no "NaNx9".
    "LossNotFinite": threshold(
        "train_loss",
        "NaN",
        "2.1",
        wait=2,
        make=lambda metric, values: (
            job(metric, "2.1x90")
            | node(metric, re.sub(r"NaNx(\d+)", lambda m: " ".join(["NaN"] * (int(m[1]) + 1)), values), 2, job_id="7")
        ),
    ),
    "InferenceStalled": Case(
        fires=(_served("0x90"), 20),
        silent=(_served("0+900x90"), 20),
        clears=(_served("0x29 900+900x60"), 28, 35),
    ),
    "InferenceQueueLong": threshold(
        "vllm:num_requests_waiting",
        "50",
        "5",
        wait=5,
        make=lambda metric, values: _tokens(metric, values) | _tokens("vllm:num_requests_running", "20x90"),
    ),
    "InferenceCacheFull": threshold("vllm:gpu_cache_usage_perc", "0.99", "0.7", wait=10, make=_tokens),
    "SlurmJobsBlocked": threshold(
        "ultracluster_blocked_jobs", "2", "0", wait=30, make=with_labels(reason="JobHoldMaxRequeue")
    ),
    "SlurmNodesDown": threshold("slurm_nodes_down", "2", "0", wait=10, make=slurm),
    "SlurmNodesDrained": threshold("slurm_nodes_drain", "1", "0", wait=30, make=slurm),
    "KubernetesNodeNotReady": threshold(
        "kube_node_status_condition",
        "1",
        "0",
        wait=5,
        make=lambda metric, values: cluster(metric, values, condition="Ready", status="unknown", node="a"),
    ),
    "AcceleratorUnhealthy": threshold(
        "kube_node_status_condition",
        "1",
        "0",
        wait=2,
        make=lambda metric, values: cluster(
            metric, values, condition="AcceleratedHardwareReady", status="false", node="a"
        ),
    ),
    "KueueWaiting": threshold(
        "kueue_admitted_active_workloads",
        "0",
        "1",
        wait=60,
        make=lambda metric, values: (
            cluster(metric, values.replace("x60", "x90"), cluster_queue="a")
            | cluster("kueue_pending_workloads", "3x120", cluster_queue="a", status="inadmissible")
        ),
    ),
    # The counter begins with the first eviction.
    "KueueNotReady": Case(
        fires=(_evicted("_x20 1x20 2x27 3x100"), 80),
        # Once each for two priorities, and jobs that were preempted.
        silent=(
            _evicted("_x20 1x20 2x120") | _evicted("_x20 1x120", "research") | _evicted("1+1x160", reason="Preempted"),
            100,
        ),
        clears=(_evicted("_x20 1x20 2x27 3x700"), 80, 440),
    ),
    "ExporterDown": threshold("dcgm", "0", "1", wait=5, make=lambda name, values: up(values, name)),
    # All of Slurm's login nodes may be lost; of two that ask one is enough; it answers again.
    "SourceSilent": Case(
        fires=(_asked("1x29 _x90", "slurm-nodes", 8) | _asked("1x9 _x110", "slurm-nodes", 9), 45),
        silent=(_asked("1x29 _x90", "slurm-nodes", 8) | _asked("1x120", "slurm-nodes", 9), 45),
        clears=(_asked("1x29 _x30 1x60", "slurm-nodes", 8), 45, 65),
    ),
    # Of two login nodes that ask one is enough.
    "SlurmControllerDown": Case(
        fires=(_asked("1x9 0x110", "slurm-nodes", 8) | _asked("1x9 0x110", "slurm-nodes", 9), 25),
        silent=(_asked("1x9 0x110", "slurm-nodes", 8) | _asked("1x120", "slurm-nodes", 9), 45),
        clears=(_asked("1x9 0x30 1x60", "slurm-nodes", 8), 25, 45),
    ),
    # A queue that is read while it is not empty has been empty in between.
    "SlurmAccountingBehind": Case(
        fires=(slurm("slurm_slurmdbd_queue_size", "0x9 1+1x110"), 55),
        silent=(slurm("slurm_slurmdbd_queue_size", "0 3x20 0 5x25 0 9x25 0 4x25"), 90),
        clears=(slurm("slurm_slurmdbd_queue_size", "0x9 1+1x60 0x60"), 55, 75),
    ),
    "TextfileStale": threshold(
        "node_textfile_mtime_seconds",
        "0",
        "1200",
        wait=5,
        make=lambda metric, values: node(metric, values, file="/var/lib/x/ultracluster_node.prom"),
    ),
    "MetricsBehind": threshold(
        "prometheus_remote_storage_queue_highest_sent_timestamp_seconds",
        "1000",
        "1990",
        wait=5,
        make=lambda metric, values: (
            node(metric, values, job="agent", remote_name="amp", url="u")
            | node("prometheus_remote_storage_highest_timestamp_in_seconds", "2000x90", job="agent")
        ),
    ),
    # There is no series of dropped samples before the first one, and then it has a label of its own.
    "MetricsLost": Case(
        fires=(node("prometheus_remote_storage_samples_failed_total", "0+600x90", job="agent"), 20),
        silent=(node("prometheus_remote_storage_samples_failed_total", "5x90", job="agent"), 20),
        clears=(
            node("prometheus_remote_storage_samples_failed_total", "0x90", job="agent")
            | node(
                "prometheus_remote_storage_samples_dropped_total", "0+600x24 14400x90", job="agent", reason="too_old"
            ),
            20,
            35,
        ),
    ),
    "SeriesNearQuota": threshold(
        "scrape_samples_post_metric_relabeling", "2.1e7", "1.9e7", wait=15, make=with_labels(job="node")
    ),
    "NoNodes": Case(
        fires=({}, 15),
        silent=(_nodes("1x60"), 15),
        clears=(_nodes("_x19 1x60"), 15, 25),
    ),
    # It never clears; its end is the message. So its test is that it fires when rules are evaluated.
}
