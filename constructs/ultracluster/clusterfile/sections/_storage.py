"""The section `storage`: file system, home directories, data bucket, local disks."""

from pydantic import Field

from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections._home import Home
from ultracluster.clusterfile.sections._lustre import Lustre
from ultracluster.clusterfile.sections._s3 import DataBucket, ExistingBucket
from ultracluster.clusterfile.sections._section import Section, optional


class Scratch(Section):
    """The local NVMe disks of a node as one volume, gone when the node is."""

    path: t.MountPath = Field(default="/scratch", description="Where nodes mount it.")
    container_store: t.Flag = Field(
        default=True, description="Whether docker, containerd and enroot keep their images on it."
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
        description="Home directories; {} is FSx for OpenZFS with its defaults. Default: none.",
        examples=[{}],
    )
    scratch: Scratch = optional(description="The local NVMe disks of nodes that have some.")

    @property
    def existing_bucket(self) -> ExistingBucket | None:
        """The existing data bucket, or None."""
        return self.data_bucket if isinstance(self.data_bucket, ExistingBucket) else None
