"""Install, update and remove Helm releases, and wait for their controllers and webhooks."""

import json
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultracluster.platform._archives import chart_directory
from ultracluster.platform._bundle import Release
from ultracluster.platform._errors import ApplyError, Phase, ToolError
from ultracluster.platform._tools import Tools

#: Label of the releases of this library, with the hash of their content.
MARK = "ultracluster.io/release"
_POLL_SECONDS = 5
_APPLY = ("apply", "--server-side", "--force-conflicts", "--field-manager=ultracluster")
# Seconds that a pod is stuck before it fails: the kubelet repeats a pull after 10, 20, 40 and 80 s, and registries
# limit them. https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff (read 2026-11-26)
_PATIENCE_SECONDS = 150
# States of a container that seldom end by themselves.
_STUCK = ("ImagePullBackOff", "ErrImagePull", "CrashLoopBackOff", "CreateContainerConfigError", "InvalidImageName")


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """A release as Helm recorded it."""

    name: str
    namespace: str
    status: str
    chart: str
    fingerprint: str | None


def installed_releases(tools: Tools) -> list[Installed]:
    """Return all releases of the cluster, also those that others installed."""
    rows = json.loads(tools.run("helm", "list", "--all-namespaces", "--output=json") or "[]")
    marks = {
        (item["metadata"]["namespace"], item["metadata"]["labels"]["name"], item["metadata"]["labels"]["version"]): (
            item["metadata"]["labels"][MARK]
        )
        for item in tools.get("secrets", "--all-namespaces", f"--selector=owner=helm,{MARK}")
    }
    return [
        Installed(
            name=row["name"],
            namespace=row["namespace"],
            status=row["status"],
            chart=row["chart"],
            fingerprint=marks.get((row["namespace"], row["name"], str(row["revision"]))),
        )
        for row in rows
    ]


def install(tools: Tools, release: Release, installed: Sequence[Installed]) -> str:
    """Install or update a release, without waiting for its pods; return what was done."""
    if release.manifest is not None:
        _run(tools, release, "kubectl", *_APPLY, f"--filename={release.manifest}")
        return "applied"
    before = next((row for row in installed if (row.name, row.namespace) == (release.name, release.namespace)), None)
    if before and before.status == "deployed" and before.fingerprint == release.fingerprint:
        return "unchanged"
    if before and before.status.startswith("pending"):
        _clear(tools, release, before)
    if before:
        # Helm never updates what a chart has in `crds/`: https://helm.sh/docs/chart_best_practices/custom_resource_
        # definitions (read 2026-11-22)
        definitions = _run(tools, release, "helm", "show", "crds", *chart_arguments(release))
        if definitions.strip():
            _run(tools, release, "kubectl", *_APPLY, "--filename=-", stdin=definitions)
    with tempfile.TemporaryDirectory() as directory:
        _run(tools, release, "helm", *upgrade_arguments(release, Path(directory)))
    return "updated" if before else "installed"


def upgrade_arguments(release: Release, directory: Path) -> list[str]:
    """Return the arguments of helm that install or update a release; its values are written to a directory."""
    values = directory / "values.json"
    values.write_text(json.dumps(dict(release.values)), encoding="utf-8")
    return [
        *("upgrade", "--install", release.name, *chart_arguments(release)),
        *("--namespace", release.namespace, "--create-namespace", "--values", str(values)),
        # The chart owns its objects: what somebody changed in them is set back, as in Helm 3.
        *("--labels", f"{MARK}={release.fingerprint}", "--history-max", "3", "--force-conflicts"),
        # What exists without a release: of an installation that is adopted, or a cluster role that the API server's own
        # controller has written again after `helm uninstall`, as Kueue's (kube-controller-manager 1.36.2, 2026-11-25).
        "--take-ownership",
    ]


def chart_objects(tools: Tools, release: Release, *, kubernetes: str) -> str:
    """Return the objects of a chart as `helm template` renders them, without a cluster; hooks and definitions included.

    Raises:
        ApplyError: If the chart cannot be read or rendered.
    """
    arguments = ("--namespace", release.namespace, "--include-crds", "--kube-version", kubernetes, "--values", "-")
    values = json.dumps(dict(release.values))
    return _run(tools, release, "helm", "template", release.name, *chart_arguments(release), *arguments, stdin=values)


def chart_arguments(release: Release) -> list[str]:
    """Return the chart with version and repository."""
    assert release.chart is not None
    if release.archive is not None:
        return [str(chart_directory(release))]
    if release.chart.endswith(".tgz"):
        return [release.chart]
    repository = ["--repo", release.repository] if release.repository else []
    return [release.chart, "--version", release.version, *repository]


def leaving_releases(desired: Sequence[Release], installed: Sequence[Installed]) -> list[Installed]:
    """Return the releases of this library that are no longer in the file."""
    names = {(release.name, release.namespace) for release in desired}
    return [row for row in installed if row.fingerprint is not None and (row.name, row.namespace) not in names]


