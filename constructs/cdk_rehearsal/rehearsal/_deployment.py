"""One deployment of one template to one stack: resources in order, all of them or none."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from cdk_rehearsal.deploy import allows
from cdk_rehearsal.registry import registry
from cdk_rehearsal.rehearsal._blueprint import Blueprint, Maker
from cdk_rehearsal.rehearsal._errors import ResourceError, TemplateError, reason_of
from cdk_rehearsal.rehearsal._faults import construct_path
from cdk_rehearsal.rehearsal._imports import retained
from cdk_rehearsal.rehearsal._inventory import Inventory
from cdk_rehearsal.rehearsal._journal import Action, Entry
from cdk_rehearsal.rehearsal._scope import StackResolver
from cdk_rehearsal.rehearsal._state import ChangeSet, Resource, Stack


class Deployment:
    """Deploys a change set to a stack, whose `resources` and `outputs` change only when everything went well."""

    def __init__(self, inventory: Inventory, stack: Stack, change_set: ChangeSet) -> None:
        self._inventory = inventory
        self._stack = stack
        self._template = change_set.template
        self._imports = change_set.imports
        self._old = dict(stack.resources)
        self.created: dict[str, Resource] = {}
        self._undo: list[tuple[str, Callable[[], None]]] = []
        self._superseded: list[Resource] = []
        self._resolver = StackResolver(inventory, stack, change_set.template, change_set.parameters, self.created)

    def run(self) -> None:
        """Create and update resources in the order of their dependencies, then resolve the outputs.

        The first that fails raises ResourceError or TemplateError; the caller rolls back.
        """
        self._stack.pending = self.created
        self._resolver.check_rules()
        for logical_id in set(self._old) - set(self._wanted()):
            self._check_policy("Update:Delete", logical_id, self._old[logical_id].blueprint.type_name)
        for logical_id in self._wanted():
            with self._failing(logical_id):
                self._apply(self._blueprint(logical_id))
        outputs, exports = self._outputs()
        self._verify()
        self._stack.resources, self._stack.pending = self.created, {}
        self._stack.outputs, self._stack.exports, self._stack.imports = outputs, exports, self._resolver.imports

    def clean_up(self) -> None:
        """Delete what was replaced or is no longer wanted, unless its policy keeps it."""
        deleted = [(old, old.blueprint.replace_policy) for old in reversed(self._superseded)]
        deleted += [
            (old, old.blueprint.deletion_policy)
            for logical_id, old in reversed(self._old.items())
            if logical_id not in self.created
        ]
        for old, policy in deleted:
            # CloudFormation leaves behind what it cannot clean up, and the update is complete.
            with contextlib.suppress(ResourceError):
                self._inventory.remove(self._stack, old, policy)

    def roll_back(self) -> dict[str, str]:
        """Undo everything that `run` did, the last first; return what could not be undone, with the reason."""
        failed: dict[str, str] = {}
        for logical_id, undo in reversed(self._undo):
            try:
                undo()
            except (ResourceError, TemplateError) as error:
                failed[logical_id] = str(error)
        self._undo.clear()
        self._stack.resources, self._stack.pending = self._old, {}
        return failed

    def _wanted(self) -> Iterator[str]:
        for logical_id in self._template.order:
            condition = self._template.resources[logical_id].get("Condition")
            if condition is None or self._resolver.condition(condition):
                yield logical_id

    def _blueprint(self, logical_id: str) -> Blueprint:
        expected = self._template.resources[logical_id]
        name = expected["Type"]
        kind = registry(self._stack.environment.region).find(name)
        if kind is None:
            raise ResourceError(f"Unrecognized resource type {name} in {self._stack.environment.region}")
        return Blueprint(
            stack_name=self._stack.name,
            stack_id=self._stack.id,
            logical_id=logical_id,
            type=kind,
            type_name=name,
            properties=self._resolver.resolve(expected.get("Properties", {})),
            environment=self._stack.environment,
            deletion_policy=self._resolver.resolve(expected.get("DeletionPolicy", "Delete")),
            replace_policy=self._resolver.resolve(expected.get("UpdateReplacePolicy", "Delete")),
            path=construct_path(expected),
        )

    def _apply(self, blueprint: Blueprint) -> None:
        old = self._old.get(blueprint.logical_id)
        if old is None:
            if not (self._imports and self._import(blueprint)):
                self._create(blueprint, None, [])
            return
        if old.blueprint.type_name != blueprint.type_name:
            raise ResourceError(
                f"Update of resource type is not permitted: {blueprint.logical_id} was {old.blueprint.type_name}, "
                f"is to be {blueprint.type_name}"
            )
        if old.blueprint.properties == blueprint.properties:
            self.created[blueprint.logical_id] = replace(old, blueprint=blueprint)
            return
        why = blueprint.type.replaced_by(old.blueprint.normal, blueprint.normal)
        action = "Update:Replace" if why else "Update:Modify"
        self._check_policy(action, blueprint.logical_id, blueprint.type_name)
        if why:
            self._create(blueprint, old, why)
        else:
            self._update(blueprint, old)

    def _check_policy(self, action: str, logical_id: str, type_name: str) -> None:
        if not allows(self._stack.policy, action, logical_id, type_name):
            raise ResourceError(
                f"Action denied by stack policy: it does not allow [{action}] for resource "
                f"[LogicalResourceId/{logical_id}]"
            )

    def _create(self, blueprint: Blueprint, old: Resource | None, why: list[str]) -> None:
        verb = "UPDATE" if old else "CREATE"
        reason = (
            f"Requested update requires the creation of a new physical resource ({', '.join(why)})" if old else None
        )
        if old and (named := _custom_name(blueprint, old)):
            raise ResourceError(
                f"CloudFormation cannot update a stack when a custom-named resource requires replacing. "
                f"Rename {named} and update the stack again."
            )
        self._inventory.check(blueprint)
        self._event(blueprint, "", f"{verb}_IN_PROGRESS", reason)
        resource = self._inventory.resources.create(blueprint, old.generation + 1 if old else 0)
        policy = "Retain" if old is None and blueprint.deletion_policy == "Retain" else "Delete"
        self._undo.append((blueprint.logical_id, lambda: self._inventory.remove(self._stack, resource, policy)))
        self.created[blueprint.logical_id] = resource
        if old:
            self._superseded.append(old)
        self._event(blueprint, resource.physical_id, f"{verb}_COMPLETE")
        self._inventory.journal.record(Action.REPLACE if old else Action.CREATE, resource, ", ".join(why))

    def _import(self, blueprint: Blueprint) -> bool:
        """Take over a resource that another stack retained; return False if there is none."""
        expected = self._template.resources[blueprint.logical_id]
        match = retained(self._inventory.stacks, self._stack.environment, blueprint.type, expected)
        if match is None:
            return False
        owner, existing = match
        self._event(blueprint, existing.physical_id, "IMPORT_IN_PROGRESS")
        resource = replace(existing, blueprint=blueprint)
        owner.retained.remove(existing)
        self._undo.append((blueprint.logical_id, lambda: self._inventory.remove(self._stack, resource, "Retain")))
        self.created[blueprint.logical_id] = resource
        self._event(blueprint, resource.physical_id, "IMPORT_COMPLETE")
        self._inventory.journal.record(Action.IMPORT, resource)
        return True

    def _update(self, blueprint: Blueprint, old: Resource) -> None:
        if why := self._refused(old.blueprint, blueprint):
            raise ResourceError(why)
        self._inventory.check(blueprint)
        changed = blueprint.changed(old.blueprint.properties)
        if maybe := blueprint.type.maybe_replaced_by(old.blueprint.normal, blueprint.normal):
            self._inventory.journal.note(
                f"{self._stack.name}/{blueprint.logical_id}: a change of {', '.join(maybe)} may replace the "
                f"{blueprint.type_name} on AWS; the rehearsal changed it in place"
            )
        self._event(blueprint, old.physical_id, "UPDATE_IN_PROGRESS")
        resource = self._inventory.resources.update(old, blueprint)
        moved = resource.physical_id != old.physical_id

        def undo() -> None:
            self._event(old.blueprint, old.physical_id, "UPDATE_IN_PROGRESS")
            if why := self._refused(resource.blueprint, old.blueprint):
                # The resource keeps what the update gave it.
                self._old[blueprint.logical_id] = resource
                self._event(old.blueprint, old.physical_id, "UPDATE_FAILED", why)
                raise ResourceError(why)
            self._old[blueprint.logical_id] = self._inventory.resources.update(resource, old.blueprint)
            self._event(old.blueprint, old.physical_id, "UPDATE_COMPLETE")

        self._undo.append((blueprint.logical_id, undo))
        self.created[blueprint.logical_id] = resource
        if moved:
            self._superseded.append(old)
        self._event(blueprint, resource.physical_id, "UPDATE_COMPLETE")
        self._inventory.journal.record(Action.REPLACE if moved else Action.UPDATE, resource, ", ".join(changed))

    def _refused(self, before: Blueprint, expected: Blueprint) -> str:
        """Return why the service refuses an update in place, or an empty string."""
        refused = expected.type.rejected(before.normal, expected.normal, self._inventory.update_rules)
        why = "; ".join(f"{path}: {reason}" for path, reason in refused.items())
        return f"{expected.type_name} refuses the update: {why}" if why else ""

    def _outputs(self) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        outputs: dict[str, dict[str, Any]] = {}
        exports: dict[str, str] = {}
        for name, output in self._template.outputs.items():
            if (condition := output.get("Condition")) and not self._resolver.condition(condition):
                continue
            value = self._resolver.resolve(output["Value"])
            export = (output.get("Export") or {}).get("Name")
            try:
                entry = {
                    "OutputKey": name,
                    "OutputValue": self._resolver.text(value),
                    "Description": output.get("Description"),
                }
                if export:
                    entry["ExportName"] = self._resolver.text(self._resolver.resolve(export))
            except TypeError as error:
                raise TemplateError(f"Template format error: output {name}: {error}") from None
            if export:
                if entry["ExportName"] in exports:
                    raise TemplateError(f"Template format error: two outputs export {entry['ExportName']}")
                exports[str(entry["ExportName"])] = str(entry["OutputValue"])
            outputs[name] = entry
        self._check_exports(exports)
        return outputs, exports

    def _check_exports(self, exports: dict[str, str]) -> None:
        here = self._stack.environment
        for name, value in exports.items():
            owner = self._inventory.stacks.exporter(name, here)
            if owner is not None and owner is not self._stack:
                raise TemplateError(f"Export with name {name} is already exported by stack {owner.name}")
            if name in self._stack.exports and self._stack.exports[name] != value:
                self._inventory.stacks.refuse_in_use(name, here, "updated")
        for name in set(self._stack.exports) - set(exports):
            self._inventory.stacks.refuse_in_use(name, here, "deleted")

    def _verify(self) -> None:
        """Compare the resources that exist with those of the template: nothing is green by accident."""
        missing = [id for id in self._wanted() if id not in self.created or not self.created[id].physical_id]
        if missing:
            raise ResourceError(f"These resources were not made: {', '.join(missing)}")

    @contextlib.contextmanager
    def _failing(self, logical_id: str) -> Iterator[None]:
        """Add the reason of any failure to the events of the resource that it belongs to."""
        try:
            yield
        except Exception as error:
            reason = reason_of(error)
            kind = self._template.resources[logical_id]["Type"]
            verb = "UPDATE" if logical_id in self._old else "CREATE"
            self._stack.event(logical_id, "", kind, f"{verb}_FAILED", reason)
            self._inventory.journal.add(
                Entry(
                    action=Action.FAIL,
                    stack=self._stack.name,
                    logical_id=logical_id,
                    type=kind,
                    physical_id="",
                    maker=Maker.SCHEMA,
                    detail=reason,
                )
            )
            raise ResourceError(f"{logical_id}: {reason}") from error

    def _event(self, blueprint: Blueprint, physical_id: str, status: str, reason: str | None = None) -> None:
        self._stack.event(blueprint.logical_id, physical_id, blueprint.type_name, status, reason)


def _custom_name(blueprint: Blueprint, old: Resource) -> str | None:
    """Name that keeps a resource from being replaced: a name in the template can exist only once."""
    for path in blueprint.type.identifiers:
        node: Any = blueprint.properties
        for part in path:
            node = node.get(part) if isinstance(node, dict) else None
        if len(path) != 1 or node is None or node != old.blueprint.properties.get(path[0]):
            return None
    return old.physical_id if blueprint.type.identifiers and old.physical_id else None
