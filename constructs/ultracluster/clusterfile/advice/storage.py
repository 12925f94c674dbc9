"""Warnings about the file system."""

from collections.abc import Iterator

from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.clusterfile.links import DATA_BUCKET, associations, data_bucket, readable, shows_data_bucket
from ultracluster.clusterfile.lustre_client import efa_connections, wished_client, writers
from ultracluster.clusterfile.needs import checkpoint
from ultracluster.clusterfile.node_group import KUBERNETES, NodeGroup
from ultracluster.clusterfile.sections.storage import Lustre
from ultracluster.hardware.quotas import LUSTRE_EFA_CONNECTIONS
from ultracluster.planning import association_warnings, checkpoint_times
from ultracluster.planning.associations import BOTH_WAYS, EXPORTS_DELETIONS, UNVERSIONED
from ultracluster.planning.existing_bucket import existing_bucket_warning


def storage_advice(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    """Id, without prefix, and message of each warning."""
    bucket = cluster.storage.existing_bucket
    if bucket is not None:
        yield "existing-bucket", existing_bucket_warning(bucket.name, bucket.key, cluster.region)
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
    yield from _existing(cluster, lustre)
    yield from _links(cluster, lustre)
    goal, nodes = checkpoint(lustre), writers(cluster.node_groups, cluster.lustre_zone)
    if plan is not None and goal is not None and nodes is not None:
        seconds = checkpoint_times(goal.size_bytes, plan.spec, nodes).write_seconds
        if seconds > goal.stall_seconds:
            yield (
                "lustre-checkpoint",
                f"{nodes.count:,} nodes of {nodes.record.name} take {float(seconds):,.4g} s to write a checkpoint, and "
                f"it may take {float(goal.stall_seconds):,.4g} s: the nodes are the limit, not the file system; write "
                "it from more nodes, or allow a longer stall",
            )
    if cluster.lustre_efa and not any(wished_client(lustre).connections(kind) for kind, _ in cluster.efa_clients):
        yield (
            "lustre-efa-unused",
            "the file system has EFA, and no node in its zone can use it, so all come over TCP; "
            + (
                "write existing.efa: false, so that nodes are not set up for it"
                if lustre.existing
                else "write efa: false if none ever will: it can't be changed later"
            ),
        )
    if cluster.lustre_efa:
        yield from _efa_advice(cluster, lustre)
    zone = cluster.lustre_zone
    far = dict.fromkeys(group.section for group in cluster.node_groups if group.zone != zone)
    if far:
        yield (
            "lustre-other-zone",
            f"{', '.join(far)}: the file system is in {zone}, so these nodes reach it across zones: over TCP "
            "only, and the traffic is charged",
        )


def _efa_advice(cluster: ClusterFile, lustre: Lustre) -> Iterator[tuple[str, str]]:
    wish, made = wished_client(lustre), cluster.lustre_client
    near = [
        group
        for group in cluster.node_groups
        if group.zone == cluster.lustre_zone and wish.connections(group.instance_type)
    ]
    if wish.efa_interfaces is None and made.efa_interfaces is not None:
        each = made.efa_interfaces
        yield (
            "lustre-efa-connections",
            f"over EFA, {sum(count for kind, count in cluster.efa_clients if wish.connections(kind)):,} nodes would "
            f"open {efa_connections(wish, cluster.efa_clients):,} "
            f"connections to the file system, which takes {LUSTRE_EFA_CONNECTIONS:,}: so a node uses {each} EFA "
            f"interface{'s' if each > 1 else ''} for it, and is slower; write client: {{efa-interfaces: {each}}} if "
            "that is right, or make a second file system for the rest",
        )
    without = "they mount nothing and are drained"
    if cluster.orchestrator == KUBERNETES:
        without = "the unit at boot fails, and pods that mount the file system reach it over TCP or not at all"
    if made.bundle is None and (lacking := [group.section for group in near if _sets_efa_up(group)]):
        yield (
            "lustre-efa-client",
            f"{', '.join(dict.fromkeys(lacking))}: nodes set EFA up with AWS's tool, and no page says that AWS's image "
            f"has it; without it {without}. Put the zip into a bucket of yours and write "
            "client: {bundle: {url: ..., sha256: ...}}, or take an image of yours, or write "
            f"{'existing.efa' if lustre.existing else 'efa'}: false, which is TCP",
        )


def _sets_efa_up(group: NodeGroup) -> bool:
    """Whether a node runs the tool at boot, on an image of which nobody has said that it is there."""
    return group.image is None and group.os != "bottlerocket" and not group.elastic


def _existing(cluster: ClusterFile, lustre: Lustre) -> Iterator[tuple[str, str]]:
    existing = lustre.existing
    if existing is None:
        return
    words = [f"{existing.id} is yours: this library neither retains nor guards it, and does not change it"]
    if existing.security_group is None:
        words.append("let the nodes in yourself, by the group of the nodes, or name its security-group")
    if cluster.network.existing is None:
        words.append("it is in another VPC than the one that is made: connect the two, or name its VPC")
    network = cluster.network.existing
    if existing.efa and (existing.cidr is None or network is None or network.cidr is None):
        words.append(
            "over EFA it is reached from its own /16 only; to have that checked, give the ranges of its subnet, "
            "existing.cidr, and of the nodes', network.existing.cidr"
        )
    yield "existing-lustre", "; ".join(words)


def _links(cluster: ClusterFile, lustre: Lustre) -> Iterator[tuple[str, str]]:
    existing = cluster.storage.existing_bucket
    # A data bucket that is made keeps old versions.
    found = association_warnings(associations(lustre, data_bucket(cluster.storage)), versioned_buckets=[DATA_BUCKET])
    words = {id: readable("; ".join(message for kind, message in found if kind == id)) for id, _ in found}
    if BOTH_WAYS in words:
        yield "association-both-ways", words[BOTH_WAYS]
    if EXPORTS_DELETIONS in words:
        yield "association-exports-deletions", words[EXPORTS_DELETIONS]
    if UNVERSIONED in words:
        yield "association-unversioned", words[UNVERSIONED]
    by_bucket = [(link.bucket or (existing.name if existing else None), link) for link in lustre.links.values()]
    theirs = sorted({bucket for bucket, _ in by_bucket if bucket is not None})
    imports = any(link.import_ for bucket, link in by_bucket if bucket is not None)
    where = f"; FSx imports by itself from buckets in {cluster.region} only" if imports else ""
    if theirs:
        yield (
            "association-foreign-bucket",
            f"{', '.join(theirs)}: a bucket of yours may be locked, expire what is linked, or send notifications that "
            f"clash with those of FSx{where}; synthesis shows the statements that its policy and its key may need",
        )
    own = {path: link for path, link in lustre.links.items() if shows_data_bucket(link, cluster.storage)}
    idle = [path for path, link in own.items() if not link.import_ and not link.export]
    if idle and existing is None:
        yield (
            "association-moves-nothing",
            f"{', '.join(idle)}: without import and export a link shows what is in S3 when it is made, and the data "
            "bucket is empty when it is made with it; write import: [NEW, CHANGED], or export: [NEW, CHANGED]",
        )
    key = existing.key if existing else cluster.encryption_key
    if own and key is not None:
        yield (
            "association-foreign-key",
            f"{key} is yours, so its policy has to let the role of FSx in; synthesis shows the statement",
        )
    if lustre.links and lustre.existing is not None:
        yield (
            "association-foreign-file-system",
            f"{lustre.existing.id}: that your file system takes links is for you to see to: Lustre 2.12 or 2.15, "
            "neither SCRATCH_1 nor Intelligent-Tiering, no backups, no other links that overlap",
        )
