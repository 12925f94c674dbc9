"""The nodes: what their exporters say, healthy or in a state of the scenarios."""

import math
from dataclasses import dataclass, field

from ultracluster.monitoring.names import EFA_COUNTERS

GPUS = 8
EFA_DEVICES = 32
NODES = 32
#: Node numbers of each job: who has their GPUs. The last nodes are idle.
JOBS = {"1001": range(18), "1002": range(18, 22), "1003": range(22, 26), "1004": range(26, 30)}
#: User and account of each job, and the node that asks Slurm for them, as a login node does.
OWNERS = {"1001": ("ada", "nlp"), "1002": ("ben", "nlp"), "1003": ("eve", "vision"), "1004": ("kim", "vision")}
ASKS = 20
_MIB = 2**20
#: How long the nodes have been up when it starts.
_UP_S = 6 * 86_400
_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")

# dcgm-exporter's names before and after DCGM 4.7, and what the new value is of the old one.
_FIELDS = {
    "temp": ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS", 1),
    "memory_temp": ("DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS", 1),
    "power": ("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS", 1),
    "energy": ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL", 1e-3),
    "clock": ("DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_SM_CLOCK_HERTZ", 1e6),
    "used": ("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_USED_BYTES", _MIB),
    "free": ("DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_FREE_BYTES", _MIB),
    "util": ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", 0.01),
    "engine": ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", 1),
    "sm": ("DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO", 1),
    "tensor": ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO", 1),
    "dram": ("DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO", 1),
    "power_limit": ("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS", 1),
    "nvlink_tx": ("DCGM_FI_PROF_NVLINK_TX_BYTES", "DCGM_FI_PROF_NVLINK_TX_BYTES", 1),
    "nvlink_rx": ("DCGM_FI_PROF_NVLINK_RX_BYTES", "DCGM_FI_PROF_NVLINK_RX_BYTES", 1),
    "xid": ("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR", 1),
    "dbe": ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 1),
    "sbe": ("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", 1),
    "rows": ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL", 1),
    "remap_failed": ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_ROW_REMAP_FAILED", 1),
    "remap_pending": ("DCGM_FI_DEV_ROW_REMAP_PENDING", "DCGM_FI_DEV_ROW_REMAP_PENDING", 1),
    "pcie": ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL", 1),
    "power_ns": ("DCGM_FI_DEV_POWER_VIOLATION", "DCGM_FI_DEV_GPU_POWER_THROTTLE_SECONDS_TOTAL", 1e-9),
    "heat_ns": ("DCGM_FI_DEV_THERMAL_VIOLATION", "DCGM_FI_DEV_GPU_THERMAL_THROTTLE_SECONDS_TOTAL", 1e-9),
    "crc": ("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_TOTAL", 1),
    "replay": ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL", 1),
    "recovery": ("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_TOTAL", 1),
}
_ZERO = ("sbe", "rows", "remap_failed", "remap_pending", "pcie", "crc")


