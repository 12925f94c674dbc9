"""Steps of a rehearsal, each with the real CDK CLI on the local cloud."""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cdk_rehearsal import guard
from cdk_rehearsal.deploy import (
    SIDE_BY_SIDE,
    AssembledStack,
    CdkCli,
    CliProcesses,
    CliResult,
    DeployError,
    assembled,
    comparison,
    protect,
    release_failed,
)
from cdk_rehearsal.registry import read
from cdk_rehearsal.rehearsal._adoption import Adoption, around_networks, kept
from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._cloud import LocalCloud
from cdk_rehearsal.rehearsal._deletion import destroy, lift, not_destroyed, paths_of
from cdk_rehearsal.rehearsal._errors import RehearsalError
from cdk_rehearsal.rehearsal._failure_steps import FailureSteps
from cdk_rehearsal.rehearsal._faults import FaultAction, check_names
from cdk_rehearsal.rehearsal._journal import Action
from cdk_rehearsal.rehearsal._report import Listener, Step, changes
from cdk_rehearsal.rehearsal._update import Edit, Update

#: Stacks that are not the app's own.
TOOLKIT = frozenset({"CDKToolkit"})
# With the stacks of stages; "--all" means those of the main assembly.
_EVERY_STACK = "**"
_UPDATE = "cdk.out-update"
_IMPORT = "--import-existing-resources"
_DEPLOYED = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
# CloudFormation Validate takes longer than the app, and has checked the templates before an edit.
_EDITED = {"CDK_VALIDATION": "false"}

Keep = Callable[[dict[str, str]], None]


class _FailedStep(Exception):
    """A step failed; the steps after it are not run."""


