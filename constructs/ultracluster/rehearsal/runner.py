"""The rehearsal: the real CDK CLI takes an app through bootstrap, deploy, update and destroy on the local cloud."""

import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Protocol

from ultracluster import clusterfile, guard
from ultracluster.kubernetes import file_problems
from ultracluster.rehearsal import assembly
from ultracluster.rehearsal.assembly import Place
from ultracluster.rehearsal.cdk_cli import CdkCli, CliResult
from ultracluster.rehearsal.cloud import ACCOUNT, LocalCloud
from ultracluster.rehearsal.errors import RehearsalError
from ultracluster.rehearsal.journal import Action
from ultracluster.rehearsal.mirror import mirror
from ultracluster.rehearsal.report import Report, Step, changes, report
from ultracluster.rehearsal.state import Stack
from ultracluster.rehearsal.update import with_one_more_group

# Where stacks go that name no region.
REGION = "us-east-1"
_TOOLKIT = frozenset({"CDKToolkit"})
# Stacks of stages too: "--all" means those of the main assembly.
_EVERY_STACK = "**"
_WELL = ("CREATE_COMPLETE", "UPDATE_COMPLETE")

Keep = Callable[[dict[str, str]], None]


class Listener(Protocol):
    """What is told while a rehearsal goes on."""

    def begin(self, name: str) -> None:
        """A step begins."""

    def line(self, text: str) -> None:
        """The CLI printed a line."""

    def end(self, step: Step) -> None:
        """A step ended."""


class Silence:
    """A listener that tells nobody."""

    def begin(self, name: str) -> None:
        """Do nothing."""

    def line(self, text: str) -> None:
        """Do nothing."""

    def end(self, step: Step) -> None:
        """Do nothing."""


def rehearse(
    *,
    cluster_file: Path | None = None,
    app: Path = Path(),
    listener: Listener | None = None,
    keep: Keep | None = None,
    allow: Iterable[str] = (),
) -> Report:
    """Rehearse an app.

    Args:
        cluster_file: A cluster file, given to the app as the context `cluster`. The update step adds a node group to
            a copy of it. Without one, the update step is a second deployment that must change nothing.
        app: Directory of the app, with its cdk.json. Nothing is written there.
        listener: What is told while it goes on; by default nobody.
        keep: Called after the deployment, instead of update and destroy, with the environment variables that reach
            the local cloud. It lives until the call returns.
        allow: Resources that the update may replace, delete or orphan although they hold data; see `guard.compare`.

    Returns:
        The report. A step that failed is in it with its reasons; the steps after it are not made.

    Raises:
        RehearsalError: when the rehearsal cannot start.
        ClusterFileError: when the cluster file has a problem.
    """
    if not (app / "cdk.json").is_file():
        raise RehearsalError(
            f"{app.resolve()} holds no CDK app: there is no cdk.json in it; "
            "go to the directory of the app, or name it: --app DIR"
        )
    home = Place(account=ACCOUNT, region=REGION)
    if cluster_file is not None:
        cluster_file = cluster_file.resolve()
        cluster = clusterfile.load(str(cluster_file), further=file_problems)
        home = Place(account=cluster.account or ACCOUNT, region=cluster.region)
    with tempfile.TemporaryDirectory(prefix="ultracluster-rehearsal-") as scratch, LocalCloud() as cloud:
        run = _Rehearsal(
            cloud=cloud,
            app=mirror(app, Path(scratch)),
            scratch=Path(scratch),
            home=home,
            cluster_file=cluster_file,
            listener=listener or Silence(),
            allow=tuple(allow),
        )
        run.go(keep)
        return report(steps=run.steps, journal=cloud.journal, stacks=cloud.stacks, leave_out=_TOOLKIT)


class _FailedStep(Exception):
    """A step failed: the steps after it are not made."""


