"""Images of nodes: they must exist, be available, have the architecture of the type, and keys that launchers use."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ultracluster.catalogue.ec2 import Architecture, image_parameter
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check, arn
from ultracluster.live._finding import Finding
from ultracluster.live._key_policy import KEY, KEY_POLICY
from ultracluster.live._place import IDENTITY
from ultracluster.live._volume_key import key_findings, launchers, unread_key
from ultracluster.planning.capacity import BuiltImage, Image

_PARAMETERS = Call(service="ssm", operation="get_parameter", action="ssm:GetParameter")
_IMAGES = Call(service="ec2", operation="describe_images", action="ec2:DescribeImages")
_SNAPSHOTS = Call(service="ec2", operation="describe_snapshots", action="ec2:DescribeSnapshots")
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
            yield from _keys(check, cluster, account, record)


def _keys(check: Check, cluster: ClusterFile, account: Account, image: dict[str, Any]) -> Iterator[Finding]:
    """Yield whether nodes may be launched with the keys of the snapshots of an image."""
    disks = [mapping.get("Ebs", {}) for mapping in image.get("BlockDeviceMappings", [])]
    encrypted = [disk["SnapshotId"] for disk in disks if disk.get("Encrypted") and "SnapshotId" in disk]
    if not encrypted or not launchers(cluster):
        return
    # A shared image does not share its snapshots:
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/sharingamis-explicit.html (read 2026-11-27)
    answer = account.find(_SNAPSHOTS, missing="InvalidSnapshot.NotFound", SnapshotIds=encrypted)
    if answer is None:
        yield unread_key(check, cluster, account, f"the key of the snapshots of {image['ImageId']} is of its owner")
        return
    for key in dict.fromkeys(snapshot["KmsKeyId"] for snapshot in answer["Snapshots"]):
        yield from key_findings(check, cluster, account, key, f"the key of the snapshots of {image['ImageId']}")


def _arns(cluster: ClusterFile) -> Iterable[str]:
    for name, _ in _used(cluster):
        if name.startswith("/"):
            yield arn(cluster, "ssm", f"parameter{name}", owner="" if name.startswith("/aws/") else None)


CHECKS = (
    Check(
        id="live-image",
        reason="An image must exist, be available, of the architecture of the type, with a key that launchers may use.",
        run=_images,
        calls=(_PARAMETERS, _IMAGES, _SNAPSHOTS, IDENTITY, KEY, KEY_POLICY),
        resources=lambda cluster: {
            _PARAMETERS: _arns(cluster),
            **{call: [arn(cluster, "kms", "key/*")] for call in (KEY, KEY_POLICY)},
        },
        applies=lambda cluster: bool(_used(cluster)),
    ),
)
