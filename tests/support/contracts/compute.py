"""Rows of `ultracluster.compute`."""

from datetime import UTC, datetime

import aws_cdk as cdk
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from support.contracts._row import Connects, Grants, Imported, No, Row
from support.contracts._world import World
from ultracluster import compute, security

_RESERVATION = "cr-0123456789abcdef0"
_BLOCK = compute.CapacityBlock(reservation_id=_RESERVATION, ends=datetime(2026, 12, 1, 11, 30, tzinfo=UTC))
_IMAGE = "ami-0123456789abcdef0"
_NO_NETWORK = No("it has no network interface")
_NO_GRANTS = No("there is nothing that a principal could be allowed to do with it")
_NO_ROLE = No("it has no role")


def _template(scope: Construct, id: str, world: World) -> compute.NodeGroupTemplate:
    role = security.NodeRole(scope, f"{id}Role")
    return compute.NodeGroupTemplate(
        scope,
        id,
        instance_type="p5.48xlarge",
        security_groups=world.security_group,
        subnet=world.subnet,
        image=_IMAGE,
        access=compute.Access(instance_profile=role.instance_profile),
    )


def _template_of_tokens(scope: Construct, id: str, world: World) -> compute.NodeGroupTemplate:
    return compute.NodeGroupTemplate(
        scope,
        id,
        instance_type="p5.48xlarge",
        security_groups=[ec2.SecurityGroup.from_security_group_id(scope, f"{id}Group", world.token("Group"))],
        subnet=ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", world.token("Subnet")),
        capacity=world.token("Reservation"),
        image=world.token("Image"),
        user_data=world.token("UserData"),
        access=compute.Access(key_pair=world.token("KeyPair")),
        tags={"project": world.token("Project")},
    )


def _group_of_tokens(scope: Construct, id: str, world: World) -> compute.AutoScalingNodeGroup:
    return compute.AutoScalingNodeGroup(
        scope,
        id,
        instance_type="p5.48xlarge",
        count=2,
        subnet=ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", world.token("Subnet")),
        security_groups=ec2.SecurityGroup.from_security_group_id(scope, f"{id}Group", world.token("Group")),
        capacity=world.token("Reservation"),
        image=world.token("Image"),
    )


def _imported_group(scope: Construct, id: str) -> compute.IAutoScalingNodeGroup:
    return compute.AutoScalingNodeGroup.from_auto_scaling_node_group_attributes(
        scope,
        id,
        auto_scaling_group_name="train",
        security_groups=ec2.SecurityGroup.from_security_group_id(scope, f"{id}Group", "sg-0123456789abcdef0"),
        role=iam.Role.from_role_arn(scope, f"{id}Role", "arn:aws:iam::123456789012:role/Nodes"),
    )


def _in_an_auto_scaling_group(subject: compute.NodeGroupTemplate, stack: cdk.Stack, world: World) -> None:
    autoscaling.AutoScalingGroup(stack, "Group", vpc=world.vpc, launch_template=subject)


def _in_a_managed_node_group(subject: compute.NodeGroupTemplate, stack: cdk.Stack, world: World) -> None:
    cluster = eks.Cluster.from_cluster_attributes(stack, "Cluster", cluster_name="llama", vpc=world.vpc)
    eks.Nodegroup(
        stack,
        "Nodegroup",
        cluster=cluster,
        launch_template_spec=eks.LaunchTemplateSpec(id=subject.launch_template_id, version=subject.version_number),
    )


