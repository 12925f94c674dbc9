"""The topic that alerts and alarms are sent to."""

import re
from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from ultracluster.observability.checks import arn_problem, known

_EMAIL = re.compile(r"[^\s@<>\"\\,;]+@[^\s@<>\"\\,;]+\.[A-Za-z0-9-]+")
_PROMETHEUS, _CLOUDWATCH = "aps.amazonaws.com", "cloudwatch.amazonaws.com"


class AlertTopic(Construct):
    """An encrypted topic that an alert manager and the alarms of CloudWatch may publish to.

    Args:
        topic: A topic of yours, of the type Standard. Its policy, and that of its key, must let `aps.amazonaws.com` and
            `cloudwatch.amazonaws.com` publish. Default: one is made, with a key.
        email: An address that is subscribed, and has to confirm it. Default: nobody is subscribed.

    Raises:
        ValueError: When the topic can't be published to, or the address is none; all at once.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver.html and
    https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html (read 2026-11-21)
    """

    def __init__(self, scope: Construct, id: str, *, topic: sns.ITopic | None = None, email: str | None = None) -> None:
        super().__init__(scope, id)
        problems = list(_problems(topic, email, cdk.Stack.of(self).region))
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        self._made = topic is None
        #: The topic.
        self.topic: sns.ITopic = topic or sns.Topic(
            self, "Topic", display_name="Cluster alerts", master_key=_key(self), enforce_ssl=True
        )
        if self._made:
            self._allow(_CLOUDWATCH, "Alarms", self._own("cloudwatch", "alarm", ":"))
        if email is not None:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))

    def allow_workspace(self, arn: str) -> None:
        """Let the alert manager of one workspace publish. The policy of a topic of yours has to let it in by itself."""
        if self._made:
            self._allow(_PROMETHEUS, "AlertManager", arn)

    def _allow(self, service: str, sid: str, source: str) -> None:
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid=sid,
                principals=[iam.ServicePrincipal(service)],
                actions=["sns:Publish", *(["sns:GetTopicAttributes"] if service == _PROMETHEUS else [])],
                resources=[self.topic.topic_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": cdk.Stack.of(self).account},
                    "ArnLike": {"aws:SourceArn": source},
                },
            )
        )

    def _own(self, service: str, resource: str, separator: str) -> str:
        format = cdk.ArnFormat.COLON_RESOURCE_NAME if separator == ":" else cdk.ArnFormat.SLASH_RESOURCE_NAME
        return cdk.Stack.of(self).format_arn(service=service, resource=resource, resource_name="*", arn_format=format)


def _problems(topic: sns.ITopic | None, email: str | None, region: str) -> Iterator[str]:
    if topic is not None:
        arn = topic.topic_arn
        yield from arn_problem("topic", arn, "arn:aws:sns:REGION:ACCOUNT:NAME", region=region)
        if known(arn) and arn.endswith(".fifo"):
            yield "topic is of the type FIFO, to which neither service publishes; take one of the type Standard"
    if email is not None and known(email) and not _EMAIL.fullmatch(email):
        yield f"email must be a mail address, as in oncall@example.com, got {email[:120]!r}"


def _key(scope: Construct) -> kms.Key:
    # The key that AWS manages for SNS lets in neither service. It holds no data, so nothing is lost with it.
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
            actions=["kms:Decrypt", "kms:GenerateDataKey*"],
            resources=["*"],
            # The workspace would be a circle: it names the topic, which names the key.
            conditions={"StringEquals": {"aws:SourceAccount": cdk.Stack.of(scope).account}},
        )
    )
    return key
