"""Containerfiles of images that job files extend: built once, instead of by the first job or by each pod."""

import hashlib
import json
import shlex
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from ultracluster.workloads._images import IMAGES, ContainerImage

#: Images with a layer, by name.
CONTAINERS: Mapping[str, ContainerImage] = MappingProxyType(
    {name: image for name, image in IMAGES.items() if image.layer}
)
_LAYER = "layer.sh"
_DIGITS = 12


def layer_of(image: ContainerImage) -> str:
    """Return the shell that adds to an image what it lacks, each part with its version and checksum."""
    text = resources.files(__package__).joinpath("loads", image.layer).read_text(encoding="utf-8")
    runs = filter(None, (image.packages, image.more_packages))
    return text + "".join(f"layer {shlex.join(packages)} || exit\n" for packages in runs)


def container_tag(name: str, parent: str = "") -> str:
    """Return the tag of an image with its layer: that of its parent, and the beginning of the hash of the layer.

    A parent that is not a copy of the published image, by its name and tag, is part of the hash.
    """
    image = CONTAINERS[name]
    copy = f"/{parent}".endswith(f"/{image.repository}:{image.tag}")
    hashed = layer_of(image) if copy or not parent else parent + layer_of(image)
    return f"{image.tag}-{hashlib.sha256(hashed.encode()).hexdigest()[:_DIGITS]}"


def container_files(name: str, address: str, *, parent: str = "") -> dict[str, str]:
    """Return the files of a build: Containerfile, the layer, and the commands of AWS CodeBuild.

    Args:
        name: Name of the image, of `CONTAINERS`.
        address: Address in the registry, with its tag.
        parent: Image to extend. By default, the published one.

    See: https://docs.aws.amazon.com/codebuild/latest/userguide/sample-docker.html (read 2026-11-26)
    """
    image = CONTAINERS[name]
    lines = [
        f"# {image.contents}.",
        f"# Versions and checksums are in {_LAYER}, which a job or a pod would run otherwise.",
        f"FROM {parent or image.address}",
        f"COPY {_LAYER} /opt/ultracluster/{_LAYER}",
        f'RUN ["bash", "/opt/ultracluster/{_LAYER}"]',
    ]
    host = address.partition("/")[0]
    login = f'aws ecr get-login-password --region "$AWS_REGION" | docker login --username AWS --password-stdin {host}'
    build = {
        "version": "0.2",
        "phases": {
            "pre_build": {"commands": [login]},
            "build": {
                "commands": [
                    f"docker build --platform {platform_of_container(name)} --file Containerfile --tag {address} ."
                ]
            },
            "post_build": {"commands": [f"docker push {address}"]},
        },
    }
    # JSON is YAML, which CodeBuild reads.
    return {
        "Containerfile": "\n".join(lines) + "\n",
        _LAYER: f"#!/usr/bin/env bash\n{layer_of(image)}",
        "buildspec.yml": json.dumps(build, indent=2) + "\n",
    }


def platform_of_container(name: str) -> str:
    """Return the platform of an image, as builders name it."""
    return {"x86_64": "linux/amd64", "arm64": "linux/arm64"}[CONTAINERS[name].architectures[0]]
