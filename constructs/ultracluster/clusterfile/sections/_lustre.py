"""The section `storage.lustre`."""

from typing import Annotated, get_args

from pydantic import Field

from ultracluster.catalogue.storage import lustre as facts
from ultracluster.catalogue.storage import lustre_intelligent_tiering, repositories
from ultracluster.clusterfile import _quantities as q
from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._section import Section, optional
from ultracluster.clusterfile.sections._word import Word
from ultracluster.planning.lustre import (
    DEPLOYMENT_TYPES,
    SCHEDULE,
    STORAGE_TYPES,
    bucket_problems,
    check_schedule,
)
from ultracluster.planning.nodes import BUNDLE_URL, MOUNT, SHA256, LustreEfa

# USER_PROVISIONED is what a size means.
_READ_CACHES = tuple(mode for mode in lustre_intelligent_tiering.READ_CACHE_MODES if mode != "USER_PROVISIONED")
# Every path of a mount, and the whole file system.
_LINK_PATH = f"{MOUNT.pattern}|/"


def _read_cache(value: object) -> q.Size | str:
    if isinstance(value, str) and value in _READ_CACHES:
        return value
    written = isinstance(value, str) and value.strip()[:1].isdecimal()
    if written or (isinstance(value, int | float) and not isinstance(value, bool)):
        return q.Size.parse(value)
    hint = w.did_you_mean(value, _READ_CACHES).strip() if isinstance(value, str) else ""
    raise ValueError(
        f"must be a size, such as 10 TiB, {' or '.join(_READ_CACHES)}, got {shown(value)}"
        + (f"; {hint}" if hint else "")
    )


def _schedule(value: object) -> str:
    what = 'a schedule of EventBridge Scheduler in UTC, such as "cron(0 3 * * ? *)" or rate(2 days)'
    schedule = w.text(value, what)
    if problems := check_schedule(schedule):
        raise ValueError(f"must be {what}, got {shown(schedule)}; {'; '.join(problems)}"[:600])
    return schedule


# What FSx has and this library never creates is parsed too: the rules report it.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html (read 2026-11-21)
Tier = Annotated[q.Tier, w.quantity(q.Tier)]
Parameters = Annotated[q.Parameters, w.quantity(q.Parameters)]
DeploymentType = Annotated[
    str, w.choice(DEPLOYMENT_TYPES, "a deployment type of FSx for Lustre", more=("PERSISTENT_1", "SCRATCH_1"))
]
StorageType = Annotated[str, w.choice(STORAGE_TYPES, "a storage type of FSx for Lustre", more=("HDD",))]
ReadCache = Annotated[
    q.Size | str,
    Word(
        _read_cache,
        anyOf=[{"enum": list(_READ_CACHES)}, {"type": "string", "pattern": q.Size.pattern()}],
        examples=["10 TiB"],
    ),
]
LUSTRE_VERSION = "a version of Lustre that FSx runs"
LustreVersion = Annotated[str, w.open_choice(facts.VERSIONS_OF_CLIENTS, "2[.][0-9]{2}", LUSTRE_VERSION)]
Compression = Annotated[str, w.choice(facts.COMPRESSIONS, "a compression of FSx for Lustre")]
Maintenance = Annotated[
    str,
    w.pattern(
        facts.MAINTENANCE, 'a day and time in UTC, d:HH:MM with 1 for Monday, in quotes, such as "7:03:00"', "7:03:00"
    ),
]
MountName = Annotated[
    str,
    w.pattern(
        facts.MOUNT_NAME, "the LustreMountName of a file system, 1 to 8 letters, digits, hyphens and underscores", "fsx"
    ),
]
BundleUrl = Annotated[
    str,
    w.pattern(
        BUNDLE_URL,
        "an https:// or s3:// address of letters, digits and ./_~:@?=&+-, with a bucket and a key for s3://",
        "s3://my-bucket/configure-efa-fsx-lustre-client.zip",
    ),
]
Sha256 = Annotated[
    str,
    w.pattern(
        SHA256,
        "a SHA-256 checksum, 64 hexadecimal digits in lower case, as sha256sum prints it",
        "0" * 64,
        example="what sha256sum prints for it",
    ),
]
ClientEfa = Annotated[
    LustreEfa, w.choice(get_args(LustreEfa), "what a node does where EFA cannot be set up", example="required")
]
LinkPath = Annotated[
    str,
    w.pattern(
        _LINK_PATH,
        "a directory of the file system, as seen from its own root, such as /data, of letters, digits, dots, hyphens "
        "and underscores, without a slash at the end; / is all of it",
        "/data",
    ),
]
LinkedBucket = Annotated[str, t.bucket_name("bucket: {name} and prefix: {prefix}", bucket_problems)]
LinkPrefix = Annotated[
    str,
    w.parsed(lambda value: w.text(value, "a prefix of the bucket, such as tokens"), r"^[^\r\n]*$", "tokens"),
]
LinkEvent = Annotated[repositories.Event, w.choice(repositories.EVENTS, "an event", example="NEW")]
Schedule = Annotated[str, w.parsed(_schedule, SCHEDULE, "cron(0 3 * * ? *)")]


class CheckpointGoal(Section):
    """A checkpoint, and how long the job may wait for it."""

    model: Parameters | None = Field(
        default=None, description="Parameters of the model; a checkpoint has 14 bytes of each. Or `size`."
    )
    size: t.Size | None = Field(default=None, description="All that is written, by all nodes together.")
    stall: t.Duration = Field(description="How long the job may wait while it is written.", examples=["60 s"])
    kept: t.Count = Field(default=2, description="Number of checkpoints that the file system holds.")


