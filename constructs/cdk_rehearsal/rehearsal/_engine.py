"""The engine: creates, updates and deletes stacks as CloudFormation does, strictly, and rolls back what fails."""

from collections.abc import Collection
from datetime import UTC, datetime
from functools import partial
from threading import RLock
from uuid import uuid4

from cdk_rehearsal.registry import NO_RULES, NO_TEMPLATE_RULES, TemplateRules, UpdateRules, registry
from cdk_rehearsal.rehearsal import _parameters as parameters
from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._custom_resources import CustomResourceDriver
from cdk_rehearsal.rehearsal._deployment import Deployment
from cdk_rehearsal.rehearsal._errors import ResourceError, TemplateError, reason_of
from cdk_rehearsal.rehearsal._faults import Faults
from cdk_rehearsal.rehearsal._inventory import Inventory
from cdk_rehearsal.rehearsal._journal import Journal
from cdk_rehearsal.rehearsal._nested_stacks import NestedStackDriver
from cdk_rehearsal.rehearsal._preview import preview
from cdk_rehearsal.rehearsal._resources import Resources
from cdk_rehearsal.rehearsal._state import ChangeSet, Stack, Stacks
from cdk_rehearsal.rehearsal._template import Template

NO_CHANGES = "The submitted information didn't contain changes. Submit different information to create a change set."
_DEPLOYED = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE")


