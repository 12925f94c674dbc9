"""Rows of `ultracluster.storage`."""

from typing import Any

from aws_cdk import aws_s3 as s3
from constructs import Construct

from support.contracts._row import Connects, Grants, Imported, No, Row
from support.contracts._world import World
from ultracluster import storage
from ultracluster.planning.home import size_openzfs
from ultracluster.planning.lustre import LustreGoal, plan_lustre

SPEC = plan_lustre(LustreGoal(throughput_mb_per_s=1_000)).spec
SIZE = size_openzfs()
FILE_SYSTEM = "fs-0123456789abcdef0"

_NO_NETWORK = No("it has no network interface")
_NO_ROLE = No("it has no role")
_NO_IAM = No("clients mount it without IAM; the security group decides")
_BUCKET = Grants(methods=("read", "read_write", "read_write_objects"))
_EXPRESS_BUCKET = Grants(methods=("read", "read_write"))


def lustre(scope: Construct, id: str, world: World, **options: Any) -> storage.LustreFileSystem:
    return storage.LustreFileSystem(scope, id, vpc=world.vpc, subnet=world.subnet, **{"spec": SPEC, **options})


def association(scope: Construct, id: str, world: World, **options: Any) -> storage.DataRepositoryAssociation:
    # Associations of one file system must not overlap.
    arguments: dict[str, Any] = {"file_system": FILE_SYSTEM, "prefix": id, "path": f"/{id}", **options}
    return storage.DataRepositoryAssociation(scope, id, bucket=world.bucket, export_events="NEW", **arguments)


def release(scope: Construct, id: str, world: World, **options: Any) -> storage.ColdDataRelease:
    link = association(scope, f"{id}Link", world)
    return storage.ColdDataRelease(
        scope, id, associations=link, not_accessed_for_days=7, mount_options="relatime", **options
    )


def openzfs(scope: Construct, id: str, world: World, **options: Any) -> storage.OpenZfsHome:
    arguments: dict[str, Any] = {"client_ranges": "10.0.0.0/16", **options}
    return storage.OpenZfsHome(scope, id, vpc=world.vpc, subnet=world.subnet, size=SIZE, **arguments)


def versioned(world: World) -> s3.IBucket:
    child = world.stack.node.try_find_child("Versioned")
    return child if isinstance(child, s3.Bucket) else s3.Bucket(world.stack, "Versioned", versioned=True)


def s3_files(scope: Construct, id: str, world: World, **options: Any) -> storage.S3FilesHome:
    return storage.S3FilesHome(scope, id, vpc=world.vpc, subnets=world.subnet, bucket=versioned(world), **options)


