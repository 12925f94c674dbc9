"""Permissions on S3 and S3 Files: exact actions, for any principal."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, cast

from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import IConstruct

from ultracluster.security import acknowledge_wildcards


class Permission(NamedTuple):
    """Actions on an ARN, with the conditions of the statement."""

    actions: Sequence[str]
    arn: str
    conditions: Mapping[str, Mapping[str, object]] = MappingProxyType({})


def grant(
    grantee: iam.IGrantable,
    *permissions: Permission,
    resource: iam.IResourceWithPolicyV2 | None = None,
    key: kms.IKey | None = None,
    key_actions: Sequence[str] = (),
) -> iam.Grant:
    """Allow a principal some actions.

    Args:
        grantee: The principal.
        permissions: What is allowed.
        resource: The resource whose policy allows a principal without a policy, such as a service.
        key: KMS key of the resource.
        key_actions: Actions on the key.
    """
    grants = []
    for permission in permissions:
        conditions = permission.conditions
        # In the policy of a resource, the CDK keeps no conditions but the principal's; a policy is no principal there.
        with_conditions = conditions and not isinstance(grantee, iam.Policy | iam.ManagedPolicy)
        statement = {
            "grantee": iam.PrincipalWithConditions(grantee.grant_principal, conditions) if with_conditions else grantee,
            "actions": list(permission.actions),
            "resource_arns": [permission.arn],
            "conditions": conditions or None,
        }
        grants.append(
            iam.Grant.add_to_principal(**statement)  # type: ignore[arg-type]
            if resource is None
            else iam.Grant.add_to_principal_or_resource(**statement, resource=resource)  # type: ignore[arg-type]
        )
    if key is not None:
        # Not `key.grant`, whose statement in the key's policy names a role of another region and closes a circle.
        grants.append(
            iam.Grant.add_to_principal_or_resource(
                grantee=grantee,
                actions=list(key_actions),
                resource_arns=[key.key_arn],
                resource_self_arns=["*"],
                resource=key,
            )
        )
    whole = grants[0]
    for more in grants[1:]:
        whole = whole.combine(more)
    principal = grantee if isinstance(grantee, iam.ManagedPolicy) else grantee.grant_principal
    wildcards = [permission.arn for permission in permissions if permission.arn.endswith("*")]
    # A service has no place in the tree; a role that is imported has the policy below it.
    if hasattr(principal, "node") and wildcards:
        reason = "jobs name their own objects: S3 identifies them by prefix only, and the grant is for the bucket"
        acknowledge_wildcards(cast(IConstruct, principal), wildcards, reason)
    return whole
