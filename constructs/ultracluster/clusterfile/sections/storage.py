"""The sections of a cluster file on storage, as their keys stand in it."""

from pydantic import Field

from ultracluster.clusterfile.quantities import Duration
from ultracluster.clusterfile.readers.data_bucket import ExistingBucket
from ultracluster.clusterfile.sections.section import Section
from ultracluster.clusterfile.types import storage as s
from ultracluster.clusterfile.types import values as t
from ultracluster.hardware.openzfs import BACKUP_DAYS


class CheckpointGoal(Section):
    """A checkpoint, and how long the job may wait for it."""

    model: s.Parameters | None = Field(
        default=None, description="Parameters of the model; a checkpoint has 14 bytes of each. Or say its size."
    )
    size: t.Size | None = Field(default=None, description="All that is written, by all nodes together.")
    stall: t.Duration = Field(description="How long the job may wait while it is written.")
    kept: t.Count = Field(default=2, description="How many the file system holds.")


class EfaBundle(Section):
    """AWS's tool that sets EFA up for Lustre, for images that lack it."""

    url: s.BundleUrl = Field(description="https:// or s3:// address of its zip, kept where it does not change.")
    sha256: s.Sha256 = Field(description="Checksum of the zip; nodes run no other.")


class LustreClient(Section):
    """How nodes reach a file system that was made with EFA."""

    efa_interfaces: t.Count | None = Field(
        default=None,
        description="EFA interfaces that a node uses for it at most. Default: as AWS's tool does, or fewer, so that "
        "all nodes fit into the 1,024 connections of a file system.",
    )
    gpudirect_storage: t.Flag = Field(
        default=False,
        description="Whether files go straight to GPU memory where the type can; the image brings nvidia-fs.",
    )
    bundle: EfaBundle | None = Field(
        default=None, description="Where nodes fetch AWS's tool from. Default: the image has it."
    )


class ExistingLustre(Section):
    """A file system of yours."""

    id: s.FileSystemId = Field(description="Its id.")
    mount_name: s.LustreMountName = Field(description="LustreMountName in `aws fsx describe-file-systems`.")
    efa: t.Flag = Field(default=False, description="Whether it was made with EFA.")
    zone: t.ZoneId | None = Field(default=None, description="Id of its zone. Default: the cluster's.")
    cidr: t.Cidr | None = Field(
        default=None, description="Range of its subnet, to check that EFA reaches it. Default: not checked."
    )
    security_group: t.SecurityGroupId | None = Field(
        default=None, description="Its security group, to which rules for the nodes are added. Default: none are."
    )


class Link(Section):
    """A directory of the file system that shows a bucket, or a part of it: a data repository association."""

    bucket: s.LinkedBucket | None = Field(default=None, description="A bucket of yours. Default: the data bucket.")
    prefix: s.LinkPrefix | None = Field(
        default=None,
        description="The part of the bucket. Default: all of a bucket of yours; of the data bucket what is called as "
        "the directory.",
    )
    import_: s.LinkEvents = Field(
        default=(),
        alias="import",
        description="What S3 does that shows on the file system by itself: any of NEW, CHANGED, DELETED.",
    )
    export: s.LinkEvents = Field(
        default=(), description="What jobs do that reaches S3 by itself: any of NEW, CHANGED, DELETED."
    )


class Release(Section):
    """Cold data whose content the file system drops because S3 holds it; names stay."""

    after: t.Duration = Field(description="How long nobody has read or written a file that is dropped, in whole days.")
    schedule: s.Schedule = Field(
        default="cron(0 3 * * ? *)", description="When, in UTC, as EventBridge Scheduler writes it."
    )


