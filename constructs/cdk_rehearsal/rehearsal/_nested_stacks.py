"""Nested stacks: a resource that is a stack of its own."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from cdk_rehearsal.rehearsal import _assets as assets
from cdk_rehearsal.rehearsal._blueprint import Blueprint, Maker
from cdk_rehearsal.rehearsal._errors import ResourceError
from cdk_rehearsal.rehearsal._state import ChangeSet, Resource, Stack, Stacks
from cdk_rehearsal.rehearsal._values import Values

TYPE = "AWS::CloudFormation::Stack"


class _Engine(Protocol):
    """The engine above: it deploys nested stacks as it deploys their parents."""

    stacks: Stacks

    @property
    def prepare(self) -> Callable[..., tuple[Stack, ChangeSet]]: ...

    @property
    def execute(self) -> Callable[[Stack, ChangeSet], None]: ...

    @property
    def delete(self) -> Callable[[Stack], None]: ...


class NestedStackDriver:
    """Creates, updates and deletes nested stacks with the engine that runs their parents."""

    def __init__(self, engine: _Engine) -> None:
        self._engine = engine

    def create(self, blueprint: Blueprint, generation: int) -> Resource:
        stack = self._deploy(blueprint, Values(blueprint, generation).name_of(128), "CREATE")
        return Resource(
            blueprint=blueprint,
            physical_id=stack.id,
            maker=Maker.STACK,
            generation=generation,
            data=_outputs(stack),
        )

    def update(self, old: Resource, blueprint: Blueprint) -> Resource:
        stack = self._deploy(blueprint, old.physical_id, "UPDATE")
        return replace(old, blueprint=blueprint, data=_outputs(stack))

    def delete(self, resource: Resource) -> None:
        stack = self._engine.stacks.get(resource.physical_id, resource.blueprint.environment)
        self._engine.delete(stack)
        if stack.status != "DELETE_COMPLETE":
            raise ResourceError(f"Embedded stack {stack.id} was not successfully deleted: {stack.reason}")

    @staticmethod
    def attribute(resource: Resource, name: str) -> Any:
        """Return an output, as `Outputs.Name`."""
        output = name.removeprefix("Outputs.")
        if output not in resource.data:
            raise ResourceError(f"the nested stack {resource.physical_id} has no output {output}")
        return resource.data[output]

    def _deploy(self, blueprint: Blueprint, name: str, kind: str) -> Stack:
        given = {
            key: ",".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in blueprint.properties.get("Parameters", {}).items()
        }
        stack, change_set = self._engine.prepare(
            name="nested",
            stack_name=name,
            kind=kind,
            text=assets.read_url(blueprint.properties["TemplateURL"], blueprint.environment),
            given=dict(given),
            tags={tag["Key"]: tag["Value"] for tag in blueprint.properties.get("Tags", [])},
            environment=blueprint.environment,
        )
        if change_set.status != "FAILED":
            self._engine.execute(stack, change_set)
            if stack.status != f"{kind}_COMPLETE":
                reasons = [e["ResourceStatusReason"] for e in stack.events if e["ResourceStatus"].endswith("_FAILED")]
                raise ResourceError(f"Embedded stack {stack.id} was not successfully deployed: {'; '.join(reasons)}")
        return stack


def _outputs(stack: Stack) -> dict[str, Any]:
    return {name: output["OutputValue"] for name, output in stack.outputs.items()}
