"""Every function that imports a resource refuses malformed ids with the argument's name, and accepts tokens."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from support.contracts import ACCOUNT, REGION, exported
from ultracluster import compute, eks, hyperpod, network, observability, slurm, storage
from ultracluster.rules import Refusal

MALFORMED = "no such/thing!\n"
TOKEN = cdk.Token.as_string({"Ref": "Parameter"})

STACK = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
VPC = ec2.Vpc(STACK, "Vpc", max_azs=1)
GROUP = ec2.SecurityGroup(STACK, "Group", vpc=VPC)
ROLE = iam.Role(STACK, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
PCS = {"cluster_id": "pcs_abc123", "slurm_version": "25.11", "node_role": ROLE}
PROFILE = f"arn:aws:iam::{ACCOUNT}:instance-profile/aws-pcs/Nodes"
CLUSTER = slurm.PcsCluster.from_pcs_cluster_attributes(STACK, "Cluster", **PCS, instance_profile_arn=PROFILE)  # type: ignore[arg-type]
FILE_SYSTEM = {"file_system_id": "fs-0123456789abcdef0", "security_group": GROUP}

#: Arguments of each function; every text among them has a form of its own.
IMPORTS: Mapping[Callable[..., Any], dict[str, Any]] = {
    compute.AutoScalingNodeGroup.from_auto_scaling_node_group_attributes: {
        "auto_scaling_group_name": "train",
        "security_groups": GROUP,
        "role": ROLE,
    },
    compute.CapacityReservation.from_capacity_reservation_attributes: {"reservation_id": "cr-0123456789abcdef0"},
    compute.ImagePipeline.from_image_pipeline_arn: {
        "pipeline_arn": f"arn:aws:imagebuilder:{REGION}:{ACCOUNT}:image-pipeline/llama"
    },
    compute.NodeGroupTemplate.from_launch_template_attributes: {
        "launch_template_id": "lt-0123456789abcdef0",
        "version_number": "3",
    },
    eks.EksCluster.from_eks_cluster_attributes: {
        "cluster_name": "llama",
        "endpoint": "https://0123456789ABCDEF.gr7.us-east-2.eks.amazonaws.com",
        "certificate_authority": "Y2VydGlmaWNhdGU=",
        "security_group_id": "sg-0123456789abcdef0",
        "vpc": VPC,
    },
    eks.EksNodeGroup.from_eks_node_group_attributes: {
        "name": "train",
        "node_group_arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:nodegroup/llama/train/01234567",
        "node_role": ROLE,
        "security_groups": GROUP,
    },
    network.ClusterNetwork.from_cluster_network_attributes: {
        "zone": "use2-az1",
        "vpc": VPC,
        "training_subnet": VPC.private_subnets[0],
    },
    observability.GrafanaWorkspace.from_workspace_attributes: {"workspace_id": "g-0123456789", "role": ROLE},
    observability.PrometheusWorkspace.from_workspace_arn: {
        "workspace_arn": f"arn:aws:aps:{REGION}:{ACCOUNT}:workspace/ws-01234567-89ab-cdef-0123-456789abcdef"
    },
    observability.PrometheusWorkspace.from_workspace_attributes: {
        "workspace_id": "ws-01234567-89ab-cdef-0123-456789abcdef",
        "region": "us-west-2",
    },
    hyperpod.HyperPodCluster.from_hyper_pod_cluster_attributes: {
        "cluster_name": "llama",
        "cluster_arn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghijkl",
        "role": ROLE,
        "security_groups": GROUP,
    },
    slurm.PcsCluster.from_pcs_cluster_attributes: {**PCS, "instance_profile_arn": PROFILE, "security_groups": GROUP},
    slurm.PcsComputeNodeGroup.from_pcs_compute_node_group_attributes: {
        "cluster": CLUSTER,
        "node_group_id": "pcs_abc123",
        "name": "train",
        "security_groups": GROUP,
    },
    storage.DataBucket.from_data_bucket_attributes: {"bucket_name": "my-data"},
    storage.EfsHome.from_efs_home_attributes: FILE_SYSTEM,
    storage.ExpressBucket.from_express_bucket_attributes: {"bucket_name": "scratch--use2-az1--x-s3"},
    storage.LogBucket.from_log_bucket_attributes: {"bucket_name": "my-logs"},
    storage.LustreFileSystem.from_lustre_file_system_attributes: {
        **FILE_SYSTEM,
        "mount_name": "abcdefgh",
        "zone": "use2-az1",
        "cidr": "10.0.128.0/18",
        "dns_name": "fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com",
    },
    storage.OpenZfsHome.from_open_zfs_home_attributes: {
        **FILE_SYSTEM,
        "volume_id": "fsvol-0123456789abcdef0",
        "volume_path": "/fsx/home",
    },
    storage.S3FilesHome.from_s3_files_home_attributes: {
        **FILE_SYSTEM,
        "bucket": s3.Bucket.from_bucket_name(STACK, "Bucket", "my-homes"),
    },
}
#: Texts that decide what is created.
KNOWN = {"zone", "slurm_version"}
#: Of roles, which the CDK imports.
OTHERS = {"from_role_arn", "from_role_name", "from_lookup", "from_cluster_file"}


def arguments(kind: type) -> list[Any]:
    return [
        pytest.param(function, name, id=f"{function.__qualname__}-{name}")
        for function, given in IMPORTS.items()
        for name, value in given.items()
        if isinstance(value, str) is (kind is str)
    ]


def call(function: Callable[..., Any], **changes: object) -> Any:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    given = {**IMPORTS[function], **changes}
    if "workspace_arn" in given:
        return function(stack, "Imported", given["workspace_arn"])
    return function(stack, "Imported", **given)


def test_every_import_is_listed() -> None:
    functions = {
        f"{name}.{member}"
        for name, construct in exported().items()
        for member, _ in inspect.getmembers(construct, inspect.isfunction)
        if member.startswith("from_") and member not in OTHERS
    }
    listed = {f"{function.__module__.split('.')[1]}.{function.__qualname__}" for function in IMPORTS}
    assert functions == listed


@pytest.mark.parametrize(("function", "argument"), arguments(str))
@pytest.mark.parametrize("malformed", [MALFORMED, ""])
def test_refuses_a_malformed_text(function: Callable[..., Any], argument: str, malformed: str) -> None:
    with pytest.raises(Refusal, match=r"^Stack/Imported: ") as refused:
        call(function, **{argument: malformed})
    assert argument in str(refused.value)


@pytest.mark.parametrize(("function", "argument"), arguments(str))
def test_accepts_a_token_unless_it_decides_what_is_created(function: Callable[..., Any], argument: str) -> None:
    if argument in KNOWN and function is not storage.LustreFileSystem.from_lustre_file_system_attributes:
        with pytest.raises(Refusal, match=rf"{argument} must be known at synthesis.*\[argument-token\]"):
            call(function, **{argument: TOKEN})
    else:
        call(function, **{argument: TOKEN})


@pytest.mark.parametrize(("function", "argument"), arguments(object))
def test_refuses_a_text_in_place_of_a_resource(function: Callable[..., Any], argument: str) -> None:
    with pytest.raises(Refusal, match=rf"^Stack/Imported: {argument} must be an I\w+"):
        call(function, **{argument: "banana"})
