"""Steps in which a chosen resource fails, and what must be true after them."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cdk_rehearsal.rehearsal._cloud import LocalCloud
from cdk_rehearsal.rehearsal._faults import Fault, FaultAction
from cdk_rehearsal.rehearsal._journal import Action, Entry

# The status of a stack after the failure of a resource, and the actions that would have met the fault.
_AFTER: dict[FaultAction, str] = {
    "create": "ROLLBACK_COMPLETE",
    "update": "UPDATE_ROLLBACK_COMPLETE",
    "delete": "DELETE_FAILED",
}
# A resource that an update adds fails on creation too; the update of its stack is undone.
_AFTER_CREATION = (_AFTER["create"], _AFTER["update"])
_WELL = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE")
_WOULD_MEET: dict[FaultAction, Action] = {
    "create": Action.CREATE,
    "update": Action.UPDATE,
    "delete": Action.DELETE,
}


@dataclass(frozen=True, kw_only=True)
class FailureSteps:
    """The faults of a rehearsal, and the steps that meet them."""

    cloud: LocalCloud
    faults: tuple[Fault, ...]

    def of(self, action: FaultAction) -> Iterator[Fault]:
        """Go through the faults of one action."""
        return (fault for fault in self.faults if fault.action == action)

    def meet(self, fault: Fault, run: Callable[[], list[str]]) -> list[str]:
        """Run a step that must fail, and return what is wrong afterwards.

        Args:
            fault: The fault, which the step must meet.
            run: The step. It returns its problems.
        """
        before = len(self.cloud.journal.entries())
        self.cloud.faults.append(fault)
        problems = run()
        self.cloud.faults.remove(fault)
        entries = self.cloud.journal.entries()[before:]
        if not fault.met:
            return problems or [self._not_met(fault, entries)]
        if not problems:
            return [f"{', '.join(fault.met)} failed, but the CLI reports success"]
        return [*self._others(fault, entries), *self._statuses(fault)]

    @staticmethod
    def _not_met(fault: Fault, entries: list[Entry]) -> str:
        done = [f"{e.stack}/{e.logical_id}" for e in entries if e.action is _WOULD_MEET[fault.action]]
        some = f"; it {fault.action}s {', '.join(done[:20])}" if done else ""
        return f"this step does not {fault.action} {fault.resource}, so that nothing failed{some}"

    @staticmethod
    def _others(fault: Fault, entries: list[Entry]) -> list[str]:
        """Return the failures that no fault causes."""
        failed = (entry for entry in entries if entry.action is Action.FAIL)
        return [f"{e.stack}/{e.logical_id}: {e.detail}" for e in failed if f"{e.stack}/{e.logical_id}" not in fault.met]

    def _statuses(self, fault: Fault) -> list[str]:
        """Compare the statuses of all stacks with those that CloudFormation leaves."""
        met = {name.split("/")[0] for name in fault.met}
        expected = _AFTER_CREATION if fault.action == "create" else (_AFTER[fault.action],)
        problems = []
        for stack in self.cloud.stacks.living():
            statuses = expected if stack.name in met else _WELL
            if stack.status not in statuses:
                reason = f": {stack.reason}" if stack.reason else ""
                problems.append(f"{stack.name} is {stack.status}, not {' or '.join(statuses)}{reason}")
        return problems


def leftovers(entries: list[Entry], leave_out: frozenset[str]) -> list[str]:
    """Return the resources that were created, and neither deleted nor retained."""
    left: Counter[str] = Counter()
    for entry in entries:
        if entry.stack in leave_out:
            continue
        name = f"{entry.stack}/{entry.logical_id} ({entry.type})"
        if entry.action in (Action.CREATE, Action.REPLACE, Action.IMPORT):
            left[name] += 1
        elif entry.action in (Action.DELETE, Action.RETAIN):
            left[name] -= 1
    return [f"{name} is left over" for name, count in left.items() if count > 0]
