"""The section `storage.home`."""

from typing import Annotated

from pydantic import Field

from ultracluster.catalogue.storage import openzfs
from ultracluster.clusterfile._quantities import Duration
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning import NFS_EXPORT, NFS_SERVER

#: Services of home directories; `nfs` is any server that supports NFS 4.1, FSx for ONTAP included.
HOME_TYPES = ("openzfs", "efs", "s3-files", "nfs")
# With nodes in one zone a home in two is paid twice, and needs a second subnet.
_DEPLOYMENTS = tuple(word for word, sold in openzfs.DEPLOYMENTS.items() if sold.zones == 1)

HomeType = Annotated[str, w.choice(HOME_TYPES, "a type of home directories (FSx for ONTAP is nfs)")]
HomeDeployment = Annotated[
    openzfs.DeploymentType, w.choice(_DEPLOYMENTS, "a deployment of FSx for OpenZFS in one zone")
]
VolumeId = Annotated[str, w.ec2_id("fsvol", "the id of a volume of FSx")]
Server = Annotated[
    str,
    w.pattern(NFS_SERVER, "the DNS name or IPv4 address of an NFS server", "nfs.example.com"),
]
Export = Annotated[
    str,
    w.pattern(
        NFS_EXPORT,
        "an absolute path on the server, such as /vol1, of letters, digits, dots, hyphens and underscores",
        "/vol1",
    ),
]


class ExistingHome(Section):
    """An existing file system of home directories."""

    id: t.FileSystemId | None = Field(default=None, description="Its id, for openzfs and efs.")
    volume: VolumeId | None = Field(default=None, description="Id of its volume, for openzfs.")
    server: Server | None = Field(
        default=None, description="DNS name or address, for nfs; of FSx for ONTAP the NFS DNS name of the SVM."
    )
    path: Export | None = Field(
        default=None, description="Path on the server, for openzfs, such as /fsx/home, and nfs; of ONTAP the junction."
    )
    security_group: t.SecurityGroupId | None = Field(
        default=None, description="Its security group, to which rules for the nodes are added. Default: none are."
    )


class Home(Section):
    """Home directories, mounted by every node."""

    type: HomeType = Field(
        default="openzfs",
        description="FSx for OpenZFS, EFS, S3 Files over the data bucket, or an existing NFS server such as FSx for "
        "ONTAP.",
    )
    capacity: t.Size | None = Field(
        default=None,
        description="SSD storage of openzfs, 64 GiB to 512 TiB; it grows and never shrinks. Default: 256 GiB.",
    )
    throughput: t.Throughput | None = Field(
        default=None,
        description="Throughput capacity of openzfs, one of those that FSx supports. Default: what the nodes need.",
    )
    deployment: HomeDeployment | None = Field(
        default=None,
        description="Deployment type of openzfs, fixed for its life. Default: two servers in one zone.",
    )
    backups: t.Duration = Field(
        default=Duration.parse(f"{openzfs.BACKUP_DAYS} d"),
        description="For how long daily backups of openzfs are kept, 1 d to 90 d. FSx deletes them with the file "
        "system.",
    )
    mount: t.HomePath = Field(default="/home", description="Where nodes mount it.")
    clients: tuple[t.Cidr, ...] | None = Field(
        default=None,
        description="Ranges of addresses that may mount openzfs. Default: the VPC's; required with `network.existing`.",
    )
    existing: ExistingHome | None = Field(
        default=None, description="An existing file system of the type, instead of a new one."
    )
