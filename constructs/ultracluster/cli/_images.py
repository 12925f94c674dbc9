"""`ultracluster images`: charts and images of a Kubernetes cluster."""

import hashlib
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._output import FileArgument, JsonOption, fail, load, print_json, print_table, table

if TYPE_CHECKING:
    from ultracluster.cli._copies import Copier
    from ultracluster.clusterfile import ClusterFile
    from ultracluster.workloads import Artifact

_GB = 10**9
_UNKNOWN = "as in the chart"
_ADD_ONS = "EKS add-ons are not listed: EKS pulls their images from the registry of AWS in the Region."


def images(
    file: FileArgument,
    resolve: Annotated[
        bool, typer.Option("--resolve", help="Read digests and sizes from the registries, over the network.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """List the charts and images of a Kubernetes cluster, and what uses them.

    A digest is known if this release pins it; `--resolve` reads the others from the registries.
    """
    cluster = load(file)
    rows = artifacts(cluster, file)
    details: list[dict[str, Any]] = [{} for _ in rows]
    failed: list[str] = []
    if resolve:
        from ultracluster.cli._copies import CopyError, copier

        with copier({row.source.partition("/")[0] for row in rows if row.kind == "image"}, optional=True) as tools:
            rows = with_tags(tools, rows, cluster, failed)
            details = []
            for row in rows:
                try:
                    details.append(_details(tools, row))
                except CopyError as error:
                    details.append({})
                    failed.append(f"{row.source}: {error}")
    result = [
        {
            "kind": row.kind,
            "source": row.source,
            "target": row.target,
            "tag": row.tag,
            "digest": more.get("digest", row.digest),
            "size_bytes": more.get("size_bytes"),
            "used_by": list(row.used_by),
        }
        for row, more in zip(rows, details, strict=True)
    ]
    if json_:
        print_json({"file": file, "images": result, "failed": failed})
    else:
        _print(result)
    for line in failed:
        typer.echo(f"error: {line}", err=True)
    raise typer.Exit(1 if failed else 0)


def artifacts(cluster: "ClusterFile", file: str, registry: str | None = None) -> list["Artifact"]:
    """Return charts and images of a cluster file, or end the command."""
    from ultracluster.workloads import cluster_artifacts

    if not cluster.traits.has_platform:
        fail(f"{file} has orchestrator: {cluster.orchestrator}; images are listed for orchestrator: kubernetes")
    return list(cluster_artifacts(cluster, registry))


def with_tags(
    tools: "Copier", rows: list["Artifact"], cluster: "ClusterFile", failed: list[str], registry: str | None = None
) -> list["Artifact"]:
    """Return rows with tags: charts of other versions than the pinned ones are rendered, which name their images.

    Charts that cannot be rendered are added to `failed`.
    """
    from dataclasses import replace

    from ultracluster.cli._copies import CopyError, chart_images
    from ultracluster.kubernetes import registry_of
    from ultracluster.workloads import image_target

    unknown = [row for row in rows if not row.known]
    users = {user for row in unknown for user in row.used_by}
    known = {row.source: row for row in rows if row.known}
    for row in [item for item in rows if item.release is not None and item.used_by[0] in users]:
        try:
            names = chart_images(tools.helm, row.release)  # type: ignore[arg-type]  # charts have tags, manifests too
        except CopyError as error:
            failed.append(f"{row.source}: {error}")
            continue
        for name in names:
            target = image_target(name, registry or registry_of(cluster), cluster.region)
            before = known.get(name)
            used = (*(before.used_by if before else ()), *row.used_by)
            known[name] = replace(
                before or row, kind="image", source=name, target=target, used_by=used, release=None, platform=True
            )
    return list(known.values())


def _details(tools: "Copier", row: "Artifact") -> dict[str, Any]:
    """Return digest and size of an image or a chart; nothing for a chart that is in no registry."""
    if row.release is not None and (getattr(row.release, "url", None) or getattr(row.release, "repository", None)):
        return {}
    name, _, digest = row.source.partition("@")
    address = f"{name.rpartition(':')[0]}@{digest}" if digest and ":" in name.rpartition("/")[2] else row.source
    raw = tools.raw(address)
    manifest = json.loads(raw)
    if "manifests" in manifest:
        # Of several platforms: the one of most nodes.
        chosen = [m for m in manifest["manifests"] if m.get("platform", {}).get("architecture") == "amd64"]
        repository = address.partition("@")[0]
        repository = repository.rpartition(":")[0] if ":" in repository.rpartition("/")[2] else repository
        manifest = json.loads(tools.raw(f"{repository}@{chosen[0]['digest']}")) if chosen else {}
    layers = manifest.get("layers")
    size = sum(layer["size"] for layer in layers) if layers else None
    return {"digest": f"sha256:{hashlib.sha256(raw).hexdigest()}", "size_bytes": size}


def _print(rows: list[dict[str, Any]]) -> None:
    known = any(row["digest"] for row in rows)
    shown = table(None, "kind", "source", *(["digest", ">GB"] if known else []))
    shown.add_column("used by")
    for row in rows:
        source = row["source"].partition("@")[0]
        source = source if row["kind"] == "chart" or row["tag"] or row["digest"] else f"{source} ({_UNKNOWN})"
        digest = (row["digest"] or "").removeprefix("sha256:")[:12]
        size = "" if row["size_bytes"] is None else f"{row['size_bytes'] / _GB:.2f}"
        shown.add_row(row["kind"], source, *([digest, size] if known else []), ", ".join(row["used_by"]))
    print_table(shown, wraps=False)
    typer.echo(_ADD_ONS)
    charts = sum(row["kind"] == "chart" for row in rows)
    copies = sum(row["target"] is not None for row in rows)
    text = f"{charts} charts, {len(rows) - charts} images"
    typer.echo(f"{text}; {copies} come from the registry of the cluster" if copies else text)
