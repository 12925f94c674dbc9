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
_PCS_GUIDE = "https://docs.aws.amazon.com/pcs/latest/userguide/working-with_cng_update.html"
_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html"

_IS_LUSTRE = {"FileSystemType": ("LUSTRE",)}
_EFA = "LustreConfiguration.EfaEnabled"
_TIER = "LustreConfiguration.PerUnitStorageThroughput"
_METADATA = "LustreConfiguration.MetadataConfiguration"


@dataclass(frozen=True, slots=True)
class UpdateFact:
    """Effect of a change of one property.

    Args:
        path: The property.
        reason: Why, in a few words that end a sentence.
        source: Page of AWS that documents it.
        read_on: When that was read.
        only_if: Other properties of the old resource, and the values that they must have for the fact to hold; None
            stands for a property that is not set. Default: it always holds.
    """

    path: str
    reason: str
    source: str
    read_on: str = "2026-11-21"
    only_if: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)


def _each(reason: str, source: str, *paths: str, under: str = "", read_on: str = "2026-11-21") -> list[UpdateFact]:
    return [UpdateFact(under + path, reason, source, read_on) for path in paths]


def _replaces(kind: str, *names: str) -> list[UpdateFact]:
    source = f"{_CFN}/aws-properties-fsx-filesystem-{kind.lower()}.html"
    reason = "CloudFormation's reference documents that it replaces the file system"
    return _each(reason, source, *names, under=f"{kind}.")


#: Resource type -> properties whose change replaces the resource.
REPLACES: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": (
            *_replaces("LustreConfiguration", "DeploymentType", "CopyTagsToBackups"),
            *_replaces("WindowsConfiguration", "ActiveDirectoryId", "CopyTagsToBackups", "DeploymentType"),
            *_replaces("OntapConfiguration", "DeploymentType", "EndpointIpAddressRange", "PreferredSubnetId"),
            *_replaces("OpenZFSConfiguration", "DeploymentType", "EndpointIpAddressRange", "EndpointIpv6AddressRange"),
            *_replaces("OpenZFSConfiguration", "PreferredSubnetId", "RootVolumeConfiguration"),
        ),
    }
)

#: Resource type -> properties that no API changes after creation, although no schema calls them create-only: the update
#: fails, and rolls back.
UNCHANGEABLE: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": (
            UpdateFact(_EFA, "EFA cannot be switched on or off after creation", f"{_LUSTRE}/efa-file-systems.html"),
            UpdateFact(
                _TIER,
                "with EFA the throughput tier is fixed; only more capacity gives more throughput",
                f"{_LUSTRE}/efa-file-systems.html",
                only_if={_EFA: ("true",)},
            ),
            UpdateFact(
                _TIER,
                "only persistent SSD file systems change their throughput tier",
                f"{_LUSTRE}/managing-throughput-capacity.html",
                only_if={"StorageType": ("HDD",)},
            ),
            UpdateFact(
                _METADATA,
                "a metadata configuration cannot be added after creation",
                f"{_LUSTRE}/managing-metadata-performance.html",
                only_if={_METADATA: (None,)},
            ),
            *_each(
                "UpdateFileSystem has no such parameter for Lustre",
                f"{_FSX_API}/API_UpdateFileSystemLustreConfiguration.html",
                *("DriveCacheType", "ExportPath", "ImportPath", "ImportedFileChunkSize"),
                under="LustreConfiguration.",
            ),
            UpdateFact(
                "StorageCapacity",
                "a SCRATCH_1 file system does not grow",
                f"{_LUSTRE}/managing-storage-capacity.html",
                # SCRATCH_1 is the default.
                only_if={**_IS_LUSTRE, "LustreConfiguration.DeploymentType": (None, "SCRATCH_1")},
            ),
            UpdateFact(
                "StorageType",
                "no API changes the storage class of a Lustre file system",
                f"{_FSX_API}/API_UpdateFileSystem.html",
                only_if=_IS_LUSTRE,
            ),
            UpdateFact(
                "StorageType",
                "the storage class of an OpenZFS file system is fixed",
                f"{_OPENZFS}/performance.html",
                only_if={"FileSystemType": ("OPENZFS",)},
            ),
            UpdateFact(
                "NetworkType",
                "only FSx for OpenZFS changes its network type",
                f"{_FSX_API}/API_UpdateFileSystem.html",
                only_if=_IS_LUSTRE,
            ),
        ),
        "AWS::KMS::Key": tuple(
            _each(
                "the update of a KMS key fails, whatever its UpdateReplacePolicy is",
                f"{_CFN}/aws-resource-kms-key.html",
                *("KeySpec", "KeyUsage", "MultiRegion", "Origin"),
            )
        ),
        "AWS::EC2::Volume": tuple(
            _each(
                "CloudFormation does not support the update",
                f"{_CFN}/aws-resource-ec2-volume.html",
                *(
                    "AvailabilityZone",
                    "AvailabilityZoneId",
                    "Encrypted",
                    "KmsKeyId",
                    "MultiAttachEnabled",
                    "SnapshotId",
                ),
            )
        ),
    }
)

