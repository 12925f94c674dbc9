"""Logs of pods in CloudWatch, by Fluent Bit of the add-on amazon-cloudwatch-observability."""

from typing import Any

from ultracluster.monitoring.collectors import JOB_LABELS

# The job of a pod as its metrics have it, without the namespace. The labels are many bytes, and are left out then.
_JOB = (
    "function job(tag, time, record) local pod = record['kubernetes'] or {} local labels = pod['labels'] or {} "
    f"for _, label in ipairs({{{', '.join(repr(label) for label in JOB_LABELS)}}}) do "
    "record['job'] = labels[label] or record['job'] end "
    "record['node'] = pod['host'] pod['labels'] = nil return 2, time, record end"
)
# Those that the chart leaves out of the logs of pods too: it sends them elsewhere.
_ELSEWHERE = ("cloudwatch-agent", "fluent-bit", "aws-node", "kube-proxy")
# As for nodes of Slurm: `slurm.logs.retention`.
_DAYS = 90
_SECTIONS: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "INPUT",
        {
            "Name": "tail",
            "Tag": "application.*",
            "Path": "/var/log/containers/*.log",
            "Exclude_Path": ",".join(f"/var/log/containers/{pod}*" for pod in _ELSEWHERE),
            "multiline.parser": "docker, cri",
            "DB": "/var/fluent-bit/state/ultracluster.db",
            "Mem_Buf_Limit": "50MB",
            "Skip_Long_Lines": "On",
            "Refresh_Interval": "10",
            "Rotate_Wait": "30",
            "storage.type": "filesystem",
            # A node has no older logs than those of its own pods.
            "Read_from_Head": "On",
        },
    ),
    (
        "FILTER",
        {
            "Name": "kubernetes",
            "Match": "application.*",
            "Kube_URL": "https://kubernetes.default.svc:443",
            "Kube_Tag_Prefix": "application.var.log.containers.",
            "Labels": "On",
            "Annotations": "Off",
            "Use_Kubelet": "On",
            "Kubelet_Port": "10250",
            "Buffer_Size": "0",
        },
    ),
    ("FILTER", {"Name": "lua", "Match": "application.*", "call": "job", "code": _JOB}),
    (
        "OUTPUT",
        {
            "Name": "cloudwatch_logs",
            "Match": "application.*",
            "region": "${AWS_REGION}",
            "log_group_name": "/aws/containerinsights/${CLUSTER_NAME}/application",
            "log_stream_prefix": "${HOST_NAME}-",
            "auto_create_group": "true",
            "log_retention_days": str(_DAYS),
        },
    ),
)


def pod_log_values() -> dict[str, Any]:
    """Return the values of the add-on by which logs of pods have the fields `node` and `job`, and end after 90 days.

    See: https://docs.fluentbit.io/manual/pipeline/filters/lua, https://docs.fluentbit.io/manual/pipeline/outputs/cloudwatch
    and https://github.com/aws-observability/helm-charts, charts/amazon-cloudwatch-observability/values.yaml (commit
    71a298f), all read 2026-11-26.
    """
    text = "\n".join(
        f"[{section}]\n" + "".join(f"    {key} {value}\n" for key, value in keys.items()) for section, keys in _SECTIONS
    )
    return {"containerLogs": {"fluentBit": {"config": {"extraFiles": {"application-log.conf": text}}}}}
