"""File systems that are there already, for each team: a volume and the one claim that may have it."""

from ultracluster.kubernetes.objects import MANAGED_BY, Object
from ultracluster.kubernetes.platform import Platform

# Kubernetes takes two volumes with one handle for the same volume. These drivers mount by the attributes and only log
# the handle, so it may be made unique; the handles of the others are what they mount by.
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver, pkg/driver/node.go, and
# https://github.com/awslabs/mountpoint-s3-csi-driver/blob/main/docs/CONFIGURATION.md (read 2026-11-21)
_FREE_HANDLES = frozenset({"fsx.csi.aws.com", "s3.csi.aws.com"})


def volume_objects(platform: Platform) -> list[Object]:
    """A volume and a claim for each team and file system. The claim's name is the volume's, in every namespace."""
    found = []
    for team in platform.teams:
        for volume in platform.volumes.values():
            there, claim = volume.manifests(team.name)
            name = f"{team.name}-{volume.name}"
            for one in (there, claim):
                one["metadata"]["labels"] = dict(MANAGED_BY)
            there["metadata"]["name"] = claim["spec"]["volumeName"] = name
            # Bound beforehand: no claim of another namespace can take it.
            there["spec"]["claimRef"] = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": volume.name,
                "namespace": team.name,
            }
            if volume.driver in _FREE_HANDLES:
                there["spec"]["csi"]["volumeHandle"] = f"{volume.handle}-{team.name}"
            found += [there, claim]
    return found
