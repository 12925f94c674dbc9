"""Rows of `ultracluster.hyperpod`."""

import re
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks_v2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from support import ROOT
from support.contracts._row import Connects, Grants, Imported, No, Row
from support.contracts._world import ACCOUNT, REGION, World
from ultracluster import clusterfile, hyperpod, observability, storage

_ROLE = "arn:aws:iam::123456789012:role/Nodes"
_NO_NETWORK = No("it has no network interface")
_NO_ROLE = No("it has no role")
_NO_METRICS = No("HyperPod publishes figures of its agents only; collectors on the nodes write theirs to Prometheus")
_ORCHESTRATOR = "orchestrator: hyperpod-slurm"
_SCRIPTS = {"setup.sh": "#!/usr/bin/env bash\n"}


def stack() -> cdk.Stack:
    env = cdk.Environment(account=ACCOUNT, region=REGION)
    return cdk.Stack(cdk.App(analytics_reporting=False), "Stack", env=env)


def groups(**more: Any) -> list[hyperpod.HyperPodInstanceGroup]:
    """A controller, and compute nodes."""
    controller = hyperpod.HyperPodInstanceGroup(
        name="controller", instance_type="m7i.2xlarge", count=1, node_type="Controller"
    )
    train: dict[str, Any] = {
        "name": "train",
        "instance_type": "p5en.48xlarge",
        "count": 2,
        "partition": "train",
        **more,
    }
    return [controller, hyperpod.HyperPodInstanceGroup(**train, node_type="Compute")]


def cluster(scope: Construct, id: str, world: World, **more: Any) -> hyperpod.HyperPodCluster:
    arguments: dict[str, Any] = {"subnet": world.subnet, "groups": groups(), **more}
    # Two of one name cannot be in one account.
    return hyperpod.HyperPodCluster(scope, id, name=id, security_groups=[world.security_group], **arguments)


def _of_tokens(scope: Construct, id: str, world: World) -> hyperpod.HyperPodCluster:
    subnet = ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", world.token("SubnetId"))
    mount = hyperpod.HyperPodMount(dns_name=world.token("DnsName"), path="/fsx", mount_name=world.token("MountName"))
    return cluster(
        scope,
        id,
        world,
        groups=groups(mounts=[mount], subnet=subnet),
        subnet=subnet,
        role=iam.Role.from_role_arn(scope, f"{id}Role", world.token("RoleArn")),
        scripts=_scripts_of_tokens(scope, f"{id}Scripts", world),
        accounting=hyperpod.AccountingDatabase(endpoint=world.token("Host"), secret_arn=world.token("SecretArn")),
        volume_key=kms.Key.from_key_arn(scope, f"{id}Key", world.token("KeyArn")),
    )


def _scripts_of_tokens(scope: Construct, id: str, world: World) -> hyperpod.HyperPodScripts:
    name = f"sagemaker-llama-{world.token('Suffix')}"
    return hyperpod.HyperPodScripts(scope, id, bucket_name=name, scripts=_SCRIPTS)


def _imported(scope: Construct, id: str) -> hyperpod.IHyperPodCluster:
    return hyperpod.HyperPodCluster.from_hyper_pod_cluster_attributes(
        scope,
        id,
        cluster_name="llama",
        cluster_arn="arn:aws:sagemaker:us-east-2:123456789012:cluster/abcdefghijkl",
        role=iam.Role.from_role_arn(scope, f"{id}Role", _ROLE),
        security_groups=ec2.SecurityGroup.from_security_group_id(scope, f"{id}Group", "sg-0123456789abcdef0"),
    )


def _of_file(scope: Construct, id: str, world: World) -> hyperpod.HyperPodSlurmCluster:
    text = (ROOT / "examples" / "slurm-minimal.yaml").read_text().replace("orchestrator: slurm", _ORCHESTRATOR)
    # Two of one name would have the same bucket.
    cluster = clusterfile.loads(text, "c.yaml").model_copy(update={"name": id.lower()})
    return hyperpod.HyperPodSlurmCluster(scope, id, cluster=cluster, network=world.network, storage=storage.Storage())


