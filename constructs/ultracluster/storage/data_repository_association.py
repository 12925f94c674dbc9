"""The link between a directory of a Lustre file system and S3."""

from collections.abc import Sequence
from typing import Any, Literal, cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_s3 as s3
from constructs import Construct, IValidation

from ultracluster.hardware.repositories import IMPORTED_FILE_CHUNK_MIB
from ultracluster.planning.associations import Association, association_warnings, check_associations
from ultracluster.planning.linked_bucket import NOTIFICATIONS, link_problems
from ultracluster.security.shown import shown
from ultracluster.storage import repository_access
from ultracluster.storage.checked import checked
from ultracluster.storage.lustre_file_system import LustreFileSystem
from ultracluster.storage.properties import properties_of

FOREIGN_FILE_SYSTEM = "ultracluster:association-foreign-file-system"


class DataRepositoryAssociation(Construct):
    """Shows a bucket, or a prefix of it, in a directory of a Lustre file system; kept when the stack goes.

    Names come first, content when a file is first read. L1, because aws-cdk-lib has no L2 of it (2.275.0).

    The key of the bucket lets the role in that FSx makes for the file system; in the bucket's own account that role
    brings its permissions on S3 along. A change of path, bucket, prefix, file system or `batch_import_metadata` asks
    for a new association; the old one stays, and the update fails where the two overlap: delete the old one by hand
    first, when `metric_age_of_oldest_queued_message` is zero. The association carries no tags, so that a change of tags
    never touches it.

    Synthesis fails when the associations of a file system overlap, when it cannot have any, and when a bucket that
    belongs to a template would break the link: by its lifecycle, its policy, or notifications.

    Args:
        file_system: The file system, or the id of one of yours.
        bucket: The bucket. Of one that is not made in your app, a warning says what its owner has to do.
        path: Directory on the file system, such as `/checkpoints`, whatever the mount path.
        prefix: The part of the bucket that is linked. Default: all of it.
        import_events: What S3 does that shows on the file system by itself: any of NEW, CHANGED, DELETED.
        export_events: What jobs do that reaches S3 by itself: any of NEW, CHANGED, DELETED.
        batch_import_metadata: Whether the names of what is in S3 are imported at creation.
        imported_file_chunk_mib: MiB of an imported file on one disk.
        removal_policy: What becomes of the association when it leaves the template. Default: it stays, unless the
            deployment that makes it fails.

    Raises:
        ValueError: When FSx would refuse this one association, with everything that is wrong.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system: LustreFileSystem | str,
        bucket: s3.IBucket,
        path: str,
        prefix: str = "",
        import_events: Sequence[str] = (),
        export_events: Sequence[str] = (),
        batch_import_metadata: bool = True,
        imported_file_chunk_mib: int = IMPORTED_FILE_CHUNK_MIB,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        self.bucket = bucket
        #: The same in plain Python, for checks and documentation.
        self.association = Association(
            path=path,
            repository=f"s3://{bucket.bucket_name}/{prefix}" if prefix else f"s3://{bucket.bucket_name}",
            import_events=tuple(import_events),
            export_events=tuple(export_events),
            batch_import_metadata=batch_import_metadata,
            imported_file_chunk_mib=imported_file_chunk_mib,
        )
        #: Id of the file system.
        self.file_system_id = file_system if isinstance(file_system, str) else file_system.file_system_id
        self._facts = {} if isinstance(file_system, str) else _facts(file_system)
        problems = self._problems([self.association])
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")

        resource = fsx.CfnDataRepositoryAssociation(
            self,
            "Resource",
            file_system_id=self.file_system_id,
            file_system_path=path,
            data_repository_path=self.association.repository,
            batch_import_meta_data_on_create=batch_import_metadata,
            imported_file_chunk_size=imported_file_chunk_mib,
            s3=_events(import_events, export_events),
        )
        resource.apply_removal_policy(removal_policy)
        # CloudFormation answered a change of tags beside an association with an update that failed:
        # https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1687 (read 2026-11-21).
        resource.add_property_deletion_override("Tags")
        # FSx looks into the bucket when it makes the association: policies and key policy must stand by then.
        for needed in (bucket.policy, bucket.encryption_key):
            if needed is not None:
                resource.node.add_dependency(needed)
        #: Id of the association.
        self.association_id = resource.attr_association_id

        repository_access.let_fsx_in(self, bucket, self.file_system_id)
        self._warn(foreign=isinstance(file_system, str))
        self.node.add_validation(_Links(self))

    def metric_age_of_oldest_queued_message(
        self, publisher: Literal["AutoExport", "AutoImport"] = "AutoExport"
    ) -> cloudwatch.Metric:
        """Seconds for which the oldest change has waited to be exported, or imported; zero when none waits.

        FSx counts for the whole file system. Imports that wait 14 days are lost; exports that wait when the association
        or the file system is deleted are lost too.

        Args:
            publisher: Which of the two queues.

        See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html (read 2026-11-21)
        """
        return self._metric("AgeOfOldestQueuedMessage", "Maximum", publisher)

    def metric_repository_rename_operations(self) -> cloudwatch.Metric:
        """Renames of objects that renamed directories brought about: what fills the export queue most."""
        return self._metric("RepositoryRenameOperations", "Sum", "AutoExport")

    def _metric(self, name: str, statistic: str, publisher: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="AWS/FSx",
            metric_name=name,
            dimensions_map={"FileSystemId": self.file_system_id, "Publisher": publisher},
            statistic=statistic,
            period=cdk.Duration.minutes(5),
        )

    def _problems(self, associations: Sequence[Association]) -> list[str]:
        region, home = cdk.Stack.of(self).region, self.bucket.env.region
        known = not cdk.Token.is_unresolved(region) and not cdk.Token.is_unresolved(home)
        return check_associations(
            associations,
            region=region,
            bucket_regions={self.bucket.bucket_name: home} if known else {},
            **self._facts,
        )

    def _warn(self, *, foreign: bool) -> None:
        versioning = properties_of(self.bucket).get("VersioningConfiguration", {})
        kept = [self.bucket.bucket_name] if versioning.get("Status") == "Enabled" else []
        for warning, message in association_warnings([self.association], versioned_buckets=kept):
            cdk.Validations.of(self).add_warning(warning, shown(self, message))
        if foreign:
            cdk.Validations.of(self).add_warning(
                FOREIGN_FILE_SYSTEM,
                f"{self.file_system_id} is not made here: that it runs Lustre 2.12 or 2.15, is neither SCRATCH_1 nor "
                "Intelligent-Tiering, has no backups, and no other associations that overlap, is for you to see to",
            )


@jsii.implements(IValidation)
class _Links:
    """What can be seen only when everything is there: the other associations, and what became of the bucket."""

    def __init__(self, owner: DataRepositoryAssociation) -> None:
        self._owner = owner

    def validate(self) -> list[str]:
        owner = self._owner
        everything = cast(list[Any], owner.node.root.node.find_all())
        family = [
            one
            for one in everything
            if isinstance(one, DataRepositoryAssociation) and one.file_system_id == owner.file_system_id
        ]
        problems = owner._problems([one.association for one in family]) if family[0] is owner else []
        return problems + _bucket_problems(owner)


def _bucket_problems(owner: DataRepositoryAssociation) -> list[str]:
    bucket = owner.bucket
    policy = {} if bucket.policy is None else cdk.Stack.of(bucket).resolve(bucket.policy.document)
    imports = bool(owner.association.import_events)
    problems = link_problems(properties_of(bucket), policy or {}, prefix=owner.association.prefix, imports=imports)
    # What `add_event_notification` and EventBridge make: a custom resource of the CDK.
    if imports and bucket.node.try_find_child("Notifications") is not None and NOTIFICATIONS not in problems:
        problems.append(NOTIFICATIONS)
    return [f"{bucket.node.path}: {problem}" for problem in problems]


def _facts(file_system: LustreFileSystem) -> dict[str, Any]:
    properties = properties_of(file_system)
    lustre = properties["LustreConfiguration"]
    return {
        "deployment_type": lustre["DeploymentType"],
        "storage_type": properties.get("StorageType", "SSD"),
        "lustre_version": properties["FileSystemTypeVersion"],
        "backups": bool(lustre.get("AutomaticBackupRetentionDays")),
    }


def _events(imports: Sequence[str], exports: Sequence[str]) -> fsx.CfnDataRepositoryAssociation.S3Property | None:
    made = fsx.CfnDataRepositoryAssociation
    if not imports and not exports:
        return None
    return made.S3Property(
        auto_import_policy=made.AutoImportPolicyProperty(events=list(imports)) if imports else None,
        auto_export_policy=made.AutoExportPolicyProperty(events=list(exports)) if exports else None,
    )
