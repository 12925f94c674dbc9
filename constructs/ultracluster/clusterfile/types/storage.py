"""The readers of the storage section as pydantic types, each with the JSON schema of what it takes."""

from typing import Annotated

from ultracluster.clusterfile import quantities as q
from ultracluster.clusterfile.readers import basic as basic_readers
from ultracluster.clusterfile.readers import data_bucket
from ultracluster.clusterfile.readers import storage as storage_readers
from ultracluster.clusterfile.readers import values as readers
from ultracluster.clusterfile.types.reader import Reader, ec2_id, quantity, text_of
from ultracluster.hardware import lustre, repositories
from ultracluster.hardware.openzfs import DEPLOYMENTS, DeploymentType
from ultracluster.planning import paths
from ultracluster.planning.lustre_spec import DEPLOYMENT_TYPES, STORAGE_TYPES
from ultracluster.planning.schedules import SCHEDULE
from ultracluster.planning.slurm_boot import BUNDLE_URL, SHA256

# With nodes in one zone a home in two is paid twice, and wants a second subnet.
HOME_DEPLOYMENTS = tuple(word for word, sold in DEPLOYMENTS.items() if sold.zones == 1)

Throughput = Annotated[q.Throughput, quantity(q.Throughput)]
Tier = Annotated[q.Tier, quantity(q.Tier)]
Parameters = Annotated[q.Parameters, quantity(q.Parameters)]
# What FSx knows and this library never buys is read too: the check says why it is refused.
LustreDeploymentType = Annotated[
    str,
    Reader(
        basic_readers.word_of(storage_readers.DEPLOYMENT_TYPES, "a deployment type of FSx for Lustre"),
        enum=list(DEPLOYMENT_TYPES),
    ),
]
LustreStorageType = Annotated[
    str,
    Reader(
        basic_readers.word_of(storage_readers.STORAGE_TYPES, "a storage type of FSx for Lustre"),
        enum=list(STORAGE_TYPES),
    ),
]
ReadCache = Annotated[
    q.Size | str,
    Reader(
        storage_readers.read_cache,
        anyOf=[{"enum": list(storage_readers.READ_CACHES)}, {"type": "string", "pattern": q.Size.pattern()}],
        examples=["10 TiB"],
    ),
]
LustreVersion = Annotated[
    str,
    Reader(
        storage_readers.lustre_version,
        anyOf=[{"enum": list(lustre.VERSIONS_OF_CLIENTS)}, {"enum": list(map(float, lustre.VERSIONS_OF_CLIENTS))}],
    ),
]
Compression = Annotated[
    str,
    Reader(
        basic_readers.word_of(lustre.COMPRESSIONS, "a compression of FSx for Lustre"), enum=list(lustre.COMPRESSIONS)
    ),
]
Maintenance = Annotated[
    str,
    text_of(storage_readers.maintenance, r"^[1-7]:([01][0-9]|2[0-3]):[0-5][0-9]$", "7:03:00"),
]
FileSystemId = Annotated[str, ec2_id("fs", "the id of a file system")]
LustreMountName = Annotated[str, text_of(storage_readers.lustre_mount_name, r"^[A-Za-z0-9_-]{1,8}$", "fsx")]
BundleUrl = Annotated[
    str, text_of(storage_readers.bundle_url, BUNDLE_URL, "s3://my-bucket/configure-efa-fsx-lustre-client.zip")
]
Sha256 = Annotated[str, text_of(storage_readers.sha256, SHA256, "0" * 64)]
LinkPath = Annotated[str, text_of(storage_readers.link_path, storage_readers.LINK_PATH, "/data")]
LinkedBucket = Annotated[
    str, text_of(storage_readers.linked_bucket, r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", "my-datasets")
]
LinkPrefix = Annotated[str, text_of(storage_readers.prefix, r"^[^\r\n]*$", "tokens")]
LinkEvents = Annotated[
    tuple[repositories.Event, ...],
    Reader(
        storage_readers.events,
        type="array",
        items={"enum": list(repositories.EVENTS)},
        uniqueItems=True,
    ),
]
Schedule = Annotated[str, text_of(storage_readers.schedule, SCHEDULE, "cron(0 3 * * ? *)")]
DataBucket = Annotated[
    bool | data_bucket.ExistingBucket,
    Reader(data_bucket.read_data_bucket, data_bucket.write_data_bucket, **data_bucket.schema()),
]
MountPath = Annotated[str, text_of(readers.mount_path, paths.MOUNT, "/fsx")]
HomePath = Annotated[str, text_of(storage_readers.home_path, paths.MOUNT, "/home")]
HomeDeployment = Annotated[
    DeploymentType,
    Reader(
        basic_readers.word_of(HOME_DEPLOYMENTS, "a deployment of FSx for OpenZFS in one zone"),
        enum=list(HOME_DEPLOYMENTS),
    ),
]