class _Rehearsal:
    """One rehearsal, step by step."""

    def __init__(
        self,
        *,
        cloud: LocalCloud,
        app: Path,
        scratch: Path,
        home: Place,
        cluster_file: Path | None,
        listener: Listener,
        allow: tuple[str, ...],
    ) -> None:
        self.steps: list[Step] = []
        self._cloud = cloud
        self._app = app
        self._scratch = scratch
        self._assembly = scratch / "cdk.out"
        self._home = home
        self._file = cluster_file
        self._listener = listener
        self._allow = allow
        self._cli = self._cli_at(home)

    def go(self, keep: Keep | None) -> None:
        """Make every step, up to the first that fails."""
        try:
            self._go(keep)
        except _FailedStep:
            return

    def _go(self, keep: Keep | None) -> None:
        places, first = [self._home], ("--output", str(self._assembly))
        if self._file is None:
            self._step("synth", self._synth)
            places = self._places()
            # What was synthesised is deployed; the second deployment synthesises anew, and must come to the same.
            first = ("--app", str(self._assembly))
        for place in places:
            self._step(f"bootstrap {place.account}/{place.region}", partial(self._bootstrap, place))
        self._step("deploy", partial(self._deploy, *first))
        if keep is not None:
            everything = self._cloud.environment(self._home.region, self._home.account)
            keep({key: value for key, value in everything.items() if key.startswith("AWS_")})
            return
        if self._file is not None:
            self._step("update: one more node group", self._update)
        else:
            self._step("deploy again: no changes", self._deploy_again)
        for stack in self._cloud.stacks.everywhere():
            if stack.protected:
                self._step(f"lift the termination protection of {stack.name}", partial(_lift, stack))
        self._step("destroy", self._destroy)

    def _step(self, name: str, action: Callable[[], list[str]]) -> None:
        """Make a step: `action` gives what went wrong, nothing when all is well."""
        before = len(self._cloud.journal.entries())
        begun = time.monotonic()
        self._listener.begin(name)
        try:
            problems = action()
        except RehearsalError as error:
            problems = [str(error)]
        happened = self._cloud.journal.entries()[before:]
        failures = [f"{one.stack}/{one.logical_id}: {one.detail}" for one in happened if one.action is Action.FAIL]
        text = "\n".join(problems)
        problems += [one for one in failures if one.split(": ", 1)[1] not in text]
        step = Step(
            name=name,
            seconds=round(time.monotonic() - begun, 2),
            ok=not problems,
            changes=changes(happened),
            reasons=tuple(problems),
        )
        self.steps.append(step)
        self._listener.end(step)
        if problems:
            raise _FailedStep

    def _cli_at(self, place: Place) -> CdkCli:
        environment = self._cloud.environment(place.region, place.account)
        environment |= {"CDK_DEFAULT_ACCOUNT": place.account, "CDK_DEFAULT_REGION": place.region}
        return CdkCli(app=self._app, environment=environment, scratch=self._scratch)

    def _run(self, *arguments: str) -> CliResult:
        context = ["--context", f"cluster={self._file}"] if self._file else []
        return self._cli.run(*arguments, *context, each_line=self._listener.line)

    def _synth(self) -> list[str]:
        return _problems(self._run("synth", "--quiet", "--output", str(self._assembly)))

    def _places(self) -> list[Place]:
        """Give the accounts and regions of the app's stacks; the first becomes the one whose credentials are used."""
        places = sorted({stack.place for stack in assembly.stacks(self._assembly, self._home)})
        if not places:
            raise RehearsalError("the app has no stacks")
        self._home = places[0]
        self._cli = self._cli_at(self._home)
        return places

    def _bootstrap(self, place: Place) -> list[str]:
        return _problems(self._cli_at(place).bootstrap(place.account, place.region, self._listener.line))

    def _deploy(self, *source: str) -> list[str]:
        source = source or ("--output", str(self._assembly))
        result = self._run("deploy", _EVERY_STACK, "--require-approval", "never", *source)
        return _problems(result) or self._missing()

    def _missing(self) -> list[str]:
        """Compare the stacks of the assembly with what exists."""
        living = {
            (stack.name, stack.environment.account, stack.environment.region): stack.status
            for stack in self._cloud.stacks.everywhere()
        }
        problems = []
        for stack in assembly.stacks(self._assembly, self._home):
            status = living.get((stack.name, stack.place.account, stack.place.region), "missing")
            if status not in _WELL:
                problems.append(f"the CLI reports success, but the stack {stack.name} is {status}")
        return problems

    def _update(self) -> list[str]:
        assert self._file is not None
        before = len(self._cloud.journal.entries(Action.CREATE))
        target = self._scratch / self._file.name
        group = with_one_more_group(self._file, target)
        self._file = target
        deployed, self._assembly = self._assembly, self._scratch / "cdk.out-update"
        problems = self._synth() or self._lost(deployed) or self._deploy("--app", str(self._assembly))
        if not problems and len(self._cloud.journal.entries(Action.CREATE)) == before:
            problems = [
                f"the node group {group} was added to the cluster file, but the deployment made nothing: does the "
                "app read the context `cluster`?"
            ]
        return problems

    def _lost(self, deployed: Path) -> list[str]:
        """Let the guard look at an update before it is made."""
        try:
            return guard.compare(deployed, self._assembly, allow=self._allow).lines()
        except guard.GuardError as error:
            return [str(error)]

    def _deploy_again(self) -> list[str]:
        before = len(self._cloud.journal.entries())
        problems = self._deploy()
        happened = self._cloud.journal.entries()[before:]
        return problems or [
            f"deployed again, the same app should change nothing: {one.action} {one.stack}/{one.logical_id}"
            for one in happened
        ]

    def _destroy(self) -> list[str]:
        # From the assembly of the last deployment: synthesising once more would show nothing new.
        result = self._cli.run(
            "destroy", _EVERY_STACK, "--force", "--app", str(self._assembly), each_line=self._listener.line
        )
        left = [stack.name for stack in self._cloud.stacks.everywhere() if stack.name not in _TOOLKIT]
        return _problems(result) or [f"the CLI reports success, but the stack {name} is still there" for name in left]


def _problems(result: CliResult) -> list[str]:
    return [] if result.code == 0 else (result.reasons or [f"cdk {result.arguments[0]} ended with code {result.code}"])


def _lift(stack: Stack) -> list[str]:
    stack.protected = False
    return []