def _kubernetes_of_file(scope: Construct, id: str, world: World) -> hyperpod.HyperPodKubernetesCluster:
    text = (ROOT / "examples" / "eks-own-cluster.yaml").read_text()
    text = text.replace("orchestrator: kubernetes", "orchestrator: hyperpod-kubernetes")
    text = re.sub(r"capacity: cr-\w+", "capacity: on-demand", text)
    # Two of one name would have the same bucket.
    cluster = clusterfile.loads(text, "c.yaml").model_copy(update={"name": id.lower()})
    return hyperpod.HyperPodKubernetesCluster(
        scope, id, cluster=cluster, network=world.network, storage=storage.Storage()
    )


def _governance(
    scope: Construct,
    id: str,
    world: World,
    cluster_arn: str = "arn:aws:sagemaker:us-east-2:123456789012:cluster/abcdefghijkl",
) -> hyperpod.HyperPodTaskGovernance:
    teams = {"vision": hyperpod.TeamQuota(nodes={"p5en.48xlarge": 4})}
    return hyperpod.HyperPodTaskGovernance(scope, id, cluster_arn=cluster_arn, name=id, teams=teams)


def _eks_cluster(scope: Construct, id: str, world: World) -> eks_v2.ICluster:
    return eks_v2.Cluster.from_cluster_attributes(scope, f"{id}Plane", cluster_name="llama", vpc=world.vpc)


def _metrics(scope: Construct, id: str, world: World, **more: Any) -> hyperpod.HyperPodObservabilityAddOn:
    arn = "arn:aws:aps:us-east-2:123456789012:workspace/ws-01234567-89ab-cdef-0123-456789abcdef"
    workspace = observability.PrometheusWorkspace.from_workspace_arn(scope, f"{id}Workspace", arn)
    plane = _eks_cluster(scope, id, world)
    return hyperpod.HyperPodObservabilityAddOn(scope, id, cluster=plane, workspace=workspace, **more)


def _inference(scope: Construct, id: str, world: World, **more: Any) -> hyperpod.HyperPodInferenceAddOn:
    arguments: dict[str, Any] = {
        "issuer_url": "https://oidc.eks.us-east-2.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF",
        "hyperpod_cluster_arn": "arn:aws:sagemaker:us-east-2:123456789012:cluster/abcdefghijkl",
        **more,
    }
    return hyperpod.HyperPodInferenceAddOn(scope, id, cluster=_eks_cluster(scope, id, world), **arguments)


