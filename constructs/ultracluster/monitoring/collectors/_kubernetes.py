"""Collectors on the nodes of a Kubernetes cluster: the programs and configuration of Slurm nodes, in one pod a node.

One DaemonSet and not three: its containers share the node's network, so the agent scrapes 127.0.0.1 as on Slurm nodes.
An init container replaces the placeholders, as the boot script does on Slurm nodes.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ultracluster.boot import scripts
from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.monitoring.collectors._agent import PORTS, agent_configuration
from ultracluster.monitoring.collectors._counters import Dcgm, counters
from ultracluster.monitoring.collectors._node import (
    DCGM_EXPORTER,
    DCGM_EXPORTER_OF_CLAIMS,
    NODE_EXPORTER,
    PROMETHEUS,
    RemoteWrite,
    dcgm_exporter_flags,
    node_exporter_flags,
    textfile_arguments,
)
from ultracluster.monitoring.names import Profile

NAMESPACE = "ultracluster-metrics"
#: Service account of the agents, which may write to the workspace.
SERVICE_ACCOUNT = "agent"
#: For Kubernetes 1.35, the default here: the table of https://github.com/kubernetes/kube-state-metrics, README.md (tag
#: v2.19.1 of 2026-06-10, whose examples/standard/deployment.yaml names the image; read 2026-11-21).
KUBE_STATE_METRICS_VERSION = "2.19.1"
#: Any version 2 does: it runs scripts. https://github.com/aws/aws-cli (tag 2.31.0 of 2025-09-23, read 2026-11-21)
_AWS_CLI = "2.31.0"
#: Tags, not digests: no registry was queried. Mirror them into your own, and pin what you mirrored.
IMAGES: Mapping[str, str] = {
    "agent": f"quay.io/prometheus/prometheus:v{PROMETHEUS}",
    "node": f"quay.io/prometheus/node-exporter:v{NODE_EXPORTER}",
    "dcgm": f"nvcr.io/nvidia/k8s/dcgm-exporter:{DCGM_EXPORTER}-distroless",
    "dcgm-of-claims": f"nvcr.io/nvidia/k8s/dcgm-exporter:{DCGM_EXPORTER_OF_CLAIMS}-distroless",
    "scripts": f"public.ecr.aws/aws-cli/aws-cli:{_AWS_CLI}",
    "kube-state-metrics": f"registry.k8s.io/kube-state-metrics/kube-state-metrics:v{KUBE_STATE_METRICS_VERSION}",
}

_Object = dict[str, Any]
_ETC, _RUN, _TEXTFILES = "/etc/metrics", "/run/metrics", "/textfiles"


def node_objects(
    instance_type: InstanceType,
    *,
    cluster: str,
    group: str,
    efa_devices: int,
    to: RemoteWrite,
    selector: Mapping[str, str],
    profile: Profile = Profile.STANDARD,
    dcgm: Dcgm = Dcgm.BEFORE_4_7,
    claims: bool = False,
) -> list[_Object]:
    """Return the objects of a node group: a ConfigMap and a DaemonSet, in the namespace of `shared_objects`.

    Args:
        instance_type: Type of the nodes.
        cluster: Name of the cluster.
        group: Name of the group, which is also part of the objects' names.
        efa_devices: EFA devices of a node.
        to: Target of remote write, which the service account `agent` may write to.
        selector: Labels of the nodes.
        profile: Metrics profile.
        dcgm: Release of DCGM in the exporter's image.
        claims: Pods get their GPUs by resource claims, from NVIDIA's DRA driver.
    """
    name = f"node-metrics-{group}"
    configuration = agent_configuration(
        cluster=cluster, group=group, region=to.region, gpus=instance_type.gpus > 0, profile=profile
    )
    data = {
        "agent.yaml": configuration,
        "metrics-agent.sh": scripts.text("metrics-agent.sh"),
        "node-metrics.sh": scripts.text("node-metrics.sh"),
    }
    if instance_type.gpus:
        data["dcgm-counters.csv"] = counters(instance_type.gpu, profile, dcgm=dcgm)
    spec = {
        "selector": {"matchLabels": {"app": name}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
        "template": {
            "metadata": {"labels": {"app": name}, "annotations": checksum(data)},
            "spec": _pod(instance_type, name, efa_devices, to, dict(selector), profile, claims=claims),
        },
    }
    return [make("v1", "ConfigMap", name, data=data), make("apps/v1", "DaemonSet", name, spec=spec)]


def shared_objects() -> list[_Object]:
    """Return the namespace, and the agent's service account, which needs `aps:RemoteWrite` by Pod Identity."""
    # The pods share the node's network and see its /sys.
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}},
        make("v1", "ServiceAccount", SERVICE_ACCOUNT),
    ]


def make(api: str, kind: str, name: str, **parts: Any) -> _Object:
    """Return an object of the namespace."""
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, **parts}


def checksum(data: Mapping[str, str]) -> dict[str, str]:
    """Return the annotation of a pod template that restarts its pods when the data of their ConfigMap changes.

    The programs read their files when they start.
    """
    return {"ultracluster/configuration": hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()}


