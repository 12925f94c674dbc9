"""A changed recipe: one image more, built before its nodes are updated, and the old image stays."""

from collections.abc import Iterator
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_pcs as pcs
from aws_cdk.assertions import Template

from support.rehearsal_tools import Stacks, local_stacks
from ultracluster import compute


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as local:
        yield local


def resources(slurm_version: str) -> dict[str, Any]:
    """An image of a Slurm release, and nodes that run it."""
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "Forge")
    image = compute.ImagePipeline(
        stack,
        "Image",
        architecture="x86_64",
        slurm_version=slurm_version,
        subnet=ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0"),
        security_groups=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0"),
    ).add_image()
    pcs.CfnComputeNodeGroup(
        stack,
        "Nodes",
        cluster_id="pcs_0123456789",
        ami_id=image.id,
        custom_launch_template={"templateId": "lt-0123456789abcdef0", "version": "1"},
        iam_instance_profile_arn="arn:aws:iam::123456789012:instance-profile/aws-pcs/nodes",
        instance_configs=[{"instanceType": "p5en.48xlarge"}],
        scaling_configuration={"minInstanceCount": 0, "maxInstanceCount": 1},
        subnet_ids=["subnet-0123456789abcdef0"],
    )
    result: dict[str, Any] = Template.from_stack(stack).to_json()["Resources"]
    return result


def image_of(ids: dict[str, str]) -> str:
    (image,) = (id for id in ids if id.startswith("ImageImage"))
    return image


def test_a_changed_recipe_builds_one_image_more_and_a_repeated_one_none(stacks: Stacks) -> None:
    name = stacks.create(resources("25.11"))
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    before, first = stacks.ids(name), len(stacks.entries(name))
    # The same content is no update, as the CDK CLI sees it: the templates are equal.
    assert resources("25.11") == resources("25.11")
    stacks.update(name, resources("25.05"))
    assert stacks.status(name) == "UPDATE_COMPLETE", stacks.reasons(name)
    after = stacks.ids(name)
    old, new = image_of(before), image_of(after)
    assert old != new
    happened = [(entry.action.value, entry.logical_id) for entry in stacks.entries(name)[first:]]
    # The image is built before the nodes change, and the old one is not deleted.
    assert happened.index(("create", new)) < happened.index(("update", "Nodes"))
    assert ("retain", old) in happened
    assert ("delete", old) not in happened
    assert after["Nodes"] == before["Nodes"]
    # Back to the first content: names of components and recipes are free again.
    stacks.update(name, resources("25.11"))
    assert stacks.status(name) == "UPDATE_COMPLETE", stacks.reasons(name)
    assert image_of(stacks.ids(name)) == old
