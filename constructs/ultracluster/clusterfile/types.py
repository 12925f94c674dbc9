"""The readers as pydantic types, each with the JSON schema of what it takes."""

import re
from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Annotated, Any

from pydantic_core import core_schema

from ultracluster.clusterfile import capacity, readers
from ultracluster.clusterfile import quantities as q
from ultracluster.hardware import INSTANCE_TYPES, LAYOUTS, pcs, zones
from ultracluster.hardware import Layout as LayoutWord
from ultracluster.planning import Capacity as CapacityValue
from ultracluster.planning import paths


class Reader:
    """Makes a pydantic type of a reader.

    Args:
        read: Takes what YAML gave; raises ValueError.
        **schema: JSON schema of what it takes.
    """

    def __init__(self, read: Callable[[Any], Any], **schema: Any) -> None:
        self._read = read
        self._schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """How pydantic reads and writes it."""
        written = core_schema.plain_serializer_function_ser_schema(write)
        return core_schema.no_info_plain_validator_function(self._read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """What an editor completes from."""
        return dict(self._schema)


def write(value: Any) -> Any:
    """A value as the file would say it."""
    if isinstance(value, q.Quantity | IPv4Network):
        return str(value)
    return getattr(value, "word", value)


def _quantity(kind: type[q.Quantity]) -> Reader:
    return Reader(kind.parse, type="string", pattern=kind.pattern(), examples=[kind.example])


def _text(read: Callable[[Any], Any], pattern: re.Pattern[str] | str, *examples: str) -> Reader:
    found = pattern if isinstance(pattern, str) else f"^(?:{re.sub(r'[?]P<[a-z]+>', '', pattern.pattern)})$"
    return Reader(read, type="string", pattern=found, examples=list(examples))


def _ec2_id(prefix: str, what: str) -> Reader:
    return _text(
        readers.ec2_id(prefix, what), rf"^{prefix}-[0-9a-f]{{8}}([0-9a-f]{{9}})?$", f"{prefix}-0123456789abcdef0"
    )


Throughput = Annotated[q.Throughput, _quantity(q.Throughput)]
Size = Annotated[q.Size, _quantity(q.Size)]
Duration = Annotated[q.Duration, _quantity(q.Duration)]
Tier = Annotated[q.Tier, _quantity(q.Tier)]
Name = Annotated[str, _text(readers.name, pcs.CLUSTER_NAME, "llama")]
Region = Annotated[str, _text(readers.region, readers.REGION, "us-east-2")]
ZoneId = Annotated[str, _text(readers.zone_id, zones.ZONE_ID, "use2-az1")]
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
        readers.instance_type_name,
        anyOf=[{"enum": list(INSTANCE_TYPES)}, {"type": "string", "pattern": "^[a-z0-9-]+\\.[a-z0-9-]+$"}],
    ),
]
Count = Annotated[int, Reader(readers.count, type="integer", minimum=1)]
Flag = Annotated[bool, Reader(readers.flag, type="boolean")]
Layout = Annotated[LayoutWord, Reader(readers.layout, enum=list(LAYOUTS))]
Capacity = Annotated[CapacityValue, Reader(capacity.read_capacity, **capacity.schema())]
ControllerSize = Annotated[str, Reader(readers.controller_size, enum=list(pcs.SIZES))]
SlurmVersion = Annotated[
    str,
    Reader(
        readers.slurm_version,
        anyOf=[{"enum": list(pcs.SLURM_VERSIONS)}, {"enum": [float(word) for word in pcs.SLURM_VERSIONS]}],
    ),
]
Cidr = Annotated[
    IPv4Network,
    _text(readers.cidr, r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$", "10.0.0.0/16"),
]
ImageId = Annotated[str, _ec2_id("ami", "the id of an image")]
VpcId = Annotated[str, _ec2_id("vpc", "the id of a VPC")]
SubnetId = Annotated[str, _ec2_id("subnet", "the id of a subnet")]
KeyArn = Annotated[
    str,
    _text(
        readers.key_arn,
        readers.KEY_ARN,
        "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
    ),
]
MountPath = Annotated[str, _text(readers.mount_path, paths.MOUNT, "/fsx")]
NodeGroupName = Annotated[str, _text(readers.node_group_name, readers.NODE_GROUP, "train")]
Tags = Annotated[
    dict[str, str],
    Reader(readers.tags, type="object", additionalProperties={"type": "string", "maxLength": 256}, maxProperties=40),
]
