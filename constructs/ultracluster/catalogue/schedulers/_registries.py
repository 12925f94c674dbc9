"""Container registries: the public ones of the charts, and Amazon ECR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_PULL_THROUGH_CACHE = Source(
    "https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html", read_on="2026-11-23"
)
_REGISTRIES = Source("https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html", read_on="2026-11-23")

_EKS_IMAGES = Source("https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html", read_on="2026-11-26")
#: Account that publishes the images of EKS in most Regions that were opened before 2019.
_EKS_ACCOUNT = "602401143452"
_EKS_REGIONS = (
    *("ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2"),
    *("ca-central-1", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3", "sa-east-1"),
    *("us-east-1", "us-east-2", "us-west-1", "us-west-2"),
)
#: Accounts that publish the images of EKS, by Region. Nodes of another partition cannot pull from a commercial Region.
EKS_ACCOUNTS: Annotated[Mapping[str, str], Stated(_EKS_IMAGES, columns="Region, account of the registry")] = (
    MappingProxyType(
        {region: _EKS_ACCOUNT for region in _EKS_REGIONS}
        | {
            "af-south-1": "877085696533",
            "ap-east-1": "800184023465",
            "ap-south-2": "900889452093",
            "ap-southeast-3": "296578399912",
            "ap-southeast-4": "491585149902",
            "ap-southeast-5": "151610086707",
            "ap-southeast-6": "333609536671",
            "ap-southeast-7": "121268973566",
            "ca-west-1": "761377655185",
            "cn-north-1": "918309763551",
            "cn-northwest-1": "961992271922",
            "eu-central-2": "900612956339",
            "eu-south-1": "590381155156",
            "eu-south-2": "455263428931",
            "me-central-1": "759879836304",
            "me-south-1": "558608220178",
            "us-gov-east-1": "151742754352",
            "us-gov-west-1": "013241004608",
        }
    )
)

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


def eks_registry(region: str) -> str | None:
    """Return the private registry with the images of EKS in a Region, or None if it is not known."""
    account = EKS_ACCOUNTS.get(region)
    return None if account is None else ecr_host(account, region)


def ecr_region(image: str) -> str | None:
    """Return the region of an image, or of a registry, in private Amazon ECR, or None elsewhere."""
    match = _ECR.fullmatch(image.partition("/")[0])
    return match["region"] if match else None
