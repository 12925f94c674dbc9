"""Resources: made, changed, deleted and asked for attributes, each by what can do it best."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from cdk_rehearsal.rehearsal import _nested_stacks as nested_stacks
from cdk_rehearsal.rehearsal._custom_resources import CustomResourceDriver
from cdk_rehearsal.rehearsal._errors import ResourceError, TemplateError
from cdk_rehearsal.rehearsal._journal import Journal, Maker
from cdk_rehearsal.rehearsal._moto_models import MotoDriver
from cdk_rehearsal.rehearsal._names import Names
from cdk_rehearsal.rehearsal._state import Blueprint, Resource, values_of

if TYPE_CHECKING:
    from cdk_rehearsal.rehearsal._engine import Engine

_R = TypeVar("_R")


class Resources:
    """The one door to all resources. Properties are checked against the registry schema before anything is made.

    Args:
        custom: What runs the handlers of custom resources.
        engine: What runs nested stacks.
        journal: Where stand-ins are written down.
    """

    def __init__(self, *, custom: CustomResourceDriver, engine: "Engine", journal: Journal) -> None:
        self._stacks = nested_stacks.NestedStackDriver(engine)
        self._moto = MotoDriver(journal)
        self._custom = custom
        self._made_up: set[str] = set()
        self._names = Names()

    def create(self, blueprint: Blueprint, generation: int = 0) -> Resource:
        """Make a resource.

        Raises:
            ResourceError: with the reason when it cannot be made.
        """
        self._check(blueprint)
        if self._custom.is_custom(blueprint.type_name):
            resource = _guarded("create", blueprint, self._custom.create, blueprint, generation)
        elif blueprint.type_name == nested_stacks.TYPE:
            resource = _guarded("create", blueprint, self._stacks.create, blueprint, generation)
        elif self._moto.can_make(blueprint):
            resource = _guarded("create", blueprint, self._moto.create, blueprint, generation)
        else:
            self._names.take(blueprint)
            resource = Resource(
                blueprint=blueprint,
                physical_id=values_of(blueprint, generation).physical_id,
                maker=Maker.SCHEMA,
                generation=generation,
            )
        if not resource.physical_id:
            raise ResourceError(f"{blueprint.type_name} was made without a physical id")
        if resource.maker in (Maker.SCHEMA, Maker.STAND_IN):
            self._remember(resource.physical_id)
        return resource

    def update(self, old: Resource, blueprint: Blueprint) -> Resource:
        """Change a resource in place; a custom resource may come back with another physical id."""
        self._check(blueprint)
        if old.maker in (Maker.HANDLER, Maker.STAND_IN):
            return _guarded("update", blueprint, self._custom.update, old, blueprint)
        if old.maker is Maker.STACK:
            return _guarded("update", blueprint, self._stacks.update, old, blueprint)
        if old.maker is Maker.MOTO:
            return _guarded("update", blueprint, self._moto.update, old, blueprint)
        return replace(old, blueprint=blueprint)

    def delete(self, resource: Resource) -> None:
        """Delete a resource."""
        if resource.maker in (Maker.HANDLER, Maker.STAND_IN):
            _guarded("delete", resource.blueprint, self._custom.delete, resource)
        elif resource.maker is Maker.STACK:
            _guarded("delete", resource.blueprint, self._stacks.delete, resource)
        elif resource.maker is Maker.MOTO:
            _guarded("delete", resource.blueprint, self._moto.delete, resource)
        else:
            self._names.free(resource)

    def attribute(self, resource: Resource, name: str) -> Any:
        """Return the value of `Fn::GetAtt`.

        Raises:
            TemplateError: when the type has no such attribute.
        """
        blueprint = resource.blueprint
        if resource.maker in (Maker.HANDLER, Maker.STAND_IN):
            return self._remember(self._custom.attribute(resource, name))
        if resource.maker is Maker.STACK:
            return self._stacks.attribute(resource, name)
        if (schema := blueprint.type.attribute(name)) is None:
            raise TemplateError(
                f"Template error: resource {blueprint.logical_id} ({blueprint.type_name}) does not support attribute "
                f"type {name} in Fn::GetAtt"
            )
        value = None
        if resource.maker is Maker.MOTO:
            value = _guarded("Fn::GetAtt of", blueprint, self._moto.attribute, resource, name)
        if not isinstance(value, str | int | float | bool | list):
            value = self._remember(resource.values.at(name.split(".")))
        return str(value) if isinstance(value, int | float) and schema.get("type", "string") == "string" else value

    def _check(self, blueprint: Blueprint) -> None:
        properties = blueprint.properties
        problems = [*_left_over(properties, "#")] or blueprint.type.problems(properties, self._made_up)
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