#: Resource type -> properties whose change keeps the resource and replaces the nodes that it starts.
REPLACES_NODES: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::PCS::ComputeNodeGroup": tuple(
            _each(
                "AWS PCS drains each node and replaces it when its job has ended",
                _PCS_GUIDE,
                *("AmiId", "CustomLaunchTemplate", "IamInstanceProfileArn", "NodeLifecycleActions"),
                *("PurchaseOption", "SubnetIds"),
                read_on="2026-11-22",
            )
        ),
        "AWS::EKS::Nodegroup": tuple(
            _each(
                "Amazon EKS evicts the pods of each node and replaces it",
                _EKS_GUIDE,
                *("LaunchTemplate", "ReleaseVersion", "Version"),
                read_on="2026-11-22",
            )
        ),
    }
)

#: Resource type -> properties whose change keeps the data, and makes the resource unavailable meanwhile. Not the
#: capacity of Lustre: AWS documents a few minutes, after which requests succeed by themselves.
UNAVAILABLE: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": tuple(
            _each(
                "FSx exchanges or adds file servers, and the file system is unavailable for up to an hour: running "
                "jobs wait for it, or fail",
                f"{_LUSTRE}/managing-throughput-capacity.html",
                *(_TIER, "LustreConfiguration.ThroughputCapacity"),
                read_on="2026-11-27",
            )
        ),
    }
)

#: Resource type -> values that only grow; a smaller one fails the update. Versions grow part by part.
ONLY_GROWS: Mapping[str, tuple[UpdateFact, ...]] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": (
            UpdateFact(
                "StorageCapacity",
                "storage capacity only grows",
                f"{_FSX_API}/API_UpdateFileSystem.html",
                # ONTAP's second generation shrinks.
                only_if={"FileSystemType": ("LUSTRE", "OPENZFS", "WINDOWS")},
            ),
            UpdateFact(
                "FileSystemTypeVersion",
                "the Lustre version only moves up",
                f"{_LUSTRE}/managing-lustre-version.html",
                only_if=_IS_LUSTRE,
            ),
            UpdateFact(
                "LustreConfiguration.ThroughputCapacity",
                "the throughput of Intelligent-Tiering only grows",
                f"{_LUSTRE}/managing-throughput-capacity.html",
            ),
            UpdateFact(f"{_METADATA}.Iops", "metadata IOPS only grow", f"{_LUSTRE}/managing-metadata-performance.html"),
        ),
        "AWS::EC2::Volume": (UpdateFact("Size", "an EBS volume only grows", f"{_CFN}/aws-resource-ec2-volume.html"),),
        "AWS::PCS::Cluster": (
            UpdateFact(
                "Scheduler.Version",
                "AWS PCS moves a cluster to newer Slurm versions only",
                "https://docs.aws.amazon.com/pcs/latest/userguide/working-with_clusters_version_update.html",
                read_on="2026-11-22",
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

#: Resource type -> name of a group of nodes, and of its cluster. A replacement is created first, so that the service or
#: CloudFormation refuses it under the same name.
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html,
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-pcs-computenodegroup.html and
#: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html (read 2026-11-22)
NEEDS_A_NEW_NAME: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "AWS::PCS::ComputeNodeGroup": ("Name", "ClusterId"),
        "AWS::EKS::Nodegroup": ("NodegroupName", "ClusterName"),
    }
)

#: Resource types whose schema lists conditional replacements that need an UpdatePolicy, which a template shows.
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html
#: (read 2026-11-22)
REPLACED_BY_POLICY = frozenset({"AWS::AutoScaling::AutoScalingGroup"})

#: Resource type -> property that makes the service refuse to delete it.
#: https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html (read 2026-11-22)
DELETION_PROTECTION: Mapping[str, str] = MappingProxyType({"AWS::EKS::Cluster": "DeletionProtection"})

#: Kind of FSx file system -> percent by which its capacity grows at least; less fails the update.
#: https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html (read 2026-11-21)
LEAST_GROWTH_PERCENT: Mapping[str, int] = MappingProxyType({"OPENZFS": 10, "WINDOWS": 10})
