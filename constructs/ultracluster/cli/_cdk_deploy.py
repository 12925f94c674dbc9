"""Runs of `cdk deploy`: stacks in the order that CloudFormation needs, and node groups of EKS in two steps."""

import hashlib
import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ultracluster.cli._deploy_check import DeployCheck, Templates, properties_of, read_templates

if TYPE_CHECKING:
    from cdk_rehearsal.deploy import AssembledStack, Comparison
    from cdk_rehearsal.guard import Finding, Report

_TYPE = "AWS::EKS::Nodegroup"
_PACE = ("MaxUnavailable", "MaxUnavailablePercentage")
_SIZES = ("DesiredSize", "MaxSize", "MinSize")
EKS_UPDATE_FIRST = DeployCheck(
    "eks-update-first",
    "A new `update`, or fewer nodes, of a node group of EKS is deployed before other nodes.",
)


def in_two_steps(report: "Report", deployed: Templates, assembled: Templates) -> "tuple[Report, list[tuple[str, str]]]":
    """Return the report without the refusals that two deployments avoid, and stack and logical id of their groups.

    CloudFormation refuses an update of a node group of EKS that replaces nodes and changes settings. `deploy` replaces
    the nodes first. A group whose `update` changes is refused, because it would be in force after that. So is one with
    fewer nodes: the capacity of the new template may be for the smaller number. Groups in nested stacks stay refused.

    Args:
        report: Report of the guard.
        deployed: Templates that are deployed.
        assembled: Templates that shall be deployed.
    """
    from cdk_rehearsal.guard import Fate

    groups: list[tuple[str, str]] = []
    nodes: list[Finding] = []
    broken = [*report.broken]
    for finding in report.nodes:
        refused = [cause for cause in finding.causes if cause.fate is Fate.REFUSED and finding.type == _TYPE]
        # No name of a stack has a dot but that of a nested one, of which the CLI deploys no part.
        if refused and "." not in finding.stack:
            place = (finding.stack, finding.logical_id)
            before, after = (properties_of(side, *place) for side in (deployed, assembled))
            if _values(before, "UpdateConfig", _PACE) != _values(after, "UpdateConfig", _PACE):
                broken.append(
                    EKS_UPDATE_FIRST(f"{finding.name}: deploy the new `update` first, and the other edits after it")
                )
            elif _shrinks(before, after):
                broken.append(
                    EKS_UPDATE_FIRST(f"{finding.name}: deploy the smaller `count` alone, before or after the rest")
                )
            else:
                groups.append(place)
                reason = "after the nodes, in a second deployment, which `deploy` starts by itself"
                rows = [replace(cause, fate=Fate.UPDATED, reason=reason) for cause in refused]
                kept = [cause for cause in finding.causes if cause not in refused]
                finding = replace(finding, causes=(*kept, *rows))
        nodes.append(finding)
    return replace(report, nodes=tuple(nodes), broken=tuple(broken)), groups


def _values(properties: Mapping[str, Any], name: str, keys: Sequence[str]) -> list[Any]:
    return [(properties.get(name) or {}).get(key) for key in keys]


def _shrinks(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    sizes = (_values(side, "ScalingConfig", _SIZES) for side in (before, after))
    return any(isinstance(old, int) and isinstance(new, int) and new < old for old, new in zip(*sizes, strict=True))


def deploy_stacks(
    run: Callable[..., int],
    stacks: "Sequence[AssembledStack]",
    sides: "Comparison",
    *,
    assembly: Path,
    groups: Collection[tuple[str, str]],
    options: Sequence[str] = (),
) -> int:
    """Deploy the stacks of an assembly, and return the exit code of the first run of the CDK CLI that fails, or 0.

    Args:
        run: Runs a command of the CDK CLI on stacks, with these options.
        stacks: Stacks of the assembly.
        sides: Their templates on both sides.
        assembly: Directory of the assembly. A copy may be written next to it.
        groups: Node groups in two steps, as `in_two_steps` returns them.
        options: Further options of `cdk deploy`.
    """
    from cdk_rehearsal.deploy import SIDE_BY_SIDE, released_first

    begin = _nodes_first(assembly, stacks, groups, read_templates(sides.deployed)) if groups else assembly
    arguments = [*SIDE_BY_SIDE, *options]
    code = 0
    if first := released_first(stacks, sides):
        typer.echo(f"first, because other stacks keep exports for them: {', '.join(it.name for it in first)}")
        code = run("deploy", first, "--exclusively", "--app", str(begin), *arguments)
        # Outputs of other stacks may have new values for them, which the CLI does not see.
        arguments.append("--force")
    if groups and not code:
        typer.echo(f"first the nodes of {', '.join(map('/'.join, groups))}, then their settings")
        names = {stack for stack, _ in groups}
        code = run("deploy", [it for it in stacks if it.name in names], "--app", str(begin), *arguments)
    return code or run("deploy", stacks, "--app", str(assembly), *arguments)


@contextmanager
def update_goes_on() -> Iterator[None]:
    """Print what an interruption of `cdk deploy` leaves: it ends the CLI, and not the updates that it began."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        typer.echo(
            "interrupted: CloudFormation goes on with the stacks that it updates; when they are complete, run the "
            "command again: it deploys the others, and sets the stack policies",
            err=True,
        )
        raise


def _nodes_first(
    assembly: Path, stacks: "Sequence[AssembledStack]", groups: Collection[tuple[str, str]], deployed: Templates
) -> Path:
    """Copy an assembly, with the settings that node groups have now."""
    from cdk_rehearsal.registry import NODE_SETTINGS

    result = assembly.with_name("nodes-first")
    shutil.copytree(assembly, result)
    for stack in stacks:
        ids = [logical_id for name, logical_id in groups if name == stack.name]
        if not ids:
            continue
        file = result / stack.template.relative_to(assembly)
        template = json.loads(file.read_text(encoding="utf-8"))
        for logical_id in ids:
            before = properties_of(deployed, stack.name, logical_id)
            properties = template["Resources"][logical_id]["Properties"]
            kept = {name: value for name, value in properties.items() if name not in NODE_SETTINGS}
            settings = {name: before[name] for name in NODE_SETTINGS if name in before}
            template["Resources"][logical_id]["Properties"] = kept | settings
        text = json.dumps(template, indent=1)
        file.write_text(text, encoding="utf-8")
        if stack.asset is not None:
            # The CLI uploads a template under the hash of its text, and never replaces an object.
            old, new = Path(stack.asset).stem, hashlib.sha256(text.encode()).hexdigest()
            for other in (file.parent / "manifest.json", *file.parent.glob("*.assets.json")):
                other.write_text(other.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return result