ROWS: dict[str, Row] = {
    "LustreFileSystem": Row(
        alarms=True,
        metrics=True,
        make=lustre,
        connects=Connects(default_port="988-1023"),
        grants=_NO_IAM,
        principal=_NO_ROLE,
        tags=["AWS::FSx::FileSystem", "AWS::EC2::SecurityGroup", "AWS::Logs::LogGroup"],
        default_child="AWS::FSx::FileSystem",
        tokens=lambda scope, id, world: lustre(scope, id, world, maintenance=world.token("Maintenance")),
        imported=Imported(
            make=lambda scope, id: storage.LustreFileSystem.from_lustre_file_system_attributes(
                scope, id, file_system_id=FILE_SYSTEM, mount_name="fsx"
            ),
            interface=storage.ILustreFileSystem,
        ),
        uses={
            "file system of an association": lambda subject, stack, world: association(
                stack, "Link", world, file_system=subject
            )
        },
    ),
    "DataRepositoryAssociation": Row(
        alarms=True,
        metrics=True,
        make=association,
        connects=_NO_NETWORK,
        grants=No("FSx alone uses it"),
        principal=_NO_ROLE,
        tags=No("an update of tags beside an association failed, so it never has tags"),
        default_child="AWS::FSx::DataRepositoryAssociation",
        tokens=lambda scope, id, world: association(
            scope, id, world, file_system=world.token("FileSystem"), prefix=world.token("Prefix")
        ),
        imported=No("nothing refers to an existing association"),
    ),
    "ColdDataRelease": Row(
        make=release,
        connects=_NO_NETWORK,
        grants=No("EventBridge Scheduler alone uses it"),
        principal=No("its role is for one task"),
        tags=["AWS::IAM::Role"],
        default_child="AWS::Scheduler::Schedule",
        tokens=lambda scope, id, world: release(scope, id, world, schedule=world.token("Schedule")),
        imported=No("nothing refers to an existing schedule"),
    ),
    "DataBucket": Row(
        metrics=True,
        make=lambda scope, id, world: storage.DataBucket(scope, id, key=world.key),
        connects=_NO_NETWORK,
        grants=_BUCKET,
        principal=_NO_ROLE,
        tags=["AWS::S3::Bucket"],
        default_child="AWS::S3::Bucket",
        tokens=No("every argument is a construct or is known at synthesis"),
        imported=Imported(
            make=lambda scope, id: storage.DataBucket.from_data_bucket_attributes(scope, id, bucket_name="my-data"),
            interface=storage.IDataBucket,
        ),
        uses={
            "bucket of an association": lambda subject, stack, world: storage.DataRepositoryAssociation(
                stack, "Link", file_system=FILE_SYSTEM, bucket=subject, path="/data"
            )
        },
    ),
    "LogBucket": Row(
        metrics=True,
        make=lambda scope, id, world: storage.LogBucket(scope, id),
        connects=_NO_NETWORK,
        grants=_BUCKET,
        principal=_NO_ROLE,
        tags=["AWS::S3::Bucket"],
        default_child="AWS::S3::Bucket",
        tokens=No("every argument is known at synthesis"),
        imported=Imported(
            make=lambda scope, id: storage.LogBucket.from_log_bucket_attributes(scope, id, bucket_name="my-logs"),
            interface=storage.IDataBucket,
        ),
        uses={
            "access logs of a bucket": lambda subject, stack, world: storage.DataBucket(
                stack, "Data", access_log_bucket=subject
            )
        },
    ),
    "ExpressBucket": Row(
        make=lambda scope, id, world: storage.ExpressBucket(scope, id, zone="use2-az1", key=world.key),
        connects=_NO_NETWORK,
        grants=_EXPRESS_BUCKET,
        principal=_NO_ROLE,
        tags=["AWS::S3Express::DirectoryBucket"],
        default_child="AWS::S3Express::DirectoryBucket",
        tokens=No("zone and name are checked at synthesis"),
        imported=Imported(
            make=lambda scope, id: storage.ExpressBucket.from_express_bucket_attributes(
                scope, id, bucket_name="scratch--use2-az1--x-s3"
            ),
            interface=storage.IExpressBucket,
        ),
    ),
    "EfsHome": Row(
        alarms=True,
        metrics=True,
        make=lambda scope, id, world: storage.EfsHome(scope, id, vpc=world.vpc, subnets=world.subnet),
        connects=Connects(default_port="2049"),
        grants=_NO_IAM,
        principal=_NO_ROLE,
        tags=["AWS::EFS::FileSystem", "AWS::EC2::SecurityGroup"],
        default_child="AWS::EFS::FileSystem",
        tokens=No("every argument is a construct or is known at synthesis"),
        imported=Imported(
            make=lambda scope, id: storage.EfsHome.from_efs_home_attributes(scope, id, file_system_id=FILE_SYSTEM),
            interface=storage.ISharedFileSystem,
        ),
    ),
    "NfsHome": Row(
        make=lambda scope, id, world: storage.NfsHome(
            scope, id, server="nfs.example.com", path="/vol1", security_group=world.security_group
        ),
        connects=Connects(default_port="2049"),
        grants=_NO_IAM,
        principal=_NO_ROLE,
        tags=No("the server exists; nothing of it is created"),
        default_child=No("the server exists; nothing of it is created"),
        tokens=No("its address is an argument of the boot script of nodes, and in no template of its own"),
        imported=No("it is an import"),
    ),
    "OpenZfsHome": Row(
        alarms=True,
        metrics=True,
        make=openzfs,
        connects=Connects(default_port="2049"),
        grants=_NO_IAM,
        principal=_NO_ROLE,
        tags=["AWS::FSx::FileSystem", "AWS::FSx::Volume", "AWS::EC2::SecurityGroup"],
        default_child="AWS::FSx::FileSystem",
        tokens=lambda scope, id, world: openzfs(scope, id, world, client_ranges=world.token("Clients")),
        imported=Imported(
            make=lambda scope, id: storage.OpenZfsHome.from_open_zfs_home_attributes(
                scope, id, file_system_id=FILE_SYSTEM, volume_id="fsvol-0123456789abcdef0"
            ),
            interface=storage.ISharedFileSystem,
        ),
    ),
    "S3FilesHome": Row(
        alarms=True,
        metrics=True,
        make=s3_files,
        connects=Connects(default_port="2049"),
        grants=Grants(methods=("read", "read_write")),
        principal=_NO_ROLE,
        tags=["AWS::S3Files::FileSystem", "AWS::EC2::SecurityGroup", "AWS::IAM::Role"],
        default_child="AWS::S3Files::FileSystem",
        tokens=lambda scope, id, world: s3_files(scope, id, world, prefix=f"{world.token('Prefix')}/"),
        imported=Imported(
            make=lambda scope, id: storage.S3FilesHome.from_s3_files_home_attributes(
                scope,
                id,
                file_system_id=FILE_SYSTEM,
                bucket=s3.Bucket.from_bucket_name(scope, f"{id}Bucket", "my-homes"),
            ),
            interface=storage.ISharedFileSystem,
        ),
    ),
}
