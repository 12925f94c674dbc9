"""Notices about the start and end of Capacity Blocks."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from ultracluster.compute._arguments import Errors
from ultracluster.planning import checked, email_problem, id_problem
from ultracluster.security import check_same_region

# The pages of EC2 and of PCS spell the names of the events differently:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html and
# https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-faq.html (read 2026-11-21)
_EVENTS = [
    "Capacity Block Delivered",
    "Capacity Block Reservation Delivered",
    "Capacity Block Expiration Warning",
    "Capacity Block Reservation Expiration Warning",
]


_KEY_ACTIONS = ["kms:Decrypt", "kms:GenerateDataKey"]


class CapacityNoticesGrants:
    """Grants of the notices.

    Args:
        topic: The topic.
        key: Key of the topic, if it was created with it.
    """

    def __init__(self, topic: sns.ITopic, key: kms.IKey | None) -> None:
        self._topic = topic
        self._key = key

    def publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to send notices too. The key policy of an existing topic must allow it itself."""
        if self._key is None:
            return self._topic.grant_publish(grantee)
        # The policy of the key allows what IAM policies of the account allow. Only services need a statement in it: one
        # that names a role would refer to the stack of the role.
        statements = {self._topic.topic_arn: ["sns:Publish"], self._key.key_arn: _KEY_ACTIONS}
        publish, use = (
            iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=[arn])
            for arn, actions in statements.items()
        )
        if not publish.success:
            publish, use = self._topic.grant_publish(grantee), self._key.grant(grantee, *_KEY_ACTIONS)
        return publish.combine(use)


class CapacityNotices(cdk.Resource):
    """A topic that receives a notice when Capacity Blocks start, and forty minutes before they end.

    Args:
        reservation_ids: Id of a block, or of several.
        topic: An existing topic. Its policy, and that of its key, must allow `events.amazonaws.com` to publish.
            Default: a new one, encrypted.
        email: An address to subscribe, which has to confirm. Default: no subscription.

    Raises:
        Refusal: If there is no id, an argument has a wrong type, or the topic is in another region than the stack.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        reservation_ids: str | Sequence[str],
        topic: sns.ITopic | None = None,
        email: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        Errors(check_same_region(self, {"topic": topic})).check(self)
        ids = sorted({reservation_ids} if isinstance(reservation_ids, str) else set(reservation_ids))
        errors = Errors([] if ids else ["reservation_ids must hold at least one id, got none"])
        for reservation in ids:
            errors.messages += id_problem("reservation_ids", reservation, "cr-")
        errors.messages += email_problem("email", email)
        errors.check(self)
        key = None if topic else _key(self)
        #: The topic.
        self.topic: sns.ITopic = topic or sns.Topic(
            self, "Topic", display_name="Capacity notices", master_key=key, enforce_ssl=True
        )
        #: Grants for principals that send notices.
        self.grants = CapacityNoticesGrants(self.topic, key)
        if email is not None:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))
        rule = events.Rule(
            self,
            "Rule",
            description="Capacity Blocks that start, or end in forty minutes",
            event_pattern=events.EventPattern(
                source=["aws.ec2"],
                detail_type=_EVENTS,
                detail={"capacity-reservation-id": ids},
            ),
            targets=[targets.SnsTopic(self.topic)],
        )
        self.node.default_child = rule.node.default_child


def _key(scope: Construct) -> kms.Key:
    # EventBridge cannot use the AWS managed key of SNS. The key protects no stored data, so it may be deleted.
    # https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-encryption.html (read 2026-11-21)
    return kms.Key(
        scope,
        "Key",
        description="Notices about capacity",
        enable_key_rotation=True,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
