"""Rows of `ultracluster.slurm`."""

from datetime import UTC, datetime
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from support import ROOT
from support.contracts._row import Connects, Grants, Imported, No, Row
from support.contracts._world import World
from ultracluster import clusterfile, compute, slurm, storage
from ultracluster.boot import NodeBoot, NodeFile, User, boot_script

_FILE = ROOT / "examples" / "slurm-minimal.yaml"
_IMAGE = "ami-0123456789abcdef0"
_PROFILE = "arn:aws:iam::123456789012:instance-profile/aws-pcs/Nodes"
_NO_NETWORK = No("it has no network interface")
_NO_ROLE = No("it has no role")
# https://docs.aws.amazon.com/pcs/latest/userguide/monitoring-cloudwatch_metrics.html (read 2026-11-23)
_NO_METRICS = No("PCS publishes metrics of whole clusters only: `metrics` of PcsCluster")
_NO_TOKENS = No("every text of it must be known at synthesis")
_NOT_PASSED = No("no other construct refers to it")
_NO_PERMISSIONS = No("there is nothing that a principal could be allowed to do with it")


def controller(scope: Construct, id: str, world: World, **more: Any) -> slurm.PcsCluster:
    arguments: dict[str, Any] = {"name": "llama", "max_instances": 8, "subnet": world.subnet, **more}
    return slurm.PcsCluster(scope, id, security_groups=[world.security_group], **arguments)


def _controller_of_tokens(scope: Construct, id: str, world: World) -> slurm.PcsCluster:
    profile = iam.InstanceProfile.from_instance_profile_arn(scope, f"{id}Profile", world.token("ProfileArn"))
    cluster = controller(
        scope,
        id,
        world,
        subnet=ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", world.token("SubnetId")),
        node_role=iam.Role.from_role_arn(scope, f"{id}Role", world.token("RoleArn")),
        instance_profile=profile,
    )
    # Role and profile are those of its nodes.
    world.key.grant_encrypt_decrypt(cluster)
    template = _template(scope, f"{id}Template", world)
    slurm.PcsComputeNodeGroup(scope, f"{id}Nodes", cluster=cluster, name="train", template=template, count=2)
    return cluster


def _of_world(world: World, id: str, create: Any) -> Any:
    """A construct beside the resources of a world, created once."""
    return world.stack.node.try_find_child(id) or create(world.stack, id, world)


def _template(scope: Construct, id: str, world: World) -> compute.NodeGroupTemplate:
    return compute.NodeGroupTemplate(
        scope,
        id,
        instance_type="p5en.48xlarge",
        service="pcs",
        security_groups=[world.security_group],
        subnet=world.subnet,
        image=_IMAGE,
        capacity=compute.CapacityBlock(
            reservation_id="cr-0123456789abcdef0", ends=datetime(2026, 12, 18, 11, 30, tzinfo=UTC)
        ),
    )


_BOOT = boot_script(NodeBoot(files=(NodeFile(path="/etc/motd", text="hello\n", mode="0644"),), units=()), mounts=[])


def slurm_nodes(scope: Construct, id: str, world: World, name: str = "") -> slurm.PcsComputeNodeGroup:
    name = name or id.lower()
    cluster = _of_world(world, "Slurm", controller)
    template = _template(scope, f"{id}Template", world)
    return slurm.PcsComputeNodeGroup(scope, id, cluster=cluster, name=name, template=template, count=2, boot=_BOOT)


def _imported(scope: Construct, id: str) -> slurm.IPcsCluster:
    role = iam.Role.from_role_arn(scope, f"{id}Role", "arn:aws:iam::123456789012:role/aws-pcs/Nodes")
    return slurm.PcsCluster.from_pcs_cluster_attributes(
        scope, id, cluster_id="pcs_abc123", slurm_version="25.11", node_role=role, instance_profile_arn=_PROFILE
    )


def _slurm_cluster(scope: Construct, id: str, world: World) -> slurm.SlurmCluster:
    cluster = clusterfile.load(_FILE)
    return slurm.SlurmCluster(scope, id, cluster=cluster, network=world.network, storage=storage.Storage())


def _images(scope: Construct, id: str, world: World) -> slurm.NodeImages:
    # Two clusters of one name would have the same parameters.
    cluster = clusterfile.loads(_FILE.read_text().replace("nodes:", "image: build\nnodes:", 1), _FILE.name)
    cluster = cluster.model_copy(update={"name": id.lower()})
    return slurm.NodeImages(scope, id, cluster=cluster, network=world.network)