class Lustre(Section):
    """An FSx for Lustre file system, mounted by every node. It is found from what it is for."""

    throughput: s.Throughput | None = Field(default=None, description="Disk throughput that all clients together want.")
    checkpoint: CheckpointGoal | None = Field(
        default=None, description="A checkpoint, and how long the job may wait for it."
    )
    capacity: t.Size | None = Field(
        default=None,
        description="What it must hold; with `tier`, exactly what to buy. Default: what the rest brings.",
    )
    working_set: t.Size | None = Field(
        default=None,
        description="The part of `capacity` that is read again and again; Intelligent-Tiering caches it.",
    )
    temporary: t.Flag = Field(
        default=False, description="Whether all of it may be lost at any time: scratch, without replication."
    )
    deployment_type: s.LustreDeploymentType | None = Field(
        default=None, description="PERSISTENT_2 or SCRATCH_2, which may be lost at any time. Default: what fits best."
    )
    storage_type: s.LustreStorageType | None = Field(
        default=None, description="SSD or INTELLIGENT_TIERING. Default: what fits best."
    )
    tier: s.Tier | None = Field(default=None, description="Throughput tier of SSD. Default: the cheapest.")
    throughput_capacity: s.Throughput | None = Field(
        default=None, description="Throughput of Intelligent-Tiering, exactly. Default: what the rest asks."
    )
    read_cache: s.ReadCache | None = Field(
        default=None,
        description="SSD read cache of Intelligent-Tiering: its size, NO_CACHE or PROPORTIONAL_TO_THROUGHPUT_CAPACITY. "
        "Default: the working set, or in proportion.",
    )
    efa: t.Flag | None = Field(
        default=None, description="Whether clients may use EFA; fixed for its life. Default: above 10 GB/s."
    )
    metadata_iops: t.Count | None = Field(
        default=None, description="Metadata IOPS to provision. Default: those that come with the capacity."
    )
    compression: s.Compression = Field(default="LZ4", description="LZ4 or NONE; what is there already stays as it is.")
    lustre_version: s.LustreVersion | None = Field(
        default=None, description="Version of Lustre; PERSISTENT_2 takes 2.15 only. Default: 2.15."
    )
    maintenance: s.Maintenance | None = Field(
        default=None, description="When FSx may patch it, d:HH:MM in UTC, 1 being Monday. Default: FSx chooses."
    )
    backups: t.Duration | None = Field(
        default=None, description="For how long daily backups are kept, whole days. Default: none are made."
    )
    mount: s.MountPath = Field(default="/fsx", description="Where nodes mount it.")
    client: LustreClient = Field(
        default=LustreClient(), description="How nodes reach a file system that was made with EFA."
    )
    existing: ExistingLustre | None = Field(default=None, description="A file system of yours, instead of a new one.")
    links: dict[s.LinkPath, Link] = Field(
        default={},
        description="Directories of the file system that show S3, by path from its own root; 8 at most.",
        json_schema_extra={"additionalProperties": False},
    )
    release: Release | None = Field(
        default=None, description="Whether content that lies in S3 is dropped once it is cold. Default: nothing is."
    )


class Scratch(Section):
    """The local NVMe disks of a node as one volume, gone when the node is."""

    path: s.MountPath = Field(default="/scratch", description="Where nodes mount it.")
    container_store: t.Flag = Field(
        default=True, description="Whether docker, containerd and enroot keep their images on it."
    )


class Home(Section):
    """Home directories on FSx for OpenZFS, mounted by every node."""

    capacity: t.Size | None = Field(
        default=None, description="SSD storage, 64 GiB to 512 TiB; it grows and never shrinks. Default: 256 GiB."
    )
    throughput: s.Throughput | None = Field(
        default=None, description="Throughput capacity, one of those that FSx sells. Default: what the nodes need."
    )
    deployment: s.HomeDeployment | None = Field(
        default=None, description="Deployment type, fixed for its life. Default: two servers in one zone."
    )
    backups: t.Duration = Field(
        default=Duration.parse(f"{BACKUP_DAYS} d"), description="For how long daily backups are kept, 1 d to 90 d."
    )
    mount: s.HomePath = Field(default="/home", description="Where nodes mount it.")
    clients: tuple[t.Cidr, ...] | None = Field(
        default=None,
        description="Ranges of addresses that may mount it. Default: the VPC's; must be said with `network.existing`.",
    )


class Storage(Section):
    """Where the data lives."""

    lustre: Lustre | None = Field(default=None, description="An FSx for Lustre file system. Default: none.")
    data_bucket: s.DataBucket = Field(
        default=True, description="A bucket for datasets and checkpoints: whether to make one, or one of yours."
    )
    home: Home | None = Field(
        default=None, description="Home directories on FSx for OpenZFS; {} takes the defaults. Default: none."
    )
    scratch: Scratch = Field(default=Scratch(), description="The local NVMe disks of nodes that have some.")

    @property
    def existing_bucket(self) -> ExistingBucket | None:
        """The data bucket that is there already. None: one is made, or there is none."""
        return self.data_bucket if isinstance(self.data_bucket, ExistingBucket) else None