@dataclass
class FakeNode:
    """A fake node, with the same values in every run.

    Args:
        number: Index, from 0.
        job: Job on its GPUs, or None if it is idle.
        states: Injected faults.
        since: Seconds since the start at which that changed.
    """

    number: int
    job: str | None
    states: set[str] = field(default_factory=set)
    since: float = 0
    _still: dict[str, str] = field(default_factory=dict)

    @property
    def instance(self) -> str:
        return f"i-{self.number:017x}"

    @property
    def name(self) -> str:
        return f"train-{self.number}"

    @property
    def lost(self) -> bool:
        return "lost" in self.states

    def forget(self) -> None:
        """Discard the cached values after a change of state."""
        self._still.clear()

    def _wave(self, t: float, index: int = 0) -> float:
        """Between -1 and 1, over a minute, another for each GPU."""
        return math.sin(t / 10 + self.number * 0.7 + index * 0.3)

    def dcgm_page(self, t: float, now: float) -> str:
        """dcgm-exporter's page, with the labels of an embedded one on bare metal."""
        new = "upgraded" in self.states
        lines: list[str] = []
        for index in range(GPUS):
            if index == 5 and "xid79" in self.states:
                lines += self._window("xid", "79", index, new)
                continue
            if index == 1 and "xid31" in self.states:
                lines += self._window("xid", "31", index, new)
            if index == 2 and "ecc" in self.states:
                lines += self._window("xid", "48", index, new)
            labels = self._labels(index, new)
            for key, value in self._gpu(t, index).items():
                old_name, new_name, scale = _FIELDS[key]
                lines.append(f"{new_name if new else old_name}{{{labels}}} {value * scale if new else value:.10g}")
        return "\n".join(lines) + "\n"

    def _labels(self, index: int, new: bool) -> str:
        host = "hostname" if new else "Hostname"
        return (
            f'gpu="{index}",UUID="GPU-{self.number:04d}-{index}",pci_bus_id="00000000:{index:02X}:00.0",'
            f'device="nvidia{index}",modelName="NVIDIA H100 80GB HBM3",{host}="{self.name}"'
        )

    def _window(self, label: str, value: str, index: int, new: bool) -> list[str]:
        labels = f'{self._labels(index, new)},{label}="{value}",window_size_in_ms="300000"'
        return [f"DCGM_EXP_XID_ERRORS_COUNT{{{labels}}} 1"]

    def _gpu(self, t: float, index: int) -> dict[str, float]:
        wave, busy = self._wave(t, index), self.job is not None
        hung = "hung" in self.states
        slow = "straggler" in self.states and index == 3
        since = max(t - self.since, 0)
        tensor = 0.0 if hung or not busy else 0.46 + 0.06 * wave
        return {
            "temp": round(62 + 5 * wave) if busy else 34,
            "memory_temp": round(68 + 5 * wave) if busy else 36,
            "power": 180 if hung else 590 + 60 * wave if busy else 92,
            "energy": 1e9 + t * (590e3 if busy else 92e3),
            "clock": 1180 if slow else 1905 if busy else 345,
            "used": 71_000 if busy else 4,
            "free": 10_000 if busy else 81_000,
            "util": 100 if hung else round(97 + 2 * wave) if busy else 0,
            "engine": 1.0 if hung else 0.95 + 0.02 * wave if busy else 0.0,
            "sm": 0.14 if hung else 0.86 + 0.04 * wave if busy else 0.0,
            "tensor": tensor,
            "dram": tensor * 1.1,
            "nvlink_tx": tensor * 2.1e11,
            "nvlink_rx": tensor * 2.1e11,
            "xid": self._last_xid(index),
            "dbe": 1 if "ecc" in self.states and index == 2 else 0,
            "power_limit": 700,
            "power_ns": 2e7 * t if busy else 0,
            "heat_ns": 0,
            "replay": 0,
            "recovery": math.floor(since / 4) + 1 if "nvlink" in self.states and index == 6 else 0,
        } | dict.fromkeys(_ZERO, 0)

    def _last_xid(self, index: int) -> int:
        """Return the last XID, which stays, unlike the window."""
        codes = {"xid79": (5, 79), "xid31": (1, 31), "ecc": (2, 48)}
        return next((code for state, (gpu, code) in codes.items() if state in self.states and gpu == index), 0)

    def node_page(self, t: float, now: float) -> str:
        """node_exporter's page, with the text files in it."""
        if "still" not in self._still:
            self._still["still"] = "\n".join(self._standing()) + "\n"
        wave, busy = self._wave(t), self.job is not None
        lines = []
        for position, mode in enumerate(_MODES):
            share = (0.31, 0, 0.03, 0.65, 0, 0, 0.01, 0)[position]
            lines.append(f'ultracluster_cpu_seconds_total{{mode="{mode}"}} {1e5 + 192 * share * t:.2f}')
        flowing = 4.2e9 * t if busy and "hung" not in self.states else 0.0
        since = max(t - self.since, 0)
        for device in range(EFA_DEVICES):
            labels = f'device="rdmap{device}s0",port="1"'
            values = dict.fromkeys(EFA_COUNTERS, 0.0)
            values |= {"tx_bytes": flowing, "rx_bytes": flowing * (1 + 0.001 * device), "tx_pkts": flowing / 8000}
            if "efa" in self.states and device == 9:
                values |= {"rx_drops": math.floor(since * 40), "retrans_pkts": math.floor(since * 30)}
            lines += [f"node_amazonefa_{name}{{{labels}}} {value:.10g}" for name, value in values.items()]
        for fs, rate in (("fs1", 1.8e9),):
            lines.append(f'ultracluster_lustre_read_bytes_total{{filesystem="{fs}",mount="ffff8881"}} {rate * t:.10g}')
            written = self.since if "hung" in self.states else t
            lines.append(
                f'ultracluster_lustre_write_bytes_total{{filesystem="{fs}",mount="ffff8881"}} {rate / 3 * written:.10g}'
            )
        for nic in range(8):
            lines.append(f'node_network_transmit_bytes_total{{device="enp{nic}s0"}} {3e5 * t:.10g}')
            lines.append(f'node_network_receive_bytes_total{{device="enp{nic}s0"}} {4e6 * t:.10g}')
            lines.append(f'node_disk_read_bytes_total{{device="nvme{nic}n1"}} {8e7 * t:.10g}')
            lines.append(f'node_disk_written_bytes_total{{device="nvme{nic}n1"}} {2e7 * t:.10g}')
        file = "/var/lib/node_exporter/textfile_collector/ultracluster_node.prom"
        lines += [
            f"node_load1 {60 + 8 * wave:.2f}",
            f"node_boot_time_seconds {now - t - _UP_S:.0f}",
            f"node_memory_MemAvailable_bytes {1.4e12 + 5e10 * wave:.10g}",
            f'node_textfile_mtime_seconds{{file="{file}"}} {now - 5:.3f}',
            f'ultracluster_mount_check_seconds{{path="/fsx"}} {0.03 + 0.01 * wave:.4f}',
            f'ultracluster_mount_last_success_timestamp_seconds{{path="/fsx"}} {now - 20:.0f}',
        ]
        if self.number == ASKS:
            lines += [
                f'ultracluster_slurm_job_info{{job_id="{job}",user="{user}",account="{account}",partition="train",'
                f'name="pretrain-{job}"}} 1'
                for job, (user, account) in OWNERS.items()
            ]
        return self._still["still"] + "\n".join(lines + self._training(t, now)) + "\n"

    def _standing(self) -> list[str]:
        tcp = "tcp" in self.states
        lines = [
            f'ultracluster_node_info{{node="{self.name}"}} 1',
            f'ultracluster_topology_info{{network_node_1="nn-1",network_node_2="nn-2{self.number // 16}",'
            f'network_node_3="nn-3{self.number // 8}",ultraserver=""}} 1',
            f"ultracluster_expected_gpus {GPUS}",
            f"ultracluster_expected_efa_devices {EFA_DEVICES}",
            "node_memory_MemTotal_bytes 2.164e12",
            'ultracluster_health_ok{check="mounts"} 1',
            'ultracluster_health_ok{check="lustre-efa"} 1',
            'ultracluster_health_breaker_open{action="drain"} 0',
            "node_timex_offset_seconds 2e-06",
            "node_timex_sync_status 1",
            "node_textfile_scrape_error 0",
            "ultracluster_fabric_manager_up 1",
            'ultracluster_nvswitch_errors{kind="fatal"} 0',
            'ultracluster_nvswitch_errors{kind="other"} 0',
            'ultracluster_software_ok{item="enroot"} 1',
            'ultracluster_mount_mounted{path="/fsx"} 1',
            f'ultracluster_mount_over_efa{{path="/fsx"}} {0 if tcp else 1}',
        ]
        for mount, size in (("/", 2e11), ("/scratch", 2.8e13)):
            labels = f'device="/dev/md0",fstype="xfs",mountpoint="{mount}"'
            lines.append(f"node_filesystem_size_bytes{{{labels}}} {size:g}")
            lines.append(f"node_filesystem_avail_bytes{{{labels}}} {size * 0.6:g}")
        lines += [f'node_amazonefa_info{{device="rdmap{device}s0"}} 1' for device in range(EFA_DEVICES)]
        if self.job:
            lines += [f'ultracluster_gpu_job{{gpu="{index}",job_id="{self.job}"}} 1' for index in range(GPUS)]
        return lines

    def _training(self, t: float, now: float) -> list[str]:
        """Metrics of the job's program under the contract, written by its first node."""
        if self.job is None or self.number != JOBS[self.job][0]:
            return []
        label = f'{{job_id="{self.job}"}}'
        moving = self.since if "hung" in self.states else t
        saved = now - 120 if "stale" in self.states else now - (now % 20)
        values = {
            "train_step": 12_000 + math.floor(moving / 2),
            "train_step_seconds": 7.9 + 0.2 * self._wave(t),
            "train_tokens_total": 1e10 + moving * 4.1e6,
            "train_mfu_ratio": 0.0 if "hung" in self.states else 0.41 + 0.01 * self._wave(t),
            "train_loss": 2.1 - moving / 10_000 + 0.01 * self._wave(t * 7),
            "train_last_checkpoint_timestamp_seconds": saved,
            "train_checkpoint_seconds": 41,
            "train_checkpoint_in_progress": 0,
            "train_finished": 0,
            "train_waiting": 0,
            "train_startup_seconds": 214,
            "train_checkpoint_interval_seconds": 20,
            "train_restarts_total": 1,
            "train_productive_seconds_total": 0.93 * moving,
        }
        lines = [f"{name}{label} {value:.12g}" for name, value in values.items()]
        lines += [
            f'train_lost_seconds_total{{job_id="{self.job}",cause="{cause}"}} {share * moving:.12g}'
            for cause, share in (("startup", 0.01), ("checkpoint", 0.04), ("repeated", 0.02))
        ]
        for size, bandwidth, micros in (("134-135MB", 310.0, 4100.0), ("1-2GB", 395.0, 61000.0)):
            labels = (
                f'job_id="{self.job}",comm_name="dp",collective="AllReduce",message_size="{size}",'
                f'gpu="GPU0",n_nodes="{len(JOBS[self.job])}",nranks="{8 * len(JOBS[self.job])}",algo_proto="RING"'
            )
            lines.append(f"nccl_bus_bandwidth_gbs{{{labels}}} {bandwidth + 6 * self._wave(t):.6g}")
            lines.append(f"nccl_collective_exec_time_microseconds{{{labels}}} {micros + 60 * self._wave(t):.6g}")
        return [*lines, f"ultracluster_nccl_ras_missing_ranks{label} 0"]

    def agent_page(self, t: float, now: float) -> str:
        """The agent's own page, the part that is kept."""
        labels = '{remote_name="amp",url="https://aps-workspaces.us-east-2.amazonaws.com/api/v1/remote_write"}'
        return (
            f"prometheus_remote_storage_highest_timestamp_in_seconds {now:.0f}\n"
            f"prometheus_remote_storage_queue_highest_sent_timestamp_seconds{labels} {now - 3:.0f}\n"
            f"prometheus_remote_storage_samples_failed_total{labels} 0\n"
            f"prometheus_remote_storage_samples_dropped_total{labels} 0\n"
        )


def make_fleet() -> dict[int, FakeNode]:
    """The nodes by number; jobs take the first ones."""
    owner = {number: job for job, numbers in JOBS.items() for number in numbers}
    return {number: FakeNode(number=number, job=owner.get(number)) for number in range(NODES)}
