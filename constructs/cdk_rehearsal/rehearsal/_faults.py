"""Failures on demand: a chosen resource fails when it is created, updated or deleted."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args
from uuid import NAMESPACE_URL, uuid5

from cdk_rehearsal.registry import did_you_mean
from cdk_rehearsal.rehearsal._blueprint import Blueprint
from cdk_rehearsal.rehearsal._errors import RehearsalError, ResourceError

#: Action that fails.
FaultAction = Literal["create", "update", "delete"]
ACTIONS: tuple[FaultAction, ...] = get_args(FaultAction)
_PATH = "aws:cdk:path"


@dataclass(kw_only=True)
class Fault:
    """A failure that waits for its resource.

    Args:
        action: What fails.
        resource: Logical id, STACK/LOGICAL_ID, construct path or resource type, with `*` for any text.
        times: How many times it fails. After that, the same action succeeds.
        met: The resources that failed, as STACK/LOGICAL_ID.
    """

    action: FaultAction
    resource: str
    times: int = 1
    met: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """Return the fault of RESOURCE[:create|update|delete]; without an action, the creation fails."""
        resource, _, action = text.rpartition(":")
        for known in ACTIONS:
            if action == known and resource:
                return cls(action=known, resource=resource)
        return cls(action="create", resource=text)

    def __str__(self) -> str:
        return f"{self.action} of {self.resource}"

    def names(self, stack: str, logical_id: str, type_name: str, path: str) -> bool:
        """Check that a resource is the one that is to fail."""
        names = names_of(stack, logical_id, type_name, path)
        return any(fnmatchcase(name, self.resource) for name in names)


class Faults(list[Fault]):
    """The failures of a local cloud."""

    def add(self, action: FaultAction, resource: str, *, times: int = 1) -> Fault:
        """Make a resource fail.

        Args:
            action: `create`, `update` or `delete`.
            resource: Logical id, STACK/LOGICAL_ID, construct path or resource type, with `*` for any text.
            times: How many times it fails.

        Raises:
            RehearsalError: If there is no such action.
        """
        if action not in ACTIONS:
            raise RehearsalError(f"a resource fails on {', '.join(ACTIONS)}, got {action!r}")
        fault = Fault(action=action, resource=resource, times=times)
        self.append(fault)
        return fault

    def meet(self, action: FaultAction, blueprint: Blueprint) -> None:
        """Raise ResourceError if this action on this resource is to fail."""
        b = blueprint
        for fault in self:
            if fault.action != action or fault.times < 1:
                continue
            if fault.names(b.stack_name, b.logical_id, b.type_name, b.path):
                fault.times -= 1
                fault.met += (f"{b.stack_name}/{b.logical_id}",)
                raise ResourceError(_reason(b, len(fault.met)))


def construct_path(resource: Mapping[str, Any]) -> str:
    """Return the construct path that the CDK writes into a resource of a template, or an empty string."""
    metadata = resource.get("Metadata")
    return str(metadata.get(_PATH, "")) if isinstance(metadata, Mapping) else ""


def names_of(stack: str, logical_id: str, type_name: str, path: str) -> Iterator[str]:
    """Go through the names by which a resource can be chosen; a construct path with and without its last `Resource`."""
    yield from (logical_id, f"{stack}/{logical_id}", type_name)
    if path:
        yield path
        yield path.removesuffix("/Resource")


def check_names(faults: Iterable[Fault], templates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a line for each fault that names no resource of the templates, by the name of their stack."""
    resources = [
        (stack, logical_id, str(resource.get("Type")), construct_path(resource))
        for stack, template in templates.items()
        for logical_id, resource in template.get("Resources", {}).items()
    ]
    known = {name for resource in resources for name in names_of(*resource)}
    problems = []
    for fault in faults:
        if not any(fault.names(*resource) for resource in resources):
            resource, colon, _ = fault.resource.replace("::", "//").partition(":")
            hint = did_you_mean(resource.replace("//", "::"), known, most=3)
            hint += f"; the actions are {', '.join(ACTIONS)}" if colon else ""
            problems.append(f"no resource has the logical id, construct path or type {fault.resource}{hint}")
    return problems


def _reason(blueprint: Blueprint, number: int) -> str:
    # The form of the reason is that of resource handlers:
    # https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html
    # (read 2026-11-23)
    token = uuid5(NAMESPACE_URL, f"{blueprint.stack_id}/{blueprint.logical_id}/{number}")
    return (
        'Resource handler returned message: "failed on demand of the rehearsal" '
        f"(RequestToken: {token}, HandlerErrorCode: GeneralServiceException)"
    )
