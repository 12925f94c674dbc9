"""The command `workloads`, and the files of one workload."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ultracluster.cli._output import JsonOption, fail, misuse, print_json
from ultracluster.cli._writing import RenderedFile

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile


def workloads(json_: JsonOption = False) -> None:
    """List the workloads that `ultracluster render --workload` renders, with their settings for `--set`."""
    from ultracluster.workloads import SETTINGS, WORKLOADS

    if json_:
        print_json([_described(workload) for workload in WORKLOADS.values()])
        return
    for workload in WORKLOADS.values():
        typer.echo(f"{workload.name}: {workload.summary}")
        typer.echo(f"  needs: {workload.needs}")
        for family, name in (("slurm", "Slurm"), ("kubernetes", "Kubernetes")):
            if shown := [form.shown for form in workload.forms if form.family == family]:
                typer.echo(f"  {name}: {', '.join(shown)}")
    typer.echo("\nsettings, for --set KEY=VALUE:")
    for key, meaning in SETTINGS.items():
        users = [row.name for row in WORKLOADS.values() if any(key in row.settings(form) for form in row.forms)]
        typer.echo(f"  {key}: {meaning} ({', '.join(users)})")


def workload_rendered(
    cluster: "ClusterFile",
    workload: str,
    group: str | None,
    settings: Sequence[str],
    plan: Path | None = None,
    team: str | None = None,
) -> list[RenderedFile]:
    """Return the files of one workload; settings take the place of those of a plan."""
    from ultracluster.workloads import workload_files

    given: dict[str, str] = {}
    for setting in settings:
        key, separator, value = setting.partition("=")
        if not separator:
            misuse(f"--set must be KEY=VALUE, got {setting!r}")
        if key in given:
            misuse(f"--set {key} is given twice")
        given[key] = value
    planned = _planned(plan, workload) if plan else {}
    if "gpus" in given:
        planned.pop("nodes", None)
    given = {**planned, **given}
    files = workload_files(cluster, workload, group=group, settings=given, team=team)
    return [RenderedFile(path=file.path, text=file.text, what=file.what) for file in files]


def _planned(file: Path, workload: str) -> dict[str, str]:
    """Return the settings of a plan that `ultracluster plan --json` wrote."""
    from ultracluster.planning import Plan
    from ultracluster.workloads import plan_settings

    try:
        plan = Plan.from_dict(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        fail(f"{file} holds no plan; write it with ultracluster plan --json")
    return plan_settings(plan, workload)


def _described(workload: Any) -> dict[str, Any]:
    from ultracluster.workloads import SETTINGS

    return {
        "name": workload.name,
        "summary": workload.summary,
        "needs": workload.needs,
        "forms": [
            {
                "orchestrator": form.family,
                "file": form.file,
                "kind": form.kind,
                "settings": {key: SETTINGS[key] for key in workload.settings(form)},
            }
            for form in workload.forms
        ],
    }
