"""A directory bucket: S3 Express One Zone, beside the nodes."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3express as s3express
from constructs import Construct

from ultracluster.planning.directory_bucket import (
    check_directory_bucket,
    directory_bucket_name,
    directory_bucket_warnings,
)
from ultracluster.storage.checked import checked

# Parts of an upload that nobody finished are paid for and shown nowhere; no upload of ours takes a week.
_ABORT_UPLOADS_DAYS = 7


class ExpressBucket(Construct):
    """A bucket in one zone that answers in single-digit milliseconds, encrypted, private, and kept when the stack goes.

    What is in it is in one zone only, and has no versions, no access logs, no tiers and no link to Lustre: a place for
    what can be had again. L1, because aws-cdk-lib has no L2 of it (2.275.0).

    Args:
        zone: Zone id, such as `use2-az1`: the one of the nodes.
        nodes_zone: Zone id of the nodes; another one brings a warning. Default: not checked.
        name: First part of the bucket's name; zone and `--x-s3` are added. Default: CloudFormation makes one.
        key: Key of the objects; a directory bucket never takes another one. Default: S3's own encryption.
        expire_after_days: Days after which objects are deleted. Default: never.
        removal_policy: What becomes of the bucket when it leaves the template. Default: it stays, unless the
            deployment that makes it fails.

    Raises:
        ValueError: When S3 would refuse the bucket, with everything that is wrong.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-express-differences.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        zone: str,
        nodes_zone: str | None = None,
        name: str | None = None,
        key: kms.IKey | None = None,
        expire_after_days: int | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        problems = check_directory_bucket(zone=zone, base=name, expire_after_days=expire_after_days)
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        for warning, message in directory_bucket_warnings(zone=zone, nodes_zone=nodes_zone):
            cdk.Validations.of(self).add_warning(warning, message)
        self._key = key
        bucket = s3express.CfnDirectoryBucket(
            self,
            "Resource",
            location_name=zone,
            data_redundancy="SingleAvailabilityZone",
            bucket_name=None if name is None else directory_bucket_name(name, zone),
            bucket_encryption=_encryption(key),
            lifecycle_configuration=s3express.CfnDirectoryBucket.LifecycleConfigurationProperty(
                rules=[
                    s3express.CfnDirectoryBucket.RuleProperty(
                        id="UnfinishedUploads",
                        status="Enabled",
                        abort_incomplete_multipart_upload=(
                            s3express.CfnDirectoryBucket.AbortIncompleteMultipartUploadProperty(
                                days_after_initiation=_ABORT_UPLOADS_DAYS
                            )
                        ),
                        expiration_in_days=expire_after_days,
                    )
                ]
            ),
        )
        bucket.apply_removal_policy(removal_policy)
        # S3 deletes nothing in a directory bucket unless its lifecycle service is let in. See
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/directory-buckets-objects-lifecycle.html
        # (read 2026-11-21).
        s3express.CfnBucketPolicy(
            self,
            "Policy",
            bucket=bucket.ref,
            policy_document=iam.PolicyDocument(
                statements=[
                    iam.PolicyStatement(
                        sid="Lifecycle",
                        principals=[iam.ServicePrincipal("lifecycle.s3.amazonaws.com")],
                        actions=["s3express:CreateSession"],
                        resources=[bucket.attr_arn],
                        conditions={"StringEquals": {"s3express:SessionMode": "ReadWrite"}},
                    )
                ]
            ),
        ).apply_removal_policy(removal_policy)
        #: Name, suffix included.
        self.bucket_name = bucket.ref
        #: ARN, which is of the service `s3express`.
        self.bucket_arn = bucket.attr_arn

    def grant_read_write(self, role: iam.IRole) -> None:
        """Let a role open sessions on the bucket: the one permission that there is on its objects."""
        made = self.node.try_find_child("ReadWrite")
        if made is None:
            statements = [iam.PolicyStatement(actions=["s3express:CreateSession"], resources=[self.bucket_arn])]
            if self._key is not None:
                actions = ["kms:Decrypt", "kms:GenerateDataKey"]
                statements.append(iam.PolicyStatement(actions=actions, resources=[self._key.key_arn]))
            made = iam.ManagedPolicy(self, "ReadWrite", statements=statements)
        assert isinstance(made, iam.ManagedPolicy)
        role.add_managed_policy(made)


def express_endpoint(
    scope: Construct, id: str, *, vpc: ec2.IVpc, subnets: Sequence[ec2.ISubnet]
) -> ec2.GatewayVpcEndpoint:
    """The way from private subnets to directory buckets: a gateway endpoint of its own, one a VPC, free of charge.

    Args:
        scope: Where it stands.
        id: Its id.
        vpc: The VPC.
        subnets: Subnets whose route tables get the route.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/directory-bucket-az-networking.html (read 2026-11-21)
    """
    return ec2.GatewayVpcEndpoint(
        scope,
        id,
        vpc=vpc,
        service=ec2.GatewayVpcEndpointAwsService.S3_EXPRESS,
        subnets=[ec2.SubnetSelection(subnets=list(subnets))],
    )


def _encryption(key: kms.IKey | None) -> s3express.CfnDirectoryBucket.BucketEncryptionProperty:
    made = s3express.CfnDirectoryBucket
    return made.BucketEncryptionProperty(
        server_side_encryption_configuration=[
            made.ServerSideEncryptionRuleProperty(
                # Always on in directory buckets; said, so that a template shows it.
                bucket_key_enabled=True if key is not None else None,
                server_side_encryption_by_default=made.ServerSideEncryptionByDefaultProperty(
                    sse_algorithm="AES256" if key is None else "aws:kms",
                    kms_master_key_id=None if key is None else key.key_arn,
                ),
            )
        ]
    )
