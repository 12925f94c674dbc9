"""Scopes for the parts of one node group or queue."""

from constructs import Construct

from ultracluster.planning import once, remember


def child_scope(scope: Construct, name: str) -> Construct:
    """Return the child construct of a name, and create it if it does not exist."""
    children = _children(scope)
    if name not in children:
        try:
            children[name] = Construct(scope, name)
            remember(children[name], scope, name)
        except RuntimeError:  # It exists. To look first takes two calls of Node for each node group.
            child = scope.node.find_child(name)
            assert isinstance(child, Construct)
            children[name] = child
    return children[name]


@once
def _children(scope: Construct) -> dict[str, Construct]:
    return {}
