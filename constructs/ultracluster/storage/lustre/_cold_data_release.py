"""Scheduled release of cold data from a Lustre file system: FSx keeps the names, S3 keeps the content."""

import re
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from ultracluster.planning import as_list, checked, known, text_problem
from ultracluster.planning.lustre import RELEASE_TASK, check_release, check_schedule, task_path
from ultracluster.rules import Refusal
from ultracluster.security import check_same_region, wildcard_finding
from ultracluster.storage.lustre._data_repository_association import DataRepositoryAssociation

_TIME_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*", re.ASCII)


class ColdDataRelease(cdk.Resource):
    """A schedule that frees the space of exported files which no job has accessed for some days.

    FSx loads a released file again when it is read, at the speed of S3. It never releases a file that is not exported.
    A file system runs one task at a time, so one release with all paths is better than several. FSx writes a report of
    failed files into the linked bucket only, where automatic import would import it: the report is disabled, and
    `aws fsx describe-data-repository-tasks` returns the numbers.

    Args:
        associations: Associations of one file system that export.
        not_accessed_for_days: Days without access after which a file is cold, at least 1.
        mount_options: Mount options of the clients. With `noatime` a file that is only read counts as cold.
        paths: Directories and files under the associations' paths. Default: all paths of the associations.
        schedule: Schedule expression of EventBridge Scheduler. Default: 03:00 every day.
        time_zone: IANA name of the schedule's time zone.

    Raises:
        Refusal: If FSx or EventBridge Scheduler would refuse the task. All reasons at once.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/file-release.html and
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        associations: DataRepositoryAssociation | Sequence[DataRepositoryAssociation],
        not_accessed_for_days: int,
        mount_options: str,
        paths: str | Sequence[str] | None = None,
        schedule: str = "cron(0 3 * * ? *)",
        time_zone: str = "UTC",
    ) -> None:
        super().__init__(scope, id)
        links = as_list(associations)
        if not links:
            raise Refusal(self, "associations must hold at least one, got none")
        chosen = [link.association.path for link in links] if paths is None else as_list(paths)
        errors: list[str] = [
            *check_release(
                chosen,
                [link.association for link in links],
                not_accessed_for_days=not_accessed_for_days,
                mount_options=mount_options,
            )
        ]
        errors += check_same_region(self, {f"associations[{index}]": link for index, link in enumerate(links)})
        if known(schedule):
            errors += [RELEASE_TASK(f"schedule: {error}") for error in check_schedule(schedule)]
        errors += text_problem("time_zone", time_zone, _TIME_ZONE, "the IANA name of a time zone, such as Europe/Paris")
        file_systems = sorted({link.file_system_id for link in links})
        if len(file_systems) > 1:
            text = f"the associations belong to {len(file_systems)} file systems: release from each by itself"
            errors.append(RELEASE_TASK(text))
        if errors:
            raise Refusal(self, errors)
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
                reason="FSx authorises the call on the named file system, and on the task, whose id it generates",
            )
        )
        self.node.default_child = scheduler.CfnSchedule(
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
