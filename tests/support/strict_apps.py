"""Stacks that are synthesized with all checks: each function adds some to an app."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from cdk_nag import HIPAASecurityChecks, NIST80053R5Checks, PCIDSS321Checks
from constructs import Construct

from support import home_stack, storage_app
from support.observability_stack import ObservabilityParts
from ultracluster import clusterfile, compute
from ultracluster.security import acknowledge_compliance
from ultracluster.stacks import ClusterStacks
from ultracluster.storage import DataBucket

_THERE = cdk.Environment(account="123456789012", region="us-east-2")


def cluster(app: cdk.App, file: str) -> None:
    """A cluster file, as for an account that is known."""
    ClusterStacks(app, cluster=clusterfile.load(file), account="123456789012")


def homes(app: cdk.App) -> None:
    home_stack.make_homes(cdk.Stack(app, "Homes", env=_THERE))


def storage(app: cdk.App) -> None:
    storage_app.everything(app)


def observability(app: cdk.App) -> None:
    ObservabilityParts(app)


def images(app: cdk.App) -> None:
    """A pipeline for each architecture, whose image the deployment builds."""
    stack = cdk.Stack(app, "Images", env=_THERE)
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")
    for architecture in ("x86_64", "arm64"):
        compute.ImagePipeline(
            stack, architecture.replace("_", ""), architecture=architecture, subnet=subnet, security_groups=[group]
        ).add_image()


def compliance(app: cdk.App) -> None:
    """The packs for NIST 800-53 R5, HIPAA and PCI DSS, with the acknowledgments of the library."""
    packs(app)
    acknowledge_compliance(app)


def packs(app: cdk.App) -> None:
    """The same packs, without acknowledgments."""
    validations = cdk.Validations.of(app)
    validations.add_plugins(NIST80053R5Checks(app), HIPAASecurityChecks(app), PCIDSS321Checks(app))


def open_bucket(app: cdk.App) -> None:
    """Defects that cdk-nag must find."""
    stack = cdk.Stack(app, "OpenBucket")
    s3.Bucket(stack, "Bucket")
    # Of the app, with ids that the library has; and of the library, with another id.
    logs.LogGroup(Construct(stack, "Records"), "LogGroup")
    s3.Bucket(Construct(stack, "Data"), "Bucket")
    DataBucket(stack, "Datasets")


def open_topic(app: cdk.App) -> None:
    """Defects that cdk-nag must find."""
    sns.Topic(cdk.Stack(app, "OpenTopic"), "Topic")
