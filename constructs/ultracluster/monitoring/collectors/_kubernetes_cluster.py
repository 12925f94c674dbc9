"""Collectors that run once in a Kubernetes cluster: object state, queues and workloads.

One pod: kube-state-metrics, and an agent that scrapes it, Kueue, and pods whose annotation has the port of metrics.
"""

from typing import Any

from ultracluster.monitoring.collectors._agent import remote_write
from ultracluster.monitoring.collectors._kubernetes import (
    IMAGES,
    NAMESPACE,
    SERVICE_ACCOUNT,
    agent_command,
    agent_probe,
    checksum,
    make,
)
from ultracluster.monitoring.collectors._node import RemoteWrite
from ultracluster.monitoring.collectors._scraping import (
    BREAKER_ANNOTATIONS,
    KUBE_STATE_LABELS,
    KUBE_STATE_METRICS,
    KUBE_STATE_RESOURCES,
    kubernetes_jobs,
)
from ultracluster.monitoring.collectors._text import block_yaml
from ultracluster.monitoring.names import Profile
from ultracluster.rules import Refusal

_NAME = "cluster-metrics"
_ROLE = "ultracluster-metrics"
_RBAC = "rbac.authorization.k8s.io"
_ETC, _WAL = "/etc/metrics", "/wal"
# The same for every program here: nobody, whom the images of Prometheus and kube-state-metrics run as.
_NOBODY = 65534

_Object = dict[str, Any]


def cluster_objects(
    *, cluster: str, to: RemoteWrite, profile: Profile = Profile.STANDARD, claims: bool = False
) -> list[_Object]:
    """Return the objects, in the namespace and with the service account of `shared_objects`.

    Args:
        cluster: Name of the cluster.
        to: Target of remote write.
        profile: Metrics profile.
        claims: Pods get their GPUs by resource claims, from NVIDIA's DRA driver.

    Raises:
        Refusal: If the destination is a parameter.
    """
    if to.url is None:
        raise Refusal("", "the agent of a cluster takes the address itself, not a parameter that holds it")
    document = {
        "global": {"scrape_interval": "30s", "scrape_timeout": "10s"},
        "scrape_configs": kubernetes_jobs(cluster, profile),
        "remote_write": [remote_write(to.region, to.url)],
    }
    data = {"agent.yaml": block_yaml(document)}
    labels = {"app.kubernetes.io/name": _NAME}
    # The address may be a placeholder here, which the checksum would hide.
    annotations = {**checksum(data), "ultracluster/remote-write": to.url}
    spec = {
        "replicas": 1,
        # Two agents would send every sample twice.
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels, "annotations": annotations}, "spec": _pod()},
    }
    role = {"apiVersion": f"{_RBAC}/v1", "metadata": {"name": _ROLE}}
    return [
        make("v1", "ConfigMap", _NAME, data=data),
        {**role, "kind": "ClusterRole", "rules": [*_RULES, *([_SLICES] if claims else [])]},
        {
            **role,
            "kind": "ClusterRoleBinding",
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _ROLE},
            "subjects": [{"kind": "ServiceAccount", "name": SERVICE_ACCOUNT, "namespace": NAMESPACE}],
        },
        make("apps/v1", "Deployment", _NAME, spec=spec),
    ]


# Read access to the objects that kube-state-metrics watches and that Prometheus uses for discovery.
_RULES = [
    {"apiGroups": [""], "resources": sorted({*KUBE_STATE_RESOURCES, "endpoints", "services"}),
     "verbs": ["get", "list", "watch"]},
    # Kueue requires it: charts/kueue/templates/rbac/metrics_reader_role.yaml (0.19, read 2026-11-21).
    {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
]  # fmt: skip

# Read access of dcgm-exporter, which has the same service account: a kubelet names the device of a claim, and its slice
# the GPU. https://github.com/NVIDIA/gpu-operator/pull/2706 (read 2026-11-27)
_SLICES = {"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"], "verbs": ["get", "list", "watch"]}


def _pod() -> _Object:
    # Only what is read.
    state = [
        "/kube-state-metrics",
        f"--resources={','.join(KUBE_STATE_RESOURCES)}",
        f"--metric-allowlist={','.join(KUBE_STATE_METRICS)}",
        f"--metric-annotations-allowlist=nodes=[{','.join(BREAKER_ANNOTATIONS)}]",
        f"--metric-labels-allowlist={KUBE_STATE_LABELS}",
        "--host=127.0.0.1",
        "--telemetry-host=127.0.0.1",
    ]
    etc = {"name": "etc", "mountPath": _ETC, "readOnly": True}
    return {
        "serviceAccountName": SERVICE_ACCOUNT,
        "priorityClassName": "system-cluster-critical",
        "securityContext": {"runAsNonRoot": True, "runAsUser": _NOBODY, "fsGroup": _NOBODY,
                            "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            _container("kube-state-metrics", state, "250Mi", "2Gi", []),
            _container("agent", agent_command(f"{_ETC}/agent.yaml", _WAL), "256Mi", "2Gi",
                       [etc, {"name": "wal", "mountPath": _WAL}]) | {"readinessProbe": agent_probe(_WAL)},
        ],
        "volumes": [{"name": "etc", "configMap": {"name": _NAME}}, {"name": "wal", "emptyDir": {}}],
    }  # fmt: skip


def _container(name: str, command: list[str], memory: str, most: str, mounts: list[_Object]) -> _Object:
    return {
        "name": name,
        "image": IMAGES[name],
        "command": command,
        "resources": {"requests": {"cpu": "100m", "memory": memory}, "limits": {"memory": most}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }
