"""Constructs that tell a wrong argument with their path, before anything is made."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, get_type_hints

import aws_cdk as cdk

from ultracluster.planning.arguments import wrong_arguments

_F = TypeVar("_F", bound=Callable[..., None])


def checked(init: _F) -> _F:
    """Wrap the constructor of a construct: arguments of another type than asked for raise a ValueError.

    A removal policy of SNAPSHOT does too: CloudFormation makes snapshots of databases and EBS volumes, and of nothing
    here. See https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
    (read 2026-11-21).
    """
    hints: dict[str, Any] = {}

    @wraps(init)
    def wrapped(self: Any, scope: Any, id: str, **given: Any) -> None:
        if not hints:
            hints.update(get_type_hints(init))
        problems = wrong_arguments(hints, given)
        if given.get("removal_policy") is cdk.RemovalPolicy.SNAPSHOT:
            problems.append("removal_policy must be RETAIN_ON_UPDATE_OR_DELETE, RETAIN or DESTROY, got SNAPSHOT")
        if problems:
            path = f"{scope.node.path}/{id}".lstrip("/")
            raise ValueError("\n".join(f"{path}: {problem}" for problem in problems))
        init(self, scope, id, **given)

    return wrapped  # type: ignore[return-value]  # the same signature
