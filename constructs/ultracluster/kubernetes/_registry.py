"""Images and charts from a registry of the account, instead of those that their projects publish.

An image keeps its name below the registry: `registry.k8s.io/kueue/kueue:v0.19.2` becomes
`REGISTRY/registry.k8s.io/kueue/kueue:v0.19.2`. Charts are OCI artifacts there: `oci://REGISTRY/HOST/PATH/NAME`.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from ultracluster.catalogue.schedulers import registries
from ultracluster.kubernetes._charts import CHARTS, MPI_OPERATOR_CHART, MPI_OPERATOR_NAMESPACE, MPI_OPERATOR_VERSION
from ultracluster.kubernetes._image_sources import RELEASE_IMAGES
from ultracluster.kubernetes._objects import Object
from ultracluster.kubernetes._release import HelmRelease, Manifest
from ultracluster.kubernetes._required import REQUIRED

_OCI = "oci://"
_INVALID = ".invalid"


def full_name(image: str) -> str:
    """Return the image with the host of its registry; without one, that of Docker Hub is meant.

    See: https://github.com/distribution/reference (v0.6.0, read 2026-11-23)
    """
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return image
    return f"{registries.DOCKER_HUB}/{image}" if slash else f"{registries.DOCKER_HUB}/library/{image}"


def in_registry(image: str, registry: str | None, region: str) -> str:
    """Return the name under which a cluster pulls an image.

    Args:
        image: Image, with or without the host of its registry.
        registry: Registry of the cluster, or None.
        region: Region of the cluster, whose private registries its nodes reach.
    """
    name = full_name(image)
    return image if registry is None or not is_copied(name, registry, region) else f"{registry}/{name}"


def is_copied(name: str, registry: str, region: str) -> bool:
    """Return True for an image that the registry of the cluster must have: not one that nodes reach where it is."""
    reached = name.startswith(f"{registry}/") or registries.ecr_region(name) == region
    return not reached and not name.partition("/")[0].endswith(_INVALID)


def objects_in_registry(objects: Iterable[Object], registry: str | None, region: str) -> list[Object]:
    """Return objects with each image of a container from the registry of the cluster."""
    return [_rewritten(item, registry, region) if registry else item for item in objects]


def container_images(value: Any) -> list[str]:
    """Return the images in objects: those of containers, of trainers, and of the custom resources of operators."""
    if isinstance(value, list | tuple):
        return [image for inner in value for image in container_images(inner)]
    if not isinstance(value, Mapping):
        return []
    images = [value["image"]] if isinstance(value.get("image"), str) else []
    if images and {"repository", "version"} <= set(value):
        images = [f"{value['repository']}/{value['image']}:{value['version']}"]
    return images + [image for inner in value.values() for image in container_images(inner)]


def _rewritten(value: Any, registry: str, region: str) -> Any:
    if isinstance(value, list):
        return [_rewritten(inner, registry, region) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        key: in_registry(inner, registry, region)
        if key == "image" and isinstance(inner, str)
        else _rewritten(inner, registry, region)
        for key, inner in value.items()
    }


def chart_address(release: HelmRelease | Manifest) -> str:
    """Return the address of a chart without its scheme: host, path and name."""
    if isinstance(release, Manifest):
        return MPI_OPERATOR_CHART
    if release.repository is None:
        return release.chart.removeprefix(_OCI)
    return f"{release.repository.removeprefix('https://').rstrip('/')}/{release.chart}"


def release_images(release: HelmRelease | Manifest) -> list[str]:
    """Return the images of a release, without a tag if its version is another one than this library pins."""
    if release.name in REQUIRED:
        return list(REQUIRED[release.name].images)
    known = RELEASE_IMAGES[release.name]
    values: Mapping[str, Any] = {} if isinstance(release, Manifest) else release.values
    discovery = any(values.get(name, {}).get("enabled") for name in ("gfd", "nfd"))
    pinned = CHARTS[release.name].version if release.name in CHARTS else MPI_OPERATOR_VERSION
    images = []
    for image in (*known.images, *(known.feature_discovery if discovery else ())):
        for path, default in known.values.items():
            # A value that the library has set, such as AWS's registry of the region.
            other = _get(values, path.split("."))
            image = image.replace(default, other) if other and image.startswith(f"{default}:") else image
        images.append(image if release.version == pinned else image.partition("@")[0].rpartition(":")[0])
    return images


def _get(values: Mapping[str, Any], path: list[str]) -> Any:
    for key in path:
        values = values.get(key, {})
    return values


def release_in_registry(release: HelmRelease | Manifest, registry: str, region: str) -> HelmRelease:
    """Return a release whose chart and images come from the registry of the cluster.

    A manifest becomes a chart that holds it, which `ultracluster mirror` creates: helm and kubectl read nothing from
    the internet then.
    """
    chart = f"{_OCI}{registry}/{chart_address(release)}"
    if isinstance(release, Manifest):
        return HelmRelease(
            name=release.name,
            chart=chart,
            version=release.version.removeprefix("v"),
            namespace=MPI_OPERATOR_NAMESPACE,
            values={"registry": f"{registry}/{registries.DOCKER_HUB}"},
        )
    values = deepcopy(dict(release.values))
    for path, default in RELEASE_IMAGES[release.name].values.items():
        _set(values, path.split("."), default, registry, region)
    return HelmRelease(
        name=release.name, chart=chart, version=release.version, namespace=release.namespace, values=values
    )


def _set(values: dict[str, Any], path: list[str], default: str, registry: str, region: str) -> None:
    *parents, last = path
    for key in parents:
        values = values.setdefault(key, {})
    # A value that the library has set already, such as AWS's registry of the region, which nodes reach.
    value = values.get(last, default)
    values[last] = value if registries.ecr_region(value) == region else f"{registry}/{value}"
