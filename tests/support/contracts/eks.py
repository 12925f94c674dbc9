"""Rows of `ultracluster.eks`."""

from datetime import UTC, datetime
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as l2
from aws_cdk import aws_iam as iam
from constructs import Construct

from support import ROOT
from support.contracts._row import Connects, Grants, Imported, No, Row
from support.contracts._world import World
from ultracluster import clusterfile, compute, eks, network, orchestration, storage
from ultracluster.workloads import kubernetes_bundle

_ROLE = "arn:aws:iam::123456789012:role/Nodes"
_NO_NETWORK = No("it has no network interface")
_NOT_PASSED = No("no other construct refers to it")
_NO_PERMISSIONS = No("there is nothing that a principal could be allowed to do with it")


def _second_subnet(world: World) -> ec2.ISubnet:
    child = world.stack.node.try_find_child("SecondSubnet")
    created: Any = child or ec2.Subnet.from_subnet_id(world.stack, "SecondSubnet", "subnet-0123456789abcdef0")
    return created  # type: ignore[no-any-return]


def control_plane(scope: Construct, id: str, world: World, **more: Any) -> eks.EksCluster:
    subnets = [world.subnet, _second_subnet(world)]
    # Two of one name cannot be in one account, which only a deployment finds.
    arguments: dict[str, Any] = {"name": f"llama-{id}", "version": "1.35", **more}
    return eks.EksCluster(scope, id, vpc=world.vpc, subnets=subnets, **arguments)


def _imported(scope: Construct, id: str) -> eks.IEksCluster:
    return eks.EksCluster.from_eks_cluster_attributes(
        scope,
        id,
        cluster_name="llama",
        endpoint="https://example.eks.amazonaws.com",
        certificate_authority="Y2VydGlmaWNhdGU=",
        security_group_id="sg-0123456789abcdef0",
        vpc=ec2.Vpc.from_vpc_attributes(
            scope, f"{id}Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-2a"]
        ),
    )


def _control_plane(world: World) -> l2.ICluster:
    child = world.stack.node.try_find_child("Cluster")
    created: Any = child or l2.Cluster.from_cluster_attributes(world.stack, "Cluster", cluster_name="llama")
    return created  # type: ignore[no-any-return]


def _template(scope: Construct, id: str, world: World, **more: Any) -> compute.NodeGroupTemplate:
    return compute.NodeGroupTemplate(
        scope, id, instance_type="p5en.48xlarge", security_groups=[world.security_group], **more
    )


def managed_nodes(scope: Construct, id: str, world: World, **more: Any) -> eks.EksNodeGroup:
    arguments: dict[str, Any] = {"subnet": world.subnet, "node_role": world.role, **more}
    template = _template(scope, f"{id}Template", world, service="eks-managed")
    return eks.EksNodeGroup(
        scope, id, cluster=_control_plane(world), name="train", template=template, count=2, **arguments
    )


def _self_managed(scope: Construct, id: str, world: World, subnet: ec2.ISubnet | None = None) -> Any:
    subnet = subnet or world.subnet
    profile = iam.InstanceProfile(scope, f"{id}Profile", role=world.role)
    access = compute.Access(instance_profile=profile)
    template = _template(scope, f"{id}Template", world, subnet=subnet, image="ami-0123456789abcdef0", access=access)
    return eks.EksSelfManagedNodeGroup(
        scope, id, cluster_name="llama", name="train", template=template, subnet=subnet, count=2
    )


def _kubernetes_cluster(scope: Construct, id: str, world: World) -> eks.KubernetesCluster:
    cluster = clusterfile.load(ROOT / "examples" / "eks-own-cluster.yaml")
    return eks.KubernetesCluster(scope, id, cluster=cluster, network=world.network, storage=storage.Storage())


