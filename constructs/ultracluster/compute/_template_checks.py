"""Fields of a launch template that services refuse or require."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from ultracluster.catalogue.ec2 import Interface
from ultracluster.network import check_efa_rules, check_private, check_same_vpc
from ultracluster.planning import id_problem, text_problem
from ultracluster.planning.capacity import Service
from ultracluster.rules import Message, Refusal, error

SERVICE = error("launch-template-service", "A service that launches sets some fields itself, and requires others.")


def check_service(
    service: Service, subnet: ec2.ISubnet | None, instance_profile: iam.IInstanceProfile | None
) -> list[Message]:
    """Return the errors of fields that a service sets itself."""
    problems = []
    if service == "eks-managed" and subnet is not None:
        message = "subnet must be left out: an EKS managed node group has subnets of its own"
        problems.append(SERVICE(f"{message}, and refuses a template with one"))
    if instance_profile is not None and service != "self-managed":
        problems.append(SERVICE("instance_profile must be left out: the service that launches sets it itself"))
    if service == "hyperpod":
        problems.append(SERVICE("HyperPod does not use launch templates; see planning.capacity for its settings"))
    return problems


def check_groups(groups: Sequence[ec2.ISecurityGroup], subnet: ec2.ISubnet | None) -> list[str]:
    """Return the errors of security groups and subnet: no group, groups of another VPC, a public subnet."""
    if not groups:
        return ["security_groups must hold at least one group, got none"]
    indexed = {f"security_groups[{index}]": group for index, group in enumerate(groups)}
    return [*check_same_vpc({"subnet": subnet, **indexed}), *check_private({"subnet": subnet})]


def check_efa(
    scope: IConstruct, groups: Sequence[ec2.ISecurityGroup], interfaces: Sequence[Interface]
) -> list[Message]:
    """Return the error of groups that do not allow EFA; add a warning about groups whose rules are not known."""
    if not any(interface.kind in ("efa", "efa-only") for interface in interfaces):
        return []
    messages = check_efa_rules({f"security_groups[{index}]": group for index, group in enumerate(groups)})
    for message in messages:
        if message.rule.kind == "warning":
            cdk.Validations.of(scope).add_warning(message.rule.warning_id, message)
    return [message for message in messages if message.rule.kind == "error"]


def existing_template(scope: Construct, id: str, launch_template_id: str, version: str) -> ec2.ILaunchTemplate:
    """Import a launch template, or raise a Refusal if the id or version is malformed."""
    form = "the number of a version, $Latest or $Default"
    problems = [*id_problem("launch_template_id", launch_template_id, "lt-")]
    problems += text_problem("version_number", version, r"[1-9][0-9]*|\$Latest|\$Default", form)
    if problems:
        raise Refusal(f"{scope.node.path}/{id}", problems)
    attributes = {"launch_template_id": launch_template_id, "version_number": version}
    return ec2.LaunchTemplate.from_launch_template_attributes(scope, id, **attributes)
