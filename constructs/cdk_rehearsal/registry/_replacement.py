"""Effects of an update that the registry schema of a resource does not show: a replacement, or a failure.

Both the rehearsal and the guard read this. Property paths are dotted, as in `LustreConfiguration.EfaEnabled`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_CFN = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference"
_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide"
_OPENZFS = "https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide"
_FSX_API = "https://docs.aws.amazon.com/fsx/latest/APIReference"


@dataclass(frozen=True, kw_only=True, slots=True)
class UpdateFact:
    """Effect of a change of one property.

    Args:
        path: The property.
        reason: Why, in a few words that end a sentence.
        source: Where AWS says so.
        read_on: When that was read.
        only_if: Other properties of the old resource, and the values that they must have for the fact to hold; None
            stands for a property that is not set. Default: it always holds.
    """

    path: str
    reason: str
    source: str
    read_on: str = "2026-11-21"
    only_if: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)


_IS_LUSTRE = {"FileSystemType": ("LUSTRE",)}
_NEW_FILE_SYSTEM = "CloudFormation's reference says that it replaces the file system"


def _replaces(kind: str, *names: str) -> tuple[UpdateFact, ...]:
    source = f"{_CFN}/aws-properties-fsx-filesystem-{kind.lower()}.html"
    return tuple(UpdateFact(path=f"{kind}.{name}", reason=_NEW_FILE_SYSTEM, source=source) for name in names)


#: Resource type -> properties whose change replaces the resource.
REPLACES: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": (
            *_replaces("LustreConfiguration", "DeploymentType", "CopyTagsToBackups"),
            *_replaces("WindowsConfiguration", "ActiveDirectoryId", "CopyTagsToBackups", "DeploymentType"),
            *_replaces("OntapConfiguration", "DeploymentType", "EndpointIpAddressRange", "PreferredSubnetId"),
            *_replaces(
                "OpenZFSConfiguration",
                "DeploymentType",
                "EndpointIpAddressRange",
                "EndpointIpv6AddressRange",
                "PreferredSubnetId",
                "RootVolumeConfiguration",
            ),
        ),
    }
)

_NOT_IN_THE_API = "UpdateFileSystem has no such parameter for Lustre"
_KEY = "the update of a KMS key fails, whatever its UpdateReplacePolicy says"
_VOLUME = "CloudFormation does not support the update"


def _lustre_api(*names: str) -> tuple[UpdateFact, ...]:
    source = f"{_FSX_API}/API_UpdateFileSystemLustreConfiguration.html"
    return tuple(
        UpdateFact(path=f"LustreConfiguration.{name}", reason=_NOT_IN_THE_API, source=source) for name in names
    )


#: Resource type -> properties that no API changes after creation, although no schema calls them create-only: the update
#: fails, and rolls back.
UNCHANGEABLE: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": (
            UpdateFact(
                path="LustreConfiguration.EfaEnabled",
                reason="EFA cannot be switched on or off after creation",
                source=f"{_LUSTRE}/efa-file-systems.html",
            ),
            UpdateFact(
                path="LustreConfiguration.PerUnitStorageThroughput",
                reason="with EFA the throughput tier is fixed for life; only more capacity gives more throughput",
                source=f"{_LUSTRE}/efa-file-systems.html",
                only_if={"LustreConfiguration.EfaEnabled": ("true",)},
            ),
            UpdateFact(
                path="LustreConfiguration.PerUnitStorageThroughput",
                reason="only persistent SSD file systems change their throughput tier",
                source=f"{_LUSTRE}/managing-throughput-capacity.html",
                only_if={"StorageType": ("HDD",)},
            ),
            UpdateFact(
                path="LustreConfiguration.MetadataConfiguration",
                reason="a metadata configuration cannot be added after creation",
                source=f"{_LUSTRE}/managing-metadata-performance.html",
                only_if={"LustreConfiguration.MetadataConfiguration": (None,)},
            ),
            *_lustre_api("DriveCacheType", "ExportPath", "ImportPath", "ImportedFileChunkSize"),
            UpdateFact(
                path="StorageCapacity",
                reason="a SCRATCH_1 file system does not grow",
                source=f"{_LUSTRE}/managing-storage-capacity.html",
                # SCRATCH_1 is the default.
                only_if={**_IS_LUSTRE, "LustreConfiguration.DeploymentType": (None, "SCRATCH_1")},
            ),
            UpdateFact(
                path="StorageType",
                reason="no API changes the storage class of a Lustre file system",
                source=f"{_FSX_API}/API_UpdateFileSystem.html",
                only_if=_IS_LUSTRE,
            ),
            UpdateFact(
                path="StorageType",
                reason="the storage class of an OpenZFS file system is fixed for life",
                source=f"{_OPENZFS}/performance.html",
                only_if={"FileSystemType": ("OPENZFS",)},
            ),
            UpdateFact(
                path="NetworkType",
                reason="only FSx for OpenZFS changes its network type",
                source=f"{_FSX_API}/API_UpdateFileSystem.html",
                only_if=_IS_LUSTRE,
            ),
        ),
        "AWS::KMS::Key": tuple(
            UpdateFact(path=name, reason=_KEY, source=f"{_CFN}/aws-resource-kms-key.html")
            for name in ("KeySpec", "KeyUsage", "MultiRegion", "Origin")
        ),
        "AWS::EC2::Volume": tuple(
            UpdateFact(path=name, reason=_VOLUME, source=f"{_CFN}/aws-resource-ec2-volume.html")
            for name in (
                "AvailabilityZone",
                "AvailabilityZoneId",
                "Encrypted",
                "KmsKeyId",
                "MultiAttachEnabled",
                "SnapshotId",
            )
        ),
    }
)

_PCS_GUIDE = "https://docs.aws.amazon.com/pcs/latest/userguide/working-with_cng_update.html"
_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html"


def _replaces_nodes(reason: str, source: str, *names: str) -> tuple[UpdateFact, ...]:
    return tuple(UpdateFact(path=name, reason=reason, source=source, read_on="2026-11-22") for name in names)


#: Resource type -> properties whose change keeps the resource and replaces the nodes that it starts.
REPLACES_NODES: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::PCS::ComputeNodeGroup": _replaces_nodes(
            "AWS PCS drains each node and replaces it when its job has ended",
            _PCS_GUIDE,
            *("AmiId", "CustomLaunchTemplate", "IamInstanceProfileArn", "NodeLifecycleActions"),
        ),
        "AWS::EKS::Nodegroup": _replaces_nodes(
            "Amazon EKS evicts the pods of each node and replaces it",
            _EKS_GUIDE,
            *("LaunchTemplate", "ReleaseVersion", "Version"),
        ),
    }
)

#: Resource type -> values that only grow; a smaller one fails the update. Versions grow part by part.
ONLY_GROWS: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": (
            UpdateFact(
                path="StorageCapacity",
                reason="storage capacity only grows",
                source=f"{_FSX_API}/API_UpdateFileSystem.html",
                # ONTAP's second generation shrinks.
                only_if={"FileSystemType": ("LUSTRE", "OPENZFS", "WINDOWS")},
            ),
            UpdateFact(
                path="FileSystemTypeVersion",
                reason="the Lustre version only moves up",
                source=f"{_LUSTRE}/managing-lustre-version.html",
                only_if=_IS_LUSTRE,
            ),
            UpdateFact(
                path="LustreConfiguration.ThroughputCapacity",
                reason="the throughput of Intelligent-Tiering only grows",
                source=f"{_LUSTRE}/managing-throughput-capacity.html",
            ),
            UpdateFact(
                path="LustreConfiguration.MetadataConfiguration.Iops",
                reason="metadata IOPS only grow",
                source=f"{_LUSTRE}/managing-metadata-performance.html",
            ),
        ),
        "AWS::EC2::Volume": (
            UpdateFact(
                path="Size",
                reason="an EBS volume only grows",
                source=f"{_CFN}/aws-resource-ec2-volume.html",
            ),
        ),
    }
)

#: Resource type -> attributes that AWS gives at creation and keeps, beside ids and ARNs: the name in DNS has the id of
#: the file system, and the mount name is random.
#: https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html, API_LustreFileSystemConfiguration.html
#: (read 2026-11-22)
FIXED_ATTRIBUTES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"AWS::FSx::FileSystem": ("DNSName", "LustreMountName")}
)

#: Resource type -> the property whose change replaces it, which CloudFormation refuses under the same name.
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html and
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-pcs-computenodegroup.html
#: (read 2026-11-21)
NEEDS_A_NEW_NAME: Mapping[str, str] = MappingProxyType({"AWS::PCS::ComputeNodeGroup": "InstanceConfigs"})

#: Kind of FSx file system -> percent by which its capacity grows at least; less fails the update.
#: https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html (read 2026-11-21)
LEAST_GROWTH_PERCENT: Mapping[str, int] = MappingProxyType({"OPENZFS": 10, "WINDOWS": 10})
