"""The guard's report, as tables and an error message."""

from typing import TYPE_CHECKING

import typer

from ultracluster.cli._moved_groups import COMPUTE_STACK_MOVED
from ultracluster.cli._output import console, table

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Finding, Report

_HELD = ("taints nodes", "replaces nodes")
_HOLD = (
    "to restart each gang once, and from a checkpoint: evict the jobs before the deployment, by `ultracluster deploy "
    "FILE --hold drain` or `ultracluster apply FILE --hold drain`; and deploy `update: all` first, in a group whose "
    "nodes are replaced"
)
# Only the permissions of Karpenter are stateful among the associations.
_KARPENTER = "AWS::EKS::PodIdentityAssociation"
_FIRST = (
    "Karpenter loses its permissions, and only it ends the instances that it launched: before the deployment, run "
    "`ultracluster apply FILE` with this file, which ends its nodes and then removes it; with `platform: argo-cd`, "
    "push the rendered files first, and wait until `kubectl get nodeclaims,ec2nodeclasses` is empty"
)


def print_report(report: "Report") -> None:
    """Print what becomes of data and of nodes."""
    _print_findings(report.findings, "resources")
    _print_findings(report.nodes, "node groups")
    _print_findings(report.in_place, "noticed by nodes and users")
    for name in report.skipped:
        typer.echo(f"skipped: {name} is no template")
    typer.echo(f"{report.summary}.")
    if report.groups:
        typer.echo(f"{report.node_summary}.")


def refusal(report: "Report") -> str:
    """Return the error message of a report that is not ok."""
    lines = [f"--allow {name}: {why}" for name, why in report.unused.items()]
    lines += report.broken
    if report.moved and not any(line.startswith(COMPUTE_STACK_MOVED.id) for line in report.broken):
        lines.append(
            f"{', '.join(report.moved)}: the name is taken while the resource moves to another stack, which cannot be "
            "allowed: `ultracluster check FILE --against OLD` prints the keys to write"
        )
    if refused := report.refused:
        names = " ".join(f"--allow {finding.name}" for finding in refused)
        data = [finding for finding in refused if finding in report.findings and finding.harmful]
        karpenter = any(finding.type == _KARPENTER for finding in data)
        safe = ["the data is safe elsewhere"] if any(finding.type != _KARPENTER for finding in data) else []
        safe += ["Karpenter has no nodes any more"] if karpenter else []
        lines.insert(0, f"refused. If this is intended, and {' and '.join(safe) or 'the jobs can end'}: {names}")
        lines += [_FIRST] if karpenter else []
        if held_groups(report):
            lines.append(_HOLD)
    return "\n".join(lines)


def held_groups(report: "Report") -> "list[Finding]":
    """Return the refused groups of EKS whose nodes are replaced or tainted: their jobs can leave them before."""
    return [it for it in report.refused if it.type == "AWS::EKS::Nodegroup" and it.fate in _HELD]


def left_groups(report: "Report") -> "list[Finding]":
    """Return the groups of EKS whose nodes are replaced or tainted, also those that the user allows."""
    groups = [it for it in report.nodes if it.type == "AWS::EKS::Nodegroup"]
    return [it for it in groups if any(cause.fate in _HELD for cause in it.causes)]


def jobs_sentence(report: "Report") -> str:
    """Describe what becomes of running jobs."""
    from cdk_rehearsal.guard import Fate

    waits: list[str] = []
    ends: list[str] = []
    tainted: list[str] = []
    risked: list[str] = []
    used: list[str] = []
    for finding in report.nodes:
        if not finding.fate.ends_nodes:
            continue
        drains = finding.fate is Fate.DRAINED and finding.type == "AWS::PCS::ComputeNodeGroup"
        others = {Fate.TAINTED: tainted, Fate.RISKED: risked}
        if finding.type.startswith("AWS::EC2::"):
            used.append(finding.name)
            continue
        (waits if drains else others.get(finding.fate, ends)).append(finding.name)
    lines = [f"nodes of {', '.join(waits)} are replaced when their jobs have ended"] if waits else []
    lines += [f"jobs on {', '.join(ends)} end"] if ends else []
    lines += [f"jobs on {', '.join(risked)} end if the deployment fails"] if risked else []
    out = ", ".join(finding.name for finding in report.unavailable)
    lines += [f"jobs wait for {out}, which is unavailable for up to an hour, or fail"] if out else []
    lines += [f"jobs lose their way to the internet with {', '.join(used)}"] if used else []
    lines += [f"jobs on {', '.join(tainted)} do not tolerate a new taint"] if tainted else []
    return f"jobs: {'; '.join(lines)}." if lines else "jobs: none ends."


def _print_findings(findings: "tuple[Finding, ...]", heading: str) -> None:
    """Print findings: a line with the name, which `--allow` takes and no terminal folds, and its causes below."""
    from rich.markup import escape

    if not findings:
        return
    out = console(wraps=False)
    out.print(f"{heading}:", style="bold")
    for finding in findings:
        out.print(f"[bold]{escape(finding.name)}[/] ({escape(finding.type)})", soft_wrap=True)
        rows = table(None, show_edge=False, show_header=False, padding=(0, 2, 0, 0))
        rows.add_column(width=2)
        rows.add_column(max_width=16)
        rows.add_column(overflow="fold", ratio=1)
        for row in _rows(finding):
            rows.add_row("", *map(escape, row))
        out.print(rows)


def _rows(finding: "Finding") -> list[tuple[str, str]]:
    """One row for each cause that matters: what happens; the property, and the reason."""
    causes = finding.causes if not finding.harmful else [cause for cause in finding.causes if cause.fate.harmful]
    rows = []
    for number, cause in enumerate(causes):
        fate = f"{cause.fate}{' (allowed)' if finding.allowed else ''}"
        if number == 0 and finding.replacement:
            fate += f"\nReplacement: {finding.replacement}"
        rows.append((fate, f"{cause.property}\n{cause.reason}"))
    return rows
