"""Targets scraped once for a cluster: Slurm's controller, kube-state-metrics, Kueue and workloads.

For an agent, or for AMP's managed scraper, which scrapes every 30 s at most and discovers only Kubernetes targets:
https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html (read 2026-11-20).
"""

from typing import Any

from ultracluster.monitoring.collectors._agent import (
    JOB_LABELS,
    ROLE,
    SERVICE_LABEL,
    job_of_pod,
    relabelling,
    slurm_jobs,
)
from ultracluster.monitoring.collectors._text import block_yaml
from ultracluster.monitoring.names import NODE_CHECKS, POD_OF_JOB, Profile

SLURM_PORT = 6817

#: Resources and metrics of kube-state-metrics: all of them would be many times as much.
KUBE_STATE_RESOURCES = ("nodes", "pods")
KUBE_STATE_PORT = 8080
# Labels of a discovered endpoint. Kueue has a second Service with the same labels and name of its port, that of its
# visibility server, which answers for a page of metrics that has none of Kueue's.
# https://github.com/kubernetes-sigs/kueue, charts/kueue/templates/visibility/service.yaml and pkg/visibility/server.go
# (0.19.2, read 2026-11-28)
# Each other port of a pod's containers is a target too, with the labels of each Service, and none of a port's name.
# https://github.com/prometheus/prometheus, discovery/kubernetes/endpoints.go (read 2026-11-28)
_APP, _NAME = "__meta_kubernetes_service_label_app_kubernetes_io_name", "__meta_kubernetes_service_name"
_PORT = "__meta_kubernetes_endpoint_port_name"
_KUBE_STATE = "kube-state-metrics"
KUBE_STATE_METRICS = (
    *("kube_node_annotations", "kube_node_status_condition", "kube_node_spec_unschedulable"),
    *("kube_pod_status_phase", "kube_pod_labels"),
)
# What the agent holds of the pods of a cluster: those of Kueue, and those that no DaemonSet creates. Each node has
# twenty of DaemonSets, which the controller labels; the API server selects by labels, and not by annotations.
# https://github.com/kubernetes/kubernetes, pkg/controller/daemon/util/daemonset_util.go (read 2026-11-27)
_AGENT_DISCOVERY: dict[str, dict[str, Any]] = {
    "kueue": {"namespaces": {"names": ["kueue-system"]}},
    "workloads": {"selectors": [{"role": "pod", "label": "!pod-template-generation"}]},
}
#: Annotations of a node that a check found bad, and that stays in service: one for each check.
BREAKER_ANNOTATIONS = tuple(f"ultracluster/breaker-{check}" for check in NODE_CHECKS)
#: Labels of pods that kube-state-metrics exports.
KUBE_STATE_LABELS = f"pods=[{','.join((*JOB_LABELS, SERVICE_LABEL))}]"


def slurm_scraping(cluster: str, controller: str, profile: Profile = Profile.STANDARD) -> str:
    """Return the configuration that scrapes a Slurm controller on AWS PCS.

    Args:
        cluster: Name of the cluster.
        controller: Address of the controller, from the PCS cluster's endpoints.
        profile: Metrics profile.
    """
    targets = [{"targets": [f"{controller}:{SLURM_PORT}"], "labels": {"cluster": cluster}}]
    jobs = slurm_jobs({"static_configs": targets}, profile)
    return block_yaml({"global": {"scrape_interval": "60s", "scrape_timeout": "30s"}, "scrape_configs": jobs})


def kubernetes_scraping(cluster: str, profile: Profile = Profile.STANDARD) -> str:
    """Return the managed scraper's configuration for kube-state-metrics, Kueue, and pods that serve or train.

    A pod with the annotation `ultracluster/metrics-port` is scraped; its metrics are those of the contract, or
    vLLM's and SGLang's.

    Args:
        cluster: Name of the cluster.
        profile: Metrics profile.
    """
    rules = [_keep([_APP, "__meta_kubernetes_endpoint_port_name"], "kube-state-metrics;http")]
    jobs = [_discovered(_KUBE_STATE, cluster, "endpoints", rules, profile), *_queues_and_workloads(cluster, profile)]
    return block_yaml({"global": {"scrape_interval": "30s", "scrape_timeout": "10s"}, "scrape_configs": jobs})


def kubernetes_jobs(cluster: str, profile: Profile) -> list[dict[str, Any]]:
    """Return the jobs of an agent that shares a pod with kube-state-metrics."""
    state = {
        "job_name": _KUBE_STATE,
        "static_configs": [{"targets": [f"127.0.0.1:{KUBE_STATE_PORT}"], "labels": {"cluster": cluster}}],
        "metric_relabel_configs": relabelling(_KUBE_STATE, profile),
    }
    jobs = _queues_and_workloads(cluster, profile)
    for job in jobs:
        job["kubernetes_sd_configs"][0] |= _AGENT_DISCOVERY[job["job_name"]]
    return [state, *jobs]


def _queues_and_workloads(cluster: str, profile: Profile) -> list[dict[str, Any]]:
    metrics_port = "__meta_kubernetes_pod_annotation_ultracluster_metrics_port"
    index = "__meta_kubernetes_pod_label_batch_kubernetes_io_job_completion_index"
    queues = [_keep([_APP, _NAME, _PORT], "kueue;.+-metrics-service;https")]
    return [
        _discovered("kueue", cluster, "endpoints", queues, profile, secure=True),
        _discovered(
            "workloads",
            cluster,
            "pod",
            [
                _keep([metrics_port], "[0-9]+"),
                # A finished pod keeps its address in its status, and the next pod gets the same one.
                {"action": "drop", "source_labels": ["__meta_kubernetes_pod_phase"], "regex": "Succeeded|Failed"},
                # Of a gang, only rank 0 reports.
                {"action": "drop", "source_labels": [index], "regex": "[1-9][0-9]*"},
                {
                    "action": "replace",
                    "source_labels": ["__meta_kubernetes_pod_ip", metrics_port],
                    "separator": ":",
                    "target_label": "__address__",
                },
                {
                    "action": "replace",
                    "source_labels": ["__meta_kubernetes_namespace", "__meta_kubernetes_pod_name"],
                    "separator": "/",
                    "regex": POD_OF_JOB,
                    "target_label": "job_id",
                },
                *job_of_pod("__meta_kubernetes_pod_label_", "__meta_kubernetes_namespace"),
                {
                    "action": "replace",
                    "source_labels": [
                        "__meta_kubernetes_pod_label_ultracluster_serves",
                        "__meta_kubernetes_pod_label_role",
                    ],
                    "separator": ";",
                    "regex": ".+;(prefill|decode)",
                    "target_label": ROLE,
                },
            ],
            profile,
        ),
    ]


def _keep(labels: list[str], regex: str) -> dict[str, Any]:
    return {"action": "keep", "source_labels": labels, "regex": regex}


def _discovered(
    job: str, cluster: str, role: str, rules: list[dict[str, Any]], profile: Profile, *, secure: bool = False
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "job_name": job,
        "kubernetes_sd_configs": [{"role": role}],
        "relabel_configs": [*rules, {"action": "replace", "target_label": "cluster", "replacement": cluster}],
        "metric_relabel_configs": relabelling(job, profile),
    }
    if secure:
        # Kueue's endpoint has a self-signed certificate and requires a token.
        result |= {
            "scheme": "https",
            "authorization": {"credentials_file": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
            "tls_config": {"insecure_skip_verify": True},
        }
    return result