class EfaBundle(Section):
    """AWS's tool that sets EFA up for Lustre, for images that lack it."""

    url: BundleUrl = Field(description="https:// or s3:// address of its zip, kept where it does not change.")
    sha256: Sha256 = Field(description="Checksum of the zip; nodes run no other.")


class LustreClient(Section):
    """Settings of nodes that mount a file system with EFA."""

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
        default=None,
        description="Where nodes fetch AWS's tool from. Default: the image has it, or nodes of Slurm install it.",
    )
    efa: ClientEfa = Field(
        default="preferred",
        description="What a node does where EFA cannot be set up. preferred: it mounts over TCP, and an alert fires. "
        "required: it is drained.",
    )


class ExistingLustre(Section):
    """An existing file system."""

    id: t.FileSystemId = Field(description="Its id.")
    mount_name: MountName = Field(description="LustreMountName in `aws fsx describe-file-systems`.")
    efa: t.Flag = Field(default=False, description="Whether it was created with EFA.")
    zone: t.ZoneId | None = Field(default=None, description="Id of its zone. Default: the cluster's.")
    cidr: t.Cidr | None = Field(
        default=None, description="Range of its subnet, to check that EFA reaches it. Default: not checked."
    )
    security_group: t.SecurityGroupId | None = Field(
        default=None, description="Its security group, to which rules for the nodes are added. Default: none are."
    )


class AdoptedLustre(Section):
    """A file system that an earlier deployment of this cluster retained, or that was restored from a backup."""

    id: t.FileSystemId = Field(description="Its id.")
    mount_name: MountName = Field(description="LustreMountName in `aws fsx describe-file-systems`.")
    security_group: t.SecurityGroupId = Field(description="Its security group, which was retained with it.")


class Link(Section):
    """A data repository association: a directory of the file system that shows a bucket, or a part of it."""

    bucket: LinkedBucket | None = Field(default=None, description="An existing bucket. Default: the data bucket.")
    prefix: LinkPrefix | None = Field(
        default=None,
        description="The part of the bucket. Default: all of an existing bucket; of the data bucket the part "
        "with the name of the directory.",
    )
    import_: w.Distinct[LinkEvent] = Field(
        default=(),
        alias="import",
        description="Events of S3 that are imported automatically: any of NEW, CHANGED, DELETED.",
    )
    export: w.Distinct[LinkEvent] = Field(
        default=(),
        description="Events of the file system that are exported automatically: any of NEW, CHANGED, DELETED.",
    )


class Release(Section):
    """A release task: the file system drops the content of cold files that S3 holds; names stay."""

    after: t.Duration = Field(
        description="How long a file must be neither read nor written before it is released, in whole days.",
        examples=["14 d"],
    )
    schedule: Schedule = Field(
        default="cron(0 3 * * ? *)", description="Schedule in UTC, as EventBridge Scheduler writes it."
    )


class Lustre(Section):
    """An FSx for Lustre file system, mounted by every node. Its shape follows from its purpose."""

    throughput: t.Throughput | None = Field(default=None, description="Disk throughput that all clients together need.")
    checkpoint: CheckpointGoal | None = Field(
        default=None, description="A checkpoint, and how long the job may wait for it."
    )
    capacity: t.Size | None = Field(
        default=None,
        description="What it must hold; with `tier`, exactly the capacity to create. Default: what the rest brings.",
    )
    working_set: t.Size | None = Field(
        default=None,
        description="The part of `capacity` that is read again and again; Intelligent-Tiering caches it.",
    )
    temporary: t.Flag = Field(
        default=False, description="Whether all of it may be lost at any time: scratch, without replication."
    )
    deployment_type: DeploymentType | None = Field(
        default=None, description="PERSISTENT_2 or SCRATCH_2, which may be lost at any time. Default: what fits best."
    )
    storage_type: StorageType | None = Field(
        default=None, description="SSD or INTELLIGENT_TIERING. Default: what fits best."
    )
    tier: Tier | None = Field(default=None, description="Throughput tier of SSD. Default: the cheapest.")
    throughput_capacity: t.Throughput | None = Field(
        default=None, description="Throughput of Intelligent-Tiering, exactly. Default: what the other keys require."
    )
    read_cache: ReadCache | None = Field(
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
    compression: Compression = Field(default="LZ4", description="LZ4 or NONE; what is there already stays as it is.")
    lustre_version: LustreVersion | None = Field(
        default=None, description="Version of Lustre; PERSISTENT_2 needs 2.15. Default: 2.15."
    )
    maintenance: Maintenance | None = Field(
        default=None, description="When FSx may patch it, d:HH:MM in UTC, 1 being Monday. Default: FSx chooses."
    )
    backups: t.Duration | None = Field(
        default=None,
        description="For how long daily backups are kept, whole days. FSx deletes them with the file system. Default: "
        "no backups.",
    )
    mount: t.MountPath = Field(default="/fsx", description="Where nodes mount it.")
    client: LustreClient = optional(description="Settings of nodes that mount a file system with EFA.")
    existing: ExistingLustre | None = Field(default=None, description="An existing file system, instead of a new one.")
    adopt: AdoptedLustre | None = Field(
        default=None,
        description="A file system in the subnet of the nodes, used instead of a new one: an earlier deployment "
        "retained it, or it was restored from a backup. The other keys describe it as before.",
    )
    data_repository_associations: dict[LinkPath, Link] = Field(
        default={},
        description="Directories of the file system that show S3, by path from its own root; 8 at most.",
    )
    release_task: Release | None = Field(
        default=None, description="Release of the content of cold files that S3 holds. Default: none."
    )
