"""Container registries: the public ones of the charts, and Amazon ECR."""

import re
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_PULL_THROUGH_CACHE = Source(
    "https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html", read_on="2026-11-23"
)
_REGISTRIES = Source("https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html", read_on="2026-11-23")

DOCKER_HUB = "docker.io"
#: Registries on the internet that anybody pulls from. Those that charts and job files of this library name, and those
#: that ECR caches: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html (read 2026-11-23)
PUBLIC_REGISTRIES: Annotated[frozenset[str], Stated(_PULL_THROUGH_CACHE, columns="hosts of registries")] = frozenset(
    {
        DOCKER_HUB,
        "registry-1.docker.io",
        "registry.k8s.io",
        "ghcr.io",
        "quay.io",
        "nvcr.io",
        "public.ecr.aws",
        "gcr.io",
        "mcr.microsoft.com",
        "registry.gitlab.com",
        "cgr.dev",
    }
)
_ECR: Annotated[re.Pattern[str], Stated(_REGISTRIES, columns="regular expression")] = re.compile(
    r"\d{12}\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?", re.ASCII
)


def ecr_host(account: str, region: str) -> str:
    """Return the private registry of an account in Amazon ECR."""
    return f"{account}.dkr.ecr.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def ecr_region(image: str) -> str | None:
    """Return the region of an image, or of a registry, in private Amazon ECR, or None elsewhere."""
    match = _ECR.fullmatch(image.partition("/")[0])
    return match["region"] if match else None
