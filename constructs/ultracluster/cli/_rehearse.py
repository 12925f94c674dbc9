"""`ultracluster rehearse`: the real CDK CLI on a local stand-in for AWS."""

import contextlib
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._deploy_check import DeployCheck
from ultracluster.cli._output import JsonOption, console, fail, load, print_json
from ultracluster.cli._project_files import shipped_app
from ultracluster.cli._writing import write_files
from ultracluster.testing import TEMPLATE_RULES, UPDATE_RULES

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from cdk_rehearsal.rehearsal import Step
    from ultracluster.clusterfile import ClusterFile

ADOPT_RETAINED = DeployCheck(
    "adopt-retained", "`rehearse --adopt` needs a file whose deployment creates a Lustre file system, and retains it."
)

_File = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="Cluster file, given to the app as -c cluster=FILE.")
]
_App = Annotated[Path | None, typer.Option("--app", metavar="DIR", help="Any CDK app: the directory of its cdk.json.")]
_Keep = Annotated[bool, typer.Option("--keep", help="Deploy, and leave the local cloud up until Ctrl-C.")]
_Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="LOGICAL_ID", help="Resource that the update may lose, as in `guard`. Repeatable."),
]
_Fail = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        metavar="RESOURCE[:ACTION]",
        help="Let a resource fail once on create (default), update or delete: logical id, STACK/LOGICAL_ID, construct "
        "path or type. Repeatable.",
    ),
]
_Adopt = Annotated[
    bool,
    typer.Option("--adopt", help="Also delete the cluster, and deploy it again on the file systems that it retained."),
]


def rehearse(
    file: _File = None,
    app: _App = None,
    keep: _Keep = False,
    allow: _Allow = None,
    fail_: _Fail = None,
    adopt: _Adopt = False,
    json_: JsonOption = False,
) -> None:
    """Deploy, update and destroy with the real CDK CLI, on a local stand-in for AWS."""
    if file is None and app is None:
        raise typer.BadParameter("name a cluster file, or an app directory with --app DIR")
    if keep and json_:
        raise typer.BadParameter("--keep and --json do not go together")
    if keep and fail_:
        raise typer.BadParameter("--keep and --fail do not go together")
    if adopt and file is None:
        raise typer.BadParameter("--adopt needs a cluster file")
    try:
        from cdk_rehearsal import rehearsal
        from ultracluster.cli._adopt_step import adopt_lustre
        from ultracluster.cli._one_more_group import one_more_group
    except ImportError as error:
        fail(f'a rehearsal needs more packages ({error.name} is missing): pip install "cdk-ultracluster[rehearsal]"')
    from rich.console import Console

    # stdout is for the result alone.
    progress = _Progress(Console(stderr=True, highlight=False))
    try:
        options: dict[str, Any] = {}
        if file is not None:
            cluster = load(str(file))
            if adopt:
                _check_retained(file, cluster)
            options = {
                "context": {"cluster": str(file.resolve())},
                "update": None if keep else one_more_group(file.resolve()),
                "adopt": adopt_lustre(file.resolve()) if adopt else None,
                "account": cluster.account or rehearsal.ACCOUNT,
                "region": cluster.region,
            }
        with app_directory(app, file) as directory:
            result = rehearsal.rehearse(
                app=directory,
                listener=progress,
                keep=_wait if keep else None,
                allow=allow or (),
                update_rules=UPDATE_RULES,
                template_rules=TEMPLATE_RULES,
                fail=fail_ or (),
                **options,
            )
    except rehearsal.RehearsalError as error:
        fail(str(error))
    finally:
        progress.stop()
    if json_:
        print_json(result.to_dict())
    else:
        typer.echo()
        result.print(console())
    if not result.ok:
        raise typer.Exit(1)


def _check_retained(file: Path, cluster: "ClusterFile") -> None:
    """Refuse a file whose deployment retains no Lustre file system."""
    lustre = cluster.storage.lustre
    named = (lustre.existing or lustre.adopt) if lustre else None
    if lustre is None or named is not None:
        why = f"names {named.id}, which it does not create" if named else "has no `storage.lustre`"
        fail(
            ADOPT_RETAINED(
                f"{file} {why}, so nothing is retained to deploy on again: rehearse it without --adopt, or a copy "
                "that creates a file system, such as `storage: {lustre: {throughput: 40 GB/s}}`"
            )
        )


@contextlib.contextmanager
def app_directory(app: Path | None, file: Path | None) -> Iterator[Path]:
    """Directory of the app: the named one, the current one, or outside of an app the shipped one."""
    if app is not None and not (app / "cdk.json").is_file():
        fail(f"--app {app}: there is no cdk.json in it; name the directory of the app")
    if app is not None or file is None or Path("cdk.json").exists():
        yield app or Path()
        return
    with tempfile.TemporaryDirectory(prefix="ultracluster-app-") as directory:
        write_files(shipped_app(), Path(directory), force=False)
        yield Path(directory)


def _wait(variables: dict[str, str]) -> None:
    typer.echo("The local cloud is up. In another shell:\n")
    for name, value in variables.items():
        typer.echo(f"export {name}={value}")
    typer.echo(
        "\nThen, for example: aws cloudformation describe-stacks, or cdk diff. Ctrl-C ends it.\n"
        "FSx, PCS and others have no API of their own here: aws cloudformation describe-stack-resources lists them."
    )
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    typer.echo()


class _Progress:
    """One line per step; on a terminal also the last line of the CLI and the time of the running step."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._live: Progress | None = None

    def begin(self, name: str) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        last = TextColumn("{task.fields[last]}", "dim", markup=False)
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(), last)
        self._live = Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._live.add_task(name, total=None, last="")
        self._live.start()

    def line(self, text: str) -> None:
        if self._live is not None and text.strip():
            task = self._live.tasks[0]
            room = max(self._console.width - len(task.description) - 20, 10)
            self._live.update(task.id, last=text.strip()[:room])

    def end(self, step: "Step") -> None:
        self.stop()
        changes = ", ".join(f"{count} {action}" for action, count in step.changes.items())
        mark = "ok    " if step.ok else "FAILED"
        self._console.print(
            f"{mark} {step.seconds:6.1f} s  {step.name}{f'  ({changes})' if changes else ''}",
            markup=False,
            soft_wrap=True,
        )
        for reason in step.reasons:
            self._console.print(f"                  {reason}", markup=False, soft_wrap=True)

    def stop(self) -> None:
        if self._live is not None:
            self._live.stop()
