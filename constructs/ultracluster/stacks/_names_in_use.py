"""Names and services that the clusters of an app cannot share."""

from collections.abc import Iterator

import aws_cdk as cdk
from constructs import IConstruct

from ultracluster.clusterfile import ClusterFile
from ultracluster.rules import Message, error

NAME = error(
    "cluster-name-in-use", "Clusters of one name in a Region would share the names of their parameters and stacks."
)
_COLLECTORS = error(
    "collectors-in-use", "A service account of an EKS cluster, such as that of its collectors, has one association."
)
_GRAFANA = error("grafana-in-use", "A dashboard has one uid in a Grafana workspace, and belongs to one cluster.")
# Attribute of the construct that stands for a cluster in the tree.
_MARK = "_ultracluster"


def name_problems(scope: IConstruct, cluster: ClusterFile, account: str | None) -> Iterator[Message]:
    """Yield what another cluster of an app in the region and account of a cluster has, and both cannot have.

    Args:
        scope: Construct or Stage of the cluster.
        cluster: Its file.
        account: Its account. None or a token: it is not known, and then each Stage is an account of its own.
    """
    for other in scope.node.root.node.find_all():
        file = getattr(other, _MARK, None)
        if file is None or _place(other, file, cdk.Stack.of(other).account) != _place(scope, cluster, account):
            continue
        if file.name == cluster.name:
            yield NAME(
                f"cluster must have a name of its own in {cluster.region}: {other.node.path} is {cluster.name!r} too; "
                "change name in one of the cluster files"
            )
        if _collectors(cluster) is not None and _collectors(cluster) == _collectors(file):
            yield _COLLECTORS(
                f"{file.name} collects the metrics of all nodes of the EKS cluster {_collectors(cluster)!r}; write "
                "observability: {profile: none} in one of the files, or the node groups of both into one"
            )
        if _grafana(cluster) is not None and _grafana(cluster) == _grafana(file):
            yield _GRAFANA(
                f"{file.name} has its dashboards in {_grafana(cluster)}; write grafana: {{kind: none}} in one of the "
                "files. Its dashboards show all clusters whose observability.workspace is the same"
            )


def mark(scope: IConstruct, cluster: ClusterFile) -> None:
    """Mark a construct as that of a cluster, whose name no other cluster may have."""
    setattr(scope, _MARK, cluster)


def _collectors(cluster: ClusterFile) -> str | None:
    """Return the name of the EKS cluster in which a file installs collectors, or None."""
    if not (cluster.traits.has_platform and cluster.observability.on):
        return None
    existing = cluster.kubernetes.existing
    return existing.name if existing else cluster.name


def _grafana(cluster: ClusterFile) -> str | None:
    """Return the existing workspace of Amazon Managed Grafana that a file fills, or None."""
    return cluster.observability.grafana.workspace if cluster.grafana == "managed" else None


def _place(scope: IConstruct, cluster: ClusterFile, account: str | None) -> tuple[str, ...]:
    if account is not None and not cdk.Token.is_unresolved(account):
        return (cluster.region, account)
    stage = cdk.Stage.of(scope)
    return (cluster.region, "", "" if stage is None else stage.node.path)
