"""Helm releases, and manifests of projects without a chart."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracluster.boot import check_label
from ultracluster.rules import Refusal, shared

# SemVer, with the "v" that some charts write. https://semver.org (read 2026-11-21)
_VERSION = re.compile(r"v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}", re.ASCII)
CHART = shared("kubernetes-chart")
_LONGEST_RELEASE_NAME = 53  # https://helm.sh/docs/topics/charts (read 2026-11-21)


@dataclass(frozen=True, kw_only=True, slots=True)
class HelmRelease:
    """A release of a chart, pinned.

    Args:
        name: Name of the release.
        chart: Name of the chart in its repository, or its `oci://` URL.
        version: Exact version of the chart. A range, `latest` or an empty string is rejected.
        namespace: Namespace of the release.
        repository: `https://` URL of the chart repository. By default, none, for an `oci://` chart.
        commit: Commit of a repository of GitHub, whose `chart` is the path of a directory. By default, none.
        values: Values that differ from the chart's defaults.

    Raises:
        ValueError: If an argument is not valid, with all errors.
    """

    name: str
    chart: str
    version: str
    namespace: str
    repository: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    commit: str | None = None

    def __post_init__(self) -> None:
        """Validate the release."""
        problems = [*check_label("name", self.name, _LONGEST_RELEASE_NAME), *check_label("namespace", self.namespace)]
        if not _VERSION.fullmatch(self.version):
            message = f"version is the exact version of the chart, such as 1.2.3, got {self.version!r}"
            problems.append(CHART(f"{message}: without one, the same file gives another cluster tomorrow"))
        if self.chart.startswith("oci://") == (self.repository is not None):
            problems.append(CHART("chart is an oci:// address, or has an https:// repository, and not both"))
        if self.repository is not None and not self.repository.startswith("https://"):
            problems.append(CHART(f"repository starts with https://, got {self.repository!r}"))
        if self.commit is not None and not _COMMIT.fullmatch(self.commit):
            problems.append(CHART(f"commit is 40 hexadecimal digits, got {self.commit!r}"))
        if problems:
            raise Refusal(f"chart {self.name[:70]}", problems)

    @property
    def archive(self) -> str | None:
        """URL of the archive of the commit, or None for a chart of a registry."""
        return None if self.commit is None else f"{self.repository}/archive/{self.commit}.tar.gz"


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """A file of objects that a project publishes instead of a chart; its URL has the version.

    Raises:
        ValueError: If the URL does not contain the version.
    """

    name: str
    version: str
    url: str

    def __post_init__(self) -> None:
        """Validate that the version is fixed."""
        if not _VERSION.fullmatch(self.version) or f"/{self.version}/" not in self.url:
            message = f"the address must hold the version {self.version!r}, got {self.url}"
            raise Refusal(f"manifest {self.name}", CHART(message))
