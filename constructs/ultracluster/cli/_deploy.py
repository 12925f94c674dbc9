"""`ultracluster deploy` and `diff`: compare a cluster file with what is deployed, refuse losses, and deploy."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._apply import Hold, apply
from ultracluster.cli._aws import Clients, check_credentials, clients_of_command
from ultracluster.cli._block_starts import missed, new_starts, soon
from ultracluster.cli._cdk_deploy import deploy_stacks, update_goes_on
from ultracluster.cli._cluster_stacks import belongs_to, cluster_stacks
from ultracluster.cli._deploy_states import with_states
from ultracluster.cli._ended_blocks import not_yet_sold
from ultracluster.cli._monthly_cost import MonthlyCost, monthly_cost
from ultracluster.cli._output import JsonOption, fail, load, misuse, print_json
from ultracluster.cli._price_file import price_file
from ultracluster.cli._rehearse import app_directory
from ultracluster.cli._synthesis import cdk_cli, synthesise
from ultracluster.cli._verdict import held_groups, jobs_sentence, left_groups, print_report, refusal
from ultracluster.testing import IN_PLACE, TEMPLATE_RULES, UPDATE_RULES

if TYPE_CHECKING:
    from cdk_rehearsal.deploy import AssembledStack, CdkCli, ChangeSets, Comparison
    from cdk_rehearsal.guard import Finding, Report

_File = Annotated[Path, typer.Argument(metavar="FILE", help="Cluster file.")]
_App = Annotated[
    Path | None, typer.Option("--app", metavar="DIR", help="Directory of the app. Default: this one, or the shipped.")
]
_Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="ID", help="Resource or node group that may be lost. Repeatable; STACK/ID too."),
]
_Import = Annotated[
    bool,
    typer.Option(
        "--import-existing-resources",
        help="Take over retained resources whose names the cluster has. Default: if a stack is new.",
    ),
]
_Prices = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="Price file, as in `plan`, for the difference of the monthly cost."),
]
_Hold = Annotated[
    Hold | None,
    typer.Option(help="Hold the queues first if nodes of EKS are replaced or tainted: drain the jobs, or wait."),
]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before changes of IAM. Required without a terminal.")]
_ROLLBACK_PAGE = "docs/operations/changes.md#a-rollback-that-failed"


def diff(
    file: _File, app: _App = None, allow: _Allow = None, prices: _Prices = None, json_: JsonOption = False
) -> None:
    """Compare a cluster file with what is deployed. Exit code 1: `deploy` refuses it; 3: AWS does not answer."""
    with _prepared(file, app, allow, prices) as plan:
        if json_:
            print_json(plan.to_dict())
            raise typer.Exit(0 if plan.ok else 1)
        plan.print()
        for name, what in plan.unprotected().items():
            typer.echo(f"warning: the stack policy of {name} does not protect {what}: `deploy` sets it", err=True)
        plan.refuse()


def deploy(
    file: _File,
    app: _App = None,
    allow: _Allow = None,
    yes: _Yes = False,
    imports: _Import = False,
    hold: _Hold = None,
    prices: _Prices = None,
) -> None:
    """Deploy a cluster file, unless that loses data, nodes or jobs; then protect the stacks by stack policies."""
    with _prepared(file, app, allow, prices) as plan:
        plan.print()
        plan.refuse(held_groups(plan.report) if hold and plan.report else [])
        held = left_groups(plan.report) if hold and plan.report else []
        if hold and not held:
            typer.echo("hold: no node group of EKS is replaced or tainted, so no queue is held")
        if not yes:
            plan.confirm()
        try:
            if held:
                typer.echo(f"hold: the jobs leave {', '.join(finding.name for finding in held)} before the deployment")
                apply(str(file), hold=hold, stack=[it.name for it in plan.protected])
            plan.deploy(imports=imports)
        except BaseException:
            # Also if somebody interrupts it.
            if held:
                text = "queues may be held: `ultracluster apply FILE --gate` with the file that is deployed"
                typer.echo(f"{text} lets them go on", err=True)
            raise
        if held:
            # Queues go on once the new nodes are ready.
            apply(str(file), gate=True, stack=[it.name for it in plan.protected])


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """A deployment that is ready to start, and what it would do."""

    # Stacks of the cluster; and with those that they depend on.
    protected: "list[AssembledStack]"
    stacks: "list[AssembledStack]"
    sides: "Comparison"
    changes: "ChangeSets"
    report: "Report | None"
    cost: MonthlyCost
    allow: tuple[str, ...]
    cli: "CdkCli"
    client: Clients
    assembly: Path
    # Of Capacity Blocks, by node group, and the time of the synthesis.
    starts: dict[str, datetime]
    synthesised_at: datetime
    # Node groups that the deployment leaves without nodes, a line each.
    empty: Sequence[str] = ()
    # Node groups of EKS in two deployments: stack and logical id.
    groups: Sequence[tuple[str, str]] = ()

    @property
    def ok(self) -> bool:
        """True if the deployment may start."""
        return not self.sides.blocked and not self.changes.refused and (self.report is None or self.report.ok)

    def print(self) -> None:
        """Print the verdict."""
        for line in (*soon(self.starts, self.synthesised_at), *self.empty):
            typer.echo(f"warning: {line}", err=True)
        if self.sides.new:
            typer.echo(f"new stacks: {', '.join(self.sides.new)}")
        if self.sides.failed:
            typer.echo(
                f"deleted before they are created again, because their creation failed: {', '.join(self.sides.failed)}"
            )
        for name, command in self.sides.left.items():
            typer.echo(
                f"{name} is deployed and no longer in the app: it stays and costs money until you delete it: {command}"
            )
        if self.report is None:
            typer.echo("nothing is deployed yet: nothing can be lost.")
            self._print_cost()
            return
        for name, reason in self.changes.missing.items():
            typer.echo(f"no change set of {name}, compared by templates alone: {reason}", err=True)
        print_report(self.report)
        typer.echo(jobs_sentence(self.report))
        self._print_cost()

    def _print_cost(self) -> None:
        for line in self.cost.lines():
            typer.echo(line)

    def refuse(self, held: "Sequence[Finding]" = ()) -> None:
        """End the command if the deployment is refused for another reason than groups without jobs."""
        if self.sides.blocked:
            fail("\n".join([*self.sides.blocks(), f"see {_ROLLBACK_PAGE}"]))
        if self.changes.refused:
            refused = self.changes.refused.items()
            fail("\n".join(f"CloudFormation refuses the change set of {name}: {reason}" for name, reason in refused))
        if self.report is not None and not self.report.without(held).ok:
            fail("\n".join([refusal(self.report), *self.sides.deletions()]))

    def deploy(self, *, imports: bool) -> None:
        """Run the CDK CLI, with the stack policies lifted for what the user allows, and set them again."""
        from cdk_rehearsal.deploy import protect, release_failed

        release_failed(self.stacks, self.client)
        # A pause of a file system neither replaces nor deletes it.
        paused = self.report.unavailable if self.report else ()
        names = {name for finding in paused for name in (finding.name, finding.logical_id)}
        _warn(protect(self.protected, self.client, allow=[name for name in self.allow if name not in names]))
        # An earlier cluster of the name, or a creation that failed, left what CloudFormation would create again.
        options = ["--import-existing-resources"] if imports or self.sides.new else []
        code = deploy_stacks(
            self._cdk, self.stacks, self.sides, assembly=self.assembly, groups=self.groups, options=options
        )
        _warn(problems := protect(self.protected, self.client))
        if code:
            fail(f"cdk deploy ended with code {code}; if a rollback failed: {_ROLLBACK_PAGE}")
        if lines := missed(self.starts, self.synthesised_at, datetime.now(UTC)):
            fail("\n".join(lines))
        if not problems:
            count = len(self.protected)
            typer.echo(f"{count} stacks have a stack policy: cdk deploy cannot replace or delete their data.")

    def confirm(self) -> None:
        """Show the changes of IAM and security groups of all stacks, and ask once: the CDK CLI would ask for each."""
        if not sys.stdin.isatty():
            fail("changes of IAM and security groups need a confirmation, and there is no terminal: add --yes")
        if code := self._cdk("diff", self.stacks, "--app", str(self.assembly), "--security-only"):
            fail(f"cdk diff ended with code {code}")
        typer.confirm("Deploy?", abort=True)

    def _cdk(self, name: str, stacks: "list[AssembledStack]", *arguments: str) -> int:
        command = self.cli.command(name, *(stack.path for stack in stacks), *arguments)
        with update_goes_on() if name == "deploy" else nullcontext():
            return subprocess.run(command, cwd=self.cli.app, env=self.cli.environment).returncode

    def unprotected(self) -> dict[str, str]:
        """Return stacks without the policy that `deploy` sets, and what a plain `cdk deploy` may replace there."""
        from cdk_rehearsal.deploy import unprotected

        return unprotected(self.protected, self.client)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        report = self.report.to_dict() if self.report else None
        return {
            "ok": self.ok,
            "new_stacks": self.sides.new,
            "blocked": self.sides.blocked,
            "left_stacks": self.sides.left,
            "unprotected_stacks": self.unprotected(),
            "change_sets": {"refused": self.changes.refused, "missing": self.changes.missing},
            "monthly_cost": self.cost.to_dict(),
            "guard": report,
        }


@contextmanager
def _prepared(file: Path, app: Path | None, allow: list[str] | None, prices: Path | None) -> Iterator[_Plan]:
    try:
        import botocore  # noqa: F401  # of the same extra

        from cdk_rehearsal import guard
        from cdk_rehearsal.deploy import DeployError, assembled, change_sets, comparison
    except ImportError as error:
        misuse(
            f'this command needs more packages ({error.name} is missing): pip install "cdk-ultracluster[guard,live]"'
        )
    cluster = load(str(file))
    if late := not_yet_sold(cluster, date.today()):
        fail("\n".join(late))
    try:
        dollars = price_file(prices)
    except ValueError as error:
        misuse(f"--prices: {error}")
    with app_directory(app, file) as directory, tempfile.TemporaryDirectory(prefix="ultracluster-deploy-") as scratch:
        assembly, folder = Path(scratch) / "cdk.out", Path(scratch) / "guard"
        folder.mkdir()
        synthesised_at = datetime.now(UTC)
        clients = clients_of_command()
        try:
            cli = cdk_cli(directory, cluster.region, Path(scratch))
            check_credentials(clients, cluster.region)
            synthesise(cli, file, assembly)
            protected, stacks = cluster_stacks(assembled(assembly), cluster)
            names = [stack.name for stack in stacks]
            sides = comparison(stacks, clients, folder, belongs=belongs_to(cluster.name, names))
            changes = change_sets(stacks, clients, sides)
            report, empty, groups = None, list[str](), list[tuple[str, str]]()
            if not sides.empty:
                report = guard.compare(
                    sides.deployed,
                    sides.assembled,
                    allow=allow or (),
                    update_rules=UPDATE_RULES,
                    in_place=IN_PLACE,
                    template_rules=TEMPLATE_RULES,
                    running=True,
                    change_sets=changes.changes,
                )
                report, empty, groups = with_states(cluster, report, sides, synthesised_at, clients, allow=allow or ())
            yield _Plan(
                protected=protected,
                stacks=stacks,
                sides=sides,
                changes=changes,
                report=report,
                cost=monthly_cost(sides.deployed, sides.assembled, dollars),
                allow=tuple(allow or ()),
                cli=cli,
                client=clients,
                assembly=assembly,
                starts=new_starts(cluster, sides.deployed),
                synthesised_at=synthesised_at,
                empty=empty,
                groups=groups,
            )
        except (DeployError, guard.GuardError) as error:
            fail(str(error))


def _warn(problems: list[str]) -> None:
    for problem in problems:
        typer.echo(f"warning: no stack policy: {problem}", err=True)
