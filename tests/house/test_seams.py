"""Arguments of other constructs: another VPC or region, a public subnet, a single value, a token, what AWS refuses."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any, cast

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match
from constructs import Construct

from support.faces import names_of_face
from ultracluster import compute, eks, network, observability, slurm, stacks, storage
from ultracluster.planning.lustre import LustreGoal, plan_lustre
from ultracluster.rules import Refusal

TYPE, IMAGE = "p5en.48xlarge", "ami-0123456789abcdef0"


class Site:
    """Two VPCs in one stack, and constructs with arguments that are valid unless given.

    Args:
        stack: The stack.
    """

    def __init__(self, stack: cdk.Stack) -> None:
        self.stack = stack
        self.vpc, self.other = (ec2.Vpc(stack, id, max_azs=2) for id in ("Vpc", "Other"))
        self.near, self.far = self.vpc.private_subnets[0], self.other.private_subnets[0]
        self.public = self.vpc.public_subnets[0]
        self.nodes = network.EfaSecurityGroup(stack, "Nodes", vpc=self.vpc)
        self.plain = ec2.SecurityGroup(stack, "Plain", vpc=self.vpc)
        self.key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:eu-west-1:123456789012:key/mrk-0123456789abcdef")

    def eks_cluster(self, **given: Any) -> eks.EksCluster:
        arguments = {"name": "llama", "version": "1.34", "vpc": self.vpc, "subnets": self.vpc.private_subnets}
        return eks.EksCluster(self.stack, "Eks", **{**arguments, **given})

    def eks_nodes(self, **given: Any) -> eks.EksNodeGroup:
        service: Any = "eks-managed"
        template = compute.NodeGroupTemplate(
            self.stack, "EksTemplate", instance_type=TYPE, security_groups=self.nodes, service=service
        )
        role = eks.EksNodeRole(self.stack, "EksNodeRole")
        arguments = {
            "cluster": self.eks_cluster(),
            "name": "train",
            "template": template,
            "subnet": self.near,
            "count": 2,
        }
        return eks.EksNodeGroup(self.stack, "EksNodes", **{**arguments, "node_role": role, **given})

    def pcs(self, **given: Any) -> slurm.PcsCluster:
        arguments = {"name": "llama", "max_instances": 5, "subnet": self.near, "security_groups": [self.nodes]}
        return slurm.PcsCluster(self.stack, "Pcs", **{**arguments, **given})

    def pcs_nodes(self, **given: Any) -> slurm.PcsComputeNodeGroup:
        template = self.template(service="pcs", image=IMAGE)
        arguments = {"cluster": self.pcs(), "name": "train", "template": template, "count": 2}
        return slurm.PcsComputeNodeGroup(self.stack, "PcsNodes", **{**arguments, **given})

    def login(self, **given: Any) -> slurm.PcsLoginNodeGroup:
        arguments = {"instance_type": "c7i.2xlarge", "subnet": self.near, "security_groups": [self.nodes]}
        return slurm.PcsLoginNodeGroup(
            self.stack, "Login", **{"cluster": self.pcs(), "image": IMAGE, **arguments, **given}
        )

    def template(self, **given: Any) -> compute.NodeGroupTemplate:
        arguments = {"instance_type": TYPE, "security_groups": self.nodes, "subnet": self.near}
        return compute.NodeGroupTemplate(self.stack, "Template", **{**arguments, **given})

    def nodes_of(self, **given: Any) -> compute.AutoScalingNodeGroup:
        arguments = {"instance_type": TYPE, "count": 2, "vpc": self.vpc, "subnet": self.near}
        return compute.AutoScalingNodeGroup(self.stack, "Group", **{**arguments, **given})

    def self_managed(self, **given: Any) -> eks.EksSelfManagedNodeGroup:
        role = iam.InstanceProfile(self.stack, "Profile", role=eks.EksNodeRole(self.stack, "EksNodeRole"))
        template = self.template(image=IMAGE, access=compute.Access(instance_profile=role))
        arguments = {"cluster_name": "llama", "name": "train", "template": template, "count": 2}
        return eks.EksSelfManagedNodeGroup(self.stack, "EksNodes", **{**arguments, **given})

    def reservation(self, **given: Any) -> compute.CapacityReservation:
        return compute.CapacityReservation(self.stack, "Reserved", instance_type=TYPE, instances=2, **given)

    def network(self, **given: Any) -> network.ClusterNetwork:
        ranges = {"cidr": "10.0.0.0/16", "training_cidr": "10.0.128.0/18", "public_cidr": "10.0.0.0/28"}
        return network.ClusterNetwork(self.stack, "Network", **{"zone": "use2-az1", **ranges, **given})

    def lustre(self, *, far: bool = False) -> storage.LustreFileSystem:
        vpc, subnet = (self.other, self.far) if far else (self.vpc, self.near)
        spec = plan_lustre(LustreGoal(throughput_mb_per_s=2_000)).spec
        return storage.LustreFileSystem(self.stack, "Lustre", vpc=vpc, subnet=subnet, spec=spec)

    def token(self) -> str:
        return cdk.CfnParameter(self.stack, "Text").value_as_string

    def number(self) -> float:
        return cdk.CfnParameter(self.stack, "Number", type="Number").value_as_number


REFUSED: dict[str, tuple[Callable[[Site], object], str]] = {
    "EKS in another VPC": (lambda site: site.eks_cluster(subnets=site.other.private_subnets), "other-vpc"),
    "EKS with a key elsewhere": (lambda site: site.eks_cluster(key=site.key), "other-region"),
    "EKS without a name": (lambda site: site.eks_cluster(name=""), "argument"),
    "EKS with a long name": (lambda site: site.eks_cluster(name="a" * 101), "argument"),
    "EKS of a version that a deployment knows": (lambda site: site.eks_cluster(version=site.token()), "argument-token"),
    "EKS of an odd tier": (lambda site: site.eks_cluster(scaling_tier="x"), "argument"),
    "EKS with an odd range": (lambda site: site.eks_cluster(service_cidr="x"), "kubernetes-service-cidr"),
    "EKS with a public range": (lambda site: site.eks_cluster(service_cidr="8.8.8.0/24"), "kubernetes-service-cidr"),
    "EKS without a VPC": (lambda site: site.eks_cluster(vpc=None), "argument"),
    "EKS in one subnet": (lambda site: site.eks_cluster(subnets=site.near), "kubernetes-second-zone"),
    "EKS nodes in another VPC": (lambda site: site.eks_nodes(subnet=site.far), "other-vpc"),
    "EKS nodes in public": (lambda site: site.eks_nodes(subnet=site.public), "public-subnet"),
    "EKS nodes of an odd name": (lambda site: site.eks_nodes(name="a/b c"), "argument"),
    "EKS nodes of another system": (lambda site: site.eks_nodes(os="windows"), "argument"),
    "half an EKS node": (lambda site: site.eks_nodes(count=1.5), "argument"),
    "PCS in another VPC": (lambda site: site.pcs(subnet=site.far), "other-vpc"),
    "PCS without groups": (lambda site: site.pcs(security_groups=[]), "argument"),
    "PCS of an odd size": (lambda site: site.pcs(size="x"), "argument"),
    "PCS whose name a deployment knows": (lambda site: site.pcs(name=site.token()), "argument-token"),
    "PCS whose size a deployment knows": (lambda site: site.pcs(max_instances=site.number()), "argument-token"),
    "half a PCS node": (lambda site: site.pcs_nodes(count=1.5), "argument"),
    "PCS nodes with two features in one text": (lambda site: site.pcs_nodes(features="x,y"), "argument"),
    "a template in public": (lambda site: site.template(subnet=site.public), "public-subnet"),
    "a template with a list of tags": (lambda site: site.template(tags=["research"]), "argument"),
    "a template without EFA rules": (lambda site: site.template(security_groups=site.plain), "efa-rules"),
    "nodes in another VPC": (lambda site: site.nodes_of(subnet=site.far), "other-vpc"),
    "nodes in public": (lambda site: site.nodes_of(subnet=site.public), "public-subnet"),
    "nodes whose number a deployment knows": (lambda site: site.nodes_of(count=site.number()), "argument-token"),
    "a mount of another VPC": (lambda site: site.nodes_of(mounts={"/fsx": site.lustre(far=True)}), "other-vpc"),
    "a mount below another": (
        lambda site: site.nodes_of(mounts=dict.fromkeys(("/fsx", "/fsx/b"), site.lustre())),
        "mounts-nested",
    ),
    "notices elsewhere": (
        lambda site: compute.CapacityNotices(
            site.stack,
            "Notices",
            reservation_ids="cr-0123456789abcdef0",
            topic=sns.Topic.from_topic_arn(site.stack, "Topic", "arn:aws:sns:eu-west-1:123456789012:x"),
        ),
        "other-region",
    ),
    "Prometheus with a key elsewhere": (
        lambda site: observability.PrometheusWorkspace(site.stack, "Prometheus", alias="llama", key=site.key),
        "other-region",
    ),
    "Grafana in another VPC": (
        lambda site: observability.GrafanaWorkspace(
            site.stack, "Grafana", name="llama", subnets=site.other.private_subnets, security_groups=[site.nodes]
        ),
        "other-vpc",
    ),
    "self-managed nodes in public": (lambda site: site.self_managed(subnet=site.public), "public-subnet"),
    "a reservation in a zone elsewhere": (lambda site: site.reservation(zone="euw1-az1"), "other-region"),
    "a reservation in a named zone elsewhere": (lambda site: site.reservation(zone="eu-west-1a"), "other-region"),
    "a network in a zone elsewhere": (lambda site: site.network(zone="euw1-az1"), "other-region"),
    "a network in two regions": (
        lambda site: site.network(zone_cidrs={"euw1-az1": "10.0.64.0/20"}),
        "other-region",
    ),
    "an existing network in a zone elsewhere": (
        lambda site: network.ClusterNetwork.from_cluster_network_attributes(
            site.stack, "Existing", zone="euw1-az1", vpc=site.vpc, training_subnet=site.near
        ),
        "other-region",
    ),
    "a network of two VPCs": (
        lambda site: network.Network(
            vpc=site.vpc, training_subnet=site.far, services_subnet=site.near, nodes=site.nodes
        ),
        "other-vpc",
    ),
    "dashboards in one text": (
        lambda site: observability.GrafanaContent(
            site.stack,
            "Content",
            name="llama",
            grafana="g-0123456789",
            workspace="ws-01234567-89ab-cdef-0123-456789abcdef",
            dashboards=cast(Any, "{}"),
        ),
        "argument",
    ),
    "rules in one text": (
        lambda site: observability.PrometheusRules(
            site.stack,
            "Rules",
            workspace=observability.PrometheusWorkspace(site.stack, "Prometheus", alias="llama"),
            rules=cast(Any, "groups: []"),
        ),
        "argument",
    ),
    "stacks of the name of a file": (
        lambda site: stacks.ClusterStacks(
            cdk.Stage(cast(cdk.App, cdk.App.of(site.stack)), "Stage"), cluster=cast(Any, "cluster.yaml")
        ),
        "argument",
    ),
    "an alarm of 45 seconds": (
        lambda site: alarm(site, period=cdk.Duration.seconds(45)),
        "alarm",
    ),
    "an alarm without periods": (lambda site: alarm(site, evaluation_periods=0), "alarm"),
    "an alarm above a text": (lambda site: alarm(site, threshold="x"), "argument"),
}


def alarm(site: Site, **given: Any) -> cloudwatch.Alarm:
    return site.lustre().alarms.add("Full", sns.Topic(site.stack, "Topic"), **given)


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(stack: cdk.Stack, case: str) -> None:
    create, rule = REFUSED[case]
    with pytest.raises(Refusal) as caught:
        create(Site(stack))
    assert {message.rule.id for message in caught.value.messages} == {rule}
    assert " object at 0x" not in str(caught.value)


TAKEN: dict[str, Callable[[Site], object]] = {
    "one administrator": lambda site: site.eks_cluster(admins=iam.Role.from_role_name(site.stack, "Admin", "admin")),
    "one range": lambda site: site.eks_cluster(public_access_cidrs="203.0.113.0/24"),
    "one group of a controller": lambda site: site.pcs(security_groups=site.nodes),
    "one client": lambda site: network.ServiceEndpoints(
        site.stack, "Endpoints", vpc=site.vpc, subnet=site.near, clients=site.nodes, services="ssm"
    ),
    "L2 types of login nodes": lambda site: site.login(
        instance_type=ec2.InstanceType("c7i.2xlarge"),
        security_groups=site.nodes,
        image=ec2.MachineImage.latest_amazon_linux2023(),
    ),
    "one feature": lambda site: site.pcs_nodes(features="h200"),
    "one mount": lambda site: site.nodes_of(mounts=site.lustre()),
}


@pytest.mark.parametrize("case", TAKEN)
def test_takes_a_single_value(stack: cdk.Stack, case: str) -> None:
    TAKEN[case](Site(stack))
    cdk.App.of(stack).synth()  # type: ignore[union-attr]


def test_one_efa_group_of_several_is_enough(stack: cdk.Stack) -> None:
    site = Site(stack)
    site.template(security_groups=[site.plain, site.nodes])


def test_takes_a_group_with_the_rules_of_efa(stack: cdk.Stack) -> None:
    site = Site(stack)
    network.allow_all_between(stack, "Rules", site.plain, site.plain)
    site.template(security_groups=site.plain)


def test_warns_of_an_imported_group_whose_rules_are_unknown(stack: cdk.Stack) -> None:
    site = Site(stack)
    site.template(security_groups=ec2.SecurityGroup.from_security_group_id(stack, "Imported", "sg-0123456789abcdef0"))
    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp(r"security_groups\[0\] are not known"))


def test_warns_that_an_imported_file_system_gets_no_rules(stack: cdk.Stack) -> None:
    storage.LustreFileSystem.from_lustre_file_system_attributes(
        stack, "Lustre", file_system_id="fs-0123456789abcdef0", mount_name="fsx"
    )
    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp("connections and mounts add no rule"))


def test_names_the_import_of_a_file_system_of_the_cdk(stack: cdk.Stack) -> None:
    site = Site(stack)
    configuration = fsx.LustreConfiguration(
        deployment_type=fsx.LustreDeploymentType.PERSISTENT_2, per_unit_storage_throughput=125
    )
    file_system: Any = fsx.LustreFileSystem(
        stack,
        "Lustre",
        vpc=site.vpc,
        vpc_subnet=site.near,
        storage_capacity_gib=1200,
        lustre_configuration=configuration,
    )
    with pytest.raises(Refusal, match=r"got LustreFileSystem Stack/Lustre: import an aws_fsx file system with"):
        site.nodes_of(mounts={"/fsx": file_system})


def test_names_an_alarm_that_exists(stack: cdk.Stack) -> None:
    alarms = Site(stack).lustre().alarms
    alarms.add_all(sns.Topic(stack, "First"))
    with pytest.raises(Refusal, match=r"the alarm Full exists in Stack/Lustre/Alarms: pass another id or scope"):
        alarms.add_all(sns.Topic(stack, "Second"))
    alarms.add("Full", sns.Topic(stack, "Third"), id="Fuller", threshold=90)


def test_every_construct_checks_the_types_of_its_arguments() -> None:
    unchecked = set()
    for package in ("network", "security", "compute", "storage", "observability", "slurm", "eks", "stacks"):
        module = importlib.import_module(f"ultracluster.{package}")
        for name in names_of_face(module.__name__):
            member = getattr(module, name)
            if inspect.isclass(member) and issubclass(member, Construct):
                init = member.__dict__.get("__init__")
                if init is not None and "__wrapped__" not in vars(init):
                    unchecked.add(name)
    assert not unchecked
