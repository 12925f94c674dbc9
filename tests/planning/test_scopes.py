"""Stack and path of a construct, which the library answers without Node."""

import itertools

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.compute import ScriptAsset
from ultracluster.network import EfaSecurityGroup
from ultracluster.orchestration import child_scope
from ultracluster.planning import once, path_of, region_of, stack_of


@pytest.mark.parametrize("id", ["train", "train-1", "a/b", "a.b", "Default", "train 1", "é"])
def test_a_path_is_that_of_the_node(id: str) -> None:
    stack = cdk.Stack(cdk.Stage(cdk.App(), "Stage"), "Stack")
    child = child_scope(stack, id)
    asset = ScriptAsset(child, id, text="true\n")
    for construct in (stack, child, asset, Construct(asset, id)):
        assert path_of(construct) == construct.node.path
        assert stack_of(construct) is stack


def test_a_path_of_the_app_begins_with_the_id() -> None:
    app = cdk.App()
    assert path_of(child_scope(app, "train")) == "train"
    assert path_of(app) == ""


class Compared(cdk.Stack):
    """A user's stack that compares itself, and so has no hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compared)


class Hashed(Compared):
    """One with a hash, which is that of equal ones."""

    def __hash__(self) -> int:
        return 1


class ComparedGroup(EfaSecurityGroup):
    """A user's security group that compares itself."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComparedGroup)


@pytest.mark.parametrize("kind", [Compared, Hashed])
def test_constructs_of_users_that_compare_equal_have_different_stacks_and_paths(kind: type[cdk.Stack]) -> None:
    app = cdk.App()
    places = {"us-east-2": kind(app, "Ohio"), "us-west-2": kind(app, "Oregon")}
    for region, place in places.items():
        stack = cdk.Stack(place, "Inner", env=cdk.Environment(account="123456789012", region=region))
        vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=[f"{region}a"])
        group = ComparedGroup(stack, "Group", vpc=vpc)
        assert (path_of(group), stack_of(group), region_of(group)) == (group.node.path, stack, region)
        assert stack_of(place) is place


def test_a_fact_is_not_that_of_an_earlier_object_at_the_same_address() -> None:
    numbers = itertools.count()
    number = once(lambda _: next(numbers))
    groups = [number(Construct(cdk.App(), "Train")) for _ in range(20)]
    assert groups == [*range(20)]
