"""The readers as pydantic types, each with the JSON schema of what it takes."""

import re
from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Annotated, Any, get_args

from pydantic_core import core_schema

from ultracluster.clusterfile import (
    basic_readers,
    capacity,
    capacity_schema,
    data_bucket,
    image,
    node_readers,
    notice_readers,
    placement,
    readers,
    storage_readers,
)
from ultracluster.clusterfile import quantities as q
from ultracluster.hardware import INSTANCE_TYPES, LAYOUTS, ULTRASERVERS, eks, lustre, pcs, repositories, zones
from ultracluster.hardware import Layout as LayoutWord
from ultracluster.hardware.instance_type import Architecture as ArchitectureWord
from ultracluster.hardware.instance_type import Kind, Purchase
from ultracluster.hardware.openzfs import DEPLOYMENTS, DeploymentType
from ultracluster.planning import Capacity as CapacityValue
from ultracluster.planning import Image as ImageValue
from ultracluster.planning import PlacementWish, paths
from ultracluster.planning.lustre_spec import DEPLOYMENT_TYPES, STORAGE_TYPES
from ultracluster.planning.schedules import SCHEDULE
from ultracluster.planning.slurm_boot import BUNDLE_URL, SHA256

# With nodes in one zone a home in two is paid twice, and wants a second subnet.
HOME_DEPLOYMENTS = tuple(word for word, sold in DEPLOYMENTS.items() if sold.zones == 1)