@dataclass(kw_only=True)
class Rehearsal:
    """Steps of one rehearsal."""

    cloud: LocalCloud
    processes: CliProcesses
    app: Path
    scratch: Path
    place: Environment
    context: Mapping[str, str]
    update: Update | None
    listener: Listener
    compare: Callable[[Path, Path], guard.Report]
    allow: tuple[str, ...]
    failures: FailureSteps
    adopt: Adoption | None = None
    steps: list[Step] = field(default_factory=list)
    #: Entries of the journal that steps have, of other stacks and of those of the CLI.
    counted: list[int] = field(default_factory=lambda: [0, 0])
    #: The edit, and what its synthesis found.
    edit: Future[tuple[Edit, list[str]]] | None = None

    def __post_init__(self) -> None:
        self.assembly = self.scratch / "cdk.out"
        self.synthesiser = self.cli = self._cli_at(self.place)
        self._clients = cache(self.cloud.client)  # one of CloudFormation takes 10 ms of CPU time

    def run(self, keep: Keep | None) -> None:
        """Run every step, up to the first that fails."""
        with contextlib.suppress(_FailedStep), ThreadPoolExecutor(1) as pool, self.processes.stopped_by_errors(pool):
            self._run_steps(keep, pool)

    def _run_steps(self, keep: Keep | None, pool: ThreadPoolExecutor) -> None:
        # A step uses one processor most of the time: what does not depend on it runs beside it.
        first, bootstrap = self.place, pool.submit(self._bootstrap, self.place)
        self._step("synth", lambda: self._synth() or check_names(self.failures.faults, self._templates()))
        for place in self._places():
            action = bootstrap.result if place == first else partial(self._bootstrap, place, self.listener.line)
            self._step(f"bootstrap {place.account}/{place.region}", action, toolkit=True)
        if self.update is not None and keep is None:
            self.edit = pool.submit(self._synth_update, self.update)
        self._fail("create", "deploy", self._deploy)
        if any(stack.retained for stack in self.cloud.stacks):
            # A failed creation retains what has the deletion policy Retain, under its name.
            self._step(f"deploy {_IMPORT}", partial(self._deploy, _IMPORT))
        else:
            self._step("deploy", self._deploy)
        if keep is not None:
            everything = self.cloud.environment(self.place.region, self.place.account)
            keep({key: value for key, value in everything.items() if key.startswith("AWS_")})
            return
        if self.update is None:
            self._step("deploy again: no changes", self._deploy_again)
        else:
            self._run_update(self.update)
        self._lift_all()
        if self.adopt is not None:
            self._step("destroy all but the networks of retained resources", self._destroy_around)
            self._step(f"deploy: {self.adopt.name}", partial(self._deploy_adopting, self.adopt))
            self._lift_all()
        self._fail("delete", "destroy", self._destroy)
        self._step("destroy", self._destroy)
        if self.failures.faults and self.adopt is None:
            self._step(f"deploy {_IMPORT}: beside what was retained", partial(self._deploy, _IMPORT))
            self._step("destroy again", self._destroy_protected)

    def _lift_all(self) -> None:
        for stack in self.cloud.stacks.living():
            if stack.protected:
                self._step(f"lift the termination protection of {stack.name}", partial(lift, stack))

    def _fail(self, action: FaultAction, name: str, run: Callable[[], list[str]]) -> None:
        """Run a step once for each fault of an action, and require that the stacks roll back."""
        for fault in self.failures.of(action):
            self._step(f"{name}: {fault} fails", partial(self.failures.meet, fault, run), fails=True)

    def _run_update(self, update: Update) -> None:
        name = f"update: {update.name}"
        if not any(self.failures.of("update")):
            self._step(name, lambda: self._prepare_update() or self._deploy_update())
            return
        self._step(f"prepare the {name}", self._prepare_update)
        self._fail("update", name, self._deploy)
        self._step(name, self._deploy_update)

    def _step(self, name: str, action: Callable[[], list[str]], *, fails: bool = False, toolkit: bool = False) -> None:
        """Run a step. `action` returns the problems, an empty list if there are none.

        With `fails`, resources fail on demand, and a failed one is no problem. With `toolkit`, stacks of the CLI count.
        """
        begun = time.monotonic()
        self.listener.begin(name)
        try:
            problems = action()
        except RehearsalError as error:
            problems = [str(error)]
        entries = [e for e in self.cloud.journal if (e.stack in TOOLKIT) is toolkit][self.counted[toolkit] :]
        self.counted[toolkit] += len(entries)
        failed = [entry for entry in entries if entry.action is Action.FAIL]
        text = "\n".join(problems)
        if not fails:
            problems += [f"{e.stack}/{e.logical_id}: {e.detail}" for e in failed if e.detail not in text]
        step = Step(
            name=name,
            seconds=round(time.monotonic() - begun, 2),
            ok=not problems,
            changes=changes(entries),
            reasons=tuple(problems),
        )
        self.steps.append(step)
        self.listener.end(step)
        if problems:
            raise _FailedStep

    def _cli_at(self, place: Environment) -> CdkCli:
        default = {"CDK_DEFAULT_ACCOUNT": place.account, "CDK_DEFAULT_REGION": place.region}
        environment = self.cloud.environment(place.region, place.account) | default
        try:
            return CdkCli(app=self.app, environment=environment, scratch=self.scratch, processes=self.processes)
        except DeployError as error:
            raise RehearsalError(str(error)) from None

    def _run(self, *arguments: str, variables: Mapping[str, str] = MappingProxyType({})) -> CliResult:
        run = self.synthesiser.run if arguments[0] == "synth" else self.cli.run
        return run(*arguments, *_context(self.context), each_line=self.listener.line, variables=variables)

    def _synth(self, variables: Mapping[str, str] = MappingProxyType({})) -> list[str]:
        result = self._run("synth", "--quiet", "--output", str(self.assembly), variables=variables)
        return result.problems or ([] if list(assembled(self.assembly)) else ["the app has no stacks"])

    def _synth_update(self, update: Update) -> tuple[Edit, list[str]]:
        edit = update.edit(self.scratch)
        words = ("synth", "--quiet", "--output", str(self.scratch / _UPDATE))
        context = _context({**self.context, **edit.context})
        return edit, self.synthesiser.run(*words, *context, variables=_EDITED).problems

    def _assembled(self) -> list[AssembledStack]:
        return list(assembled(self.assembly))

    def _client(self, service: str, region: str | None) -> Any:
        return self._clients(service, region or self.place.region, self.place.account)

    def _stacks(self) -> list[tuple[str, Environment]]:
        at = self.place
        return [
            (stack.name, Environment(account=stack.account or at.account, region=stack.region or at.region))
            for stack in self._assembled()
        ]

    def _places(self) -> list[Environment]:
        """Return the accounts and Regions of the app's stacks. The CLI deploys with the first, not synthesises."""
        places = sorted({place for _, place in self._stacks()})
        self.place = Environment(account=places[0].account, region=self.place.region)
        self.cli = self._cli_at(self.place)
        return places

    def _bootstrap(self, place: Environment, line: Callable[[str], None] = lambda line: None) -> list[str]:
        self.cloud.ready()
        return self._cli_at(place).bootstrap(place.account, place.region, line).problems

    def _templates(self) -> dict[str, dict[str, Any]]:
        return {stack.name: read(stack.template.read_text(encoding="utf-8")) for stack in self._assembled()}

    def _deploy(self, *options: str) -> list[str]:
        release_failed(self._assembled(), self._client)
        result = self._run("deploy", _EVERY_STACK, "--app", str(self.assembly), *SIDE_BY_SIDE, *options)
        return result.problems or self._missing() or protect(self._assembled(), self._client)

    def _missing(self) -> list[str]:
        """Compare the stacks of the assembly with those that exist."""
        statuses = {(stack.name, stack.environment): stack.status for stack in self.cloud.stacks.living()}
        problems = []
        for name, place in self._stacks():
            status = statuses.get((name, place), "missing")
            if status not in _DEPLOYED:
                problems.append(f"the CLI reports success, but the stack {name} is {status}")
        return problems

    def _prepare_update(self) -> list[str]:
        assert self.edit is not None
        edit, problems = self.edit.result()
        self.context = {**self.context, **edit.context}
        self.assembly = self.scratch / _UPDATE
        problems = problems or self._lost()
        if not problems:
            protect(self._assembled(), self._client, allow=self.allow)
        return problems

    def _deploy_update(self) -> list[str]:
        before = len(self.cloud.journal.entries(Action.CREATE))
        problems = self._deploy()
        if not problems and self.edit and len(self.cloud.journal.entries(Action.CREATE)) == before:
            edit, _ = self.edit.result()
            keys = ", ".join(f"`{key}`" for key in edit.context)
            problems = [
                f"{edit.description}, but the deployment created nothing: does the app read the context {keys}?"
            ]
        return problems

    def _lost(self) -> list[str]:
        """Compare what is deployed with the update, before it is deployed."""
        folder = self.scratch / "guard"
        folder.mkdir()
        sides = comparison(self._assembled(), self._client, folder)
        try:
            return self.compare(sides.deployed, sides.assembled).lines()
        except guard.GuardError as error:
            return [str(error)]

    def _deploy_again(self) -> list[str]:
        before = len(self.cloud.journal.entries())
        problems = self._synth() or self._deploy()
        return problems or [
            f"deployed again, the same app should change nothing: {entry.action} {entry.stack}/{entry.logical_id}"
            for entry in self.cloud.journal.entries()[before:]
        ]

    def _destroy_around(self) -> list[str]:
        names = around_networks(self.cloud.stacks, leave_out=TOOLKIT)
        return names and self._destroy_stacks(names)

    def _destroy_stacks(self, names: Sequence[str]) -> list[str]:
        paths = paths_of(names, self._assembled())
        return not_destroyed(self._run("destroy", *paths, "--force", "--app", str(self.assembly)))

    def _deploy_adopting(self, adopt: Adoption) -> list[str]:
        """Deploy on what was retained, and require that the guard refuses to drop it."""
        edit = adopt.edit(self.scratch, kept(self.cloud.stacks))
        before, self.context = self.assembly, {**self.context, **edit.context}
        self.assembly = self.scratch / "cdk.out-adopt"
        if problems := self._synth(_EDITED) or self._deploy(_IMPORT):
            return problems
        seen = not self.compare(self.assembly, before).ok
        return [] if seen else [f"{edit.description}, and the guard does not refuse an edit that drops it"]

    def _destroy(self) -> list[str]:
        return destroy(self.cloud, self._destroy_stacks, every=_EVERY_STACK, leave_out=TOOLKIT)

    def _destroy_protected(self) -> list[str]:
        for stack in self.cloud.stacks.living():
            lift(stack)
        return self._destroy()


def _context(context: Mapping[str, str]) -> list[str]:
    return [word for key, value in context.items() for word in ("--context", f"{key}={value}")]
