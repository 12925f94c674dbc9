"""Disk and access of the instances of a launch template."""

from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms

from ultracluster.planning import check_fields
from ultracluster.rules import Refusal, shared

_ROOT_VOLUME = shared("root-volume")


@dataclass(frozen=True, kw_only=True)
class RootVolume:
    """The root volume of a node: gp3, encrypted, deleted with the node.

    Args:
        gib: Size in GiB. Default: 500; container images fill the 75 GiB of AWS's images
            (https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs, read 2026-11-20).
        device: Device name: `/dev/sda1` on Ubuntu, `/dev/xvda` on Amazon Linux.
        key: KMS key of the volume, of the region of the nodes. Its policy must allow the service that launches to use
            it: for an Auto Scaling group, `compute.AutoScalingNodeGroup` adds the statements for
            `AWSServiceRoleForAutoScaling`; for AWS PCS and EKS, add them for their service-linked role. Default: the
            account's key for EBS.

    Raises:
        ValueError: If the size is below 1 GiB.
    """

    gib: int = 500
    device: str = "/dev/sda1"
    key: kms.IKey | None = None

    def __post_init__(self) -> None:
        """Check the size."""
        check_fields(self)
        if self.gib < 1:
            raise Refusal("", _ROOT_VOLUME(f"gib must be at least 1, got {self.gib}"))


@dataclass(frozen=True, kw_only=True)
class Access:
    """Login to a node, and the permissions of the node itself.

    Args:
        key_pair: EC2 key pair, or its name, for SSH as the image's default user. Default: none.
        instance_profile: Instance profile of the nodes, for an Auto Scaling group; AWS PCS and EKS set it themselves.
    """

    key_pair: ec2.IKeyPair | str | None = None
    instance_profile: iam.IInstanceProfile | None = None

    def __post_init__(self) -> None:
        """Check the types."""
        check_fields(self)

    @property
    def key_name(self) -> str | None:
        """Name of the key pair, or None."""
        pair = self.key_pair
        return pair if pair is None or isinstance(pair, str) else pair.key_pair_name
