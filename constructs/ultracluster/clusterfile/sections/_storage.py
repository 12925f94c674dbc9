"""The section `storage`: file system, home directories, data bucket, local disks."""

from typing import Annotated

from pydantic import Field

from ultracluster.catalogue.storage import openzfs
from ultracluster.clusterfile._quantities import Duration
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._lustre import Lustre
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning.s3 import existing_bucket_problems

# With nodes in one zone a home in two is paid twice, and needs a second subnet.
_DEPLOYMENTS = tuple(word for word, sold in openzfs.DEPLOYMENTS.items() if sold.zones == 1)
_BUCKET_FORMS = "true, false, or an existing bucket as {existing: my-datasets}"


def _whether(value: object) -> bool:
    try:
        return w.flag(value)
    except ValueError as error:
        raise ValueError(str(error).replace("must be true or false", f"must be {_BUCKET_FORMS}", 1)) from None


class ExistingBucket(Section):
    """An existing bucket."""

    name: Annotated[str, t.bucket_name("existing: {name}", existing_bucket_problems)] = Field(
        alias="existing", description="Its name."
    )
    key: t.KeyArn | None = Field(
        default=None, description="ARN of the KMS key of its objects. Default: S3's own encryption."
    )


HomeDeployment = Annotated[
    openzfs.DeploymentType, w.choice(_DEPLOYMENTS, "a deployment of FSx for OpenZFS in one zone")
]
DataBucket = Annotated[
    bool | ExistingBucket,
    Either(w.Word(_whether, type="boolean", description="Whether to create one."), ExistingBucket),
]


class Scratch(Section):
    """The local NVMe disks of a node as one volume, gone when the node is."""

    path: t.MountPath = Field(default="/scratch", description="Where nodes mount it.")
    container_store: t.Flag = Field(
        default=True, description="Whether docker, containerd and enroot keep their images on it."
    )


class Home(Section):
    """Home directories on FSx for OpenZFS, mounted by every node."""

    capacity: t.Size | None = Field(
        default=None, description="SSD storage, 64 GiB to 512 TiB; it grows and never shrinks. Default: 256 GiB."
    )
    throughput: t.Throughput | None = Field(
        default=None, description="Throughput capacity, one of those that FSx sells. Default: what the nodes need."
    )
    deployment: HomeDeployment | None = Field(
        default=None, description="Deployment type, fixed for its life. Default: two servers in one zone."
    )
    backups: t.Duration = Field(
        default=Duration.parse(f"{openzfs.BACKUP_DAYS} d"),
        description="For how long daily backups are kept, 1 d to 90 d.",
    )
    mount: t.HomePath = Field(default="/home", description="Where nodes mount it.")
    clients: tuple[t.Cidr, ...] | None = Field(
        default=None,
        description="Ranges of addresses that may mount it. Default: the VPC's; required with `network.existing`.",
    )


class Storage(Section):
    """File systems and buckets."""

    lustre: Lustre | None = Field(
        default=None,
        description="An FSx for Lustre file system. Default: none.",
        examples=[{"throughput": "40 GB/s"}],
    )
    data_bucket: DataBucket = Field(
        default=True, description="A bucket for datasets and checkpoints: whether to create one, or an existing one."
    )
    home: Home | None = Field(
        default=None,
        description="Home directories on FSx for OpenZFS; {} takes the defaults. Default: none.",
        examples=[{}],
    )
    scratch: Scratch = Field(default=Scratch(), description="The local NVMe disks of nodes that have some.")

    @property
    def existing_bucket(self) -> ExistingBucket | None:
        """The existing data bucket, or None."""
        return self.data_bucket if isinstance(self.data_bucket, ExistingBucket) else None
