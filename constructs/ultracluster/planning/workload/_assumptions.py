"""Assumptions of the planner that the caller may replace, and constants of its model of a step."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ultracluster.catalogue.training import FAILURES_PER_1000_NODE_DAYS, RECOVERY_SECONDS
from ultracluster.planning.lustre import CHECKPOINTS_KEPT, checkpoint_bytes

_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Assumptions:
    """Figures that depend on the site, each with a published or a stated default.

    Args:
        failures_per_1000_node_days: Failures that stop the job. Default: 6.5, in a range of 3.8 to 23.7.
        recovery_seconds: From a failure until the job computes again. Default: 660, in a range of 300 to 1,800.
        checkpoint_bytes_per_parameter: Bytes of a checkpoint for each parameter. Default: 14.
        checkpoint_stall_seconds: Seconds that the job waits for a checkpoint. Default: 60.
        checkpoints_kept: Complete checkpoints on the file system, which has room for another one; at least 2, as in job
            files. Default: 2.
        dataset_bytes_per_token: Bytes of a token on the file system.
        repair_days: Days until a failed node is replaced by EC2 or the reservation.
        memory_reserve: Share of GPU memory for CUDA, NCCL and fragmentation.
        mfu_error: Relative error of a predicted MFU; the range of figures that follow from it.
        kernel_efficiency: Time of the best matrix multiplications by that of a training step's large ones.
        exposed_tensor_parallel: Share of tensor-parallel communication that computation does not hide.
        exposed_expert_parallel: Share of expert-parallel communication that computation does not hide.
        attention_efficiency: Share of the BF16 peak that flash attention reaches.
        flash_attention: Whether attention is one kernel; if not, it computes the whole square and stores it.
        nvlink_efficiency: Share of the NVLink bandwidth that collectives reach.
        network_efficiency: Share of the EFA bandwidth that collectives reach.
        memory_efficiency: Share of the memory bandwidth that decoding reaches.
        nvme_bytes_per_second: Reading rate of a local NVMe disk. Measure it on the type.
        jitter: Relative time of a step that each doubling of the GPUs above eight adds.
    """

    failures_per_1000_node_days: float = FAILURES_PER_1000_NODE_DAYS.expected
    recovery_seconds: float = RECOVERY_SECONDS.expected
    checkpoint_bytes_per_parameter: float = 14
    checkpoint_stall_seconds: float = 60
    checkpoints_kept: int = CHECKPOINTS_KEPT
    dataset_bytes_per_token: float = 4
    repair_days: float = 1
    memory_reserve: float = 0.1
    mfu_error: float = 0.15
    kernel_efficiency: float = 0.903
    exposed_tensor_parallel: float = 0.107
    exposed_expert_parallel: float = 0.75
    attention_efficiency: float = 0.545
    flash_attention: bool = True
    nvlink_efficiency: float = 0.8
    network_efficiency: float = 0.9
    memory_efficiency: float = 0.8
    nvme_bytes_per_second: float = 2e9
    jitter: float = 0.0124

    def problems(self) -> list[str]:
        """Return the errors of the figures."""
        shares = {
            "memory_reserve", "mfu_error", "kernel_efficiency", "exposed_tensor_parallel", "exposed_expert_parallel",
            "attention_efficiency", "nvlink_efficiency", "network_efficiency", "jitter", "memory_efficiency",
        }  # fmt: skip
        may_be_zero = {"exposed_tensor_parallel", "exposed_expert_parallel", "jitter", "memory_reserve", "mfu_error",
                       "flash_attention", "failures_per_1000_node_days", "recovery_seconds", "repair_days"}  # fmt: skip
        problems = []
        for field in fields(self):
            value, most = getattr(self, field.name), 1 if field.name in shares else 1e12
            least = 0 if field.name in may_be_zero else 2 if field.name == "checkpoints_kept" else 1e-9
            if not least <= value <= most:
                bound = f"{'above 0' if 0 < least < 1 else least} to {most:g}"
                problems.append(f"{field.name} must be {bound}, got {value:g}")
        return problems

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "Assumptions":
        """Return the assumptions with some replaced, from texts.

        Args:
            values: New values by name.

        Raises:
            ValueError: If a name is unknown or a value is not valid. All reasons at once.
        """
        kinds = {field.name: field.type for field in fields(cls)}
        problems: list[str] = []
        chosen: dict[str, Any] = {}
        for name, text in values.items():
            if name not in kinds:
                problems.append(f"unknown assumption {name!r}; known are {', '.join(kinds)}")
                continue
            try:
                if kinds[name] is bool:
                    chosen[name] = _BOOLEANS[text.lower()]
                elif kinds[name] is int:  # 1e9 is a whole number too
                    chosen[name] = int(text if float(text) % 1 else float(text))
                else:
                    chosen[name] = float(text)
            except (KeyError, OverflowError, ValueError):
                number = "a whole number" if kinds[name] is int else "a number"
                expected = "true or false" if kinds[name] is bool else number
                problems.append(f"{name} must be {expected}, got {text!r}")
        assumptions = cls(**chosen)
        problems += assumptions.problems()
        if problems:
            raise ValueError("; ".join(problems))
        return assumptions

    def checkpoint_bytes(self, parameters: float) -> int:
        """Return the bytes of a checkpoint."""
        return checkpoint_bytes(parameters, bytes_per_parameter=self.checkpoint_bytes_per_parameter)
