"""Bootstrap, deploy, update and destroy an app with the real CDK CLI on the local cloud."""

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from cdk_rehearsal import guard
from cdk_rehearsal.deploy import AssembledStack, CdkCli, CliResult, DeployError, assembled, comparison, protect
from cdk_rehearsal.registry import DELETION_PROTECTION, NO_RULES, UpdateRules
from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._cloud import ACCOUNT, LocalCloud
from cdk_rehearsal.rehearsal._errors import RehearsalError
from cdk_rehearsal.rehearsal._journal import Action
from cdk_rehearsal.rehearsal._mirror import mirror
from cdk_rehearsal.rehearsal._report import Report, Step, changes, report
from cdk_rehearsal.rehearsal._state import Stack
from cdk_rehearsal.rehearsal._update import Update

REGION = "us-east-1"
_TOOLKIT = frozenset({"CDKToolkit"})
# With the stacks of stages; "--all" means those of the main assembly.
_EVERY_STACK = "**"
_DEPLOYED = ("CREATE_COMPLETE", "UPDATE_COMPLETE")

Keep = Callable[[dict[str, str]], None]


class Listener(Protocol):
    """Receiver of the progress of a rehearsal."""

    def begin(self, name: str) -> None:
        """Handle the start of a step."""

    def line(self, text: str) -> None:
        """Handle a line that the CLI printed."""

    def end(self, step: Step) -> None:
        """Handle the end of a step."""


class _Silent:
    """Listener that does nothing."""

    def begin(self, name: str) -> None: ...

    def line(self, text: str) -> None: ...

    def end(self, step: Step) -> None: ...


def rehearse(
    *,
    app: Path = Path(),
    context: Mapping[str, str] = MappingProxyType({}),
    update: Update | None = None,
    account: str = ACCOUNT,
    region: str = REGION,
    listener: Listener | None = None,
    keep: Keep | None = None,
    allow: Iterable[str] = (),
    update_rules: UpdateRules = NO_RULES,
) -> Report:
    """Deploy, update and destroy an app.

    Args:
        app: Directory of the app, with its cdk.json. Nothing is written there.
        context: CDK context of the app.
        update: Edit that the update step deploys. By default, the step is a second deployment, which must change
            nothing.
        account: Account of stacks that name none.
        region: Region of stacks that name none.
        listener: Receiver of the progress.
        keep: Called after the deployment, instead of update and destroy, with the environment variables that reach
            the local cloud. The cloud exists until the call returns.
        allow: Resources that the update may replace, delete or orphan although they hold data; see `guard.compare`.
        update_rules: Resource type -> rules for updates that its service rejects, beyond the facts of the registry.

    Returns:
        The report. It has the reasons of a step that failed; the steps after it are not run.

    Raises:
        RehearsalError: If the rehearsal cannot start.
    """
    if not (app / "cdk.json").is_file():
        raise RehearsalError(
            f"{app.resolve()} holds no CDK app: there is no cdk.json in it; "
            "go to the directory of the app, or name it: --app DIR"
        )
    with (
        tempfile.TemporaryDirectory(prefix="cdk-rehearsal-") as scratch,
        LocalCloud(update_rules=update_rules) as cloud,
    ):
        run = _Rehearsal(
            cloud=cloud,
            app=mirror(app, Path(scratch)),
            scratch=Path(scratch),
            place=Environment(account=account, region=region),
            context=context,
            update=update,
            listener=listener or _Silent(),
            compare=partial(guard.compare, allow=tuple(allow), update_rules=update_rules),
            allow=tuple(allow),
        )
        run.run(keep)
        return report(steps=run.steps, journal=cloud.journal, stacks=cloud.stacks, leave_out=_TOOLKIT)


class _FailedStep(Exception):
    """A step failed; the steps after it are not run."""


