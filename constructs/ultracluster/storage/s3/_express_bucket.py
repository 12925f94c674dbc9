"""A directory bucket: S3 Express One Zone, beside the nodes."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3express as s3express
from constructs import Construct

from ultracluster.planning import as_list, checked, checked_method, known, shown, token_errors, zone_problems
from ultracluster.planning.s3 import (
    EXPRESS_BUCKET,
    check_directory_bucket,
    directory_bucket_name,
    directory_bucket_warnings,
)
from ultracluster.rules import Refusal
from ultracluster.security import check_same_region
from ultracluster.storage._grants import Permission, grant
from ultracluster.storage._interfaces import IExpressBucket

# AWS bills parts of unfinished uploads and lists them nowhere; no upload of a job takes a week.
_ABORT_UPLOADS_DAYS = 7


class ExpressGrants:
    """Permissions on a directory bucket. A session is the only permission on its objects."""

    def __init__(self, bucket: "_Express", key: kms.IKey | None) -> None:
        self._bucket = bucket
        self._key = key

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow read-only sessions."""
        return self._grant(grantee, {"StringEquals": {"s3express:SessionMode": "ReadOnly"}})

    @checked_method
    def read_write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow sessions that read, write and delete objects."""
        return self._grant(grantee, {})

    def _grant(self, grantee: iam.IGrantable, conditions: Mapping[str, Mapping[str, object]]) -> iam.Grant:
        return grant(
            grantee,
            Permission(actions=("s3express:CreateSession",), arn=self._bucket.bucket_arn, conditions=conditions),
            resource=self._bucket,
            key=self._key,
            key_actions=("kms:Decrypt", "kms:GenerateDataKey"),
        )


@jsii.implements(iam.IResourceWithPolicyV2)
class _Express(cdk.Resource):
    #: Name, suffix included.
    bucket_name: str
    #: ARN, which is of the service `s3express`.
    bucket_arn: str
    #: Permissions for principals.
    grants: ExpressGrants

    @jsii.member(jsii_name="addToResourcePolicy")
    @checked_method
    def add_to_resource_policy(self, statement: iam.PolicyStatement) -> iam.AddToResourcePolicyResult:
        """Add a statement to the bucket policy; an existing bucket keeps its own."""
        return iam.AddToResourcePolicyResult(statement_added=False)


class ExpressBucket(_Express):
    """A bucket in one zone with latencies of single-digit milliseconds: encrypted, private, retained by default.

    It has no versions, no access logs, no tiers and no data repository association: use it for data that exists
    elsewhere too. L1, because aws-cdk-lib has no L2 (2.275.0).

    Args:
        zone: Zone id, such as `use2-az1`: the zone of the nodes.
        nodes_zone: Zone id of the nodes; `cdk synth` warns if it differs. Default: not checked.
        name: First part of the bucket's name; zone and `--x-s3` are added. Default: CloudFormation generates it.
        key: Key of the objects; a directory bucket never takes another one. Default: S3's own encryption.
        expire_after_days: Days after which objects are deleted. Default: never.
        removal_policy: What happens to the bucket when it is removed from the template. Default: it is retained,
            unless the deployment that creates it fails.

    Raises:
        Refusal: If S3 would refuse the bucket. All reasons at once.

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
        texts = {"zone": zone, "nodes_zone": nodes_zone, "name": name}
        errors = token_errors(texts) or check_directory_bucket(
            zone=zone, base=name, expire_after_days=expire_after_days
        )
        errors += check_same_region(self, {"key": key})
        errors += [] if errors else zone_problems("zone", zone, cdk.Stack.of(self).region)
        if errors:
            raise Refusal(self, errors)
        for message in directory_bucket_warnings(zone=zone, nodes_zone=nodes_zone):
            cdk.Validations.of(self).add_warning(message.rule.warning_id, message)
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
        # S3 deletes nothing in a directory bucket unless the policy allows its lifecycle service. See
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/directory-buckets-objects-lifecycle.html
        # (read 2026-11-21).
        self._document = iam.PolicyDocument(
            statements=[
                iam.PolicyStatement(
                    sid="Lifecycle",
                    principals=[iam.ServicePrincipal("lifecycle.s3.amazonaws.com")],
                    actions=["s3express:CreateSession"],
                    resources=[bucket.attr_arn],
                    conditions={"StringEquals": {"s3express:SessionMode": "ReadWrite"}},
                )
            ]
        )
        self._policy = s3express.CfnBucketPolicy(self, "Policy", bucket=bucket.ref, policy_document=self._document)
        self._policy.apply_removal_policy(removal_policy)
        self.bucket_name = bucket.ref
        self.bucket_arn = bucket.attr_arn
        self.grants = ExpressGrants(self, key)

    @staticmethod
    @checked
    def from_express_bucket_attributes(
        scope: Construct, id: str, *, bucket_name: str, key: kms.IKey | None = None
    ) -> IExpressBucket:
        """Import an existing directory bucket, in the region of the stack. Nothing of it is changed.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            bucket_name: Its name, such as `scratch--use2-az1--x-s3`.
            key: KMS key of its objects. Default: S3's own encryption, or a key that is not known; no key is then
                granted.

        Raises:
            Refusal: If the name is not that of a directory bucket, or bucket or key are in another region.
        """
        bucket = _Express(scope, id)
        errors = check_same_region(bucket, {"key": key})
        if known(bucket_name):
            base, _, zone = bucket_name.removesuffix("--x-s3").rpartition("--")
            if bucket_name != directory_bucket_name(base, zone) or check_directory_bucket(zone=zone, base=base):
                text = f"bucket_name must be that of a directory bucket, NAME--ZONE--x-s3, got {shown(bucket_name)}"
                errors.append(EXPRESS_BUCKET(text))
            else:
                errors += zone_problems("bucket_name", zone, cdk.Stack.of(bucket).region)
        if errors:
            raise Refusal(bucket, errors)
        bucket.bucket_name = bucket_name
        bucket.bucket_arn = cdk.Stack.of(bucket).format_arn(
            service="s3express", resource="bucket", resource_name=bucket_name
        )
        bucket.grants = ExpressGrants(bucket, key)
        return bucket

    @jsii.member(jsii_name="addToResourcePolicy")
    @checked_method
    def add_to_resource_policy(self, statement: iam.PolicyStatement) -> iam.AddToResourcePolicyResult:
        """Add a statement to the bucket policy."""
        self._document.add_statements(statement)
        return iam.AddToResourcePolicyResult(statement_added=True, policy_dependable=self._policy)


