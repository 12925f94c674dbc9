"""A data repository association: a directory of a Lustre file system linked to S3."""

from collections.abc import Sequence
from typing import Any, cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct, IValidation

from ultracluster.catalogue.storage import repositories
from ultracluster.cloudwatch import Alarms
from ultracluster.planning import (
    account_of,
    as_list,
    checked,
    id_problem,
    known,
    once,
    region_of,
    stack_of,
    token_errors,
)
from ultracluster.planning.lustre import Association, association_warnings, check_associations
from ultracluster.planning.s3 import NOTIFICATIONS, link_problems
from ultracluster.rules import Message, Refusal, shared
from ultracluster.security import check_same_region, readable
from ultracluster.storage._arguments import unwrapped
from ultracluster.storage._interfaces import IDataBucket, ILustreFileSystem
from ultracluster.storage._properties import properties_of
from ultracluster.storage.lustre import _repository_access as repository_access
from ultracluster.storage.lustre._metrics import AssociationMetrics

FOREIGN_FILE_SYSTEM = shared("association-foreign-file-system")


@once
def _last(stack: cdk.Stack) -> dict[str, fsx.CfnDataRepositoryAssociation]:
    """Return the last association of each file system in a stack."""
    return {}


class DataRepositoryAssociation(cdk.Resource):
    """A directory of a Lustre file system linked to a bucket, or a prefix; retained when the stack is deleted.

    FSx imports names first, and content when a file is first read. L1, because aws-cdk-lib has no L2 (2.275.0).

    The key of the bucket allows the role that FSx creates for the file system; in the bucket's account that role has
    its own permissions on S3, and in another account the bucket policy allows it. A change of path, bucket, prefix,
    file system or `batch_import_metadata` replaces the association. The old one is retained, and the update fails where
    the two overlap: delete the old one by hand first, when `metrics.metric_age_of_oldest_queued_message` is zero. The
    association has no tags, so that a change of tags never updates it.

    CloudFormation creates and updates the associations of a file system one after the other, in their order in the
    app, as FSx fails some of several at once: https://github.com/hashicorp/terraform-provider-aws/issues/24678 and
    https://github.com/aws/aws-parallelcluster/pull/6649 (read 2026-11-27). Those of another stack are not in the order.

    Synthesis fails if the associations of a file system overlap, if it cannot have associations, or if a bucket of the
    app would break the link by its lifecycle, policy or notifications.

    Args:
        file_system: The file system, an imported one included, or its id.
        bucket: The bucket. If it is not created in the app, a warning names what its owner must do. If it is in another
            account, its policy and that of its key allow FSx. It may be in another region, as FSx requires the same
            region for automatic import only:
            https://docs.aws.amazon.com/fsx/latest/LustreGuide/overview-dra-data-repo.html (read 2026-11-20)
        path: Directory on the file system, such as `/checkpoints`, whatever the mount path.
        prefix: The part of the bucket that is linked. Default: all of it.
        import_events: Changes in S3 that FSx imports automatically: any of NEW, CHANGED, DELETED.
        export_events: Changes of files that FSx exports automatically: any of NEW, CHANGED, DELETED.
        batch_import_metadata: Whether FSx imports the names of existing objects at creation.
        imported_file_chunk_mib: MiB of an imported file on one disk.
        removal_policy: What happens to the association when it is removed from the template. Default: it is retained,
            unless the deployment that creates it fails.

    Raises:
        Refusal: If FSx would refuse this association. All reasons at once.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system: ILustreFileSystem | fsx.IFileSystem | str,
        bucket: s3.IBucket | IDataBucket,
        path: str,
        prefix: str = "",
        import_events: str | Sequence[str] = (),
        export_events: str | Sequence[str] = (),
        batch_import_metadata: bool = True,
        imported_file_chunk_mib: int = repositories.IMPORTED_FILE_CHUNK_MIB,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        if tokens := token_errors({"path": path}):
            raise Refusal(self, tokens)
        bucket = unwrapped(bucket)
        imports, exports = as_list(import_events), as_list(export_events)
        self.bucket = bucket
        #: The same as a value, for checks and documentation.
        self.association = Association(
            path=path,
            repository=f"s3://{bucket.bucket_name}/{prefix}" if prefix else f"s3://{bucket.bucket_name}",
            import_events=tuple(imports),
            export_events=tuple(exports),
            batch_import_metadata=batch_import_metadata,
            imported_file_chunk_mib=imported_file_chunk_mib,
        )
        #: Id of the file system.
        self.file_system_id = file_system if isinstance(file_system, str) else file_system.file_system_id
        self._facts = {} if isinstance(file_system, str) else _facts(file_system)
        #: CloudWatch metrics of the queues of the file system.
        self.metrics = AssociationMetrics(self.file_system_id, self)
        #: CloudWatch alarms.
        self.alarms = Alarms(self, self.metrics.alarm_definitions())
        problems: list[str] = [*self._problems([self.association])]
        if isinstance(file_system, str):
            problems += id_problem("file_system", file_system, "fs-")
        else:
            problems += check_same_region(self, {"file_system": cast(cdk.IResource, file_system)})
        if problems:
            raise Refusal(self, problems)

        resource = fsx.CfnDataRepositoryAssociation(
            self,
            "Resource",
            file_system_id=self.file_system_id,
            file_system_path=path,
            data_repository_path=self.association.repository,
            batch_import_meta_data_on_create=batch_import_metadata,
            imported_file_chunk_size=imported_file_chunk_mib,
            s3=_events(imports, exports),
        )
        resource.apply_removal_policy(removal_policy)
        # CloudFormation answered a change of tags beside an association with an update that failed:
        # https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1687 (read 2026-11-21).
        resource.add_property_deletion_override("Tags")
        repository_access.allow_fsx(self, bucket, self.file_system_id)
        # FSx reads the bucket when it creates the association, so the policies must exist by then.
        for needed in (bucket.policy, bucket.encryption_key):
            if needed is not None:
                resource.node.add_dependency(needed)
        last = _last(cdk.Stack.of(self))
        if self.file_system_id in last:
            resource.node.add_dependency(last[self.file_system_id])
        last[self.file_system_id] = resource
        #: Id of the association.
        self.association_id = resource.attr_association_id

        self._warn(foreign=not self._facts)
        self.node.add_validation(_Links(self))

    def _problems(self, associations: Sequence[Association]) -> list[Message]:
        region, home = region_of(stack_of(self)), region_of(self.bucket)
        return check_associations(
            associations,
            region=region,
            bucket_regions={self.bucket.bucket_name: home} if known(region) and known(home) else {},
            **self._facts,
        )

    def _warn(self, *, foreign: bool) -> None:
        versioning = properties_of(self.bucket).get("VersioningConfiguration", {})
        kept = [self.bucket.bucket_name] if versioning.get("Status") == "Enabled" else []
        for message in association_warnings([self.association], versioned_buckets=kept):
            cdk.Validations.of(self).add_warning(message.rule.warning_id, readable(self, message))
        if foreign:
            cdk.Validations.of(self).add_warning(
                FOREIGN_FILE_SYSTEM.warning_id,
                f"{readable(self, self.file_system_id)} is not created in this app, so check these requirements: "
                "Lustre 2.12 or 2.15, neither SCRATCH_1 nor Intelligent-Tiering, no backups, no other association that "
                "overlaps",
            )


@jsii.implements(IValidation)
class _Links:
    """Rules on the whole app: the other associations, and the final properties of the bucket."""

    def __init__(self, owner: DataRepositoryAssociation) -> None:
        self._owner = owner

    def validate(self) -> list[str]:
        owner = self._owner
        everything = cast(list[Any], owner.node.root.node.find_all())
        family = [
            construct
            for construct in everything
            if isinstance(construct, DataRepositoryAssociation) and construct.file_system_id == owner.file_system_id
        ]
        problems = owner._problems([construct.association for construct in family]) if family[0] is owner else []
        return [*(f"{problem} [{problem.rule.id}]" for problem in problems), *_bucket_problems(owner)]


def _bucket_problems(owner: DataRepositoryAssociation) -> list[str]:
    bucket = owner.bucket
    policy = {} if bucket.policy is None else cdk.Stack.of(bucket).resolve(bucket.policy.document)
    imports = bool(owner.association.import_events)
    account = account_of(stack_of(owner))
    prefix = owner.association.prefix
    problems = link_problems(properties_of(bucket), policy or {}, prefix=prefix, imports=imports, account=account)
    # `add_event_notification` and EventBridge create a custom resource of the CDK.
    if imports and bucket.node.try_find_child("Notifications") is not None and NOTIFICATIONS not in problems:
        problems.append(NOTIFICATIONS)
    return [f"{bucket.node.path}: {problem} [{problem.rule.id}]" for problem in problems]


def _facts(file_system: ILustreFileSystem | fsx.IFileSystem) -> dict[str, Any]:
    """Return what is known of a file system; nothing if it is imported."""
    properties = properties_of(cast(IConstruct, file_system))
    lustre = properties.get("LustreConfiguration")
    if lustre is None:
        return {}
    kind = lustre.get("DeploymentType", "SCRATCH_1")
    return {
        "deployment_type": kind,
        "storage_type": properties.get("StorageType", "SSD"),
        # FSx's default: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
        # (read 2026-11-21).
        "lustre_version": properties.get("FileSystemTypeVersion", "2.12" if kind == "PERSISTENT_2" else "2.10"),
        "backups": bool(lustre.get("AutomaticBackupRetentionDays")),
    }


def _events(imports: Sequence[str], exports: Sequence[str]) -> fsx.CfnDataRepositoryAssociation.S3Property | None:
    resource = fsx.CfnDataRepositoryAssociation
    if not imports and not exports:
        return None
    return resource.S3Property(
        auto_import_policy=resource.AutoImportPolicyProperty(events=list(imports)) if imports else None,
        auto_export_policy=resource.AutoExportPolicyProperty(events=list(exports)) if exports else None,
    )
