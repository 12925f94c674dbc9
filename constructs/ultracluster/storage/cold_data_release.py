"""Dropping content from a Lustre file system that S3 holds, on a schedule."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from ultracluster.planning.releases import check_release, task_path
from ultracluster.planning.schedules import check_schedule
from ultracluster.security.shown import wildcard_finding
from ultracluster.storage.checked import checked
from ultracluster.storage.data_repository_association import DataRepositoryAssociation


class ColdDataRelease(Construct):
    """Frees the space of files that nobody has touched for a while and that are in S3; their names stay.

    A released file is loaded again when it is read, at the pace of S3. What was not exported yet is never released. One
    task runs on a file system at a time, so that one release with all paths is better than several. FSx writes its
    report of failed files into the linked bucket only, where automatic import would show it as data: the report is off,
    and the numbers are in `aws fsx describe-data-repository-tasks`.

    Args:
        associations: Associations of one file system that export.
        not_accessed_for_days: Days since a file was last read, written or changed after which it is cold, at least 1.
        mount_options: How clients mount the file system. Under `noatime` a file that is only read looks cold.
        paths: Directories and files under the associations' paths. Default: all that they link.
        schedule: When, as EventBridge Scheduler writes it. Default: every night at three.
        time_zone: IANA name of the schedule's time zone.

    Raises:
        ValueError: With everything that is wrong.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/file-release.html and
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        associations: Sequence[DataRepositoryAssociation],
        not_accessed_for_days: int,
        mount_options: str,
        paths: Sequence[str] | None = None,
        schedule: str = "cron(0 3 * * ? *)",
        time_zone: str = "UTC",
    ) -> None:
        super().__init__(scope, id)
        chosen = [one.association.path for one in associations] if paths is None else list(paths)
        problems = check_release(
            chosen,
            [one.association for one in associations],
            not_accessed_for_days=not_accessed_for_days,
            mount_options=mount_options,
        )
        if not cdk.Token.is_unresolved(schedule):
            problems += [f"schedule: {problem}" for problem in check_schedule(schedule)]
        file_systems = sorted({one.file_system_id for one in associations})
        if len(file_systems) > 1:
            problems.append(f"the associations belong to {len(file_systems)} file systems: release from each by itself")
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        (file_system_id,) = file_systems

        stack = cdk.Stack.of(self)
        role = iam.Role(
            self,
            "Role",
            description="Releases cold data of a Lustre file system",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": stack.account}}
            ),
        )
        tasks = stack.format_arn(service="fsx", resource="task", resource_name="*")
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["fsx:CreateDataRepositoryTask"],
                resources=[
                    stack.format_arn(service="fsx", resource="file-system", resource_name=file_system_id),
                    tasks,
                ],
            )
        )
        cdk.Validations.of(role).acknowledge(
            cdk.Acknowledgment(
                id=wildcard_finding(self, tasks),
                reason="FSx authorises the call on the file system, which is named, and on the task, whose id it makes",
            )
        )
        scheduler.CfnSchedule(
            self,
            "Schedule",
            description=f"Release of what was not accessed for {not_accessed_for_days} days",
            schedule_expression=schedule,
            schedule_expression_timezone=time_zone,
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=f"arn:{stack.partition}:scheduler:::aws-sdk:fsx:createDataRepositoryTask",
                role_arn=role.role_arn,
                input=stack.to_json_string(
                    {
                        "FileSystemId": file_system_id,
                        "Type": "RELEASE_DATA_FROM_FILESYSTEM",
                        "Paths": [task_path(path) for path in chosen],
                        "ReleaseConfiguration": {
                            "DurationSinceLastAccess": {"Unit": "DAYS", "Value": not_accessed_for_days}
                        },
                        "Report": {"Enabled": False},
                    }
                ),
            ),
        )
