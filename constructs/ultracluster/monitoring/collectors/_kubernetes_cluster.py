"""Collectors that run once in a Kubernetes cluster: object state, queues and workloads.

One pod: kube-state-metrics, and an agent beside it that asks it, Kueue, and pods that say that they have metrics.
"""

from typing import Any

from ultracluster.monitoring.collectors._agent import remote_write
from ultracluster.monitoring.collectors._kubernetes import (
    IMAGES,
    NAMESPACE,
    SERVICE_ACCOUNT,
    kube_state_metrics_arguments,
)
from ultracluster.monitoring.collectors._node import RemoteWrite
from ultracluster.monitoring.collectors._scraping import KUBE_STATE_RESOURCES, kubernetes_jobs
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


def cluster_objects(*, cluster: str, to: RemoteWrite, profile: Profile = Profile.STANDARD) -> list[_Object]:
    """The objects, in the namespace of `shared_objects`, whose service account the agent's is.

    Args:
        cluster: Name of the cluster, as the label of every sample.
        to: Where the samples go, by its address: a pod that no node's role is for reads no parameter.
        profile: How much is collected.

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
    labels = {"app.kubernetes.io/name": _NAME}
    return [
        _object("v1", "ConfigMap", _NAME, data={"agent.yaml": block_yaml(document)}),
        _object(f"{_RBAC}/v1", "ClusterRole", _ROLE, cluster_wide=True, rules=_RULES),
        _object(
            f"{_RBAC}/v1",
            "ClusterRoleBinding",
            _ROLE,
            cluster_wide=True,
            roleRef={"apiGroup": _RBAC, "kind": "ClusterRole", "name": _ROLE},
            subjects=[{"kind": "ServiceAccount", "name": SERVICE_ACCOUNT, "namespace": NAMESPACE}],
        ),
        _object(
            "apps/v1",
            "Deployment",
            _NAME,
            spec={
                "replicas": 1,
                # Two agents would send every sample twice.
                "strategy": {"type": "Recreate"},
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": _pod()},
            },
        ),
    ]


# Read access to the objects that kube-state-metrics watches and that Prometheus uses for discovery.
_RULES = [
    {"apiGroups": [""], "resources": sorted({*KUBE_STATE_RESOURCES, "endpoints", "services"}),
     "verbs": ["get", "list", "watch"]},
    # Kueue asks for it: charts/kueue/templates/rbac/metrics_reader_role.yaml (0.19, read 2026-11-21).
    {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
]  # fmt: skip


def _pod() -> _Object:
    state = [*kube_state_metrics_arguments(), "--host=127.0.0.1", "--telemetry-host=127.0.0.1"]
    agent = ["--agent", f"--config.file={_ETC}/agent.yaml", f"--storage.agent.path={_WAL}",
             "--storage.agent.retention.max-time=2h", "--web.listen-address=127.0.0.1:9090"]  # fmt: skip
    etc = {"name": "etc", "mountPath": _ETC, "readOnly": True}
    return {
        "serviceAccountName": SERVICE_ACCOUNT,
        "priorityClassName": "system-cluster-critical",
        "securityContext": {"runAsNonRoot": True, "runAsUser": _NOBODY, "fsGroup": _NOBODY,
                            "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            _container("kube-state-metrics", ["/kube-state-metrics", *state], "250Mi", "2Gi", []),
            _container("agent", ["/bin/prometheus", *agent], "256Mi", "2Gi",
                       [etc, {"name": "wal", "mountPath": _WAL}]),
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


def _object(api: str, kind: str, name: str, *, cluster_wide: bool = False, **parts: Any) -> _Object:
    metadata = {"name": name} if cluster_wide else {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}