def _kubernetes_platform(scope: Construct, id: str, world: World) -> eks.KubernetesPlatform:
    text = (ROOT / "examples" / "eks-private.yaml").read_text().replace("name: vault", f"name: vault-{id.lower()}")
    cluster = clusterfile.loads(text, "c.yaml")
    subnets = {"use2-az2": _second_subnet(world)}
    nodes = network.Network(
        vpc=world.vpc,
        training_subnet=world.subnet,
        services_subnet=world.subnet,
        nodes=world.security_group,
        zone_subnets=subnets,
    )
    control_plane = eks.KubernetesCluster(
        scope, f"{id}Kubernetes", cluster=cluster, network=nodes, storage=storage.Storage()
    )
    outputs = [orchestration.Output(name, name, name) for name in kubernetes_bundle(cluster)["parameters"]]
    return eks.KubernetesPlatform(
        scope, id, cluster=cluster, network=nodes, storage=storage.Storage(), kubernetes=control_plane, outputs=outputs
    )


def _subnet(scope: Construct, id: str, world: World) -> ec2.ISubnet:
    return ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", world.token("SubnetId"))


def _node_group_of_the_cdk(subject: Any, stack: cdk.Stack, world: World) -> None:
    l2.Nodegroup(stack, "CpuNodes", cluster=subject.cluster, subnets=ec2.SubnetSelection(subnets=[world.subnet]))


def _host(scope: Construct, id: str, world: World, **more: Any) -> eks.EksAdminHost:
    arguments: dict[str, Any] = {"vpc": world.vpc, "subnet": world.subnet, **more}
    return eks.EksAdminHost(scope, id, cluster=control_plane(scope, f"{id}Cluster", world).cluster, **arguments)


def _platform(scope: Construct, id: str, world: World, values: dict[str, str] | None = None) -> eks.EksPlatform:
    host = _host(scope, f"{id}Host", world)
    return eks.EksPlatform(scope, id, host=host, files={"bundle/bundle.json": "{}"}, values=values or {})


def _scheduled(kind: type[eks.EksScheduledStart] | type[eks.EksScheduledStop]) -> Row:
    def make(scope: Construct, id: str, world: World) -> Construct:
        nodes = managed_nodes(scope, f"{id}Nodes", world)
        at = datetime(2026, 12, 4, 11, 30, tzinfo=UTC)
        return kind(scope, id, cluster=_control_plane(world), node_group=nodes, at=at)

    return Row(
        make=make,
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=No("its role may change one node group, and no more"),
        tags=["AWS::IAM::Role"],
        default_child="AWS::Scheduler::Schedule",
        tokens=No("a time that only a deployment knows cannot be converted to UTC"),
        imported=_NOT_PASSED,
    )


