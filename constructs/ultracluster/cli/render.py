"""`ultracluster render`: files that follow from a cluster file, for people and programs that want no CDK.

A further kind of files is one function, one option of `render`, and a line in its table of kinds.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ultracluster.cli.output import console, fail, misuse
from ultracluster.cli.writing import Fate, RenderedFile, write_files

if TYPE_CHECKING:
    from rich.table import Table

    from ultracluster.clusterfile import ClusterFile


def _jobs(cluster: "ClusterFile") -> list[RenderedFile]:
    from ultracluster import workloads

    if cluster.orchestrator == "kubernetes":
        from ultracluster.kubernetes import platform_of

        found = workloads.kubernetes_jobs(platform_of(cluster))
    else:
        found = workloads.slurm_jobs(cluster)
    return [RenderedFile(path=job.path, text=job.text, what=job.what) for job in found]


def _kubernetes(cluster: "ClusterFile", deployed: Mapping[str, str]) -> list[RenderedFile]:
    from dataclasses import replace

    from ultracluster.kubernetes import platform, platform_of
    from ultracluster.kubernetes.files import platform_files
    from ultracluster.kubernetes.from_cluster_file import NOT_DEPLOYED
    from ultracluster.metrics import collector_objects

    if cluster.orchestrator != "kubernetes":
        return []
    of = platform_of(cluster, deployed=deployed)
    rendered = platform(of)
    collectors = collector_objects(
        cluster,
        url=deployed.get("RemoteWriteUrl", NOT_DEPLOYED),
        selectors={group.name: group.labels for group in of.nodes},
    )
    files = platform_files(replace(rendered, objects=(*rendered.objects, *collectors)))
    return [RenderedFile(path=path, text=text, what=_about(path)) for path, text in files.items()]


def _about(path: str) -> str:
    known = {"charts.yaml": "releases, each with its version", "install.sh": "installs all of it, in order"}
    return known.get(path) or {"values": "values of a chart", "objects": "an object"}[path.partition("/")[0]]


def _outputs(file: Path | None) -> dict[str, str]:
    """What stacks said when they were deployed: the outputs of all of them together."""
    if file is None:
        return {}
    try:
        stacks = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): str(value) for outputs in stacks.values() for name, value in outputs.items()}
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}")
    except (ValueError, AttributeError):
        fail(f"{file} holds no outputs of stacks; write it with cdk deploy --outputs-file")


def _rules(cluster: "ClusterFile") -> list[RenderedFile]:
    from ultracluster import metrics

    what = {
        "recording.yaml": "Recording rules: exporters' metrics under names of ours.",
        "alerts.yaml": "Alerting rules.",
    }
    return [
        RenderedFile(path=f"rules/{name}", text=text, what=what[name])
        for name, text in metrics.cluster_rules(cluster).items()
    ]


def _dashboards(cluster: "ClusterFile") -> list[RenderedFile]:
    from ultracluster.metrics.dashboard_files import dashboards, lustre_dashboards

    texts: dict[str, str] = {}
    if cluster.observability.on:
        texts = {**dashboards(), **(lustre_dashboards() if cluster.storage.lustre else {})}
    return [
        RenderedFile(path=f"dashboards/{uid}.json", text=text, what=f"Grafana: {json.loads(text)['title']}.")
        for uid, text in texts.items()
    ]


def render(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A cluster file.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the files are written.")],
    jobs: Annotated[bool, typer.Option("--jobs", help="Job files: training, RL, inference, NCCL test.")] = False,
    kubernetes: Annotated[
        bool, typer.Option("--kubernetes", help="What stands on a Kubernetes cluster: charts, their values, objects.")
    ] = False,
    outputs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What cdk deploy --outputs-file wrote: the ids that --kubernetes needs."),
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Prometheus: recording rules and alerts.")] = False,
    dashboards: Annotated[bool, typer.Option("--dashboards", help="Grafana: the dashboards, as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files with other content.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="What was written, as JSON.")] = False,
) -> None:
    """Write the files of a kind that follow from a cluster file."""
    from ultracluster import clusterfile
    from ultracluster.kubernetes import file_problems

    # The kinds by the names of their options. Each says all of its files; none: the cluster has nothing of that kind.
    kinds: Mapping[str, Callable[[ClusterFile], Sequence[RenderedFile]]] = {
        "jobs": _jobs,
        "kubernetes": lambda cluster: _kubernetes(cluster, _outputs(outputs)),
        "rules": _rules,
        "dashboards": _dashboards,
    }
    asked_for = {"jobs": jobs, "kubernetes": kubernetes, "rules": rules, "dashboards": dashboards}
    wanted = [kind for kind, asked in asked_for.items() if asked]
    if not wanted:
        misuse(f"say what to render: {', '.join(f'--{kind}' for kind in kinds)}")
    if outputs is not None and not kubernetes:
        misuse("--outputs is for --kubernetes")
    try:
        cluster = clusterfile.load(file, further=file_problems)
    except clusterfile.ClusterFileError as error:
        fail(f"the cluster file is not good\n{error}")
    files: list[RenderedFile] = []
    for kind in wanted:
        try:
            found = kinds[kind](cluster)
        except ValueError as error:
            fail(str(error))
        if not found:
            metrics = "a profile of observability that is not none"
            needs = {"jobs": "nodes with GPUs", "kubernetes": "orchestrator: kubernetes"}
            need = needs.get(kind, metrics)
            fail(f"--{kind}: {file} has nothing to render them for; it needs {need}")
        files += found
    try:
        fates = write_files(files, out, force=force)
    except ValueError as error:
        fail(str(error))
    except OSError as error:
        fail(f"cannot write to {out}: {error.strerror}: {error.filename}")
    if json_:
        rows = [
            {"path": str(out / one.path), "what": one.what, "fate": fate}
            for one, fate in zip(files, fates, strict=True)
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    console().print(_table(files, fates, out))


def _table(files: Sequence[RenderedFile], fates: Sequence[Fate], out: Path) -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(str(out)), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("file", no_wrap=True)
    table.add_column("what", overflow="fold")
    table.add_column("", no_wrap=True)
    for file, fate in zip(files, fates, strict=True):
        table.add_row(escape(file.path), escape(file.what), fate)
    return table
