"""Scopes for the parts of one node group or queue."""

from constructs import Construct

from ultracluster.planning import once


def child_scope(scope: Construct, name: str) -> Construct:
    """Return the child construct of a name, and create it if it does not exist."""
    children = _children(scope)
    if name not in children:
        child = scope.node.try_find_child(name)
        children[name] = child if isinstance(child, Construct) else Construct(scope, name)
    return children[name]


@once
def _children(scope: Construct) -> dict[str, Construct]:
    return {}