ROWS: dict[str, Row] = {
    "NodeImages": Row(
        make=_images,
        connects=No("builder instances accept no connections"),
        grants=No("its pipelines have them: `pipelines`"),
        principal=No("the roles of its pipelines have the permissions that Image Builder requires, and need no other"),
        tags=["AWS::ImageBuilder::Image", "AWS::ImageBuilder::ImagePipeline", "AWS::SSM::Parameter"],
        default_child=No("it is a pipeline for each architecture"),
        tokens=No("it takes a cluster file"),
        imported=No("existing images are named in the cluster file"),
    ),
    "NodeUsers": Row(
        make=lambda scope, id, world: slurm.NodeUsers(
            scope, id, cluster="llama", users=[User(name="ada", uid=2001, ssh_keys=())]
        ),
        connects=_NO_NETWORK,
        grants=Grants(methods=("read",)),
        principal=_NO_ROLE,
        tags=["AWS::SSM::Parameter"],
        default_child=No("it is a set of parameters"),
        tokens=_NO_TOKENS,
        imported=No("nodes know it by the name of the cluster"),
    ),
    "PcsAdministratorPolicy": Row(
        make=lambda scope, id, world: slurm.PcsAdministratorPolicy(
            scope, id, cluster=_of_world(world, "Slurm", controller), node_roles=world.role
        ),
        connects=_NO_NETWORK,
        grants=No("it is a policy, which has none of its own"),
        principal=True,
        tags=No("IAM has no tags of managed policies in CloudFormation"),
        default_child="AWS::IAM::ManagedPolicy",
        tokens=_NO_TOKENS,
        imported=_NOT_PASSED,
    ),
    "PcsCluster": Row(
        metrics=True,
        make=controller,
        connects=Connects(default_port="6817"),
        grants=Grants(methods=("read",)),
        principal=True,
        tags=["AWS::PCS::Cluster", "AWS::IAM::Role"],
        default_child="AWS::PCS::Cluster",
        tokens=_controller_of_tokens,
        imported=Imported(make=_imported, interface=slurm.IPcsCluster),
    ),
    "PcsClusterLogs": Row(
        alarms=True,
        make=lambda scope, id, world: slurm.PcsClusterLogs(scope, id, cluster=_of_world(world, "Slurm", controller)),
        connects=_NO_NETWORK,
        grants=Grants(methods=("read",)),
        principal=_NO_ROLE,
        tags=["AWS::Logs::LogGroup", "AWS::Logs::DeliverySource", "AWS::Logs::Delivery"],
        default_child="AWS::Logs::LogGroup",
        tokens=lambda scope, id, world: slurm.PcsClusterLogs(
            scope,
            id,
            cluster=_of_world(world, "Slurm", controller),
            key=kms.Key.from_key_arn(scope, f"{id}Key", world.token("KeyArn")),
        ),
        imported=_NOT_PASSED,
    ),
    "PcsComputeNodeGroup": Row(
        metrics=_NO_METRICS,
        make=slurm_nodes,
        connects=Connects(default_port="6818"),
        grants=Grants(methods=("read", "start_session")),
        principal=True,
        tags=["AWS::PCS::ComputeNodeGroup"],
        default_child="AWS::PCS::ComputeNodeGroup",
        tokens=lambda scope, id, world: slurm.PcsComputeNodeGroup(
            scope,
            id,
            cluster=slurm.PcsCluster.from_pcs_cluster_attributes(
                scope,
                f"{id}Slurm",
                cluster_id=world.token("ClusterId"),
                slurm_version="25.11",
                node_role=world.role,
                instance_profile_arn=world.token("ProfileArn"),
            ),
            name="train",
            template=_template(scope, f"{id}Template", world),
            count=2,
        ),
        imported=Imported(
            make=lambda scope, id: slurm.PcsComputeNodeGroup.from_pcs_compute_node_group_attributes(
                scope, id, cluster=_imported(scope, f"{id}Slurm"), node_group_id="pcs_def456", name="train"
            ),
            interface=slurm.IPcsComputeNodeGroup,
        ),
    ),
    "PcsDrain": Row(
        make=lambda scope, id, world: slurm.PcsDrain(
            scope,
            id,
            cluster=_of_world(world, "Slurm", controller),
            login=_of_world(world, "Nodes", slurm_nodes),
            node_group=_of_world(world, "Nodes", slurm_nodes),
            notices=_of_world(
                world,
                "Notices",
                lambda scope, id, world: compute.CapacityNotices(scope, id, reservation_ids=["cr-0123456789abcdef0"]),
            ),
        ),
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=No("its role runs one document and publishes to one topic"),
        tags=["AWS::IAM::Role"],
        default_child=No("it is several schedules of equal rank"),
        tokens=_NO_TOKENS,
        imported=_NOT_PASSED,
    ),
    "PcsLoginNodeGroup": Row(
        metrics=_NO_METRICS,
        make=lambda scope, id, world: slurm.PcsLoginNodeGroup(
            scope,
            id,
            cluster=_of_world(world, "Slurm", controller),
            name=id.lower(),
            instance_type="c7i.8xlarge",
            subnet=world.subnet,
            security_groups=[world.security_group],
            image=_IMAGE,
        ),
        connects=Connects(default_port="6818"),
        grants=Grants(methods=("read", "start_session")),
        principal=True,
        tags=["AWS::PCS::ComputeNodeGroup"],
        default_child=No("its main child is a PcsComputeNodeGroup, `node_group`"),
        tokens=No("its node group takes them"),
        imported=No("an existing one is imported as PcsComputeNodeGroup"),
    ),
    "PcsNodeLogs": Row(
        make=lambda scope, id, world: slurm.PcsNodeLogs(scope, id, cluster=_of_world(world, "Slurm", controller)),
        connects=_NO_NETWORK,
        grants=Grants(methods=("read", "write")),
        principal=_NO_ROLE,
        tags=["AWS::Logs::LogGroup"],
        default_child="AWS::Logs::LogGroup",
        tokens=lambda scope, id, world: slurm.PcsNodeLogs(
            scope,
            id,
            cluster=_of_world(world, "Slurm", controller),
            key=kms.Key.from_key_arn(scope, f"{id}Key", world.token("KeyArn")),
        ),
        imported=_NOT_PASSED,
    ),
    "PcsNodeRole": Row(
        make=lambda scope, id, world: slurm.PcsNodeRole(scope, id),
        connects=_NO_NETWORK,
        grants=No("a role has the CDK's own grant, grant_pass_role and grant_assume_role"),
        principal=True,
        tags=["AWS::IAM::Role"],
        default_child="AWS::IAM::Role",
        tokens=No("it takes no text"),
        imported=Imported(
            make=lambda scope, id: slurm.PcsNodeRole.from_role_arn(scope, id, _PROFILE), interface=iam.IRole
        ),
    ),
    "PcsQueue": Row(
        make=lambda scope, id, world: slurm.PcsQueue(
            scope,
            id,
            cluster=_of_world(world, "Slurm", controller),
            name=id.lower(),
            node_groups=[_of_world(world, "Nodes", slurm_nodes)],
        ),
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=_NO_ROLE,
        tags=["AWS::PCS::Queue"],
        default_child="AWS::PCS::Queue",
        tokens=lambda scope, id, world: slurm.PcsQueue(
            scope,
            id,
            cluster=_imported(scope, f"{id}Slurm"),
            name="train",
            node_groups=[
                slurm.PcsComputeNodeGroup.from_pcs_compute_node_group_attributes(
                    scope,
                    f"{id}Nodes",
                    cluster=_imported(scope, f"{id}Other"),
                    node_group_id=world.token("NodeGroupId"),
                    name="train",
                )
            ],
        ),
        imported=_NOT_PASSED,
    ),
    "PcsUserPolicy": Row(
        make=lambda scope, id, world: slurm.PcsUserPolicy(
            scope, id, cluster=_of_world(world, "Slurm", controller), login=_of_world(world, "Nodes", slurm_nodes)
        ),
        connects=_NO_NETWORK,
        grants=No("it is a policy, which has none of its own"),
        principal=True,
        tags=["AWS::SSM::Document"],
        default_child="AWS::IAM::ManagedPolicy",
        tokens=_NO_TOKENS,
        imported=_NOT_PASSED,
    ),
    "SlurmAccounts": Row(
        make=lambda scope, id, world: slurm.SlurmAccounts(
            scope,
            id,
            login=_of_world(world, "Nodes", slurm_nodes),
            script="sacctmgr --immediate add account research\n",
        ),
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=_NO_ROLE,
        tags=["AWS::SSM::Document"],
        default_child="AWS::SSM::Association",
        tokens=_NO_TOKENS,
        imported=_NOT_PASSED,
    ),
    "SlurmCluster": Row(
        make=_slurm_cluster,
        connects=No("its controller connects: `controller`"),
        grants=No("its controller has them: `controller`"),
        principal=No("its controller is one: `controller`"),
        tags=["AWS::PCS::Cluster", "AWS::IAM::Role"],
        default_child=No("its main child is a PcsCluster, `controller`"),
        tokens=No("it takes a cluster file"),
        imported=_NOT_PASSED,
    ),
}
