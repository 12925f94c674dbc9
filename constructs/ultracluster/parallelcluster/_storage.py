"""Shared storage: FSx for Lustre, and home directories."""

import re
from collections.abc import Sequence
from typing import Any

from ultracluster.clusterfile import ClusterFile
from ultracluster.clusterfile import prefix as link_prefix
from ultracluster.parallelcluster._notes import Note, path_of

# SharedStorage of https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, and the patterns of the
# schema of aws-parallelcluster 3.16.1 (read 2026-11-23).
_FILE_SYSTEM = re.compile(r"fs-[0-9a-z]{17}")
_HOME_KEY = ("storage", "home")
_EXISTING = "name the volume or file system that exists already under storage.home.existing"


def shared_storage(cluster: ClusterFile, zones: Sequence[str], notes: list[Note]) -> list[dict[str, Any]]:
    """Return SharedStorage."""
    return [row for row in (_lustre(cluster, zones, notes), _home(cluster, notes)) if row]


def _lustre(cluster: ClusterFile, zones: Sequence[str], notes: list[Note]) -> dict[str, Any] | None:
    lustre, spec = cluster.storage.lustre, cluster.lustre_spec
    if lustre is None:
        return None
    row = {"Name": "lustre", "MountDir": lustre.mount, "StorageType": "FsxLustre"}
    if lustre.existing is not None:
        if lustre.existing.security_group:
            notes.append(_security_group(("storage", "lustre", "existing", "security-group")))
        return {**row, "FsxLustreSettings": {"FileSystemId": lustre.existing.id}}
    if lustre.adopt is not None:
        notes.append(_security_group(("storage", "lustre", "adopt", "security-group")))
        return {**row, "FsxLustreSettings": {"FileSystemId": lustre.adopt.id}}
    assert spec is not None
    path = ("storage", "lustre")
    problem = None
    if spec.storage_type != "SSD":
        problem = "ParallelCluster creates no file system with Intelligent-Tiering"
    elif len(set(zones)) > 1:
        problem = "ParallelCluster creates no FSx file system if queues are in several subnets"
    if problem:
        fix = "create the file system, and add it to SharedStorage with its FileSystemId"
        notes.append(Note(path=path, reason=problem, fix=fix))
        return None
    if spec.efa:
        notes.append(
            Note(
                path=path_of(cluster, *path, "efa"),
                reason="FsxLustreSettings has no key for EFA, so the file system has none",
                fix="create the file system with EfaEnabled, and name its FileSystemId",
            )
        )
    settings = {
        "StorageCapacity": spec.capacity_gib,
        "DeploymentType": spec.deployment_type,
        "PerUnitStorageThroughput": spec.mb_per_s_per_tib,
        "DataCompressionType": "LZ4" if spec.compression == "LZ4" else None,
        "KmsKeyId": cluster.encryption_key if spec.deployment_type != "SCRATCH_2" else None,
        "WeeklyMaintenanceStartTime": lustre.maintenance,
        "AutomaticBackupRetentionDays": lustre.backups.seconds // 86_400 if lustre.backups else None,
        "DataRepositoryAssociations": _associations(cluster, notes) or None,
        "DeletionPolicy": "Delete" if spec.deployment_type == "SCRATCH_2" else "Retain",
    }
    return {**row, "FsxLustreSettings": {key: value for key, value in settings.items() if value is not None}}


def _associations(cluster: ClusterFile, notes: list[Note]) -> list[dict[str, Any]]:
    lustre, existing = cluster.storage.lustre, cluster.storage.existing_bucket
    rows = []
    for number, (path, link) in enumerate(lustre.data_repository_associations.items() if lustre else ()):
        bucket = link.bucket or (existing.name if existing else None)
        if bucket is None:
            notes.append(
                Note(
                    path=("storage", "lustre", "data-repository-associations", path),
                    reason="ParallelCluster creates no data bucket",
                    fix="name an existing bucket",
                )
            )
            continue
        row = {
            "Name": f"association-{number + 1}",
            "FileSystemPath": path,
            "DataRepositoryPath": "/".join(filter(None, (f"s3://{bucket}", link_prefix(path, link)))),
            "AutoImportPolicy": list(link.import_),
            "AutoExportPolicy": list(link.export),
        }
        rows.append({key: value for key, value in row.items() if value != []})
    return rows


def _home(cluster: ClusterFile, notes: list[Note]) -> dict[str, Any] | None:
    home = cluster.storage.home
    if home is None:
        return None
    existing = home.existing
    row: dict[str, Any] = {"Name": "home", "MountDir": home.mount}
    if existing and existing.security_group:
        notes.append(_security_group((*_HOME_KEY, "existing", "security-group")))
    if home.type == "openzfs" and existing and existing.volume:
        return {**row, "StorageType": "FsxOpenZfs", "FsxOpenZfsSettings": {"VolumeId": existing.volume}}
    if home.type == "efs" and existing and existing.id:
        settings: dict[str, Any] = {"FileSystemId": existing.id, "EncryptionInTransit": True}
        return {**row, "StorageType": "Efs", "EfsSettings": settings}
    if home.type == "efs":
        notes.append(
            Note(
                path=path_of(cluster, *_HOME_KEY, "type"),
                reason="ParallelCluster creates EFS without elastic throughput",
                fix="nothing, or create the file system yourself and name its FileSystemId",
            )
        )
        key = {"KmsKeyId": cluster.encryption_key} if cluster.encryption_key else {}
        return {**row, "StorageType": "Efs", "EfsSettings": {"Encrypted": True, "DeletionPolicy": "Retain", **key}}
    reasons = {
        "openzfs": ("ParallelCluster mounts an existing volume of OpenZFS, and creates none", _EXISTING),
        "s3-files": ("ParallelCluster does not mount S3 Files", "mount it in a custom action OnNodeStart"),
        "nfs": (
            "ParallelCluster mounts no NFS server by its name",
            "mount it in a custom action OnNodeStart; of FSx for ONTAP, use FsxOntapSettings with its VolumeId",
        ),
    }
    reason, fix = reasons[home.type]
    notes.append(Note(path=_HOME_KEY, reason=reason, fix=fix))
    return None


def _security_group(path: tuple[str, ...]) -> Note:
    return Note(
        path=path,
        reason="ParallelCluster adds no rules to the security group of an existing file system",
        fix="allow the security groups of the cluster in it, or add one to AdditionalSecurityGroups",
    )
