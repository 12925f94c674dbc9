"""Access of nodes to AWS's tool for Lustre over EFA."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from ultracluster.boot import EfaBundle


def allow_bundle(role: iam.IRole, bundle: EfaBundle | None) -> None:
    """Allow nodes to read a bundle that is in S3; one at another address needs no permission."""
    if bundle is not None and bundle.url.startswith("s3://"):
        name, _, key = bundle.url.removeprefix("s3://").partition("/")
        arn = cdk.Stack.of(role).format_arn(service="s3", region="", account="", resource=name, resource_name=key)
        role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=[arn]))
