"""Interfaces of storage: what a created and an imported resource have in common."""

from collections.abc import Sequence
from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.boot import Mountable
from ultracluster.cloudwatch import Alarms
from ultracluster.storage._metrics import FileSystemMetrics
from ultracluster.storage.lustre._metrics import LustreMetrics
from ultracluster.storage.s3._bucket import BucketMetrics


class ISharedFileSystem(cdk.IResource, ec2.IConnectable, Mountable, Protocol):
    """A file system that the nodes of a cluster mount: `mount(path)` for Slurm, `volume(name)` for Kubernetes."""

    @property
    def file_system_id(self) -> str:
        """Id, such as `fs-0123456789abcdef0`."""
        ...

    @property
    def metrics(self) -> FileSystemMetrics:
        """CloudWatch metrics."""
        ...

    @property
    def alarms(self) -> Alarms:
        """CloudWatch alarms."""
        ...

    def allow_clients(
        self,
        clients: ec2.IConnectable,
        *,
        subnets: ec2.ISubnet | Sequence[ec2.ISubnet] = (),
        scope: Construct | None = None,
    ) -> None:
        """Add the security group rules with which clients mount it."""
        ...


class ILustreFileSystem(ISharedFileSystem, Protocol):
    """A file system of FSx for Lustre."""

    @property
    def mount_name(self) -> str:
        """LustreMountName."""
        ...

    @property
    def dns_name(self) -> str:
        """DNS name of the management server."""
        ...

    @property
    def device(self) -> str:
        """Device that clients mount: `DNS@tcp:/MOUNTNAME`."""
        ...

    @property
    def efa(self) -> bool:
        """True if it was created with EFA."""
        ...

    @property
    def relatime(self) -> bool:
        """True if clients mount it with `relatime`."""
        ...

    @property
    def metrics(self) -> LustreMetrics:
        """CloudWatch metrics."""
        ...


class IBucketGrants(Protocol):
    """Permissions on a bucket."""

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to list the bucket and to read its objects."""
        ...

    def read_write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to list the bucket, and to read, write and delete its objects."""
        ...


class IExpressBucket(cdk.IResource, Protocol):
    """A directory bucket of S3 Express One Zone."""

    @property
    def bucket_name(self) -> str:
        """Name, zone and suffix included."""
        ...

    @property
    def bucket_arn(self) -> str:
        """ARN, which is of the service `s3express`."""
        ...

    @property
    def grants(self) -> IBucketGrants:
        """Permissions for principals."""
        ...


class IDataBucketGrants(IBucketGrants, Protocol):
    """Permissions on a general purpose bucket."""

    def read_write_objects(self, grantee: iam.IGrantable, prefix: str = "") -> iam.Grant:
        """Allow to read and write objects; neither to list nor to delete them."""
        ...


class IDataBucket(cdk.IResource, Protocol):
    """A general purpose bucket of datasets or checkpoints."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""
        ...

    @property
    def grants(self) -> IDataBucketGrants:
        """Permissions for principals."""
        ...

    @property
    def metrics(self) -> BucketMetrics:
        """CloudWatch metrics."""
        ...
