"""Failures on demand: a chosen resource fails when it is created, updated or deleted."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, get_args

from cdk_rehearsal.rehearsal._blueprint import Blueprint
from cdk_rehearsal.rehearsal._errors import RehearsalError, ResourceError

#: Action that fails.
FaultAction = Literal["create", "update", "delete"]


@dataclass(kw_only=True)
class Fault:
    """A failure that waits for its resource.

    Args:
        action: What fails.
        resource: Logical id or resource type, with `*` for any text.
        reason: Message of the service.
        times: How many times it fails. After that, the same action succeeds.
    """

    action: FaultAction
    resource: str
    reason: str = "Resource handler returned message: failed on demand"
    times: int = 1


class Faults(list[Fault]):
    """The failures of a local cloud."""

    def add(self, action: FaultAction, resource: str, *, times: int = 1) -> Fault:
        """Make a resource fail.

        Args:
            action: `create`, `update` or `delete`.
            resource: Logical id or resource type, with `*` for any text.
            times: How many times it fails.

        Raises:
            RehearsalError: If there is no such action.
        """
        if action not in get_args(FaultAction):
            raise RehearsalError(f"a resource fails on {', '.join(get_args(FaultAction))}, got {action!r}")
        fault = Fault(action=action, resource=resource, times=times)
        self.append(fault)
        return fault

    def meet(self, action: FaultAction, blueprint: Blueprint) -> None:
        """Raise ResourceError if this action on this resource is to fail."""
        for fault in self:
            names = (blueprint.logical_id, blueprint.type_name)
            if fault.action == action and fault.times > 0 and any(fnmatchcase(name, fault.resource) for name in names):
                fault.times -= 1
                raise ResourceError(fault.reason)
