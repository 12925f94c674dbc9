"""Names of the clusters of an app."""

from collections.abc import Iterator

import aws_cdk as cdk
from constructs import IConstruct

from ultracluster.clusterfile import ClusterFile
from ultracluster.rules import Message, error

NAME = error(
    "cluster-name-in-use", "Clusters of one name in a Region would share the names of their parameters and stacks."
)
# Attribute of the construct that stands for a cluster in the tree.
_MARK = "_ultracluster"


def name_problems(scope: IConstruct, cluster: ClusterFile, account: str | None) -> Iterator[Message]:
    """Yield the other clusters of an app with the name, region and account of a cluster.

    Args:
        scope: Construct or Stage of the cluster.
        cluster: Its file.
        account: Its account. None or a token: it is not known, and then each Stage is an account of its own.
    """
    for other in scope.node.root.node.find_all():
        file = getattr(other, _MARK, None)
        if file is None or _place(other, file, cdk.Stack.of(other).account) != _place(scope, cluster, account):
            continue
        yield NAME(
            f"cluster must have a name of its own in {cluster.region}: {other.node.path} is {cluster.name!r} too; "
            "change name in one of the cluster files"
        )


def mark(scope: IConstruct, cluster: ClusterFile) -> None:
    """Mark a construct as that of a cluster, whose name no other cluster may have."""
    setattr(scope, _MARK, cluster)


def _place(scope: IConstruct, cluster: ClusterFile, account: str | None) -> tuple[str, ...]:
    if account is not None and not cdk.Token.is_unresolved(account):
        return (cluster.name, cluster.region, account)
    stage = cdk.Stage.of(scope)
    return (cluster.name, cluster.region, "", "" if stage is None else stage.node.path)