def express_endpoint(
    scope: Construct, id: str, *, vpc: ec2.IVpc, subnets: ec2.ISubnet | Sequence[ec2.ISubnet]
) -> ec2.GatewayVpcEndpoint:
    """Create the gateway endpoint from private subnets to directory buckets: one per VPC, free of charge.

    Args:
        scope: Scope of the endpoint.
        id: Id of the endpoint.
        vpc: The VPC.
        subnets: Subnets whose route tables get the route.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/directory-bucket-az-networking.html (read 2026-11-21)
    """
    return ec2.GatewayVpcEndpoint(
        scope,
        id,
        vpc=vpc,
        service=ec2.GatewayVpcEndpointAwsService.S3_EXPRESS,
        subnets=[ec2.SubnetSelection(subnets=as_list(subnets))],
    )


def _encryption(key: kms.IKey | None) -> s3express.CfnDirectoryBucket.BucketEncryptionProperty:
    resource = s3express.CfnDirectoryBucket
    return resource.BucketEncryptionProperty(
        server_side_encryption_configuration=[
            resource.ServerSideEncryptionRuleProperty(
                # Always on in directory buckets; explicit in the template.
                bucket_key_enabled=True if key is not None else None,
                server_side_encryption_by_default=resource.ServerSideEncryptionByDefaultProperty(
                    sse_algorithm="AES256" if key is None else "aws:kms",
                    kms_master_key_id=None if key is None else key.key_arn,
                ),
            )
        ]
    )
