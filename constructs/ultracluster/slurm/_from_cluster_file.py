"""Arguments of the constructs of a Slurm cluster, from a cluster file."""

from collections.abc import Mapping
from typing import TypedDict, cast

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.boot import health_settings
from ultracluster.clusterfile import ClusterFile, source_range
from ultracluster.network import Network
from ultracluster.slurm._log_group import RETENTION
from ultracluster.slurm._login_ssh import LoginSsh
from ultracluster.slurm._options import SlurmOptions
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup


class LogSettings(TypedDict):
    """Retention and key of log groups."""

    retention: logs.RetentionDays
    key: kms.IKey | None


def log_settings(scope: Construct, cluster: ClusterFile) -> LogSettings:
    """Return retention and key of the log groups."""
    section, key = cluster.slurm.logs, scope.node.try_find_child("LogsKey")
    if key is None and section.encryption_key is not None:
        key = kms.Key.from_key_arn(scope, "LogsKey", section.encryption_key)
    return {
        "retention": RETENTION[section.retention.timedelta.days],
        "key": cast(kms.IKey | None, key),
    }


def slurm_options(cluster: ClusterFile) -> SlurmOptions:
    """Return the options of the controller."""
    slurm, purge = cluster.slurm, cluster.slurm.accounting_purge_time
    return SlurmOptions(
        accounting=slurm.accounting,
        accounting_purge_days=None if purge is None else purge.timedelta.days,
        rest_api=slurm.rest_api,
        metrics=cluster.slurm_metrics,
        settings=health_settings(cluster.slurm_settings, health=bool(slurm.health)),
        slurmdbd_settings=slurm.slurmdbd_settings,
        cgroup_settings=slurm.cgroup_settings,
    )


def login_ssh(cluster: ClusterFile, network: Network) -> LoginSsh | None:
    """Return the SSH access to the login nodes, or None."""
    section = cluster.slurm.login.ssh
    if section is None:
        return None
    sources = [source_range(word) for word in section.sources]
    return LoginSsh(vpc=network.vpc, key_pair=section.key_pair, sources=sources)


def tagged(group: PcsComputeNodeGroup, tags: Mapping[str, str]) -> PcsComputeNodeGroup:
    """Add tags to a node group, and to the instances, volumes and network interfaces that its template launches."""
    for key, value in tags.items():
        cdk.Tags.of(group).add(key, value)
    return group
