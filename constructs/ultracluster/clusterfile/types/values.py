"""The readers as pydantic types, each with the JSON schema of what it takes."""

from ipaddress import IPv4Network
from typing import Annotated, get_args

from ultracluster.clusterfile import quantities as q
from ultracluster.clusterfile.readers import basic as basic_readers
from ultracluster.clusterfile.readers import capacity, image, placement
from ultracluster.clusterfile.readers import nodes as node_readers
from ultracluster.clusterfile.readers import notices as notice_readers
from ultracluster.clusterfile.readers import values as readers
from ultracluster.clusterfile.types import capacity as capacity_schema
from ultracluster.clusterfile.types.reader import Reader, ec2_id, quantity, text_of
from ultracluster.hardware import INSTANCE_TYPES, LAYOUTS, ULTRASERVERS, eks, pcs, zones
from ultracluster.hardware import Layout as LayoutWord
from ultracluster.hardware.instance_type import Architecture as ArchitectureWord
from ultracluster.hardware.instance_type import Kind, Purchase
from ultracluster.planning import Capacity as CapacityValue
from ultracluster.planning import Image as ImageValue
from ultracluster.planning import PlacementWish

Size = Annotated[q.Size, quantity(q.Size)]
Duration = Annotated[q.Duration, quantity(q.Duration)]
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
SecurityGroupId = Annotated[str, ec2_id("sg", "the id of a security group")]
Spare = Annotated[int, Reader(basic_readers.spare, type="integer", minimum=0)]
Count = Annotated[int, Reader(basic_readers.count, type="integer", minimum=1)]
Flag = Annotated[bool, Reader(basic_readers.flag, type="boolean")]
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
VpcId = Annotated[str, ec2_id("vpc", "the id of a VPC")]
SubnetId = Annotated[str, ec2_id("subnet", "the id of a subnet")]
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
NodeGroupName = Annotated[str, text_of(node_readers.node_group_name, node_readers.NODE_GROUP, "train")]
Tags = Annotated[
    dict[str, str],
    Reader(readers.tags, type="object", additionalProperties={"type": "string", "maxLength": 256}, maxProperties=40),
]
