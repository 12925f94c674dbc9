"""Scopes for the parts of one node group or queue."""

from constructs import Construct


def child_scope(scope: Construct, name: str) -> Construct:
    """Return the child construct of a name, and create it if it does not exist."""
    child = scope.node.try_find_child(name)
    return child if isinstance(child, Construct) else Construct(scope, name)
