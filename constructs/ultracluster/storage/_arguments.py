"""Arguments of constructs, checked before a resource is created."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast, overload

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from ultracluster.planning import type_errors
from ultracluster.rules import Refusal, error
from ultracluster.storage._interfaces import IDataBucket

_P = ParamSpec("_P")
_T = TypeVar("_T")

# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
# (read 2026-11-21)
_REMOVAL_POLICY = error("removal-policy", "CloudFormation takes no snapshots of file systems and buckets.")


def checked(create: Callable[_P, _T]) -> Callable[_P, _T]:
    """Wrap a constructor, or a function that imports a resource: wrong types raise a Refusal with the path."""
    signature = inspect.signature(create)

    @wraps(create)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        given = signature.bind(*args, **kwargs).arguments
        scope, id = given.pop("scope"), given.pop("id")
        given.pop("self", None)
        # The CDK encodes a token as a float below this number.
        tokens = {name for name, value in given.items() if isinstance(value, float) and value < -1e280}
        errors = [f"{name} must be known at synthesis, got a token" for name in sorted(tokens)]
        errors += type_errors(create, {name: value for name, value in given.items() if name not in tokens})
        if given.get("removal_policy") is cdk.RemovalPolicy.SNAPSHOT:
            allowed = "RETAIN_ON_UPDATE_OR_DELETE, RETAIN or DESTROY"
            errors.append(_REMOVAL_POLICY(f"removal_policy must be {allowed}, got SNAPSHOT"))
        if errors:
            raise Refusal(f"{scope.node.path}/{id}".lstrip("/"), errors)
        return create(*args, **kwargs)

    return wrapped


@overload
def listed(value: str | Sequence[str]) -> list[str]: ...
@overload
def listed(value: _T | Sequence[_T]) -> list[_T]: ...
def listed(value: Any) -> list[Any]:
    """Return a list of one value, or of several."""
    return list(value) if isinstance(value, list | tuple) else [value]


def unwrapped(bucket: s3.IBucket | IDataBucket) -> s3.IBucket:
    """Return the bucket of a construct that wraps one, or the bucket itself."""
    return cast(s3.IBucket, getattr(bucket, "bucket", bucket))
