"""Arguments of constructs, checked before a resource is created."""

from collections.abc import Sequence
from typing import Any, TypeVar, cast, overload

from aws_cdk import aws_s3 as s3

from ultracluster.storage._interfaces import IDataBucket

_T = TypeVar("_T")


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