ROWS: dict[str, Row] = {
    "EksAdminHost": Row(
        make=_host,
        connects=Connects(default_port="22"),
        grants=_NO_PERMISSIONS,
        principal=True,
        tags=["AWS::EC2::Instance", "AWS::IAM::Role"],
        default_child="AWS::EC2::Instance",
        tokens=lambda scope, id, world: _host(scope, id, world, instance_type=world.token("Type")),
        imported=_NOT_PASSED,
    ),
    "EksPlatform": Row(
        make=_platform,
        connects=No("its host connects"),
        grants=_NO_PERMISSIONS,
        principal=No("its host is one"),
        tags=["AWS::SSM::Document"],
        default_child="AWS::SSM::Association",
        tokens=lambda scope, id, world: _platform(scope, id, world, {"FileSystemId": world.token("FileSystem")}),
        imported=_NOT_PASSED,
    ),
    "EksScheduledStart": _scheduled(eks.EksScheduledStart),
    "EksScheduledStop": _scheduled(eks.EksScheduledStop),
    "EksAddOn": Row(
        make=lambda scope, id, world: eks.EksAddOn(scope, id, cluster=_control_plane(world), name="coredns"),
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=No("the role of its pods is an argument"),
        tags=["AWS::EKS::Addon"],
        default_child="AWS::EKS::Addon",
        tokens=lambda scope, id, world: eks.EksAddOn(
            scope, id, cluster=_control_plane(world), name="coredns", version=world.token("Version")
        ),
        imported=_NOT_PASSED,
    ),
    "EksCluster": Row(
        metrics=True,
        make=control_plane,
        connects=Connects(default_port="443"),
        grants=Grants(methods=("admin", "read")),
        principal=No("its nodes have roles of their own"),
        tags=["AWS::EKS::Cluster", "AWS::KMS::Key", "AWS::IAM::Role"],
        default_child="AWS::EKS::Cluster",
        tokens=lambda scope, id, world: control_plane(
            scope, id, world, admins=[world.token("Admin")], public_access_cidrs=[world.token("Office")]
        ),
        imported=Imported(make=_imported, interface=eks.IEksCluster),
        uses={"node group of the CDK": _node_group_of_the_cdk},
    ),
    "EksKarpenter": Row(
        make=lambda scope, id, world: eks.EksKarpenter(
            scope, id, cluster=_control_plane(world), name="llama", node_role=world.role
        ),
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=True,
        tags=["AWS::SQS::Queue", "AWS::IAM::Role"],
        default_child=No("its role and its queue are of equal rank"),
        tokens=lambda scope, id, world: eks.EksKarpenter(
            scope,
            id,
            cluster=_control_plane(world),
            name="llama",
            node_role=iam.Role.from_role_arn(scope, f"{id}Nodes", world.token("RoleArn")),
        ),
        imported=_NOT_PASSED,
    ),
    "EksNodeGroup": Row(
        metrics=No(
            "CloudFormation does not return the name of its Auto Scaling group, and an alarm cannot search for it"
        ),
        make=managed_nodes,
        connects=Connects(default_port="10250"),
        grants=Grants(methods=("read", "scale")),
        principal=True,
        tags=["AWS::EKS::Nodegroup"],
        default_child="AWS::EKS::Nodegroup",
        tokens=lambda scope, id, world: managed_nodes(scope, id, world, subnet=_subnet(scope, id, world)),
        imported=Imported(
            make=lambda scope, id: eks.EksNodeGroup.from_eks_node_group_attributes(
                scope,
                id,
                name="train",
                node_group_arn="arn:aws:eks:us-east-2:123456789012:nodegroup/llama/train/01234567",
                node_role=iam.Role.from_role_arn(scope, f"{id}Role", _ROLE),
            ),
            interface=eks.IEksNodeGroup,
        ),
    ),
    "EksNodeRole": Row(
        make=lambda scope, id, world: eks.EksNodeRole(scope, id),
        connects=_NO_NETWORK,
        grants=No("a role has the CDK's own grant, grant_pass_role and grant_assume_role"),
        principal=True,
        tags=["AWS::IAM::Role"],
        default_child="AWS::IAM::Role",
        tokens=No("it takes no text"),
        imported=Imported(make=lambda scope, id: eks.EksNodeRole.from_role_arn(scope, id, _ROLE), interface=iam.IRole),
    ),
    "EksSelfManagedNodeGroup": Row(
        alarms=True,
        metrics=True,
        make=_self_managed,
        connects=Connects(default_port="10250"),
        grants=_NO_PERMISSIONS,
        principal=True,
        tags=["AWS::AutoScaling::AutoScalingGroup"],
        default_child="AWS::AutoScaling::AutoScalingGroup",
        tokens=lambda scope, id, world: _self_managed(scope, id, world, _subnet(scope, id, world)),
        imported=No("an existing one is imported as AutoScalingGroup of the CDK"),
    ),
    "KubernetesPlatform": Row(
        make=_kubernetes_platform,
        connects=No("its host connects: `host`"),
        grants=No("there is nothing that a principal could be allowed to do with it"),
        principal=No("its host is one: `host`"),
        tags=["AWS::EC2::Instance", "AWS::IAM::Role"],
        default_child=No("its host and its platform are of equal rank"),
        tokens=No("it takes a cluster file"),
        imported=_NOT_PASSED,
    ),
    "KubernetesCluster": Row(
        make=_kubernetes_cluster,
        connects=No("its control plane connects: `control_plane`"),
        grants=No("its control plane has them: `control_plane`"),
        principal=No("its roles are principals: `node_role`"),
        tags=["AWS::IAM::Role"],
        default_child=No("its control plane may be an existing one"),
        tokens=No("it takes a cluster file"),
        imported=_NOT_PASSED,
    ),
}
