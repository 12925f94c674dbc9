"""Kubernetes objects and Helm releases of an EKS cluster, as plain data."""

from ultracluster.kubernetes._argo_cd import application_names, argo_cd_files
from ultracluster.kubernetes._bundle import platform_bundle, required_bundle
from ultracluster.kubernetes._files import platform_files
from ultracluster.kubernetes._from_cluster_file import (
    check_platform,
    check_teams,
    missing_parameters,
    parameter,
    parameter_values,
    platform_of,
    registry_of,
)
from ultracluster.kubernetes._gate import gate_variables, with_gate
from ultracluster.kubernetes._health_access import ACCOUNT
from ultracluster.kubernetes._kueue import QUEUE, domain_label
from ultracluster.kubernetes._monitoring import node_monitoring_values
from ultracluster.kubernetes._names import check_job, job_name
from ultracluster.kubernetes._network_policies import from_operator, job_policy
from ultracluster.kubernetes._nodes import ROOT_DEVICES, PlatformNodes, device_labels
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import HEALTH, DynamicVolumes, KarpenterNodes, Platform
from ultracluster.kubernetes._pods import near, node_pod, pod_resources
from ultracluster.kubernetes._registry import (
    chart_address,
    container_images,
    full_name,
    is_copied,
    objects_in_registry,
    release_images,
)
from ultracluster.kubernetes._release import HelmRelease, Manifest
from ultracluster.kubernetes._rendering import platform
from ultracluster.kubernetes._reporting import PYTHON, REPORTER, from_collectors, metrics_port, with_reporting
from ultracluster.kubernetes._resuming import (
    cached,
    gang_command,
    hugging_face,
    namespaced,
    operated_command,
    with_checkpoints,
    with_resuming,
)
from ultracluster.kubernetes._runtimes import GANG_FAILURES, GANG_JOB, runtime_name
from ultracluster.kubernetes._teams import Team, shares
from ultracluster.kubernetes._yaml_text import to_yaml

__all__ = [
    "ACCOUNT",
    "GANG_FAILURES",
    "GANG_JOB",
    "HEALTH",
    "PYTHON",
    "QUEUE",
    "REPORTER",
    "ROOT_DEVICES",
    "DynamicVolumes",
    "HelmRelease",
    "KarpenterNodes",
    "Manifest",
    "Object",
    "Platform",
    "PlatformNodes",
    "Team",
    "application_names",
    "argo_cd_files",
    "cached",
    "chart_address",
    "check_job",
    "check_platform",
    "check_teams",
    "container_images",
    "device_labels",
    "domain_label",
    "from_collectors",
    "from_operator",
    "full_name",
    "gang_command",
    "gate_variables",
    "hugging_face",
    "is_copied",
    "job_name",
    "job_policy",
    "make",
    "metrics_port",
    "missing_parameters",
    "namespaced",
    "near",
    "node_monitoring_values",
    "node_pod",
    "objects_in_registry",
    "operated_command",
    "parameter",
    "parameter_values",
    "platform",
    "platform_bundle",
    "platform_files",
    "platform_of",
    "pod_resources",
    "registry_of",
    "release_images",
    "required_bundle",
    "runtime_name",
    "shares",
    "to_yaml",
    "with_checkpoints",
    "with_gate",
    "with_reporting",
    "with_resuming",
]
