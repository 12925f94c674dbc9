"""Resources of the key `compliance` of a cluster file, which cost money, and acknowledgments of the other findings."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct

from ultracluster.clusterfile import ClusterFile
from ultracluster.security import acknowledge_compliance, allow_logs


def add_compliance(scopes: list[IConstruct], cluster: ClusterFile) -> None:
    """Encrypt all log groups with one key, and enable detailed monitoring of instances for hipaa."""
    if not cluster.compliance:
        return
    children = [(child, scope) for scope in scopes for child in scope.node.find_all()]
    groups = [
        (cast(logs.CfnLogGroup, child), scope)
        for child, scope in children
        if logs.CfnLogGroup.is_cfn_log_group(child) and cast(logs.CfnLogGroup, child).kms_key_id is None
    ]
    if groups:
        # With the first: the stacks of the others depend on its stack.
        key = _key(groups[0][1], cluster)
        for group, _ in groups:
            group.kms_key_id = key.key_arn
            # The log group is created after the policy of its key.
            group.node.add_dependency(key)
    if "hipaa" in cluster.compliance:
        for child, _ in children:
            if ec2.CfnInstance.is_cfn_instance(child):
                cast(ec2.CfnInstance, child).monitoring = True
    for scope in scopes:
        acknowledge_compliance(scope)


def _key(scope: IConstruct, cluster: ClusterFile) -> kms.Key:
    """Create the key. CloudWatch Logs may use it for log groups of this account and region only."""
    stack = cdk.Stack.of(scope)
    key = kms.Key(
        cast(Construct, scope),
        "LogKey",
        description=f"Log groups of the cluster {cluster.name}",
        enable_key_rotation=True,
        removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )
    groups = stack.format_arn(service="logs", resource="*", arn_format=cdk.ArnFormat.NO_RESOURCE_NAME)
    allow_logs(key, cluster.region, groups)
    return key
