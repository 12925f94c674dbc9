"""Charts and images of a cluster file, with where they come from and what uses them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ultracluster.clusterfile import ClusterFile
from ultracluster.kubernetes import (
    HelmRelease,
    Manifest,
    Platform,
    chart_address,
    container_images,
    full_name,
    is_copied,
    platform,
    platform_of,
    release_images,
)
from ultracluster.monitoring import collector_objects
from ultracluster.workloads._kubernetes_jobs import job_objects

_TAG = ":"


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """A chart or an image.

    Args:
        kind: Chart or image.
        source: Address at its project, with a tag and, if this release pins one, a digest. Without a tag, the chart
            determines it: the file names another version of the chart than this release pins.
        target: Address in the registry of the cluster, or None for an artifact that its nodes pull from its project.
        used_by: Releases, objects and job files.
        platform: True if the platform needs it; False for images of job files.
        release: Release of a chart, or None.
    """

    kind: Literal["chart", "image"]
    source: str
    target: str | None
    used_by: tuple[str, ...]
    platform: bool
    release: HelmRelease | Manifest | None = None

    @property
    def digest(self) -> str | None:
        """Digest that this release pins, or None."""
        return self.source.partition("@")[2] or None

    @property
    def tag(self) -> str | None:
        """Tag, or None if the chart determines it."""
        return self.source.partition("@")[0].rpartition("/")[2].partition(_TAG)[2] or None

    @property
    def known(self) -> bool:
        """False for an image whose tag the chart determines."""
        return self.kind == "chart" or bool(self.tag or self.digest)


def cluster_artifacts(cluster: ClusterFile, registry: str | None = None) -> tuple[Artifact, ...]:
    """Return charts and images of a cluster with Kubernetes; charts come first.

    Args:
        cluster: Cluster file.
        registry: Registry of the copies. By default, that of the file.
    """
    of = platform_of(cluster)
    registry, of = registry or of.registry, replace(of, registry=None)
    charts = [_chart(release, registry) for release in platform(of).releases]
    users: dict[str, list[str]] = {}
    needed: set[str] = set()
    for image, user, installed in _uses(cluster, of):
        users.setdefault(full_name(image), []).append(user)
        needed |= {full_name(image)} if installed else set()
    images = [
        Artifact(
            kind="image",
            source=name,
            target=image_target(name, registry, of.region),
            used_by=tuple(dict.fromkeys(users[name])),
            platform=name in needed,
        )
        for name in sorted(users)
        if not name.partition("/")[0].endswith(".invalid")
    ]
    return (*charts, *images)


def image_target(name: str, registry: str | None, region: str) -> str | None:
    """Return the address of the copy of an image, or None if it is not copied."""
    if registry is None or not is_copied(name, registry, region):
        return None
    tagged = name.partition("@")[0]
    # A copy has the digest of its source, so that the tag is enough.
    return f"{registry}/{tagged if ':' in tagged.rpartition('/')[2] else name}"


def _chart(release: HelmRelease | Manifest, registry: str | None) -> Artifact:
    address = chart_address(release)
    # Helm writes `+` of a version as `_`: https://helm.sh/docs/topics/registries (read 2026-11-23)
    version = release.version.removeprefix("v") if isinstance(release, Manifest) else release.version
    tag = version.replace("+", "_")
    source = release.url if isinstance(release, Manifest) else f"{address}:{tag}"
    return Artifact(
        kind="chart",
        source=source,
        target=f"{registry}/{address}:{tag}" if registry else None,
        used_by=(f"release {release.name}",),
        platform=True,
        release=release,
    )


def _uses(cluster: ClusterFile, of: Platform) -> Iterator[tuple[str, str, bool]]:
    """Yield an image, what uses it, and whether the platform installs that."""
    rendered = platform(of)
    for release in rendered.releases:
        for image in release_images(release):
            yield image, f"release {release.name}", True
    selectors = {group.name: group.labels for group in of.nodes}
    for item in (*rendered.objects, *collector_objects(cluster, url="https://amp", selectors=selectors)):
        for image in container_images(item):
            yield image, f"{item['kind']} {item['metadata']['name']}", True
    for path, _, objects in job_objects(of):
        for image in container_images(objects):
            yield image, f"job {path}", False