@dataclass(kw_only=True)
class _Rehearsal:
    """Steps of one rehearsal."""

    cloud: LocalCloud
    app: Path
    scratch: Path
    place: Environment
    context: Mapping[str, str]
    update: Update | None
    listener: Listener
    compare: Callable[[Path, Path], guard.Report]
    allow: tuple[str, ...]
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.assembly = self.scratch / "cdk.out"
        self.cli = self._cli_at(self.place)

    def run(self, keep: Keep | None) -> None:
        """Run every step, up to the first that fails."""
        with contextlib.suppress(_FailedStep):
            self._run_steps(keep)

    def _run_steps(self, keep: Keep | None) -> None:
        self._step("synth", self._synth)
        for place in self._places():
            self._step(f"bootstrap {place.account}/{place.region}", partial(self._bootstrap, place))
        self._step("deploy", self._deploy)
        if keep is not None:
            everything = self.cloud.environment(self.place.region, self.place.account)
            keep({key: value for key, value in everything.items() if key.startswith("AWS_")})
            return
        if self.update is None:
            self._step("deploy again: no changes", self._deploy_again)
        else:
            self._step(f"update: {self.update.name}", partial(self._deploy_update, self.update))
        for stack in self.cloud.stacks.living():
            if stack.protected:
                self._step(f"lift the termination protection of {stack.name}", partial(_lift, stack))
        self._step("destroy", self._destroy)

    def _step(self, name: str, action: Callable[[], list[str]]) -> None:
        """Run a step. `action` returns the problems, an empty list if there are none."""
        before = len(self.cloud.journal.entries())
        begun = time.monotonic()
        self.listener.begin(name)
        try:
            problems = action()
        except RehearsalError as error:
            problems = [str(error)]
        entries = self.cloud.journal.entries()[before:]
        failed = [entry for entry in entries if entry.action is Action.FAIL]
        text = "\n".join(problems)
        problems += [
            f"{entry.stack}/{entry.logical_id}: {entry.detail}" for entry in failed if entry.detail not in text
        ]
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
        environment = self.cloud.environment(place.region, place.account)
        environment |= {"CDK_DEFAULT_ACCOUNT": place.account, "CDK_DEFAULT_REGION": place.region}
        try:
            return CdkCli(app=self.app, environment=environment, scratch=self.scratch)
        except DeployError as error:
            raise RehearsalError(str(error)) from None

    def _run(self, *arguments: str) -> CliResult:
        context = [word for key, value in self.context.items() for word in ("--context", f"{key}={value}")]
        return self.cli.run(*arguments, *context, each_line=self.listener.line)

    def _synth(self) -> list[str]:
        result = self._run("synth", "--quiet", "--output", str(self.assembly))
        return _problems(result) or ([] if self._stacks() else ["the app has no stacks"])

    def _assembled(self) -> list[AssembledStack]:
        return list(assembled(self.assembly))

    def _client(self, service: str, region: str | None) -> Any:
        return self.cloud.client(service, region or self.place.region, self.place.account)

    def _stacks(self) -> list[tuple[str, Environment]]:
        return [
            (
                stack.name,
                Environment(account=stack.account or self.place.account, region=stack.region or self.place.region),
            )
            for stack in self._assembled()
        ]

    def _places(self) -> list[Environment]:
        """Return the accounts and regions of the app's stacks. The CLI uses the credentials of the first."""
        places = sorted({place for _, place in self._stacks()})
        self.place = places[0]
        self.cli = self._cli_at(self.place)
        return places

    def _bootstrap(self, place: Environment) -> list[str]:
        return _problems(self._cli_at(place).bootstrap(place.account, place.region, self.listener.line))

    def _deploy(self) -> list[str]:
        result = self._run("deploy", _EVERY_STACK, "--require-approval", "never", "--app", str(self.assembly))
        return _problems(result) or self._missing() or protect(self._assembled(), self._client)

    def _missing(self) -> list[str]:
        """Compare the stacks of the assembly with those that exist."""
        statuses = {(stack.name, stack.environment): stack.status for stack in self.cloud.stacks.living()}
        problems = []
        for name, place in self._stacks():
            status = statuses.get((name, place), "missing")
            if status not in _DEPLOYED:
                problems.append(f"the CLI reports success, but the stack {name} is {status}")
        return problems

    def _deploy_update(self, update: Update) -> list[str]:
        before = len(self.cloud.journal.entries(Action.CREATE))
        edit = update.edit(self.scratch)
        self.context = {**self.context, **edit.context}
        self.assembly = self.scratch / "cdk.out-update"
        problems = self._synth() or self._lost()
        if not problems:
            protect(self._assembled(), self._client, allow=self.allow)
            problems = self._deploy()
        if not problems and len(self.cloud.journal.entries(Action.CREATE)) == before:
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

    def _destroy(self) -> list[str]:
        result = self.cli.run(
            "destroy", _EVERY_STACK, "--force", "--app", str(self.assembly), each_line=self.listener.line
        )
        left = [stack.name for stack in self.cloud.stacks.living() if stack.name not in _TOOLKIT]
        return _problems(result) or [f"the CLI reports success, but the stack {name} is still there" for name in left]


def _problems(result: CliResult) -> list[str]:
    return result.reasons if result.code else []


def _lift(stack: Stack) -> list[str]:
    """Do what a person does before the deletion of a stack, of which a service refuses a part."""
    stack.protected = False
    for resource in stack.resources.values():
        resource.blueprint.properties.pop(DELETION_PROTECTION.get(resource.blueprint.type_name, ""), None)
    return []
