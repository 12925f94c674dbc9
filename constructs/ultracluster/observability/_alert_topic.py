"""SNS topic of alerts and alarms."""

from collections.abc import Iterator
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from ultracluster.monitoring.alerts import TOPIC_REGION
from ultracluster.planning import arn_problem, checked, checked_method, email_problem, known, stack_of
from ultracluster.rules import Refusal, error

_FIFO = error("alerts-topic-fifo", "CloudWatch and Prometheus do not publish to a topic of the type FIFO.")
# https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver-AMPpermission.html (read 2026-11-21)
_PUBLISH = ("sns:GetTopicAttributes", "sns:Publish")
_KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey*")
_PROMETHEUS, _CLOUDWATCH = "aps.amazonaws.com", "cloudwatch.amazonaws.com"


class AlertTopicGrants:
    """Permissions on a topic.

    Args:
        topic: The topic.
        key: Its key, if the policy of the key can be changed.
    """

    def __init__(self, topic: sns.ITopic, key: kms.IKey | None) -> None:
        self._topic = topic
        self._key = key

    @checked_method
    def publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to publish. The alert manager of a `PrometheusWorkspace` is the principal of the workspace.

        The policy of an imported topic, and that of its key, must allow a service by themselves.
        """
        grant = iam.Grant.add_to_principal_or_resource(
            grantee=grantee,
            actions=list(_PUBLISH),
            resource_arns=[self._topic.topic_arn],
            resource=cast(iam.IResourceWithPolicy, self._topic),
        )
        # The policy of the key allows the services, and the account to grant to other principals.
        if self._key is not None and not isinstance(grantee.grant_principal, iam.ServicePrincipal):
            iam.Grant.add_to_principal(grantee=grantee, actions=list(_KEY_ACTIONS), resource_arns=[self._key.key_arn])
        return grant


class AlertTopic(Construct):
    """An encrypted topic for alerts and alarms.

    The alarms of CloudWatch may publish to it; `grants.publish(workspace)` allows the alert manager of a workspace.

    Args:
        topic: An existing topic of the type Standard. Its policy, and that of its key, must allow `aps.amazonaws.com`
            and `cloudwatch.amazonaws.com` to publish. Default: a new one, with a key.
        email: An address that is subscribed; its owner must confirm. Default: no subscription.

    Raises:
        Refusal: If the topic cannot be published to, or the address is not valid; all at once.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver.html and
    https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html (read 2026-11-21)
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, topic: sns.ITopic | None = None, email: str | None = None) -> None:
        super().__init__(scope, id)
        stack: cdk.Stack = stack_of(self)
        if problems := list(_problems(topic, email, stack.region)):
            raise Refusal(self, problems)
        self._key = None if topic else _key(self)
        #: The topic.
        self.topic: sns.ITopic = topic or sns.Topic(
            self, "Topic", display_name="Cluster alerts", master_key=self._key, enforce_ssl=True
        )
        if topic is None:
            alarms = stack.format_arn(
                service="cloudwatch",
                resource="alarm",
                resource_name="*",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            )
            conditions = {
                "StringEquals": {"aws:SourceAccount": stack.account},
                "ArnLike": {"aws:SourceArn": alarms},
            }
            self.grants.publish(iam.ServicePrincipal(_CLOUDWATCH, conditions=conditions))
        if email is not None:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))

    @property
    def grants(self) -> AlertTopicGrants:
        """Permissions on the topic."""
        return AlertTopicGrants(self.topic, self._key)


def _problems(topic: sns.ITopic | None, email: str | None, region: str) -> Iterator[str]:
    if topic is not None:
        arn = topic.topic_arn
        yield from arn_problem("topic", arn, "arn:aws:sns:REGION:ACCOUNT:NAME")
        if known(topic.env.region) and known(region) and topic.env.region != region:
            yield TOPIC_REGION(f"topic is in {topic.env.region}, and must be in {region}")
        if known(arn) and arn.endswith(".fifo"):
            yield _FIFO("topic is of the type FIFO, to which neither service publishes; use one of the type Standard")
    yield from email_problem("email", email)


def _key(scope: Construct) -> kms.Key:
    # The AWS managed key for SNS allows neither service. The key holds no data, so nothing is lost with it.
    key = kms.Key(
        scope,
        "Key",
        description="Alerts of a cluster",
        enable_key_rotation=True,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
    key.add_to_resource_policy(
        iam.PolicyStatement(
            sid="AlertsAndAlarms",
            principals=[iam.ServicePrincipal(_PROMETHEUS), iam.ServicePrincipal(_CLOUDWATCH)],
            actions=list(_KEY_ACTIONS),
            resources=["*"],
            conditions={"StringEquals": {"aws:SourceAccount": stack_of(scope).account}},
        )
    )
    return key