class Engine(Inventory):
    """All stacks of one local cloud. One change at a time; reading needs no lock."""

    def __init__(
        self,
        stacks: Stacks,
        journal: Journal,
        custom: CustomResourceDriver,
        update_rules: UpdateRules = NO_RULES,
        template_rules: TemplateRules = NO_TEMPLATE_RULES,
        faults: Faults | None = None,
    ) -> None:
        resources = Resources(journal, custom, NestedStackDriver(self), faults)
        super().__init__(
            stacks=stacks,
            journal=journal,
            resources=resources,
            update_rules=update_rules,
            template_rules=template_rules,
        )
        self._lock = RLock()

    def prepare(
        self,
        *,
        name: str,
        stack_name: str,
        kind: str,
        text: str,
        given: dict[str, str | None],
        tags: dict[str, str],
        environment: Environment,
        imports: bool = False,
    ) -> tuple[Stack, ChangeSet]:
        """Create a change set. A parameter of None keeps the value that the stack has."""
        with self._lock:
            template = Template.parse(text)
            template.check_quotas(text)
            template.check(registry(environment.region))
            stack = self._target(stack_name, kind, environment)
            chosen = {key: str(value["Default"]) for key, value in template.parameters.items() if "Default" in value}
            chosen |= {key: stack.given.get(key, "") if value is None else value for key, value in given.items()}
            values = parameters.resolve(
                template, chosen, partial(parameters.look_up, environment=environment), self.journal
            )
            changes = preview(self, stack, template, values, imports=imports)
            change_set = ChangeSet(
                id=stack.id.replace(f":stack/{stack.name}/", f":changeSet/{name}/").rsplit("/", 1)[0] + f"/{uuid4()}",
                name=name,
                kind=kind,
                template=template,
                text=text,
                parameters=values,
                given=chosen,
                tags=tags,
                changes=changes,
                imports=imports,
            )
            if kind == "UPDATE" and not changes and _same(stack, template, tags):
                change_set.status, change_set.execution, change_set.reason = "FAILED", "UNAVAILABLE", NO_CHANGES
            stack.change_sets[name] = change_set
            return stack, change_set

    def execute(self, stack: Stack, change_set: ChangeSet, *, roll_back: bool = True) -> None:
        """Deploy what a change set prepared. The status and events of the stack show failures."""
        with self._lock:
            change_set.execution = "EXECUTE_IN_PROGRESS"
            update = change_set.kind == "UPDATE"
            verb = "UPDATE" if update else "CREATE"
            stack.set_status(f"{verb}_IN_PROGRESS", "User Initiated")
            if update:
                stack.updated = datetime.now(UTC)
            deployment = Deployment(self, stack, change_set)
            try:
                deployment.run()
            except Exception as error:  # whatever it is, the stack must not look well
                change_set.execution = "EXECUTE_FAILED"
                self._fail(stack, deployment, error, update=update, roll_back=roll_back)
                return
            stack.template, stack.text = change_set.template, change_set.text
            stack.given, stack.parameters, stack.tags = change_set.given, change_set.parameters, change_set.tags
            if update:
                stack.set_status("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
                deployment.clean_up()
            stack.change_sets.clear()
            change_set.execution = "EXECUTE_COMPLETE"
            stack.set_status(f"{verb}_COMPLETE")

    def continue_rollback(self, stack: Stack, skip: Collection[str]) -> None:
        """Go on with a rollback that failed, without the resources that could not be restored.

        See: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html
        (read 2026-11-22)
        """
        with self._lock:
            if stack.status != "UPDATE_ROLLBACK_FAILED":
                raise TemplateError(
                    f"Stack [{stack.name}] must be in UPDATE_ROLLBACK_FAILED state to continue, is {stack.status}"
                )
            if wrong := sorted(set(skip) - stack.stuck):
                raise TemplateError(f"The following resources to skip are not in UPDATE_FAILED state: {wrong}")
            stack.set_status("UPDATE_ROLLBACK_IN_PROGRESS", "User Initiated")
            if left := sorted(stack.stuck - set(skip)):
                # A service refuses the same update as before.
                stack.set_status("UPDATE_ROLLBACK_FAILED", f"The following resource(s) failed to update: {left}")
                return
            stack.stuck = set()
            stack.set_status("UPDATE_ROLLBACK_COMPLETE")

    def delete(self, stack: Stack) -> None:
        """Delete a stack, or raise TemplateError when it is protected, or another stack uses what it exports."""
        with self._lock:
            if stack.protected:
                raise TemplateError(f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled")
            if stack.deleted:
                return
            for export in stack.exports:
                self.stacks.refuse_in_use(export, stack.environment, "deleted")
            stack.set_status("DELETE_IN_PROGRESS", "User Initiated")
            failed = []
            for logical_id in list(reversed(stack.resources)):
                resource = stack.resources[logical_id]
                try:
                    self.remove(stack, resource, resource.blueprint.deletion_policy)
                except ResourceError as error:
                    failed.append(logical_id)
                    stack.reason = str(error)
                else:
                    del stack.resources[logical_id]
            if failed:
                stack.set_status(
                    "DELETE_FAILED", f"The following resource(s) failed to delete: [{', '.join(failed)}]. "
                )
                return
            stack.exports, stack.imports = {}, set()
            stack.set_status("DELETE_COMPLETE")
            stack.deleted = datetime.now(UTC)

    def _fail(self, stack: Stack, deployment: Deployment, error: Exception, *, update: bool, roll_back: bool) -> None:
        reason = reason_of(error)
        self.journal.note(f"{stack.name} failed: {reason}")
        if not roll_back:
            stack.resources, stack.pending = {**stack.resources, **deployment.created}, {}
            stack.set_status("UPDATE_FAILED" if update else "CREATE_FAILED", reason)
            return
        rollback = "UPDATE_ROLLBACK" if update else "ROLLBACK"
        stack.set_status(f"{rollback}_IN_PROGRESS", reason)
        failed = deployment.roll_back()
        stack.stuck = set(failed)
        why = "; ".join(f"{logical_id}: {reason}" for logical_id, reason in failed.items())
        stack.set_status(f"{rollback}_FAILED" if failed else f"{rollback}_COMPLETE", why or None)

    def _target(self, name: str, kind: str, environment: Environment) -> Stack:
        stack = self.stacks.find(name, environment)
        if kind == "CREATE":
            if stack is not None and not stack.status.startswith("REVIEW"):
                raise TemplateError(f"Stack {name} already exists", code="AlreadyExistsException")
            if stack is None:
                stack = self.stacks.add(name, environment)
                stack.set_status("REVIEW_IN_PROGRESS", "User Initiated")
            return stack
        if kind != "UPDATE":
            raise TemplateError(f"a change set of type {kind} is not rehearsed")
        stack = self.stacks.get(name, environment)
        if stack.status not in (*_DEPLOYED, "UPDATE_FAILED", "CREATE_FAILED"):
            raise TemplateError(f"Stack:{stack.id} is in {stack.status} state and can not be updated.")
        return stack


def _same(stack: Stack, template: Template, tags: dict[str, str]) -> bool:
    """Check that a template without changes of properties leaves everything else of a stack as it is."""
    before = stack.template
    same_body = before is not None and (before.resources, before.outputs) == (template.resources, template.outputs)
    return same_body and stack.tags == tags
