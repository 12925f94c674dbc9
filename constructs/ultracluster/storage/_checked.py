"""Arguments of constructs, checked before a resource is created: types, regions, VPCs."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast, overload

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.planning import type_errors
from ultracluster.storage._interfaces import IDataBucket

_F = TypeVar("_F", bound=Callable[..., None])
_T = TypeVar("_T")


def checked(init: _F) -> _F:
    """Wrap a constructor: arguments of a wrong type raise a ValueError with the path of the construct.

    The removal policy SNAPSHOT is an error too: no resource of this package takes it. See
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
    (read 2026-11-21).
    """

    @wraps(init)
    def wrapped(self: Any, scope: Any, id: str, **given: Any) -> None:
        # The CDK encodes a token as a float below this number.
        tokens = {name for name, value in given.items() if isinstance(value, float) and value < -1e280}
        errors = [f"{name} must be known at synthesis, got a token" for name in sorted(tokens)]
        errors += type_errors(init, {name: value for name, value in given.items() if name not in tokens})
        if given.get("removal_policy") is cdk.RemovalPolicy.SNAPSHOT:
            errors.append("removal_policy must be RETAIN_ON_UPDATE_OR_DELETE, RETAIN or DESTROY, got SNAPSHOT")
        if errors:
            path = f"{scope.node.path}/{id}".lstrip("/")
            raise ValueError("\n".join(f"{path}: {error}" for error in errors))
        init(self, scope, id, **given)

    return wrapped  # type: ignore[return-value]  # the same signature


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


def region_errors(scope: Construct, **resources: cdk.IResource | None) -> list[str]:
    """Return an error for each resource that is known to be in another region than the stack.

    Args:
        scope: A construct of the stack.
        resources: The resources, by the name of the argument.
    """
    region = cdk.Stack.of(scope).region
    return [
        f"{name} must be in {region}, the region of the stack, got a resource in {resource.env.region}"
        for name, resource in resources.items()
        if resource is not None and _differ(region, resource.env.region)
    ]


def subnet_errors(vpc: ec2.IVpc, **subnets: ec2.ISubnet | None) -> list[str]:
    """Return an error for each subnet that is known to belong to another VPC.

    Args:
        vpc: The VPC.
        subnets: The subnets, by the name of the argument.
    """
    errors = []
    for name, subnet in subnets.items():
        resource = None if subnet is None else subnet.node.default_child
        if isinstance(resource, ec2.CfnSubnet):
            stack = cdk.Stack.of(resource)
            actual, expected = stack.resolve(resource.vpc_id), stack.resolve(vpc.vpc_id)
            # Two forms of a reference may name one VPC.
            same_form = isinstance(actual, dict) == isinstance(expected, dict) and set(actual) == set(expected)
            if actual != expected and (same_form or (isinstance(actual, str) and isinstance(expected, str))):
                errors.append(f"{name} must be a subnet of {vpc.node.path}, got {resource.node.path} of another VPC")
    return errors


def _differ(actual: str, expected: str) -> bool:
    return actual != expected and not cdk.Token.is_unresolved(actual) and not cdk.Token.is_unresolved(expected)
