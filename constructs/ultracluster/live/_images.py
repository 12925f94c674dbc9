"""Images of nodes: they must exist, be available, and have the architecture of the type."""

import re
from collections.abc import Iterable, Iterator

from ultracluster.catalogue.ec2 import Architecture, image_parameter
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check, arn
from ultracluster.live._finding import Finding
from ultracluster.planning.capacity import BuiltImage, Image

_PARAMETERS = Call(service="ssm", operation="get_parameter", action="ssm:GetParameter")
_IMAGES = Call(service="ec2", operation="describe_images", action="ec2:DescribeImages")
_MISSING = "InvalidAMIID.NotFound InvalidAMIID.Malformed InvalidAMIID.Unavailable"


def _used(cluster: ClusterFile) -> dict[tuple[str, Architecture], None]:
    """Return the images that AWS must have: an id or a parameter each, with the architecture of its nodes."""
    pairs = [(group.image_option, group.instance_type.architecture) for group in cluster.node_groups]
    pairs.append((cluster.login_image, cluster.service_type.architecture))
    used: dict[tuple[str, Architecture], None] = {}
    for image, architecture in pairs:
        if isinstance(image, BuiltImage):
            image = image.parent or Image(parameter=image_parameter("dlami", architecture))
        # EKS chooses the image of node groups that name none, and Karpenter its own.
        if isinstance(image, Image):
            used[image.id or image.parameter or "", architecture] = None
        elif cluster.traits.installs_software:
            used[image_parameter("pcs", architecture), architecture] = None
    return used


def _without_slurm(cluster: ClusterFile, description: str) -> str:
    """Return the releases of Slurm in the description of an image without that of the cluster, or an empty text."""
    releases = dict.fromkeys(re.findall(r"\b2\d\.(?:05|11)\b", description))
    return "" if cluster.slurm.version in releases else ", ".join(releases)


def _images(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    for name, architecture in _used(cluster):
        image, title = name, name
        if name.startswith("/"):
            answer = account.find(_PARAMETERS, missing="ParameterNotFound", Name=name)
            if answer is None:
                yield check.bad(f"{account.region} has no parameter {name}", "name another image: image: ami-...")
                continue
            image = answer["Parameter"]["Value"]
            title = f"{name} ({image})"
        answer = account.find(_IMAGES, missing=_MISSING, ImageIds=[image])
        if answer is None or not answer["Images"]:
            yield check.bad(
                f"{account.region} has no image {title} that this account may launch",
                "name another image, or have its owner share it: image: ami-...",
            )
            continue
        (record,) = answer["Images"]
        if record["State"] != "available":
            yield check.bad(f"{title} is {record['State']}", "wait, or name another image")
        elif record["Architecture"] != architecture:
            yield check.bad(
                f"{title} is for {record['Architecture']}, and its nodes are {architecture}", "change `image`"
            )
        elif (lacks := _without_slurm(cluster, record.get("Description", ""))) and name.startswith("/aws/service/pcs/"):
            yield check.bad(f"{title} has Slurm {lacks}, not {cluster.slurm.version}", "name another image")
        else:
            yield check.good(f"{title} is available for {architecture}: {record.get('Name', 'no name')}")


def _arns(cluster: ClusterFile) -> Iterable[str]:
    for name, _ in _used(cluster):
        if name.startswith("/"):
            yield arn(cluster, "ssm", f"parameter{name}", owner="" if name.startswith("/aws/") else None)


CHECKS = (
    Check(
        id="live-image",
        reason="An image must exist in the Region, be available, and have the architecture of the type.",
        run=_images,
        calls=(_PARAMETERS, _IMAGES),
        resources=lambda cluster: {_PARAMETERS: _arns(cluster)},
        applies=lambda cluster: bool(_used(cluster)),
    ),
)
