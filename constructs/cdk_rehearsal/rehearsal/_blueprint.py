"""Description of a resource in a template, and what creates it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cdk_rehearsal.registry import ResourceType

# The access key of a rehearsal names the account that it is for; moto makes others when a role is assumed.
KEY_PREFIX = "REHEARSAL"


class Maker(StrEnum):
    """Maker of a resource: a service model of moto, the registry schema alone, or a custom resource's handler."""

    MOTO = "moto"
    SCHEMA = "schema"
    HANDLER = "handler"
    STAND_IN = "stand-in"
    STACK = "stack"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Environment:
    """Account and region of a stack."""

    account: str
    region: str

    @property
    def partition(self) -> str:
        """Partition of the region, such as aws-cn."""
        # Imported on use: moto takes half a second.
        from moto.utilities.utils import get_partition

        return get_partition(self.region)


@dataclass(frozen=True, kw_only=True, slots=True)
class Blueprint:
    """Description of one resource in a template, with every intrinsic resolved."""

    stack_name: str
    stack_id: str
    logical_id: str
    type: ResourceType
    type_name: str
    properties: dict[str, Any]
    environment: Environment
    deletion_policy: str = "Delete"
    replace_policy: str = "Delete"
    path: str = ""

    @property
    def normal(self) -> Any:
        """Properties in the form in which a type compares them."""
        return self.type.normal(self.properties)

    def changed(self, properties: dict[str, Any]) -> list[str]:
        """Names of the top-level properties that differ from these."""
        return sorted(
            name for name in {*self.properties, *properties} if self.properties.get(name) != properties.get(name)
        )
