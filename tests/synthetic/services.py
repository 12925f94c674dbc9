"""What is there once in a cluster: Slurm's controller, kube-state-metrics, Kueue, a model that is served."""

from synthetic.fleet import FakeNode

SERVICES = ("slurm", "kube", "kueue", "vllm")


class Services:
    """The pages of one cluster; the same cluster has both schedulers here, so that every dashboard has data."""

    def __init__(self, fleet: dict[int, FakeNode]) -> None:
        self.fleet = fleet

    def page(self, kind: str, t: float, now: float) -> str:
        """The page of a service."""
        lines = {"slurm": self._slurm, "kube": self._kube, "kueue": self._kueue, "vllm": self._vllm}[kind](t)
        return "\n".join(lines) + "\n"

    def _slurm(self, t: float) -> list[str]:
        lost = sum(node.lost for node in self.fleet.values())
        busy = sum(node.job is not None for node in self.fleet.values())
        states = {"alloc": busy - lost, "idle": len(self.fleet) - busy, "down": lost, "noresp": lost, "drain": 0}
        states |= dict.fromkeys(("mixed", "fail", "maint", "powered_down", "powering_up"), 0)
        jobs = {"pending": 4, "running": 3, "completing": 0, "failed": 1, "node_failed": 0, "timeout": 0}
        return [
            f"slurm_nodes {len(self.fleet)}",
            *(f"slurm_nodes_{state} {count}" for state, count in states.items()),
            *(f"slurm_jobs_{state} {count}" for state, count in jobs.items()),
            'slurm_partition_jobs{partition="train"} 7',
            'slurm_partition_jobs{partition="serve"} 1',
        ]

    def _kube(self, t: float) -> list[str]:
        lines = []
        for node in self.fleet.values():
            for status, value in (("true", not node.lost), ("false", False), ("unknown", node.lost)):
                labels = f'node="{node.name}",condition="Ready",status="{status}"'
                lines.append(f"kube_node_status_condition{{{labels}}} {int(value)}")
        for phase, count in (("Running", 140), ("Pending", 3), ("Failed", 1)):
            lines.append(f'kube_pod_status_phase{{namespace="train",pod="sum",phase="{phase}"}} {count}')
        return lines

    def _kueue(self, t: float) -> list[str]:
        lines = [
            'kueue_pending_workloads{cluster_queue="research",status="active"} 2',
            'kueue_admitted_active_workloads{cluster_queue="research"} 3',
        ]
        total = 10 + t / 5
        for bound, share in (("10", 0.2), ("60", 0.6), ("300", 0.9), ("+Inf", 1)):
            labels = f'cluster_queue="research",le="{bound}"'
            lines.append(f"kueue_admission_wait_time_seconds_bucket{{{labels}}} {total * share:.3f}")
        return lines

    def _vllm(self, t: float) -> list[str]:
        model = 'model_name="llama-70b"'
        lines = [
            f"vllm:num_requests_running{{{model}}} 42",
            f"vllm:num_requests_waiting{{{model}}} 3",
            f"vllm:kv_cache_usage_perc{{{model}}} 0.71",
            f"vllm:prompt_tokens_total{{{model}}} {t * 52_000:.0f}",
            f"vllm:generation_tokens_total{{{model}}} {t * 9_000:.0f}",
        ]
        for name, bounds in (("time_to_first_token", ("0.1", "0.5", "1")), ("e2e_request_latency", ("5", "20", "60"))):
            for bound, share in zip((*bounds, "+Inf"), (0.3, 0.8, 0.97, 1), strict=True):
                lines.append(f'vllm:{name}_seconds_bucket{{{model},le="{bound}"}} {(10 + t * 8) * share:.3f}')
        return lines