class Reader:
    """Makes a pydantic type of a reader.

    Args:
        read: Takes what YAML gave; raises ValueError.
        write: Gives back what YAML would say. Default: `write`.
        **schema: JSON schema of what it takes.
    """

    def __init__(self, read: Callable[[Any], Any], write: Callable[[Any], Any] | None = None, **schema: Any) -> None:
        self._read = read
        self._write = write
        self._schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """How pydantic reads and writes it."""
        written = core_schema.plain_serializer_function_ser_schema(self._write or write)
        return core_schema.no_info_plain_validator_function(self._read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """What an editor completes from."""
        return dict(self._schema)


def write(value: Any) -> Any:
    """A value as the file would say it."""
    if isinstance(value, q.Quantity | IPv4Network):
        return str(value)
    return list(value) if isinstance(value, tuple) else getattr(value, "word", value)


def _quantity(kind: type[q.Quantity]) -> Reader:
    return Reader(kind.parse, type="string", pattern=kind.pattern(), examples=[kind.example])


def text_of(read: Callable[[Any], Any], pattern: re.Pattern[str] | str, *examples: str) -> Reader:
    """The type of a text that a pattern describes."""
    found = pattern if isinstance(pattern, str) else f"^(?:{re.sub(r'[?]P<[a-z]+>', '', pattern.pattern)})$"
    return Reader(read, type="string", pattern=found, examples=list(examples))


def _ec2_id(prefix: str, what: str) -> Reader:
    return text_of(
        readers.ec2_id(prefix, what), rf"^{prefix}-[0-9a-f]{{8}}([0-9a-f]{{9}})?$", f"{prefix}-0123456789abcdef0"
    )


Throughput = Annotated[q.Throughput, _quantity(q.Throughput)]
Size = Annotated[q.Size, _quantity(q.Size)]
Duration = Annotated[q.Duration, _quantity(q.Duration)]
Tier = Annotated[q.Tier, _quantity(q.Tier)]
Name = Annotated[str, text_of(readers.name, pcs.CLUSTER_NAME, "llama")]
Region = Annotated[str, text_of(readers.region, readers.REGION, "us-east-2")]
ZoneId = Annotated[str, text_of(readers.zone_id, zones.ZONE_ID, "use2-az1")]
Account = Annotated[
    str,
    Reader(
        readers.account,
        anyOf=[
            {"type": "string", "pattern": "^[0-9]{12}$"},
            {"type": "integer", "minimum": 10**11, "maximum": 10**12 - 1},
        ],
        examples=["123456789012"],
    ),
]
Orchestrator = Annotated[str, Reader(readers.orchestrator, enum=list(readers.ORCHESTRATORS))]
# A new type is no mistake to an editor; `check` knows which ones this release has.
InstanceTypeName = Annotated[
    str,
    Reader(
        node_readers.instance_type_name,
        anyOf=[
            {"enum": [*INSTANCE_TYPES, *ULTRASERVERS]},
            {"type": "string", "pattern": f"^({node_readers.INSTANCE_TYPE.pattern})$"},
        ],
    ),
]
CardCount = Annotated[int, Reader(basic_readers.card_count, type="integer", minimum=1, maximum=128)]
UltraServerName = Annotated[str, text_of(node_readers.ultraserver_name, r"^u-[a-z0-9-]{1,30}$", "u-p6e-gb300x72")]
Architecture = Annotated[ArchitectureWord, Reader(node_readers.architecture, enum=list(get_args(ArchitectureWord)))]
InterfaceKind = Annotated[
    Kind, Reader(basic_readers.word_of(get_args(Kind), "a kind of network interface"), enum=list(get_args(Kind)))
]
PurchaseWay = Annotated[
    Purchase, Reader(basic_readers.word_of(get_args(Purchase), "a way to buy instances"), enum=list(get_args(Purchase)))
]
GpuName = Annotated[str, text_of(node_readers.gpu_name, node_readers.GPU, "GB200")]
DeclaredTypeName = Annotated[
    str,
    Reader(
        node_readers.declared_type_name,
        type="string",
        pattern=r"^[a-z][a-z0-9-]{0,30}\.[a-z0-9-]{1,20}$",
    ),
]
Acknowledged = Annotated[
    dict[str, str],
    Reader(
        notice_readers.acknowledged,
        type="object",
        propertyNames={"enum": list(notice_readers.WARNINGS)},
        additionalProperties={"type": "string", "minLength": 1},
    ),
]
Parameters = Annotated[q.Parameters, _quantity(q.Parameters)]
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
FileSystemId = Annotated[str, _ec2_id("fs", "the id of a file system")]
SecurityGroupId = Annotated[str, _ec2_id("sg", "the id of a security group")]
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
Spare = Annotated[int, Reader(basic_readers.spare, type="integer", minimum=0)]
Count = Annotated[int, Reader(basic_readers.count, type="integer", minimum=1)]
Flag = Annotated[bool, Reader(basic_readers.flag, type="boolean")]
DataBucket = Annotated[
    bool | data_bucket.ExistingBucket,
    Reader(data_bucket.read_data_bucket, data_bucket.write_data_bucket, **data_bucket.schema()),
]
Layout = Annotated[LayoutWord, Reader(node_readers.layout, enum=list(LAYOUTS))]
Capacity = Annotated[
    CapacityValue | capacity.Blocks,
    Reader(capacity.read_capacity, capacity.write_capacity, **capacity_schema.schema()),
]
PlacementGroup = Annotated[
    PlacementWish, Reader(placement.read_placement, placement.write_placement, **placement.schema())
]
Image = Annotated[ImageValue, Reader(image.read_image, image.write_image, **image.schema())]
Labels = Annotated[
    dict[str, str],
    Reader(
        node_readers.labels,
        type="object",
        propertyNames={"pattern": f"^{node_readers.LABEL_NAME.pattern}$"},
        additionalProperties={"type": "string", "pattern": f"^{node_readers.LABEL.pattern}$"},
    ),
]
Taints = Annotated[
    dict[str, str],
    Reader(
        node_readers.taints,
        type="object",
        propertyNames={"pattern": f"^{node_readers.TAINT_KEY.pattern}$"},
        additionalProperties={"enum": list(node_readers.TAINT_EFFECTS)},
    ),
]
TopicArn = Annotated[
    str,
    text_of(notice_readers.topic_arn, notice_readers.TOPIC_ARN, "arn:aws:sns:us-east-2:123456789012:oncall"),
]
Email = Annotated[str, text_of(notice_readers.email, notice_readers.EMAIL, "oncall@example.com")]
ControllerSize = Annotated[str, Reader(readers.controller_size, enum=list(pcs.SIZES))]
SlurmVersion = Annotated[
    str,
    Reader(
        readers.slurm_version,
        anyOf=[{"enum": list(pcs.SLURM_VERSIONS)}, {"enum": [float(word) for word in pcs.SLURM_VERSIONS]}],
    ),
]
SlurmSettings = Annotated[
    dict[str, str],
    Reader(
        readers.slurm_settings,
        type="object",
        propertyNames={"pattern": "^[A-Za-z][A-Za-z0-9]{1,60}$"},
        additionalProperties={"type": ["string", "number"]},
    ),
]
Cidr = Annotated[
    IPv4Network,
    text_of(readers.cidr, r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$", "10.0.0.0/16"),
]
VpcId = Annotated[str, _ec2_id("vpc", "the id of a VPC")]
SubnetId = Annotated[str, _ec2_id("subnet", "the id of a subnet")]
NodeOs = Annotated[
    eks.NodeOs, Reader(basic_readers.word_of(eks.NODE_OSES, "the system of nodes"), enum=list(eks.NODE_OSES))
]
SubnetIds = dict[ZoneId, SubnetId]
Cidrs = dict[ZoneId, Cidr]
KeyArn = Annotated[
    str,
    text_of(
        readers.key_arn,
        readers.KEY_ARN,
        "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
    ),
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
NodeGroupName = Annotated[str, text_of(node_readers.node_group_name, node_readers.NODE_GROUP, "train")]
Tags = Annotated[
    dict[str, str],
    Reader(readers.tags, type="object", additionalProperties={"type": "string", "maxLength": 256}, maxProperties=40),
]
