"""Who hears that capacity starts or ends."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

# The pages of EC2 and of PCS spell the names of the events differently:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html and
# https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-faq.html (read 2026-11-21)
_EVENTS = [
    "Capacity Block Delivered",
    "Capacity Block Reservation Delivered",
    "Capacity Block Expiration Warning",
    "Capacity Block Reservation Expiration Warning",
]


class CapacityNotices(Construct):
    """A topic that is told when Capacity Blocks start, and forty minutes before they end.

    Args:
        reservation_ids: Ids of the blocks.
        topic: A topic of yours, whose policy, and that of its key, lets `events.amazonaws.com` publish. Default: one is
            made, encrypted.
        email: An address that is subscribed, and has to confirm it. Default: nobody is subscribed.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        reservation_ids: Sequence[str],
        topic: sns.ITopic | None = None,
        email: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        if isinstance(reservation_ids, str) or not reservation_ids:
            raise ValueError(
                f"{self.node.path}: reservation_ids must be a list of at least one id, got {reservation_ids!r}"
            )
        self._key = None if topic else _key(self)
        #: The topic.
        self.topic: sns.ITopic = topic or sns.Topic(
            self, "Topic", display_name="Capacity notices", master_key=self._key, enforce_ssl=True
        )
        if email is not None:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))
        events.Rule(
            self,
            "Rule",
            description="Capacity Blocks that start, or end in forty minutes",
            event_pattern=events.EventPattern(
                source=["aws.ec2"],
                detail_type=_EVENTS,
                detail={"capacity-reservation-id": sorted(set(reservation_ids))},
            ),
            targets=[targets.SnsTopic(self.topic)],
        )

    def grant_publish(self, role: iam.IRole) -> None:
        """Let a role send notices too. The key of a topic of yours has to let it in by its own policy."""
        allowed = [("sns:Publish", self.topic.topic_arn)]
        if self._key is not None:
            allowed += [(action, self._key.key_arn) for action in ("kms:GenerateDataKey", "kms:Decrypt")]
        for action, arn in allowed:
            role.add_to_principal_policy(iam.PolicyStatement(actions=[action], resources=[arn]))


def _key(scope: Construct) -> kms.Key:
    # EventBridge can't use the key that AWS manages for SNS. It holds no data, so nothing is lost with it.
    # https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-encryption.html (read 2026-11-21)
    return kms.Key(
        scope,
        "Key",
        description="Notices about capacity",
        enable_key_rotation=True,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
