"""Services that run once in a cluster: Slurm's controller, kube-state-metrics, Kueue, a served model."""

from support.synthetic.fleet import FakeNode

SERVICES = ("slurm-jobs", "slurm-nodes", "slurm-partitions", "slurm-scheduler", "kube", "kueue", "vllm")
#: Pods of a node, and Kueue's queues.
PODS, QUEUES = 2, ("research", "health")
_PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
# The kubelet's conditions, and those of EKS's agent; what is well says True.
_CONDITIONS = (
    *("Ready", "KernelReady", "NetworkingReady", "StorageReady", "ContainerRuntimeReady", "AcceleratedHardwareReady"),
    *("MemoryPressure", "DiskPressure", "PIDPressure"),
)
# What Slurm 25.11 says of each node, and no rule reads.
_NODE_FIELDS = (
    *("cpus", "cpus_alloc", "cpus_effective", "cpus_idle"),
    *("memory_alloc_bytes", "memory_effective_bytes", "memory_free_bytes", "memory_bytes"),
)
_PRIORITIES = ("research", "production")
# Kueue's own bounds: 1, then 2.5 doubled fourteen times.
_BOUNDS = ("1", *(f"{2.5 * 2**power:g}" for power in range(15)), "+Inf")


class Services:
    """The pages of one cluster; the same cluster has both schedulers here, so that every dashboard has data."""

    def __init__(self, fleet: dict[int, FakeNode]) -> None:
        self.fleet = fleet

    def page(self, kind: str, t: float, now: float) -> str:
        """The page of a service."""
        of_slurm = {
            "slurm-jobs": self._jobs,
            "slurm-nodes": self._nodes,
            "slurm-partitions": self._partitions,
            "slurm-scheduler": self._scheduler,
        }
        others = {"kube": self._kube, "kueue": self._kueue, "vllm": self._vllm}
        return "\n".join((of_slurm | others)[kind](t)) + "\n"

    def _nodes(self, t: float) -> list[str]:
        lost = sum(node.lost for node in self.fleet.values())
        busy = sum(node.job is not None for node in self.fleet.values())
        states = {"alloc": busy - lost, "idle": len(self.fleet) - busy, "down": lost, "noresp": lost, "drain": 0}
        states |= dict.fromkeys(("mixed", "fail", "maint", "powered_down", "powering_up", "cloud", "planned"), 0)
        return [
            f"slurm_nodes {len(self.fleet)}",
            *(f"slurm_nodes_{state} {count}" for state, count in states.items()),
            *(
                f'slurm_node_{field}{{node="{node.name}"}} 192'
                for node in self.fleet.values()
                for field in _NODE_FIELDS
            ),
        ]

    def _jobs(self, t: float) -> list[str]:
        jobs = {"pending": 4, "running": 3, "completing": 0, "failed": 1, "node_failed": 0, "timeout": 0}
        jobs |= {"hold": 0, "outofmemory": 1, "preempted": 0}
        return ["slurm_jobs 8", *(f"slurm_jobs_{state} {count}" for state, count in jobs.items())]

    def _partitions(self, t: float) -> list[str]:
        return [
            "slurm_partitions 2",
            'slurm_partition_jobs{partition="train"} 7',
            'slurm_partition_jobs_pending{partition="train"} 4',
            'slurm_partition_jobs_running{partition="train"} 3',
            'slurm_partition_jobs_gpus_alloc{partition="train"} 232',
            'slurm_partition_jobs{partition="serve"} 1',
            'slurm_partition_jobs_pending{partition="serve"} 0',
            'slurm_partition_jobs_running{partition="serve"} 1',
            'slurm_partition_jobs_gpus_alloc{partition="serve"} 8',
            'slurm_partition_nodes{partition="train"} 80',
        ]

    def _scheduler(self, t: float) -> list[str]:
        return [f"slurm_schedule_cycle_cnt {t:.0f}", "slurm_server_thread_cnt 3", "slurm_slurmdbd_queue_size 0"]

    def _kube(self, t: float) -> list[str]:
        lines = []
        for node in self.fleet.values():
            for condition in _CONDITIONS:
                well = "false" if condition.endswith("Pressure") else "true"
                now = "unknown" if node.lost else well
                for status in ("true", "false", "unknown"):
                    labels = f'node="{node.name}",condition="{condition}",status="{status}"'
                    lines.append(f"kube_node_status_condition{{{labels}}} {int(status == now)}")
            for pod in range(PODS):
                odd = {(0, 1): "Pending", (1, 1): "Failed"}.get((node.number, pod), "Running")
                for phase in _PHASES:
                    labels = f'namespace="train",pod="{node.name}-{pod}",uid="{node.number}-{pod}",phase="{phase}"'
                    lines.append(f"kube_pod_status_phase{{{labels}}} {int(phase == odd)}")
                # One pod of each node belongs to a job.
                labels = f'namespace="train",pod="{node.name}-{pod}"'
                job = f',label_batch_kubernetes_io_job_name="exp-{node.number}"' if pod == 0 else ""
                lines.append(f"kube_pod_labels{{{labels}{job}}} 1")
        return lines

    def _kueue(self, t: float) -> list[str]:
        lines = []
        total = 10 + t / 5
        for queue in QUEUES:
            of_queue = f'cluster_queue="{queue}",replica_role="leader"'
            lines += [
                f'kueue_pending_workloads{{{of_queue},status="active"}} 2',
                f'kueue_pending_workloads{{{of_queue},status="inadmissible"}} 0',
                f"kueue_admitted_active_workloads{{{of_queue}}} 3",
                f'kueue_cluster_queue_status{{{of_queue},status="active"}} 1',
            ]
            for priority in _PRIORITIES:
                for cause in ("WaitForStart", "WaitForRecovery"):
                    labels = f'{of_queue},priority_class="{priority}",reason="PodsReadyTimeout"'
                    lines.append(f'kueue_evicted_workloads_total{{{labels},underlying_cause="{cause}"}} 1')
                for index, bound in enumerate(_BOUNDS):
                    labels = f'{of_queue},priority_class="{priority}",le="{bound}"'
                    share = min(1, index / 9)
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
        lines += [
            f'vllm:request_success_total{{{model},finished_reason="stop"}} {t * 7.9:.1f}',
            f'vllm:request_success_total{{{model},finished_reason="abort"}} {t * 0.1:.1f}',
            f"vllm:prefix_cache_queries_total{{{model}}} {t * 52_000:.0f}",
            f"vllm:prefix_cache_hits_total{{{model}}} {t * 31_000:.0f}",
        ]
        for name, bounds in (
            ("time_to_first_token", ("0.1", "0.5", "1")),
            ("inter_token_latency", ("0.01", "0.05", "0.1")),
            ("e2e_request_latency", ("5", "20", "60")),
        ):
            for bound, share in zip((*bounds, "+Inf"), (0.3, 0.8, 0.97, 1), strict=True):
                lines.append(f'vllm:{name}_seconds_bucket{{{model},le="{bound}"}} {(10 + t * 8) * share:.3f}')
        return lines
