"""The FSx for Lustre file system in words and as data."""

from typing import Any

from ultracluster.catalogue.storage import lustre_quotas
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._lustre import checkpoint, efa_connections, writers
from ultracluster.planning.lustre import CheckpointTimes, LustreSpec, checkpoint_bytes, checkpoint_times

# Judgement: a cluster may become so many times larger.
_GROWTH = 2
# Common model sizes: parameters in 10^9.
_MODELS = (7, 70, 405)


def file_system_lines(cluster: ClusterFile) -> list[str]:
    """Describe the file system, the reasons for its size, and the time of a checkpoint."""
    lustre, plan = cluster.storage.lustre, cluster.lustre_plan
    if lustre is None:
        return ["Lustre: none"]
    if plan is None:
        return [f"Lustre: {lustre.existing.id if lustre.existing else ''}, existing, at {lustre.mount}"]
    spec = plan.spec
    adopted = f"{lustre.adopt.id}, adopted, " if lustre.adopt else ""
    efa = "with" if spec.efa else "without"
    return [
        f"Lustre: {adopted}{int(spec.disk_write_mb_per_s):,} MB/s from {spec.words} {efa} EFA",
        *(f"  - {reason}" for reason in plan.reasons),
        f"  - {_gives(spec)}",
        f"  - a checkpoint is written in {', '.join(_checkpoints(cluster, spec))}",
        *_growth(cluster),
    ]


def file_system_facts(cluster: ClusterFile) -> dict[str, Any] | None:
    """Return the file system as data, or None if the cluster creates none."""
    plan = cluster.lustre_plan
    if plan is None:
        return None
    spec = plan.spec
    return {
        "deployment_type": spec.deployment_type,
        "storage_type": spec.storage_type,
        "capacity_gib": spec.capacity_gib,
        "mb_per_s_per_tib": spec.mb_per_s_per_tib,
        "efa": spec.efa,
        "throughput_mb_per_s": int(spec.disk_write_mb_per_s),
        "read_mb_per_s": int(spec.disk_read_mb_per_s),
        "network_mb_per_s": int(spec.network_mb_per_s),
        "metadata_iops": spec.metadata_iops_given,
        "checkpoint_seconds": {label: round(times.write_seconds, 1) for label, times in _times(cluster, spec)},
        "quotas_passed": [quota.code for quota in plan.quotas_passed],
        "reasons": list(plan.reasons),
    }


def _growth(cluster: ClusterFile) -> list[str]:
    """Return a line if a further growth of the cluster would change the EFA interfaces of all nodes."""
    if not cluster.lustre_efa or cluster.lustre_client.efa_interfaces is not None:
        return []
    opened = efa_connections(cluster.lustre_client, cluster.efa_clients)
    each = max((kind.lustre_efa_interfaces or 0 for kind, _ in cluster.efa_clients), default=0)
    if opened * _GROWTH < lustre_quotas.EFA_CONNECTIONS or each < 2:
        return []
    return [
        f"  - with {each} EFA interfaces, up to {lustre_quotas.EFA_CONNECTIONS // each} nodes fit. If there will be "
        f"more, write client: {{efa-interfaces: {each // 2}}} or fewer now: another number replaces all nodes"
    ]


def _gives(spec: LustreSpec) -> str:
    words = [f"{int(spec.network_mb_per_s):,} MB/s for reads of what its servers have in memory"]
    if spec.metadata_iops_given:
        words.append(f"{spec.metadata_iops_given:,} metadata IOPS")
    words.append(f"{spec.addresses} addresses")
    return ", ".join(words)


def _checkpoints(cluster: ClusterFile, spec: LustreSpec) -> list[str]:
    limit = {"file system": "", "nodes": ", limited by the nodes"}
    return [
        f"{_seconds(times.write_seconds)} ({label}{limit[times.write_limit]})" for label, times in _times(cluster, spec)
    ]


def _times(cluster: ClusterFile, spec: LustreSpec) -> list[tuple[str, CheckpointTimes]]:
    clients = writers(cluster.node_groups, cluster.lustre_zone)
    stated = checkpoint(cluster.storage.lustre) if cluster.storage.lustre else None
    if stated is not None:
        return [("the one of the file", checkpoint_times(stated.size_bytes, spec, clients))]
    return [
        (f"{billions} B parameters", checkpoint_times(checkpoint_bytes(billions * 1e9), spec, clients))
        for billions in _MODELS
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