ROWS: dict[str, Row] = {
    "NodeGroupTemplate": Row(
        make=_template,
        connects=Connects(default_port="ALL TRAFFIC"),
        grants=_NO_GRANTS,
        principal=True,
        tags=["AWS::EC2::LaunchTemplate"],
        default_child="AWS::EC2::LaunchTemplate",
        tokens=_template_of_tokens,
        imported=Imported(
            make=lambda scope, id: compute.NodeGroupTemplate.from_launch_template_attributes(
                scope, id, launch_template_id="lt-0123456789abcdef0", version_number="1"
            ),
            interface=ec2.ILaunchTemplate,
            connects=No("an imported launch template does not show its security groups"),
        ),
        uses={
            "template of an Auto Scaling group": _in_an_auto_scaling_group,
            "template of an EKS managed node group": _in_a_managed_node_group,
            "template that an aspect of the CDK changes": lambda subject, stack, world: cdk.Aspects.of(stack).add(
                ec2.LaunchTemplateRequireImdsv2Aspect()
            ),
        },
    ),
    "CapacityReservation": Row(
        make=lambda scope, id, world: compute.CapacityReservation(
            scope, id, instance_type=ec2.InstanceType("p5.48xlarge"), zone="use2-az1", instances=2
        ),
        connects=_NO_NETWORK,
        grants=_NO_GRANTS,
        principal=_NO_ROLE,
        tags=No("a change of its tags would replace the reservation; `tags=` sets them"),
        default_child="AWS::EC2::CapacityReservation",
        tokens=lambda scope, id, world: compute.CapacityReservation(
            scope, id, instance_type="p5.48xlarge", zone=world.token("Zone"), instances=2
        ),
        imported=Imported(
            make=lambda scope, id: compute.CapacityReservation.from_capacity_reservation_attributes(
                scope, id, reservation_id=_RESERVATION
            ),
            interface=compute.ICapacityReservation,
        ),
    ),
    "AutoScalingNodeGroup": Row(
        alarms=True,
        metrics=True,
        make=lambda scope, id, world: compute.AutoScalingNodeGroup(
            scope, id, instance_type="p5.48xlarge", count=2, vpc=world.vpc, subnet=world.subnet, image=_IMAGE
        ),
        connects=Connects(default_port="ALL TRAFFIC"),
        grants=_NO_GRANTS,
        principal=True,
        tags=["AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::LaunchTemplate"],
        default_child="AWS::AutoScaling::AutoScalingGroup",
        tokens=_group_of_tokens,
        imported=Imported(make=_imported_group, interface=compute.IAutoScalingNodeGroup),
    ),
    "CapacityNotices": Row(
        make=lambda scope, id, world: compute.CapacityNotices(scope, id, reservation_ids=_RESERVATION),
        connects=_NO_NETWORK,
        grants=Grants(methods=("publish",)),
        principal=_NO_ROLE,
        tags=["AWS::SNS::Topic", "AWS::KMS::Key"],
        default_child="AWS::Events::Rule",
        tokens=lambda scope, id, world: compute.CapacityNotices(
            scope, id, reservation_ids=[world.token("Reservation")], email=world.token("Address")
        ),
        imported=No("others refer to its topic, which the CDK imports"),
    ),
    "ImagePipeline": Row(
        make=lambda scope, id, world: compute.ImagePipeline(
            scope, id, architecture="x86_64", subnet=world.subnet, security_groups=world.security_group
        ),
        connects=No("builder instances accept no connections; rules belong to the security groups that it is given"),
        grants=Grants(methods=("start_execution",)),
        principal=No("the role of its builders has the permissions that Image Builder requires, and needs no other"),
        tags=["AWS::ImageBuilder::ImagePipeline", "AWS::ImageBuilder::InfrastructureConfiguration"],
        default_child="AWS::ImageBuilder::ImagePipeline",
        tokens=lambda scope, id, world: compute.ImagePipeline(
            scope,
            id,
            architecture="x86_64",
            subnet=ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", world.token("Subnet")),
            security_groups=ec2.SecurityGroup.from_security_group_id(scope, f"{id}Group", world.token("Group")),
            schedule=world.token("Schedule"),
        ),
        imported=Imported(
            make=lambda scope, id: compute.ImagePipeline.from_image_pipeline_arn(
                scope, id, "arn:aws:imagebuilder:us-east-2:123456789012:image-pipeline/pcs"
            ),
            interface=compute.IImagePipeline,
        ),
    ),
    "ScaleInBeforeEnd": Row(
        make=lambda scope, id, world: compute.ScaleInBeforeEnd(
            scope, id, auto_scaling_group_name="train", capacity=_BLOCK
        ),
        connects=_NO_NETWORK,
        grants=_NO_GRANTS,
        principal=_NO_ROLE,
        tags=No("a scheduled action has no tags"),
        default_child="AWS::AutoScaling::ScheduledAction",
        tokens=lambda scope, id, world: compute.ScaleInBeforeEnd(
            scope, id, auto_scaling_group_name=world.token("Group"), capacity=_BLOCK
        ),
        imported=No("nothing refers to it"),
    ),
    "ScriptAsset": Row(
        make=lambda scope, id, world: compute.ScriptAsset(scope, id, text="#!/bin/sh\n"),
        connects=_NO_NETWORK,
        grants=Grants(methods=("read",)),
        principal=_NO_ROLE,
        tags=No("it is an object in the bucket of `cdk bootstrap`, not a resource of the stack"),
        default_child=No("it is an object in the bucket of `cdk bootstrap`, not a resource of the stack"),
        tokens=No("its checksum must be known at synthesis"),
        imported=No("its location is its content, so another stack creates the same"),
    ),
}
