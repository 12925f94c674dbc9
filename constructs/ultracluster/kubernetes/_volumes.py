"""Existing file systems of each team: a volume, and the only claim that may bind it."""

from ultracluster.kubernetes._objects import MANAGED_BY, Object
from ultracluster.kubernetes._platform import Platform

# Kubernetes takes two volumes with one handle for the same volume. These drivers mount by the attributes and only log
# the handle, so it can be unique; the handles of the others are what they mount by.
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver, pkg/driver/node.go, and
# https://github.com/awslabs/mountpoint-s3-csi-driver/blob/main/docs/CONFIGURATION.md (read 2026-11-21)
_FREE_HANDLES = frozenset({"fsx.csi.aws.com", "s3.csi.aws.com"})


def volume_objects(platform: Platform) -> list[Object]:
    """Return a volume and a claim for each team and file system. The claim has the volume's name in every namespace."""
    objects = []
    for team in platform.teams:
        for volume in platform.volumes.values():
            existing, claim = volume.manifests(team.name)
            name = f"{team.name}-{volume.name}"
            for manifest in (existing, claim):
                manifest["metadata"]["labels"] = dict(MANAGED_BY)
            existing["metadata"]["name"] = claim["spec"]["volumeName"] = name
            # Bound beforehand: no claim of another namespace can take it.
            existing["spec"]["claimRef"] = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": volume.name,
                "namespace": team.name,
            }
            if volume.driver in _FREE_HANDLES:
                existing["spec"]["csi"]["volumeHandle"] = f"{volume.handle}-{team.name}"
            objects += [existing, claim]
    return objects