ROWS: dict[str, Row] = {
    "HyperPodCluster": Row(
        metrics=_NO_METRICS,
        make=cluster,
        connects=Connects(default_port="ALL TRAFFIC"),
        grants=Grants(methods=("read", "repair")),
        principal=True,
        tags=["AWS::SageMaker::Cluster", "AWS::IAM::Role"],
        default_child="AWS::SageMaker::Cluster",
        tokens=_of_tokens,
        imported=Imported(make=_imported, interface=hyperpod.IHyperPodCluster),
    ),
    "HyperPodRole": Row(
        make=lambda scope, id, world: hyperpod.HyperPodRole(scope, id),
        connects=_NO_NETWORK,
        grants=No("a role has the CDK's own grant, grant_pass_role and grant_assume_role"),
        principal=True,
        tags=["AWS::IAM::Role"],
        default_child="AWS::IAM::Role",
        tokens=No("it takes no text"),
        imported=Imported(
            make=lambda scope, id: hyperpod.HyperPodRole.from_role_arn(scope, id, _ROLE), interface=iam.IRole
        ),
    ),
    "HyperPodAutoscalerRole": Row(
        make=lambda scope, id, world: hyperpod.HyperPodAutoscalerRole(scope, id),
        connects=_NO_NETWORK,
        grants=No("a role has the CDK's own grant, grant_pass_role and grant_assume_role"),
        principal=True,
        tags=["AWS::IAM::Role"],
        default_child="AWS::IAM::Role",
        tokens=lambda scope, id, world: hyperpod.HyperPodAutoscalerRole(
            scope, id, volume_key=kms.Key.from_key_arn(scope, f"{id}Key", world.token("KeyArn"))
        ),
        imported=Imported(
            make=lambda scope, id: hyperpod.HyperPodAutoscalerRole.from_role_arn(scope, id, _ROLE), interface=iam.IRole
        ),
    ),
    "HyperPodObservabilityAddOn": Row(
        make=_metrics,
        connects=_NO_NETWORK,
        grants=No("the workspace grants what its role needs"),
        principal=No("the role of its pods is an argument"),
        tags=["AWS::EKS::Addon", "AWS::IAM::Role"],
        default_child=No("it is an add-on and its role"),
        tokens=lambda scope, id, world: _metrics(
            scope, id, world, role=iam.Role.from_role_arn(scope, f"{id}Own", world.token("RoleArn"))
        ),
        imported=No("no other construct refers to it"),
    ),
    "HyperPodInferenceAddOn": Row(
        make=_inference,
        connects=_NO_NETWORK,
        grants=No("its operator reads models by roles of their service accounts"),
        principal=No("the roles of its pods are its own"),
        tags=["AWS::EKS::Addon", "AWS::IAM::Role", "AWS::S3::Bucket"],
        default_child=No("it is an add-on, its roles and its bucket"),
        tokens=lambda scope, id, world: _inference(
            scope, id, world, issuer_url=world.token("Issuer"), hyperpod_cluster_arn=world.token("ClusterArn")
        ),
        imported=No("no other construct refers to it"),
    ),
    "HyperPodTaskGovernance": Row(
        make=_governance,
        connects=_NO_NETWORK,
        grants=No("administrators have no permission on one policy: IAM has all or none of an account"),
        principal=_NO_ROLE,
        tags=["AWS::SageMaker::ClusterSchedulerConfig"],
        default_child=No("it is a policy and a quota for each team"),
        tokens=lambda scope, id, world: _governance(scope, id, world, cluster_arn=world.token("ClusterArn")),
        imported=No("no other construct refers to it"),
    ),
    "HyperPodKubernetesCluster": Row(
        make=_kubernetes_of_file,
        connects=No("its nodes connect: `node_groups`"),
        grants=No("its clusters have them: `control_plane` and `node_groups`"),
        principal=No("its roles are principals: `role` and `node_role`"),
        tags=["AWS::IAM::Role", "AWS::S3::Bucket"],
        default_child=No("its control plane may be an existing one"),
        tokens=No("it takes a cluster file"),
        imported=No("no other construct refers to it"),
    ),
    "HyperPodSlurmCluster": Row(
        make=_of_file,
        connects=No("its nodes connect: `node_groups`"),
        grants=No("its cluster has them: `node_groups`"),
        principal=No("its role is one: `role`"),
        tags=["AWS::IAM::Role", "AWS::S3::Bucket"],
        default_child=No("it is a role, a bucket and parameters; the cluster is in the scope of the nodes"),
        tokens=No("it takes a cluster file"),
        imported=No("no other construct refers to it"),
    ),
    "HyperPodScripts": Row(
        make=lambda scope, id, world: hyperpod.HyperPodScripts(
            scope, id, scripts=_SCRIPTS, bucket_name=f"sagemaker-llama-{id.lower()}"
        ),
        connects=_NO_NETWORK,
        grants=Grants(methods=("read",)),
        principal=_NO_ROLE,
        tags=["AWS::S3::Bucket", "AWS::Lambda::Function", "AWS::IAM::Role"],
        default_child=No("it is a bucket and what fills it"),
        tokens=_scripts_of_tokens,
        imported=No("its location is its content, so another stack creates the same in the bucket that it is given"),
        uses={
            "an existing bucket": lambda subject, stack, world: hyperpod.HyperPodScripts(
                stack, "More", scripts=_SCRIPTS, bucket=s3.Bucket.from_bucket_name(stack, "Old", "sagemaker-old")
            )
        },
    ),
}
