"""Permission of a node to terminate itself."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from ultracluster.security import acknowledge_wildcards


def allow_termination(role: iam.IRole) -> None:
    """Allow a node to terminate its own instance and no other."""
    stack = cdk.Stack.of(role)
    instances = stack.format_arn(service="ec2", resource="instance", resource_name="*")
    caller = stack.format_arn(service="ec2", resource="instance", resource_name="${ec2:InstanceID}")
    # The first key is the instance whose credentials are used, the variable the instance of the request. See
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html and
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html (read 2026-11-22)
    iam.Grant.add_to_principal(
        grantee=role,
        actions=["ec2:TerminateInstances"],
        resource_arns=[instances],
        conditions={"ArnEquals": {"ec2:SourceInstanceARN": caller}},
    )
    acknowledge_wildcards(
        role, [instances], "The instance of a node is not known; the condition allows its own instance only"
    )
