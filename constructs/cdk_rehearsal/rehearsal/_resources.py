"""Resources: created, updated, deleted and read for attributes, each by the driver that can do it best."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from cdk_rehearsal.registry import DELETION_PROTECTION, service_problems
from cdk_rehearsal.rehearsal._blueprint import Blueprint, Maker
from cdk_rehearsal.rehearsal._custom_resources import CustomResourceDriver
from cdk_rehearsal.rehearsal._errors import ResourceError, TemplateError
from cdk_rehearsal.rehearsal._faults import Faults
from cdk_rehearsal.rehearsal._journal import Journal
from cdk_rehearsal.rehearsal._moto_models import MotoDriver
from cdk_rehearsal.rehearsal._nested_stacks import TYPE
from cdk_rehearsal.rehearsal._schema_driver import SchemaDriver
from cdk_rehearsal.rehearsal._state import Resource

_R = TypeVar("_R")


class Driver(Protocol):
    """Resources of one maker. `attribute` returns None where the driver has no value."""

    def create(self, blueprint: Blueprint, generation: int) -> Resource: ...

    def update(self, old: Resource, blueprint: Blueprint) -> Resource: ...

    def delete(self, resource: Resource) -> None: ...

    def attribute(self, resource: Resource, name: str) -> Any: ...


class Resources:
    """All resources. Properties are checked against the registry schema before anything is created."""

    def __init__(
        self, journal: Journal, custom: CustomResourceDriver, nested: Driver, faults: Faults | None = None
    ) -> None:
        self._faults = Faults() if faults is None else faults
        self._moto = MotoDriver(journal)
        self._drivers: dict[Maker, Driver] = {
            Maker.HANDLER: custom,
            Maker.STAND_IN: custom,
            Maker.STACK: nested,
            Maker.MOTO: self._moto,
            Maker.SCHEMA: SchemaDriver(),
        }
        self._made_up: set[str] = set()

    def create(self, blueprint: Blueprint, generation: int = 0) -> Resource:
        """Create a resource, or raise ResourceError with the reason."""
        self._check(blueprint)
        self._faults.meet("create", blueprint)
        driver = self._drivers[self._maker(blueprint)]
        resource = _guarded("create", blueprint, driver.create, blueprint, generation)
        if not resource.physical_id:
            raise ResourceError(f"{blueprint.type_name} was created without a physical id")
        if resource.maker in (Maker.SCHEMA, Maker.STAND_IN):
            self._remember(resource.physical_id)
        return resource

    def update(self, old: Resource, blueprint: Blueprint) -> Resource:
        """Update a resource in place; a custom resource may come back with another physical id."""
        self._check(blueprint)
        self._faults.meet("update", blueprint)
        return _guarded("update", blueprint, self._drivers[old.maker].update, old, blueprint)

    def delete(self, resource: Resource) -> None:
        self._faults.meet("delete", resource.blueprint)
        protection = DELETION_PROTECTION.get(resource.blueprint.type_name, "")
        if str(resource.blueprint.properties.get(protection)).lower() == "true":
            raise ResourceError(f"{resource.physical_id} cannot be deleted while {protection} is enabled")
        _guarded("delete", resource.blueprint, self._drivers[resource.maker].delete, resource)

    def attribute(self, resource: Resource, name: str) -> Any:
        """Return the value of `Fn::GetAtt`, or raise TemplateError when the type has no such attribute."""
        blueprint, driver = resource.blueprint, self._drivers[resource.maker]
        if resource.maker is Maker.STACK:
            return driver.attribute(resource, name)
        if resource.maker in (Maker.HANDLER, Maker.STAND_IN):
            return self._remember(driver.attribute(resource, name))
        if (schema := blueprint.type.attribute(name)) is None:
            raise TemplateError(
                f"Template error: resource {blueprint.logical_id} ({blueprint.type_name}) does not support attribute "
                f"type {name} in Fn::GetAtt"
            )
        value = _guarded("Fn::GetAtt of", blueprint, driver.attribute, resource, name)
        if not isinstance(value, str | int | float | bool | list):
            value = self._remember(resource.values.at(name.split(".")))
        return str(value) if isinstance(value, int | float) and schema.get("type", "string") == "string" else value

    def _maker(self, blueprint: Blueprint) -> Maker:
        if CustomResourceDriver.is_custom(blueprint.type_name):
            return Maker.HANDLER
        if blueprint.type_name == TYPE:
            return Maker.STACK
        return Maker.MOTO if self._moto.can_make(blueprint) else Maker.SCHEMA

    def _check(self, blueprint: Blueprint) -> None:
        properties = blueprint.properties
        problems = [*_left_over(properties, "#")] or blueprint.type.problems(properties, self._made_up)
        problems = problems or service_problems(blueprint.type_name, properties)
        if problems:
            raise ResourceError(
                f"Properties validation failed for resource {blueprint.logical_id} ({blueprint.type_name}) with "
                f"message: [{', '.join(problems)}]"
            )

    def _remember(self, value: Any) -> Any:
        """Note an ARN that was made up, and give it back."""
        if isinstance(value, str) and value.startswith("arn:"):
            self._made_up.add(value)
        return value


def _left_over(node: Any, where: str) -> list[str]:
    """Return the places of everything that is no plain value, above all of intrinsics that were not resolved."""
    if isinstance(node, list):
        return [problem for index, item in enumerate(node) for problem in _left_over(item, f"{where}/{index}")]
    if isinstance(node, dict):
        bad = [str(key) for key in node if key == "Ref" or str(key).startswith("Fn::")]
        below = [problem for key, item in node.items() for problem in _left_over(item, f"{where}/{key}")]
        return [*(f"{where}: {key} was not resolved" for key in bad), *below]
    if isinstance(node, str) and "{{resolve:" in node:
        return [f"{where}: {node[:100]} was not resolved"]
    if node is None or isinstance(node, str | int | float):
        return [] if node is not None else [f"{where}: null is not a value"]
    return [f"{where}: {type(node).__name__} is not a value"]


def _guarded(doing: str, blueprint: Blueprint, call: Callable[..., _R], *arguments: Any) -> _R:
    """Turn whatever moto raises into a reason for the stack's events."""
    try:
        return call(*arguments)
    except ResourceError:
        raise
    except TemplateError as error:
        raise ResourceError(str(error)) from error
    except Exception as error:
        message = getattr(error, "message", None) or str(error)
        raise ResourceError(f"{doing} {blueprint.type_name}: {type(error).__name__}: {message}") from error
