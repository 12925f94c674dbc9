"""Calls of AWS at a time, such as the one that applies the platform again."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from ultracluster.rules import Refusal

_HOUR_SECONDS = 3_600


class ScheduledRun(cdk.Resource):
    """A schedule of EventBridge that calls AWS, without a Lambda function.

    Args:
        call: Service and action, such as `ssm:sendCommand`.
        resources: ARNs on which the role of the schedule may call it.
        at: Time, with a time zone. EventBridge runs nothing that is in the past when the schedule is created.
        input: Input of the call.
        description: Description of the schedule.
        hours: Hours for which it is tried again.
        retries: Most retries.

    Raises:
        Refusal: If the time has no time zone.

    See: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html (read 2026-11-22)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        call: str,
        resources: Sequence[str],
        at: datetime,
        input: Mapping[str, Any],
        description: str = "Applies the platform again, and publishes what is ready",
        hours: int = 1,
        retries: int = 12,
    ) -> None:
        super().__init__(scope, id)
        if at.tzinfo is None:
            raise Refusal(self, f"at must have a time zone, got {at.isoformat()}")
        stack = cdk.Stack.of(self)
        service, _, action = call.partition(":")
        source = {"StringEquals": {"aws:SourceAccount": stack.account}}
        #: Role of the schedule, which may make this call only.
        self.role = iam.Role(
            self, "Role", assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=source)
        )
        grant = iam.Grant.add_to_principal(
            grantee=self.role,
            actions=[f"{service}:{action[0].upper()}{action[1:]}"],
            resource_arns=list(resources),
        )
        l1 = scheduler.CfnSchedule
        schedule = l1(
            self,
            "Resource",
            description=description,
            flexible_time_window=l1.FlexibleTimeWindowProperty(mode="OFF"),
            schedule_expression=f"at({at.astimezone(UTC):%Y-%m-%dT%H:%M:%S})",
            schedule_expression_timezone="UTC",
            target=l1.TargetProperty(
                arn=f"arn:{stack.partition}:scheduler:::aws-sdk:{call}",
                role_arn=self.role.role_arn,
                input=stack.to_json_string(dict(input)),
                retry_policy=l1.RetryPolicyProperty(
                    maximum_event_age_in_seconds=hours * _HOUR_SECONDS, maximum_retry_attempts=retries
                ),
            ),
        )
        grant.apply_before(schedule)
