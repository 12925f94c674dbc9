"""A run of a document of Systems Manager at a time."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from ultracluster.rules import Refusal

_HOUR_SECONDS = 3_600
_RETRIES = 12


class ScheduledRun(Construct):
    """A schedule of EventBridge that runs a document on an instance, without a Lambda function.

    Args:
        document: Name of the document.
        instance: Id of the instance.
        at: Time, with a time zone. EventBridge runs nothing that is in the past when the schedule is created.
        parameters: Parameters of the document.

    Raises:
        Refusal: If the time has no time zone.

    See: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html (read 2026-11-22)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        document: str,
        instance: str,
        at: datetime,
        parameters: Mapping[str, Sequence[Any]],
    ) -> None:
        super().__init__(scope, id)
        if at.tzinfo is None:
            raise Refusal(self, f"at must have a time zone, got {at.isoformat()}")
        stack = cdk.Stack.of(self)
        source = {"StringEquals": {"aws:SourceAccount": stack.account}}
        #: Role of the schedule, which may run this document on this instance only.
        self.role = iam.Role(
            self, "Role", assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=source)
        )
        grant = iam.Grant.add_to_principal(
            grantee=self.role,
            actions=["ssm:SendCommand"],
            resource_arns=[
                stack.format_arn(service="ssm", resource="document", resource_name=document),
                stack.format_arn(service="ec2", resource="instance", resource_name=instance),
            ],
        )
        l1 = scheduler.CfnSchedule
        schedule = l1(
            self,
            "Resource",
            description="Applies the platform again, and publishes what is ready",
            flexible_time_window=l1.FlexibleTimeWindowProperty(mode="OFF"),
            schedule_expression=f"at({at.astimezone(UTC):%Y-%m-%dT%H:%M:%S})",
            schedule_expression_timezone="UTC",
            target=l1.TargetProperty(
                arn=f"arn:{stack.partition}:scheduler:::aws-sdk:ssm:sendCommand",
                role_arn=self.role.role_arn,
                input=stack.to_json_string(
                    {"DocumentName": document, "InstanceIds": [instance], "Parameters": dict(parameters)}
                ),
                retry_policy=l1.RetryPolicyProperty(
                    maximum_event_age_in_seconds=_HOUR_SECONDS, maximum_retry_attempts=_RETRIES
                ),
            ),
        )
        grant.apply_before(schedule)
