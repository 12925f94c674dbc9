"""Warnings about Kubernetes."""

from collections.abc import Iterator

from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.clusterfile.node_group import KUBERNETES
from ultracluster.clusterfile.readers.kubernetes import OPEN
from ultracluster.hardware import eks, eks_add_ons


def kubernetes_advice(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    """Id, without prefix, and message of each warning."""
    wish = cluster.kubernetes
    if cluster.orchestrator != KUBERNETES:
        return
    old = eks.version_advice(wish.version)
    if old is not None:
        yield ("kubernetes-version", old)
    if wish.existing is None and not wish.admins:
        yield (
            "kubernetes-no-admins",
            "nobody may enter the cluster; name the IAM roles that administer it: kubernetes: {admins: "
            "[arn:aws:iam::...]}",
        )
    if wish.endpoint == OPEN:
        yield (
            "kubernetes-open",
            "the API server answers the whole world, and IAM alone keeps it out; name the ranges that you come from",
        )
    strange = [name for name in wish.add_ons if not eks_add_ons.is_known(name)]
    if strange:
        yield (
            "kubernetes-add-on",
            f"{', '.join(strange)}: no page of AWS names such an add-on (read 2026-11-21), and EKS refuses at the "
            "deployment what it does not know; ask it: aws eks describe-addon-versions --addon-name NAME",
        )
