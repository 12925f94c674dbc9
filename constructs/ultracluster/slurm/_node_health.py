"""The mode of the health checks of nodes, and the replacement of bad nodes."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.boot import HEALTH_MODES, alert_topic_parameter, breaker_limit, health_mode_parameter, replaced_path
from ultracluster.clusterfile import ClusterFile
from ultracluster.planning import stack_of
from ultracluster.security import acknowledge_wildcards
from ultracluster.slurm._node_termination import allow_termination


def replacement_limits(cluster: ClusterFile) -> dict[str, int]:
    """Return the instances that may be terminated within an hour, by node group; empty if none are replaced."""
    most = cluster.slurm.replacements
    return {group.name: min(most, breaker_limit(group.count)) for group in cluster.node_groups} if most else {}


class NodeHealth(Construct):
    """The parameter with the mode of the health checks, and what they need: nodes read it when a check fails.

    The value of the template is the first one, and `aws ssm put-parameter --overwrite` changes it. CloudFormation
    writes the value of the template again with each update of the resource, so no property of it may change: it has no
    tags.
    """

    def __init__(self, scope: Construct, id: str, *, cluster: str) -> None:
        super().__init__(scope, id)
        self._cluster = cluster
        # https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-ssm, UpdateHandler.java of
        # aws-ssm-parameter: PutParameter with the value, whatever changed (read 2026-11-26). Tags do not reach a
        # CfnResource.
        cdk.CfnResource(
            self,
            "Mode",
            type="AWS::SSM::Parameter",
            properties={
                "Type": "String",
                "Name": health_mode_parameter(cluster),
                "Value": HEALTH_MODES[0],
                "AllowedPattern": f"^({'|'.join(HEALTH_MODES)})$",
                "Description": f"What failed health checks of {cluster} do: {', '.join(HEALTH_MODES)}",
            },
        )

    def allow_drains(self, role: iam.IRole) -> None:
        """Allow nodes to read the mode."""
        iam.Grant.add_to_principal(
            grantee=role,
            actions=["ssm:GetParameter"],
            resource_arns=[self._parameter(health_mode_parameter(self._cluster))],
        )

    def allow_replacement(self, role: iam.IRole) -> None:
        """Allow a node to terminate its own instance and no other, and to count the instances that were."""
        slots = self._parameter(f"{replaced_path(self._cluster)}/*")
        allow_termination(role)
        iam.Grant.add_to_principal(
            grantee=role,
            actions=["ssm:GetParameter", "ssm:GetParametersByPath", "ssm:PutParameter"],
            resource_arns=[slots],
        )
        acknowledge_wildcards(role, [slots], "The groups of a node are not known; below the path is nothing else")

    def _parameter(self, name: str) -> str:
        stack: cdk.Stack = stack_of(self)
        return stack.format_arn(service="ssm", resource="parameter", resource_name=name.removeprefix("/"))


def publish_topic(scope: Construct, cluster: ClusterFile, role: iam.IRole, topic: sns.ITopic) -> None:
    """Publish the topic of alerts for nodes, and allow them to send notices to it."""
    parameter = ssm.StringParameter(
        scope,
        "AlertTopicParameter",
        parameter_name=alert_topic_parameter(cluster.name),
        string_value=topic.topic_arn,
        description=f"Topic of the alerts of {cluster.name}",
    )
    for action, arn in (("ssm:GetParameter", parameter.parameter_arn), ("sns:Publish", topic.topic_arn)):
        iam.Grant.add_to_principal(grantee=role, actions=[action], resource_arns=[arn])
    key = topic.master_key
    if key is not None:
        actions = ["kms:Decrypt", "kms:GenerateDataKey"]
        iam.Grant.add_to_principal(grantee=role, actions=actions, resource_arns=[key.key_arn])


def allow_health_mode(policy: iam.IGrantable, scope: Construct, *, cluster: str) -> None:
    """Allow people to read and set the mode of the health checks of a cluster."""
    name = health_mode_parameter(cluster).removeprefix("/")
    arn = stack_of(scope).format_arn(service="ssm", resource="parameter", resource_name=name)
    actions = ["ssm:GetParameter", "ssm:PutParameter"]
    iam.Grant.add_to_principal(grantee=policy, actions=actions, resource_arns=[arn])


def health_mode(scope: Construct, id: str, *, cluster: str, role: iam.IRole) -> None:
    """Create the parameter with the mode of the health checks, and allow nodes to read it."""
    NodeHealth(scope, id, cluster=cluster).allow_drains(role)