def remove(tools: Tools, leaving: Sequence[Installed]) -> list[str]:
    """Uninstall releases; return their names."""
    for row in leaving:
        try:
            tools.run("helm", "uninstall", row.name, "--namespace", row.namespace, "--ignore-not-found")
        except ToolError as error:
            raise ApplyError(
                "removal", f"release {row.name}", str(error), "remove the reason and apply again"
            ) from None
    return [row.name for row in leaving]


def wait_for_controllers(tools: Tools, releases: Sequence[Release], seconds: float) -> None:
    """Wait until the Deployments of the releases are available and their webhooks have endpoints.

    Raises:
        ApplyError: If they are not in time; at once if an image cannot be pulled.
    """
    namespaces = {release.namespace: release.name for release in releases if release.phase == "controllers"}
    _wait(lambda: _unavailable(tools, namespaces), "controllers", seconds, lambda: _stuck(tools, namespaces))
    _wait(lambda: _silent_webhooks(tools, namespaces), "webhooks", seconds, lambda: None)


def _run(tools: Tools, release: Release, tool: str, *arguments: str, stdin: str | None = None) -> str:
    try:
        return tools.run(tool, *arguments, stdin=stdin)
    except ToolError as error:
        remedy = "check that this host reaches the registry of the chart, then run the command again"
        if "forbidden" in error.message.lower():
            remedy = "use a principal that `kubernetes.admins` of the cluster file names"
        elif "immutable" in error.message:
            remedy = "delete the object that the message names, if nothing uses it; apply continues where it stopped"
        raise ApplyError(release.phase, f"release {release.name} {release.version}", str(error), remedy) from None


def _clear(tools: Tools, release: Release, before: Installed) -> None:
    """End an operation that was interrupted: Helm refuses the next one otherwise."""
    if before.status == "pending-install":
        _run(tools, release, "helm", "uninstall", release.name, "--namespace", release.namespace)
    else:
        _run(tools, release, "helm", "rollback", release.name, "--namespace", release.namespace)


def _wait(
    missing: Callable[[], list[tuple[str, str]]], phase: Phase, seconds: float, hopeless: Callable[[], str | None]
) -> None:
    until = time.monotonic() + seconds
    given_up = math.inf
    while rows := missing():
        stuck, now = hopeless(), time.monotonic()
        given_up = min(given_up, now + _PATIENCE_SECONDS) if stuck else math.inf
        if now >= min(until, given_up):
            subject, reason = rows[0]
            remedy = "read the logs of its pods; apply continues where it stopped"
            if stuck and "Image" in stuck:
                remedy = "copy the image to a registry that the nodes reach, or correct its name; then apply again"
            raise ApplyError(phase, subject, stuck or f"{reason} after {seconds:.0f} s", remedy)
        time.sleep(_POLL_SECONDS)


def _unavailable(tools: Tools, namespaces: dict[str, str]) -> list[tuple[str, str]]:
    """Return the Deployments without an available pod, and those whose pods are not all of the new version."""
    rows = []
    for namespace in namespaces:
        for item in tools.get("deployments", f"--namespace={namespace}"):
            metadata, status, desired = item["metadata"], item.get("status", {}), item["spec"].get("replicas", 1)
            ready = status.get("availableReplicas", 0)
            # Old pods answer until new ones do: by them alone, an image that cannot be pulled is not noticed.
            old = status.get("replicas", 0) - status.get("updatedReplicas", 0)
            observed = status.get("observedGeneration", 0) >= metadata.get("generation", 0)
            subject = f"Deployment {namespace}/{metadata['name']}"
            if ready < min(1, desired):
                rows.append((subject, f"{ready} of {desired} pods are ready"))
            elif old > 0 or not observed:
                rows.append((subject, f"{old or desired} of {desired} pods have the old version"))
    return rows


def _stuck(tools: Tools, namespaces: dict[str, str]) -> str | None:
    for namespace in namespaces:
        for pod in tools.get("pods", f"--namespace={namespace}"):
            if reason := stuck_pod(pod):
                return reason
    return None


def stuck_pod(pod: dict[str, Any]) -> str | None:
    """Return why a pod cannot start, or None."""
    status = pod.get("status", {})
    for container in [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]:
        waiting = container.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in _STUCK:
            message = waiting.get("message", "")
            return f"pod {pod['metadata']['name']}, image {container['image']}: {waiting['reason']} {message}".strip()
    return None


def _silent_webhooks(tools: Tools, namespaces: dict[str, str]) -> list[tuple[str, str]]:
    """Return the webhooks of the releases whose Service has no ready endpoint."""
    rows = []
    for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):
        for item in tools.get(kind):
            for webhook in item.get("webhooks", []):
                service = webhook["clientConfig"].get("service")
                if service and service["namespace"] in namespaces and not _answers(tools, service):
                    subject = f"webhook {webhook['name']} of {namespaces[service['namespace']]}"
                    rows.append((subject, f"Service {service['namespace']}/{service['name']} has no ready endpoint"))
    return rows


def _answers(tools: Tools, service: dict[str, Any]) -> bool:
    selector = f"--selector=kubernetes.io/service-name={service['name']}"
    slices = tools.get("endpointslices", f"--namespace={service['namespace']}", selector)
    return any(row.get("conditions", {}).get("ready", True) for item in slices for row in item.get("endpoints") or [])
