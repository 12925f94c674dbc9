"""`ultracluster render`: files that follow from a cluster file, to use without the CDK.

A further kind of files is one function, one option of `render`, and a line in its table of kinds.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ultracluster.cli._ci import SERVICES, pipeline
from ultracluster.cli._manifests import manifest_files
from ultracluster.cli._output import FileArgument, JsonOption, console, fail, load, misuse, print_json
from ultracluster.cli._outputs import StackOption, deployed_outputs
from ultracluster.cli._parallelcluster import configuration_files
from ultracluster.cli._templates import stale_templates, template_files, template_notes
from ultracluster.cli._workloads import workload_rendered
from ultracluster.cli._writing import RenderedFile, print_notes, stale_files, write_files, written_json, written_table

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile


def _jobs(cluster: "ClusterFile", team: str | None) -> list[RenderedFile]:
    from ultracluster.workloads import job_files, job_helpers

    jobs = job_files(cluster, team=team)
    return [
        RenderedFile(path=job.path, text=job.text, what=job.what) for job in (*jobs, *(job_helpers() if jobs else ()))
    ]


_FOLDERS = {
    "charts.yaml": "releases, each with its version",
    "values": "values of a chart",
    "objects": "an object",
    "argo-cd": "applications of Argo CD",
}


def _objects(cluster: "ClusterFile", deployed: Mapping[str, str]) -> list[RenderedFile]:
    from ultracluster.kubernetes import parameter_values
    from ultracluster.workloads import kubernetes_files

    files = kubernetes_files(cluster, parameter_values(deployed))
    return [RenderedFile(path=path, text=text, what=_FOLDERS[path.partition("/")[0]]) for path, text in files.items()]


def _ids(cluster: "ClusterFile", file: Path | None, stacks: Sequence[str] | None) -> dict[str, str]:
    """Outputs of a file. Without one, those of CloudFormation for Argo CD, which applies files as they are, or none."""
    if file is None and cluster.kubernetes.argo_cd is None:
        return {}
    return deployed_outputs(cluster, file, stacks)


def _rules(cluster: "ClusterFile", deployed: Mapping[str, str]) -> list[RenderedFile]:
    from ultracluster.monitoring import cluster_rules

    # Of the self-hosted server the output is a command.
    address = deployed.get("Dashboards", "")
    address = address if address.startswith("https://") else ""
    if cluster.grafana == "managed" and not address and cluster.observability.alerts.grafana is None:
        typer.echo(
            "note: alerts link to http://localhost:3000, because the address of the managed Grafana is known after the "
            "deployment; add --outputs FILE, or write observability: {alerts: {grafana: https://...}}",
            err=True,
        )
    what = {
        "recording.yaml": "Recording rules: exporters' metrics under stable names.",
        "alerts.yaml": "Alerting rules.",
    }
    return [
        RenderedFile(path=f"rules/{name}", text=text, what=what.get(name, "Your rules."))
        for name, text in cluster_rules(cluster, grafana=address or None).items()
    ]


def _dashboards(cluster: "ClusterFile") -> list[RenderedFile]:
    from ultracluster.monitoring import cluster_dashboards

    texts: dict[str, str] = {}
    if cluster.observability.on:
        texts, _ = cluster_dashboards(cluster, lustre=cluster.storage.lustre is not None)
    return [
        RenderedFile(path=f"dashboards/{uid}.json", text=text, what=f"Grafana: {json.loads(text)['title']}.")
        for uid, text in texts.items()
    ]


def render(
    file: FileArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Directory for the files; --parallelcluster prints without one."),
    ] = None,
    jobs: Annotated[bool, typer.Option("--jobs", help="Job files: training, RL, inference, NCCL test.")] = False,
    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="Files of one workload only: ultracluster workloads lists them.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="GROUP", help="Queue or node group of --workload. Default: the only one with GPUs."),
    ] = None,
    team: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Kubernetes: team of --jobs and --workload. Default: that with the most nodes of a group.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Setting of --workload; repeatable.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Plan of --workload, of ultracluster plan --json; --set replaces its values."
        ),
    ] = None,
    kubernetes: Annotated[
        bool, typer.Option("--kubernetes", help="Kubernetes: charts with their values, and objects.")
    ] = False,
    manifests: Annotated[
        bool, typer.Option("--manifests", help="With --kubernetes: the objects of each chart too, by helm template.")
    ] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory with charts for --manifests, to use instead of pulling."),
    ] = None,
    outputs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of cdk deploy --outputs-file: ids for --kubernetes, address for --rules. Default: placeholders; "
            "with platform: argo-cd, read from CloudFormation.",
        ),
    ] = None,
    stack: StackOption = None,
    rules: Annotated[bool, typer.Option("--rules", help="Prometheus: recording rules and alerts.")] = False,
    dashboards: Annotated[bool, typer.Option("--dashboards", help="Grafana: the dashboards, as JSON.")] = False,
    templates: Annotated[
        bool, typer.Option("--templates", help="CloudFormation templates, for CfnInclude and Terraform.")
    ] = False,
    parallelcluster: Annotated[
        bool, typer.Option("--parallelcluster", help="Configuration of ParallelCluster, and what it cannot carry over.")
    ] = False,
    bucket: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Bucket of the scripts of --parallelcluster, to which jobs do not write; required with an existing "
            "data bucket. Default: no scripts.",
        ),
    ] = None,
    ci: Annotated[
        str | None,
        typer.Option(
            metavar="SERVICE", help="Pipeline that deploys, for the root of the repository in --out: github or gitlab."
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace files with other content; with --kubernetes and --templates, remove those of what left.",
        ),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Write files that follow from a cluster file."""
    # Kinds by the names of their options, each with its function and with what a cluster file needs to have such files.
    metrics = "a profile of observability that is not none"
    kinds: Mapping[str, tuple[bool, Callable[[ClusterFile], Sequence[RenderedFile]], str]] = {
        "jobs": (jobs, lambda cluster: _jobs(cluster, team), "nodes with GPUs"),
        "kubernetes": (
            kubernetes,
            lambda cluster: _objects(cluster, _ids(cluster, outputs, stack)),
            "orchestrator: kubernetes or hyperpod-kubernetes",
        ),
        "manifests": (
            manifests,
            lambda cluster: manifest_files(cluster, _ids(cluster, outputs, stack), bundle),
            "orchestrator: kubernetes or hyperpod-kubernetes",
        ),
        "rules": (
            rules,
            lambda cluster: _rules(cluster, deployed_outputs(cluster, outputs, stack) if outputs else {}),
            metrics,
        ),
        "dashboards": (dashboards, _dashboards, metrics),
        "templates": (templates, template_files, "nodes"),
        "parallelcluster": (
            parallelcluster,
            lambda cluster: configuration_files(cluster, file, bucket),
            "orchestrator: slurm",
        ),
        "workload": (
            workload is not None,
            lambda cluster: workload_rendered(cluster, workload or "", group, settings or (), plan, team),
            "nodes with GPUs",
        ),
        "ci": (ci is not None, lambda cluster: pipeline(ci or "", file, cluster, out or Path()), "nodes"),
    }
    if not any(requested for requested, _, _ in kinds.values()):
        misuse(f"specify what to render: {', '.join(f'--{kind}' for kind in kinds)}")
    if (outputs is not None or stack) and not kubernetes and not rules:
        misuse("--outputs and --stack are for --kubernetes and --rules")
    if ci is not None and ci not in SERVICES:
        misuse(f"--ci must be one of {', '.join(SERVICES)}, got {ci!r}")
    if manifests and not kubernetes:
        misuse("--manifests is for --kubernetes")
    if bundle is not None and not manifests:
        misuse("--bundle is for --manifests")
    if bundle is not None and not bundle.is_dir():
        misuse(f"--bundle {bundle} is not a directory")
    if (group is not None or settings or plan) and workload is None:
        misuse("--group, --set and --plan are for --workload")
    if team is not None and not jobs and workload is None:
        misuse("--team is for --jobs and --workload")
    if bucket is not None and not parallelcluster:
        misuse("--bucket is for --parallelcluster")
    only = [kind for kind, (requested, _, _) in kinds.items() if requested] == ["parallelcluster"]
    if out is None and (json_ or bucket or not only):
        misuse("--out DIR is missing: the directory for the files")
    cluster = load(file)
    files: list[RenderedFile] = []
    for kind, (requested, rendered_by, requirement) in kinds.items():
        if not requested:
            continue
        try:
            rendered = rendered_by(cluster)
        except ValueError as error:
            fail(str(error))
        if not rendered:
            fail(f"--{kind}: {file} has nothing to render them for; it needs {requirement}")
        files += rendered
    if out is None:
        typer.echo(files[0].text, nl=False)
        print_notes(files, file)
        return
    try:
        stale = [*(stale_files(files, out) if kubernetes else ()), *(stale_templates(files, out) if templates else ())]
        results = write_files(files, out, force=force, stale=stale)
    except ValueError as error:
        fail(str(error))
    except OSError as error:
        fail(f"cannot write to {out}: {error.strerror}: {error.filename}")
    files += stale
    if json_:
        print_json(written_json(files, results, out))
    else:
        console().print(written_table(files, results, out))
        if templates:
            typer.echo(template_notes(files, out))
    print_notes(files, file)
