"""Bundle of a platform: one JSON file that needs neither a cluster file nor the CDK to be applied."""

import difflib
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from ultracluster.platform._errors import ApplyError

#: Name of the file in its directory. Charts may lie beside it, as `charts/NAME-VERSION.tgz`.
BUNDLE_FILE = "bundle.json"
_FORMAT = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A Helm release, or a manifest of a project without a chart.

    Args:
        name: Name of the release.
        phase: Phase that installs it.
        version: Version of the chart or the manifest.
        namespace: Namespace of its controllers.
        image: Part of the image of its controllers, by which another installation of it is recognized.
        chart: Name of the chart, its `oci://` URL, or a path.
        repository: URL of the chart repository, or None.
        manifest: URL or path of the manifest, or None.
        archive: URL of the archive that has the chart, which is then a path in it, or None.
        values: Values of the chart.
    """

    name: str
    phase: Literal["controllers", "devices"]
    version: str
    namespace: str
    image: str
    chart: str | None = None
    repository: str | None = None
    manifest: str | None = None
    archive: str | None = None
    values: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """Hash of version and values, from wherever the chart comes: a release with the same one is up to date."""
        parts = [self.name, self.version, dict(self.values)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Nodes that the gate expects.

    Args:
        name: Name of the node group.
        labels: Labels that select its nodes.
        nodes: Number of nodes.
        resources: Devices of each node by resource name.
        optional: Reason why fewer nodes are no failure, such as nodes that Karpenter launches; or empty.
        starts: Start of their capacity as a text of ISO 8601, or empty. There are no nodes before.
        until: Time from which EKS scales them to zero, before the end of the block, or empty.
    """

    name: str
    labels: Mapping[str, str]
    nodes: int
    resources: Mapping[str, int]
    optional: str = ""
    starts: str = ""
    until: str = ""

    def excuse(self, now: datetime) -> str:
        """Return the reason why fewer nodes are no failure at a time, or an empty text."""
        if self.starts and now < datetime.fromisoformat(self.starts):
            return f"its capacity starts at {self.starts}"
        if self.until and now >= datetime.fromisoformat(self.until):
            return f"its Capacity Block ran until {self.until}"
        return self.optional


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """Everything that is installed on a cluster.

    Args:
        cluster: Name of the EKS cluster.
        region: AWS region.
        parameters: Names of the placeholders `${NAME}` in objects and values.
        releases: Releases, in order.
        objects: Objects, in order.
        groups: Node groups of the gate.
        scheduler: Scheduler of the jobs.
        metrics: Namespace of the collectors of metrics, or None without monitoring.
        images: Copies of charts and images in a registry of the account, which must exist.
        partial: It is a part of the platform, applied before the nodes: nothing is removed, and there is no gate.
        applications: Applications of Argo CD that install the platform, as `NAMESPACE/NAME`, the one that holds the
            others first. By default, none.
    """

    cluster: str
    region: str
    parameters: Sequence[str]
    releases: Sequence[Release]
    objects: Sequence[dict[str, Any]]
    groups: Sequence[Group]
    scheduler: str
    metrics: str | None
    images: Sequence[str] = ()
    partial: bool = False
    applications: Sequence[str] = ()

    @staticmethod
    def parse(data: Mapping[str, Any], values: Mapping[str, str], *, directory: Path | None = None) -> "Bundle":
        """Return a bundle with the values of its parameters.

        Args:
            data: Content of the file.
            values: Values by name of the parameter.
            directory: Directory whose charts and manifests replace those of registries, or None.

        Raises:
            ApplyError: If the format is another one, or a value is missing.
        """
        if data.get("format") != _FORMAT:
            reason = f"its format is {data.get('format')!r}, and this release reads {_FORMAT}"
            raise ApplyError("check", BUNDLE_FILE, reason, "render it again with this release")
        missing = [name for name in data["parameters"] if not values.get(name)]
        if missing:
            reason = f"there is no value of {', '.join(missing)}"
            remedy = "deploy the stacks first: these are their outputs; or pass them with --outputs or --values"
            raise ApplyError("check", "parameters", reason, remedy)
        known = {name: values[name] for name in data["parameters"]}
        return Bundle(
            cluster=data["cluster"],
            region=data["region"],
            parameters=tuple(data["parameters"]),
            releases=tuple(Release(**_local(_filled(release, known), directory)) for release in data["releases"]),
            objects=tuple(_filled(item, known) for item in data["objects"]),
            groups=tuple(Group(**group) for group in data["groups"]),
            scheduler=data["scheduler"],
            metrics=data["metrics"],
            images=tuple(data.get("images", ())),
            partial=data.get("partial", False),
            applications=tuple(data.get("applications", ())),
        )

    def selected(self, *, skip: Collection[str], adopt: Collection[str]) -> list[Release]:
        """Return the releases that are not skipped.

        Raises:
            ApplyError: If the bundle does not have one of the names, or both have the same one.
        """
        names = [release.name for release in self.releases]
        for option, given in (("--skip", skip), ("--adopt", adopt)):
            for name in given:
                if name not in names:
                    similar = difflib.get_close_matches(name, names, n=1)
                    reason = f"the file has no release {name!r}; it has {', '.join(names)}"
                    remedy = f"write {option} {similar[0]}" if similar else f"name one of them, or leave {option} out"
                    raise ApplyError("check", option, reason, remedy)
        if both := sorted({*skip} & {*adopt}):
            reason = f"{', '.join(both)}: --skip keeps what the cluster has, and --adopt replaces it"
            raise ApplyError("check", "--skip", reason, "use one of the two options")
        return [release for release in self.releases if release.name not in skip]

    @staticmethod
    def load(directory: Path, values: Mapping[str, str]) -> "Bundle":
        """Read the bundle of a directory, and use the charts and manifests in it."""
        file = directory / BUNDLE_FILE
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ApplyError("check", str(file), str(error), "render the bundle again") from error
        if not isinstance(data, dict):
            raise ApplyError("check", str(file), "it is not a JSON object", "render the bundle again")
        return Bundle.parse(data, values, directory=directory)


def load_values(file: Path) -> dict[str, str]:
    """Read the values of parameters from a JSON file.

    Raises:
        ApplyError: If it is not a JSON object of strings.
    """
    remedy = 'write one JSON object of strings, such as {"FileSystemId": "fs-0123456789abcdef0"}'
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ApplyError("check", str(file), str(error), remedy) from None
    if not isinstance(data, dict):
        raise ApplyError("check", str(file), f"it has {type(data).__name__} instead of an object", remedy)
    wrong = [name for name, value in data.items() if not isinstance(value, str)]
    if wrong:
        raise ApplyError("check", str(file), f"{', '.join(wrong)}: not a string", remedy)
    return data


def _local(release: dict[str, Any], directory: Path | None) -> dict[str, Any]:
    """Return a release with the chart or the manifest of the directory, where there is one."""
    if directory is None:
        return release
    name = f"{release['name']}-{release['version']}"
    chart, manifest = directory / "charts" / f"{name}.tgz", directory / "manifests" / f"{name}.yaml"
    if chart.exists():
        return {**release, "chart": str(chart), "repository": None, "archive": None}
    return {**release, "manifest": str(manifest)} if manifest.exists() else release


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    """Replace the placeholders of known parameters, and no other `${...}`: scripts have their own."""
    if isinstance(value, dict):
        return {key: _filled(inner, values) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, values) for inner in value]
    if isinstance(value, str) and "${" in value:
        for name, text in values.items():
            value = value.replace(f"${{{name}}}", text)
    return value
