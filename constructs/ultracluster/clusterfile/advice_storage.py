"""Warnings about the file system."""

from collections.abc import Iterator

from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.clusterfile.links import DATA_BUCKET, associations, readable
from ultracluster.clusterfile.sections import Lustre
from ultracluster.hardware.quotas import LUSTRE_EFA_CONNECTIONS
from ultracluster.planning import association_warnings
from ultracluster.planning.associations import BOTH_WAYS, EXPORTS_DELETIONS, UNVERSIONED


def storage_advice(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    """Id, without prefix, and message of each warning."""
    lustre, plan = cluster.storage.lustre, cluster.lustre_plan
    if lustre is None:
        return
    if plan is not None and plan.quotas_passed:
        takes = {quota: used for quota, used in plan.spec.quota_uses}
        words = [
            f"{takes[quota]:,} {quota.unit} of {quota.name} ({quota.code}), which is {quota.default:,} by default"
            for quota in plan.quotas_passed
        ]
        yield "lustre-quota", f"the file system takes {'; '.join(words)}; have it raised before you deploy"
    yield from _links(lustre)
    near = [group for group in cluster.node_groups if group.zone == cluster.zone]
    connections = sum(group.lustre_efa_connections for group in near)
    clients = sum(group.count for group in near if group.lustre_efa_connections)
    efa = plan.spec.efa if plan else bool(lustre.existing and lustre.existing.efa)
    if efa and connections > LUSTRE_EFA_CONNECTIONS:
        each = LUSTRE_EFA_CONNECTIONS // clients
        yield (
            "lustre-efa-connections",
            f"over EFA, {clients:,} nodes would open {connections:,} connections to the file system, which takes "
            f"{LUSTRE_EFA_CONNECTIONS:,}; let a node use {each} EFA interface{'s' if each > 1 else ''} for it",
        )
    if cluster.other_zones:
        far = dict.fromkeys(group.section for group in cluster.node_groups if group.zone != cluster.zone)
        yield (
            "lustre-other-zone",
            f"{', '.join(far)}: the file system is in {cluster.zone}, so these nodes reach it across zones: over TCP "
            "only, and the traffic is charged",
        )


def _links(lustre: Lustre) -> Iterator[tuple[str, str]]:
    # The data bucket keeps old versions.
    found = association_warnings(associations(lustre), versioned_buckets=[DATA_BUCKET])
    words = {id: readable("; ".join(message for kind, message in found if kind == id)) for id, _ in found}
    if BOTH_WAYS in words:
        yield "association-both-ways", words[BOTH_WAYS]
    if EXPORTS_DELETIONS in words:
        yield "association-exports-deletions", words[EXPORTS_DELETIONS]
    if UNVERSIONED in words:
        yield "association-unversioned", words[UNVERSIONED]
    theirs = sorted({link.bucket for link in lustre.links.values() if link.bucket is not None})
    if theirs:
        yield (
            "association-foreign-bucket",
            f"{', '.join(theirs)}: a bucket of yours may be locked, expire what is linked, or send notifications that "
            "clash with those of FSx; synthesis shows the statements that its policy and its key may need",
        )
    if lustre.links and lustre.existing is not None:
        yield (
            "association-foreign-file-system",
            f"{lustre.existing.id}: that your file system takes links is for you to see to: Lustre 2.12 or 2.15, "
            "neither SCRATCH_1 nor Intelligent-Tiering, no backups, no other links that overlap",
        )
