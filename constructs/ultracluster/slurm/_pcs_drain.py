"""Draining Slurm nodes before their Capacity Block ends."""

from datetime import UTC, datetime, timedelta

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.boot import drain_block_script
from ultracluster.compute import CapacityNotices
from ultracluster.orchestration import command_document
from ultracluster.planning import checked
from ultracluster.planning.capacity import Block, CapacityBlock, check_drain, check_end
from ultracluster.rules import Refusal
from ultracluster.security import acknowledge_wildcards
from ultracluster.slurm._grants import NODE_GROUP_TAG
from ultracluster.slurm._interfaces import IPcsCluster, IPcsComputeNodeGroup
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup

#: Time between the drain of the nodes and their termination.
DRAIN = timedelta(hours=1)
#: Time between the notice and the end of the block.
NOTICE = timedelta(days=1)
# Time before the termination at which the jobs that are left are requeued.
_REQUEUE = timedelta(minutes=1)
# Bounds of the age of an event: https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html
# (read 2026-11-24)
_AGES = timedelta(minutes=1), timedelta(days=1)


class PcsDrain(cdk.Resource):
    """Drain the nodes of a Capacity Block before it ends, and send a notice.

    AWS PCS has no such feature: when a block expires, its nodes are terminated with the jobs on them. At the time of
    the drain, EventBridge Scheduler runs `scontrol` on the login nodes through Systems Manager: running jobs continue,
    and no new ones start. Jobs that would outlive the block end with it, so that Slurm sends each the signal of its
    `--signal` before. The script verifies the result, and runs again at half the time and a minute before the
    termination, when it requeues the jobs that are left. If a run fails or cannot start, the topic is notified. Another
    end, of a block that is extended, changes the schedules and no node.

    Args:
        cluster: Cluster of the nodes. An existing node role must allow `security.SESSION_MANAGER_ACTIONS`.
        login: Login nodes, on which `scontrol` runs.
        node_group: Nodes of a Capacity Block whose end is known.
        notices: Topic of the notice. The policy of an existing topic, and that of its key, must allow
            `events.amazonaws.com` and `cloudwatch.amazonaws.com` to publish.
        drain: Time before EC2 terminates the nodes, or before they must be terminated. Default: one hour.
        notice: Time between the notice and the end. Default: one day.

    Raises:
        ValueError: If the nodes are in no Capacity Block, its end is not known, the drain begins before the block, or a
            duration is negative.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks.html and
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: IPcsCluster,
        login: IPcsComputeNodeGroup,
        node_group: PcsComputeNodeGroup,
        notices: CapacityNotices,
        drain: timedelta = DRAIN,
        notice: timedelta = NOTICE,
    ) -> None:
        super().__init__(scope, id)
        capacity = node_group.template.capacity
        problems = check_end(capacity) or check_drain(capacity, drain)
        if min(drain, notice) < timedelta(0):
            problems.append(f"drain and notice must not be negative, got {drain} and {notice}")
        if problems:
            raise Refusal(self, problems)
        assert isinstance(capacity, Block)
        assert capacity.ends is not None
        assert capacity.terminates_at is not None
        end = capacity.ends.astimezone(UTC)
        #: Time of the drain, in UTC.
        self.drains_at: datetime = capacity.terminates_at - drain
        reason = f"Capacity Block {capacity.reservation_id} ends at {_clock(end)}"
        terminates = capacity.terminates_at
        requeue = max(self.drains_at, terminates - _REQUEUE)
        # A separate document: the role may run nothing else, and its failures are distinct from those of others.
        document = command_document(
            self,
            "drain",
            description="Drains nodes before their Capacity Block ends",
            commands=drain_block_script(
                version=cluster.slurm_version,
                nodes=node_group.node_names,
                reason=reason,
                ends=terminates,
                requeue_at=requeue,
            ),
        )
        role = self._role(node_group, login, document)
        notices.grants.publish(role)
        #: Queue of the calls that EventBridge Scheduler could not make.
        self.dead_letters: sqs.Queue = self._dead_letters(node_group, role, notices)
        times = {"Schedule": self.drains_at, "Repeat": self.drains_at + drain / 2, "Last": requeue}
        for name, at in times.items():
            if name == "Schedule" or at > self.drains_at:
                self._schedule(
                    name,
                    at=at,
                    expires=terminates,
                    call="ssm:sendCommand",
                    role=role,
                    request={
                        "DocumentName": document.ref,
                        "Targets": [{"Key": f"tag:{NODE_GROUP_TAG}", "Values": [login.node_group_id]}],
                    },
                )
        self._schedule(
            "Notice",
            at=end - notice,
            expires=end,
            call="sns:publish",
            role=role,
            request={
                "TopicArn": notices.topic.topic_arn,
                "Subject": f"Capacity of {node_group.name} ends"[:100],
                "Message": self._message(node_group, capacity, end, cluster),
            },
        )
        # https://docs.aws.amazon.com/systems-manager/latest/userguide/monitoring-eventbridge-events.html
        # (read 2026-11-21)
        events.Rule(
            self,
            "Failure",
            description=f"The drain of {node_group.name} failed",
            event_pattern=events.EventPattern(
                source=["aws.ssm"],
                detail_type=["EC2 Command Status-change Notification"],
                # Each status but these: a run without a login node is a failure too.
                detail={
                    "document-name": [document.ref],
                    "status": events.Match.anything_but("Pending", "InProgress", "Delayed", "Success"),
                },
            ),
            targets=[targets.SnsTopic(notices.topic)],
        )

    def _role(
        self, node_group: PcsComputeNodeGroup, login: IPcsComputeNodeGroup, document: ssm.CfnDocument
    ) -> iam.Role:
        stack = cdk.Stack.of(self)
        role = iam.Role(
            self,
            "Role",
            description=f"Drains {node_group.name} before its Capacity Block ends",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": stack.account}}
            ),
        )
        arn = stack.format_arn(service="ssm", resource="document", resource_name=document.ref)
        instances = stack.format_arn(service="ec2", resource="instance", resource_name="*")
        role.add_to_policy(iam.PolicyStatement(actions=["ssm:SendCommand"], resources=[arn]))
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["ssm:SendCommand"],
                resources=[instances],
                conditions={"StringEquals": {f"ssm:resourceTag/{NODE_GROUP_TAG}": login.node_group_id}},
            )
        )
        acknowledge_wildcards(
            role,
            [instances],
            "The ARNs of replaced instances are not known; the condition limits the statement to the tag of login "
            "nodes, which only AWS PCS can set",
        )
        return role

    def _dead_letters(self, node_group: PcsComputeNodeGroup, role: iam.Role, notices: CapacityNotices) -> sqs.Queue:
        queue = sqs.Queue(
            self,
            "DeadLetters",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=cdk.Duration.days(14),
        )
        cdk.Validations.of(queue).acknowledge(
            cdk.Acknowledgment(id="AwsSolutions-SQS3", reason="It is the dead-letter queue of the schedules")
        )
        # The schedules send with their role: https://docs.aws.amazon.com/scheduler/latest/UserGuide/
        # configuring-schedule-dlq.html (read 2026-11-24)
        role.add_to_policy(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=[queue.queue_arn]))
        alarm = cloudwatch.Alarm(
            self,
            "NotSent",
            alarm_description=f"EventBridge Scheduler could not drain {node_group.name}, or not send its notice",
            metric=queue.metric_approximate_number_of_messages_visible(
                period=cdk.Duration.minutes(1), statistic="Maximum"
            ),
            threshold=0,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=1,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(notices.topic))
        conditions = {"StringEquals": {"aws:SourceAccount": cdk.Stack.of(self).account}}
        notices.grants.publish(iam.ServicePrincipal("cloudwatch.amazonaws.com", conditions=conditions))
        return queue

    def _message(self, node_group: PcsComputeNodeGroup, capacity: Block, end: datetime, cluster: IPcsCluster) -> str:
        last = _clock(end - capacity.last_call)
        lines = [
            f"The Capacity Block {capacity.reservation_id} of the node group {node_group.name} ends at {_clock(end)}.",
            f"From {_clock(self.drains_at)} on its nodes take no more jobs. Running jobs end at "
            f"{_clock(end - capacity.last_call)}; Slurm sends each the signal of its --signal before.",
        ]
        if isinstance(capacity, CapacityBlock):
            lines.append(f"From {last} on EC2 terminates them with what still runs on them.")
        else:
            lines.append(
                f"AWS asks you to terminate the instances of an UltraServer before {last}. This does it, and jobs "
                "that still run there fail and are queued again: aws pcs update-compute-node-group --region "
                f"{cdk.Stack.of(self).region} --cluster-identifier {cluster.cluster_id} "
                f"--compute-node-group-identifier {node_group.node_group_id} "
                "--scaling-configuration minInstanceCount=0,maxInstanceCount=0"
            )
        return "\n".join(lines)

    def _schedule(
        self, id: str, *, at: datetime, expires: datetime, call: str, role: iam.IRole, request: dict[str, object]
    ) -> None:
        stack = cdk.Stack.of(self)
        age = min(max(expires - at, _AGES[0]), _AGES[1])
        scheduler.CfnSchedule(
            self,
            id,
            schedule_expression=f"at({at:%Y-%m-%dT%H:%M:%S})",
            schedule_expression_timezone="UTC",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=f"arn:{stack.partition}:scheduler:::aws-sdk:{call}",
                role_arn=role.role_arn,
                input=stack.to_json_string(request),
                dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=self.dead_letters.queue_arn),
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=round(age.total_seconds())
                ),
            ),
        )


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
