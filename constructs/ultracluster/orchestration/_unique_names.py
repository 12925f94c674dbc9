"""Names of node groups and queues, which are unique in a cluster."""

from typing import Any, Literal

from constructs import IConstruct

from ultracluster.planning import once
from ultracluster.rules import Refusal, error

_NAME = error("name-in-cluster", "Node groups of a cluster, and its queues, have different names.")


def claim_name(owner: IConstruct, id: str, *, cluster: Any, kind: Literal["node group", "queue"], name: str) -> None:
    """Record the name of a node group or queue of a cluster; the deployment of a second one would fail.

    Args:
        owner: Construct of the node group or queue.
        id: Its id.
        cluster: Cluster, of PCS or EKS.
        kind: Kind of the construct.
        name: Its name. Tokens are compared as texts.

    Raises:
        Refusal: If another construct has the name. An imported cluster is compared by its construct.
    """
    # A cluster of the library has one of the CDK.
    names = _names(getattr(cluster, "cluster", cluster))
    if other := names.get((kind, name)):
        raise Refusal(
            owner, _NAME(f"name must be unique in the cluster, got {name!r}, the name of the {kind} {other!r}")
        )
    names[kind, name] = id


@once
def _names(cluster: Any) -> dict[tuple[str, str], str]:
    """Return the id of the construct that has a name."""
    return {}
