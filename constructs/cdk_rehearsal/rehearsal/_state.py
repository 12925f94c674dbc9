"""State of the local cloud: stacks, their resources, change sets and events."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5

from cdk_rehearsal.rehearsal._blueprint import Blueprint, Environment, Maker
from cdk_rehearsal.rehearsal._errors import TemplateError
from cdk_rehearsal.rehearsal._template import Template
from cdk_rehearsal.rehearsal._values import Values


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A resource that exists.

    Args:
        blueprint: Description that it was created from.
        physical_id: Value of `Ref`.
        maker: What created it.
        generation: 0, and one more with each replacement.
        model: Object of moto, if moto created it.
        data: Attributes that a handler answered, or outputs of a nested stack.
    """

    blueprint: Blueprint
    physical_id: str
    maker: Maker
    generation: int = 0
    model: Any = None
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> Values:
        return Values(self.blueprint, self.generation, self.physical_id)


@dataclass(kw_only=True)
class ChangeSet:
    """A change set: an update that is described, and not executed yet."""

    id: str
    name: str
    kind: str
    template: Template
    text: str
    parameters: dict[str, Any]
    #: Parameters that the caller gave; `parameters` has the defaults too.
    given: dict[str, str]
    tags: dict[str, str]
    changes: list[dict[str, Any]]
    status: str = "CREATE_COMPLETE"
    execution: str = "AVAILABLE"
    reason: str | None = None
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    request: dict[str, Any] = field(default_factory=dict)
    #: Whether existing resources are imported.
    imports: bool = False


@dataclass(kw_only=True)
class Stack:
    """A stack."""

    name: str
    id: str
    environment: Environment
    status: str = "REVIEW_IN_PROGRESS"
    reason: str | None = None
    template: Template | None = None
    text: str = "{}"
    given: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    #: Resources of a deployment in progress; `resources` are those of the last one that succeeded.
    pending: dict[str, Resource] = field(default_factory=dict)
    retained: list[Resource] = field(default_factory=list)
    outputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    exports: dict[str, str] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    change_sets: dict[str, ChangeSet] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    protected: bool = False
    #: Resources that the last rollback could not restore.
    stuck: set[str] = field(default_factory=set)
    #: Stack policy, or None.
    policy: str | None = None
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime | None = None
    deleted: datetime | None = None

    def set_status(self, status: str, reason: str | None = None) -> None:
        """Set a status, and add it to the events."""
        self.status, self.reason = status, reason
        self.event(self.name, self.id, "AWS::CloudFormation::Stack", status, reason)

    def event(self, logical_id: str, physical_id: str, kind: str, status: str, reason: str | None = None) -> None:
        """Add an event; the newest is the last."""
        self.events.append(
            {
                "StackId": self.id,
                "EventId": str(uuid4()),
                "StackName": self.name,
                "LogicalResourceId": logical_id,
                "PhysicalResourceId": physical_id,
                "ResourceType": kind,
                "Timestamp": datetime.now(UTC),
                "ResourceStatus": status,
                "ResourceStatusReason": reason,
            }
        )


class Stacks(list[Stack]):
    """Every stack of the local cloud in the order of creation, deleted ones included."""

    def add(self, name: str, environment: Environment) -> Stack:
        e = environment
        arn = f"arn:{e.partition}:cloudformation:{e.region}:{e.account}:stack/{name}"
        # A stack that is created again has another id, as on AWS, and the same one in each run.
        earlier = sum(stack.name == name and stack.environment == environment for stack in self)
        stack = Stack(name=name, id=f"{arn}/{uuid5(NAMESPACE_URL, f'{arn}/{earlier}')}", environment=environment)
        self.append(stack)
        return stack

    def all(self, environment: Environment) -> list[Stack]:
        """Stacks of one account and region, the newest first, deleted ones included."""
        return [stack for stack in reversed(self) if stack.environment == environment]

    def living(self, environment: Environment | None = None) -> list[Stack]:
        """Stacks that are not deleted, by default of all accounts and regions, the newest first."""
        return [s for s in reversed(self) if s.deleted is None and environment in (None, s.environment)]

    def find(self, name: str, environment: Environment) -> Stack | None:
        """Return a stack by its name (living ones only) or its id (deleted ones too), or None."""
        for stack in self.all(environment):
            if stack.id == name or (stack.name == name and stack.deleted is None):
                return stack
        return None

    def get(self, name: str, environment: Environment) -> Stack:
        """Return a stack by name or id, or raise TemplateError."""
        if (stack := self.find(name, environment)) is None:
            raise TemplateError(f"Stack with id {name} does not exist")
        return stack

    def exporter(self, export: str, environment: Environment) -> Stack | None:
        return next((stack for stack in self.living(environment) if export in stack.exports), None)

    def importers(self, export: str, environment: Environment) -> list[str]:
        return sorted(stack.name for stack in self.living(environment) if export in stack.imports)

    def refuse_in_use(self, export: str, environment: Environment, action: str) -> None:
        """Raise TemplateError if another stack imports an export that is to be changed."""
        if users := self.importers(export, environment):
            raise TemplateError(f"Export {export} cannot be {action} as it is in use by {', '.join(users)}")
