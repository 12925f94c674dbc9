"""An app with everything that storage has for S3, which tests synthesize with every check on, and deploy locally."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from ultracluster import storage
from ultracluster.planning.lustre import LustreGoal, plan_lustre


def everything(app: cdk.App) -> cdk.Stack:
    """Put all of it into one stack."""
    stack = cdk.Stack(app, "Storage", env=cdk.Environment(account="123456789012", region="us-east-2"))
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-2a"],
        private_subnet_ids=["subnet-0123456789abcdef0"],
        private_subnet_route_table_ids=["rtb-0123456789abcdef0"],
    )
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    lustre = storage.LustreFileSystem(
        stack,
        "Lustre",
        vpc=vpc,
        subnet=vpc.private_subnets[0],
        spec=plan_lustre(LustreGoal(throughput_mb_per_s=1_000)).spec,
        key=key,
    )
    logs = storage.LogBucket(stack, "Logs")
    data = storage.DataBucket(
        stack,
        "Data",
        purpose="dataset",
        tier=storage.Tier(storage_class="INTELLIGENT_TIERING", after_days=0),
        key=key,
        access_log_bucket=logs.bucket,
    )
    checkpoints = storage.DataBucket(stack, "Checkpoints", tier=storage.Tier(storage_class="GLACIER_IR"), key=key)
    scratch = storage.ExpressBucket(stack, "Scratch", zone="use2-az1", key=key, expire_after_days=3)
    storage.ExpressBucket(stack, "Named", zone="use2-az1", name="llama")
    storage.express_endpoint(stack, "ExpressEndpoint", vpc=vpc, subnets=vpc.private_subnets)
    data.grants.read(role)
    checkpoints.grants.read_write(role)
    scratch.grants.read_write(role)
    storage.DataRepositoryAssociation(
        stack,
        "DataLink",
        file_system=lustre,
        bucket=data.bucket,
        prefix="tokens",
        path="/data",
        import_events=["NEW", "CHANGED", "DELETED"],
    )
    exported = storage.DataRepositoryAssociation(
        stack,
        "CheckpointsLink",
        file_system=lustre,
        bucket=checkpoints.bucket,
        path="/checkpoints",
        export_events=["NEW", "CHANGED"],
    )
    storage.DataRepositoryAssociation(
        stack,
        "TheirLink",
        file_system="fs-0123456789abcdef0",
        bucket=s3.Bucket.from_bucket_name(stack, "Theirs", "their-data"),
        path="/",
    )
    storage.ColdDataRelease(
        stack, "Release", associations=[exported], not_accessed_for_days=7, mount_options="relatime,flock"
    )
    return stack
