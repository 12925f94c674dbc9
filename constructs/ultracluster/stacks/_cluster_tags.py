"""Tags of a cluster file on the resources of a scope."""

from collections.abc import Iterator

import aws_cdk as cdk
import jsii
from constructs import IConstruct, IValidation

from ultracluster.clusterfile import ClusterFile
from ultracluster.rules import warning

_ABOVE = warning("tags-on-nodes", "A tag of the app or stage is in launch templates: another value replaces all nodes.")
# A tag in a launch template is a new version of it, for which PCS and EKS replace each node; see decision 0018.
_NODES = ["AWS::EC2::LaunchTemplate"]


def add_tags(scope: IConstruct, cluster: ClusterFile) -> None:
    """Add the tags of a cluster file to every resource of a scope, except to what nodes are launched from."""
    for key, value in cluster.tags.items():
        cdk.Tags.of(scope).add(key, value, exclude_resource_types=_NODES)


def warn_of_tags_above(scope: IConstruct) -> None:
    """Warn of tags that the app, or another scope above a cluster, adds to what nodes are launched from."""
    scope.node.add_validation(_TagsAbove(scope))


@jsii.implements(IValidation)
class _TagsAbove:
    """Read the tags at synthesis: an app may add them after its clusters."""

    def __init__(self, scope: IConstruct) -> None:
        self._scope = scope

    def validate(self) -> list[str]:
        """Add the warning; there is nothing to refuse."""
        if keys := sorted(set(_keys_above(self._scope))):
            excluded = ", ".join(f'"{name}"' for name in _NODES)
            message = _ABOVE(
                f"the tags {', '.join(keys)} of scopes above this cluster are in its launch templates, so that another "
                "value replaces all nodes: if one changes, such as a commit, add it with "
                f"exclude_resource_types=[{excluded}]"
            )
            cdk.Validations.of(self._scope).add_warning(message.rule.warning_id, message)
        return []


def _keys_above(scope: IConstruct) -> Iterator[str]:
    for above in scope.node.scopes[:-1]:
        for aspect in cdk.Aspects.of(above).all:
            if isinstance(aspect, cdk.Tag):
                types = aspect._props
                if not set(_NODES) & set(types.exclude_resource_types or ()) and (
                    not types.include_resource_types or set(_NODES) & set(types.include_resource_types)
                ):
                    yield aspect.key
