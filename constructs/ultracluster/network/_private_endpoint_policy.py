"""Policy of the S3 endpoint of a VPC without internet access."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.clusterfile import ClusterFile

# Buckets of AWS that nodes read: layers of images in ECR, https://docs.aws.amazon.com/AmazonECR/latest/userguide/
# vpc-endpoints.html; the packages of AWS PCS, https://docs.aws.amazon.com/pcs/latest/userguide/
# working-with_ami_installers.html; those of Amazon Linux 2023, https://docs.aws.amazon.com/linux/al2023/ug/
# managing-repos-os-updates.html (all read 2026-11-22)
_OF_AWS = (
    "prod-{region}-starport-layer-bucket",
    "aws-pcs-repo-{region}",
    "aws-pcs-repo-public-keys-{region}",
    "al2023-repos-{region}-de612dc2",
)

# Where the admin host of Kubernetes puts the result of a deployment: https://docs.aws.amazon.com/AWSCloudFormation/
# latest/UserGuide/vpc-interface-endpoints.html (read 2026-11-23)
_SIGNALS = {"kubernetes": "cloudformation-waitcondition-{region}"}


def private_s3_policy(scope: Construct, cluster: ClusterFile) -> iam.PolicyDocument:
    """Return the policy of an S3 endpoint: buckets of the account, those of the cluster file, and some of AWS.

    A bucket of another account that the file does not name is out of reach, with any credentials of a job.
    """
    stack = cdk.Stack.of(scope)
    buckets = [name.format(region=stack.region) for name in _OF_AWS]
    statements = [
        iam.PolicyStatement(
            sid="OfTheAccount",
            principals=[iam.AnyPrincipal()],
            actions=["s3:*"],
            resources=["*"],
            conditions={"StringEquals": {"aws:ResourceAccount": stack.account}},
        ),
        iam.PolicyStatement(
            sid="OfAws",
            principals=[iam.AnyPrincipal()],
            actions=["s3:GetObject"],
            resources=[f"arn:{stack.partition}:s3:::{bucket}/*" for bucket in buckets],
        ),
    ]
    if (signals := _SIGNALS.get(cluster.orchestrator)) is not None:
        statements.append(
            iam.PolicyStatement(
                sid="Signals",
                principals=[iam.AnyPrincipal()],
                actions=["s3:PutObject"],
                resources=[f"arn:{stack.partition}:s3:::{signals.format(region=stack.region)}/*"],
            )
        )
    if (existing := cluster.storage.existing_bucket) is not None:
        arn = f"arn:{stack.partition}:s3:::{existing.name}"
        statements.append(
            iam.PolicyStatement(
                sid="OfTheFile",
                principals=[iam.AnyPrincipal()],
                actions=["s3:*"],
                resources=[arn, f"{arn}/*"],
            )
        )
    return iam.PolicyDocument(statements=statements)
