"""Prometheus agent of a node: its targets, relabelling and remote write.

The agent runs on every node and scrapes only that node: no discovery, and no central server that can fail.
Prometheus is used because its configuration can be tested with the program itself.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from ultracluster.monitoring.collectors._text import block_yaml, name_problems, scalar
from ultracluster.monitoring.names import NODE_CHECKS, POD_OF_JOB, Profile, read_from_exporters
from ultracluster.planning.workload import SCRAPE_INTERVAL_S
from ultracluster.rules import Refusal

#: Scrape interval in seconds by profile. DCGM collects at the same interval.
INTERVAL_S: Mapping[Profile, int] = {profile: SCRAPE_INTERVAL_S[profile.name.lower()] for profile in Profile}
PORTS: Mapping[str, int] = {"node": 9100, "dcgm": 9400, "agent": 9090}
#: Placeholders that the script metrics-agent.sh replaces on the node.
PLACEHOLDERS: Mapping[str, str] = {"instance": "@INSTANCE@", "instance_type": "@INSTANCE_TYPE@", "zone": "@ZONE@"}
# Another, which the library replaces.
_GROUP = "@GROUP@"
#: Where the script slurm-target.sh writes the address of Slurm's controller.
SLURM_TARGET = "/run/ultracluster/metrics/slurm.json"
#: Pages of the controller. Not jobs-users-accts: a series for each user and account has no bound.
SLURM_PAGES = ("jobs", "nodes", "partitions", "scheduler")

# Those of the kubelet, and those of EKS's agent beside the one for accelerators.
UNREAD_CONDITIONS = (
    "kube_node_status_condition;(?:(?:Memory|Disk|PID)Pressure|(?:Kernel|Networking|Storage|ContainerRuntime)Ready)"
)
#: Label of a target with its role, if prompts and tokens are computed apart. It is not sent.
ROLE = "serving_role"
#: Metrics of vLLM that workers of the other role count: those of prompts, and those of tokens and requests.
OF_OTHER_ROLE: Mapping[str, str] = {
    "prefill": (
        "generation_tokens_total|request_success_total|(?:e2e_request_latency|inter_token_latency)_seconds_bucket"
    ),
    "decode": "prompt_tokens_total|prefix_cache_(?:hits|queries)_total|time_to_first_token_seconds_bucket",
}
# Those of which no rule reads the number.
UNREAD_EVICTIONS = (
    "kueue_evicted_workloads_total;"
    "(?:Preempted|AdmissionCheck|ClusterQueueStopped|LocalQueueStopped|NodeFailures|Deactivated)"
)

_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "node": ("node_", "ultracluster_", "train_", "nccl_", "vllm:", "sglang:"),
    "dcgm": ("DCGM_",),
    "agent": ("prometheus_remote_storage_",),
    "slurm": ("slurm_",),
    "kube-state-metrics": ("kube_",),
    "kueue": ("kueue_",),
    "workloads": ("vllm:", "sglang:", "train_", "nccl_"),
}


#: Labels by which controllers name the job of a pod, the most general first: a JobSet and a trainer create jobs of
#: their own, whose names have an index.
JOB_LABELS = (
    *("batch.kubernetes.io/job-name", "training.kubeflow.org/job-name", "jobset.sigs.k8s.io/jobset-name"),
    "leaderworkerset.sigs.k8s.io/name",
)
#: Label of pods that serve: they may wait for requests. A pod that no controller has named is then a job of its own
#: name.
SERVICE_LABEL = "ultracluster/service"


def job_of_pod(source: str, namespace: str) -> list[dict[str, Any]]:
    """Return the relabelling that writes namespace and job of a pod into `job_id`, if a controller named the job."""
    return [
        {
            "action": "replace",
            "source_labels": [namespace, source + re.sub(r"\W", "_", label)],
            "separator": "/",
            "regex": "(.+/.+)",
            "target_label": "job_id",
        }
        for label in JOB_LABELS
    ]


# On Kubernetes each sample of a GPU has the pod: every job would make new series of all fields. One field keeps it, by
# which the rules find the job of a GPU.
_POD_OF_GPU: list[dict[str, Any]] = [
    *(
        {
            "action": "replace",
            "source_labels": ["__name__", label],
            "regex": "DCGM_FI_DEV_GPU_TEMP(?:_CELSIUS)?;(.+)",
            "target_label": f"kept_{label}",
            "replacement": "$1",
        }
        for label in ("namespace", "pod")
    ),
    {"action": "labeldrop", "regex": "namespace|pod|container"},
    {"action": "labelmap", "regex": "kept_(namespace|pod)"},
    {"action": "labeldrop", "regex": "kept_(?:namespace|pod)"},
]


def kept(job: str, profile: Profile) -> tuple[str, ...]:
    """Return the metrics of an exporter that are sent: those that a recording rule of the profile reads."""
    return tuple(sorted(name for name in read_from_exporters(profile) if name.startswith(_PREFIXES[job])))


def relabelling(job: str, profile: Profile) -> list[dict[str, Any]]:
    """Return the relabelling of an exporter's samples before they are sent.

    The profile `full` keeps all metrics of the configured exporters.
    """
    rules: list[dict[str, Any]] = []
    if profile < Profile.FULL or job == "agent":
        rules.append({"action": "keep", "source_labels": ["__name__"], "regex": "|".join(kept(job, profile))})
    if job == "dcgm":
        # Idle GPUs also slow down. What remains means a problem: hw_slowdown, hw_thermal, hw_power_brake, sw_thermal,
        # power_cap.
        rules.append(
            {
                "action": "drop",
                "source_labels": ["__name__", "clock_event"],
                "regex": "DCGM_EXP_CLOCK_EVENTS_COUNT;(?:gpu_idle|clocks_setting|sync_boost|display_clocks)",
            }
        )
        # Labels that repeat `instance` and `gpu`, or change with the driver; and those of a claim, as each pod has its
        # claims: https://github.com/NVIDIA/dcgm-exporter, internal/pkg/transformation/const.go (commit d5e5f51).
        rules.append(
            {
                "action": "labeldrop",
                "regex": "UUID|pci_bus_id|device|modelName|[Hh]ostname|DCGM_FI_.*|window_size_in_ms|dra_.*",
            }
        )
        rules += _POD_OF_GPU
    if job == "node":
        rules.append({"action": "labeldrop", "regex": "comm_id|pid|version|rank"})
    if job == "workloads":
        # NCCL's Inspector outside of Slurm: "unknown", and `job_id` is there.
        rules.append({"action": "labeldrop", "regex": "comm_id|pid|version|rank|slurm_job_id"})
        # A request passes through a worker of each role, and both would count it.
        for role, others in OF_OTHER_ROLE.items():
            names = f"{role};vllm:(?:{others})"
            rules.append({"action": "drop", "source_labels": [ROLE, "__name__"], "regex": names})
        rules.append({"action": "labeldrop", "regex": ROLE})
    if job == "kube-state-metrics":
        # Of the labels of a pod, the job remains, and whether it serves; and of pods those that have one.
        serves = "label_" + re.sub(r"\W", "_", SERVICE_LABEL)
        named = {"source_labels": [serves, "namespace", "pod"], "separator": "/", "regex": f"true/{POD_OF_JOB}"}
        rules.append({"action": "replace", **named, "target_label": "job_id"})
        rules.append({"action": "replace", "source_labels": [serves], "regex": "(true)", "target_label": "service"})
        rules += job_of_pod("label_", "namespace")
        rules.append({"action": "drop", "source_labels": ["__name__", "job_id"], "regex": "kube_pod_labels;"})
        rules.append({"action": "labeldrop", "regex": "label_.+"})
    if job == "kube-state-metrics" and profile < Profile.FULL:
        # Each condition is three series of a node, and no rule reads these.
        rules.append({"action": "drop", "source_labels": ["__name__", "condition"], "regex": UNREAD_CONDITIONS})
    if job == "kube-state-metrics":
        # A series for each node, of which those without one of the annotations say nothing.
        labels = ["__name__", *(f"annotation_ultracluster_breaker_{check}" for check in NODE_CHECKS)]
        rules.append({"action": "drop", "source_labels": labels, "regex": "kube_node_annotations;+"})
    if job == "kueue":
        # Its second replica counts the same workloads.
        rules.append({"action": "drop", "source_labels": ["replica_role"], "regex": "follower"})
    if job == "kueue" and profile < Profile.FULL:
        rules.append({"action": "drop", "source_labels": ["__name__", "reason"], "regex": UNREAD_EVICTIONS})
    return rules


def agent_configuration(
    *,
    cluster: str,
    group: str,
    region: str | None,
    gpus: bool,
    profile: Profile = Profile.STANDARD,
    slurm: bool = False,
) -> str:
    """Return the agent's configuration, with placeholders for values that are known on the node only.

    Args:
        cluster: Name of the cluster.
        group: Name of the node's group.
        region: Region of the workspace. Without one, requests are not signed.
        gpus: The node has GPUs.
        profile: Metrics profile.
        slurm: The node also scrapes Slurm's controller. Several nodes may: the rules keep one series.

    Raises:
        Refusal: If a name is not a valid label.
    """
    if problems := name_problems(cluster, group):
        raise Refusal("", problems)
    text = _configuration(cluster, region, gpus, profile, slurm)
    return text.replace(scalar(_GROUP), scalar(group))


@cache
def _configuration(cluster: str, region: str | None, gpus: bool, profile: Profile, slurm: bool) -> str:
    """Return the configuration of all node groups, with a placeholder for the name of the group."""
    labels = {"cluster": cluster, "group": _GROUP, **PLACEHOLDERS}
    jobs = ("node", "dcgm", "agent") if gpus else ("node", "agent")
    return block_yaml(
        {
            "global": {"scrape_interval": f"{INTERVAL_S[profile]}s", "scrape_timeout": "10s"},
            "scrape_configs": [
                {
                    "job_name": job,
                    "static_configs": [{"targets": [f"127.0.0.1:{PORTS[job]}"], "labels": labels}],
                    "metric_relabel_configs": relabelling(job, profile),
                }
                for job in jobs
            ]
            + (slurm_jobs(_slurm_of_file(labels), profile) if slurm else []),
            "remote_write": [remote_write(region)],
        }
    )


def slurm_jobs(target: Mapping[str, Any], profile: Profile) -> list[dict[str, Any]]:
    """Return a job for each page of the controller at a target."""
    return [
        {
            "job_name": f"slurm-{page}",
            "metrics_path": f"/metrics/{page}",
            **target,
            "metric_relabel_configs": relabelling("slurm", profile),
        }
        for page in SLURM_PAGES
    ]


def _slurm_of_file(labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the target of a file with the address of the controller, which may change while the node runs."""
    return {
        "scrape_interval": "60s",
        "scrape_timeout": "30s",
        "file_sd_configs": [{"files": [SLURM_TARGET]}],
        "relabel_configs": [
            {"action": "replace", "target_label": name, "replacement": value} for name, value in labels.items()
        ],
    }


def remote_write(region: str | None, url: str = "@URL@") -> dict[str, Any]:
    """Return the remote write section, signed with the node's role, with its queue and retries.

    Args:
        region: Region of the workspace. Without one, requests are not signed.
        url: Remote write URL. By default, a placeholder that the node replaces.
    """
    return {
        "name": "amp",
        "url": url,
        **({"sigv4": {"region": region}} if region else {}),
        # One shard sends what a node has many times over. A long deadline makes few, full requests: AMP takes 3,000 a
        # second (AMP_quotas.html, read 2026-11-21). Up to a minute apart after a failure, so that a fleet does not come
        # back all at once. A 429 is not sent again, the default: AMP answers it to series above a limit, too
        # (AMP-troubleshooting.html, read 2026-11-26), and those would hold back all other samples of the node.
        "queue_config": {
            "min_shards": 1,
            "max_shards": 2,
            "capacity": 10000,
            "max_samples_per_send": 2000,
            "batch_send_deadline": "15s",
            "min_backoff": "1s",
            "max_backoff": "1m",
        },
    }