def agent_command(configuration: str, storage: str) -> list[str]:
    """Return the command of an agent that keeps what it cannot send for two hours."""
    return [
        "/bin/prometheus",
        "--agent",
        f"--config.file={configuration}",
        f"--storage.agent.path={storage}",
        "--storage.agent.retention.max-time=2h",
        f"--web.listen-address=127.0.0.1:{PORTS['agent']}",
    ]


def agent_probe(directory: str) -> _Object:
    """Return the probe of an agent, which is ready while the workspace accepts its samples.

    The number of accepted samples must have grown within five minutes. Counters of samples are of attempts, so that
    failed, retried and pending ones are subtracted. The largest number, its time, and the start of the agent, whose
    counters begin at zero, are kept in a file.
    See: https://github.com/prometheus/prometheus, storage/remote/queue_manager.go (read 2026-11-26)
    """
    metrics = f"wget -q -O - http://127.0.0.1:{PORTS['agent']}/metrics"
    accepted = f"""awk -v now="$(date +%s)" -v file={directory}/accepted '{_ACCEPTED}'"""
    return {
        "exec": {"command": ["/bin/sh", "-c", f"{metrics} | {accepted}"]},
        "periodSeconds": 30,
        "timeoutSeconds": 10,
    }


# The image has the shell, wget and awk of busybox.
_ACCEPTED = (
    "/^process_start_time_seconds/ {start = $2} "
    "/^prometheus_remote_storage_samples_total/ {sent += $2} "
    "/^prometheus_remote_storage_samples_(failed_total|retried_total|pending)/ {sent -= $2} "
    'END {if (start == "") exit 1; '
    "getline line < file; close(file); split(line, old); "
    "if (old[1] != start) old[2] = 0; "
    "if (sent > old[2]) {old[2] = sent; old[3] = now} "
    'printf "%s %.0f %.0f\\n", start, old[2], old[3] > file; '
    "exit !(now - old[3] < 300)}"
)


def _pod(
    instance_type: InstanceType,
    name: str,
    efa: int,
    to: RemoteWrite,
    selector: dict[str, str],
    profile: Profile,
    *,
    claims: bool,
) -> _Object:
    etc, run, textfiles = _mount("etc", _ETC), _mount("run", _RUN), _mount("textfiles", _TEXTFILES)
    host = _mount("host", "/host") | {"readOnly": True, "mountPropagation": "HostToContainer"}
    arguments = textfile_arguments(instance_type, efa, profile)
    loop = f'while :; do bash {_ETC}/node-metrics.sh {arguments} --name "$NODE_NAME"; sleep 30; done'
    containers = [
        _container("textfiles", IMAGES["scripts"], ["bash", "-c", loop], [etc, textfiles, host], root="/host"),
        _container(
            "node", IMAGES["node"],
            ["/bin/node_exporter", *node_exporter_flags(profile, root="/host", textfiles=_TEXTFILES)],
            [host, textfiles],
        ),
        _container("agent", IMAGES["agent"], agent_command(f"{_RUN}/agent.yaml", f"{_RUN}/wal"), [run])
        | {"readinessProbe": agent_probe(_RUN)},
    ]  # fmt: skip
    if instance_type.gpus:
        command = [
            "/usr/bin/dcgm-exporter",
            f"--collectors={_ETC}/dcgm-counters.csv",
            *dcgm_exporter_flags(profile),
            "--kubernetes",
            *(["--kubernetes-enable-dra"] if claims else []),
        ]
        image = IMAGES["dcgm-of-claims" if claims else "dcgm"]
        container = _container("dcgm", image, command, [etc, _mount("kubelet", "/var/lib/kubelet/pod-resources")])
        # Profiling counters need it: https://github.com/NVIDIA/dcgm-exporter, deployment/values.yaml (2026-11-21).
        container["securityContext"] = {"capabilities": {"add": ["SYS_ADMIN"]}}
        container["env"].append({"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"})
        containers.append(container)
    write = ["bash", f"{_ETC}/metrics-agent.sh", "--template", f"{_ETC}/agent.yaml", "--write", f"{_RUN}/agent.yaml"]
    return {
        "serviceAccountName": SERVICE_ACCOUNT,
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        # Prometheus runs as nobody, and keeps what it could not send yet.
        "securityContext": {"fsGroup": 65534},
        "priorityClassName": "system-node-critical",
        "nodeSelector": selector,
        "tolerations": [{"operator": "Exists"}],
        "initContainers": [_container("configuration", IMAGES["scripts"], [*write, *to.arguments.split()], [etc, run])],
        "containers": containers,
        "volumes": [
            {"name": "etc", "configMap": {"name": name}},
            {"name": "run", "emptyDir": {}},
            {"name": "textfiles", "emptyDir": {}},
            {"name": "host", "hostPath": {"path": "/"}},
            {"name": "kubelet", "hostPath": {"path": "/var/lib/kubelet/pod-resources"}},
        ],
    }


def _container(name: str, image: str, command: list[str], mounts: list[_Object], *, root: str = "") -> _Object:
    env: list[_Object] = [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]
    if root:
        env += [{"name": "ULTRACLUSTER_ROOT", "value": root}, {"name": "ULTRACLUSTER_TEXTFILES", "value": _TEXTFILES}]
    return {
        "name": name,
        "image": image,
        "command": command,
        "env": env,
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "1Gi"}},
        "volumeMounts": mounts,
    }


def _mount(name: str, path: str) -> _Object:
    return {"name": name, "mountPath": path}
