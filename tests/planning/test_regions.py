"""The stack of a construct, which is known without Node where its scope is."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from support import ROOT
from support.templates import ACCOUNT
from ultracluster import clusterfile
from ultracluster.network import EfaSecurityGroup
from ultracluster.observability import AlertTopic
from ultracluster.planning import stack_of
from ultracluster.rules import Refusal
from ultracluster.stacks import ClusterStacks


class Unhashable(Construct):
    """A user's construct that compares itself."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


@pytest.mark.parametrize("example", ["slurm-minimal", "eks-own-cluster"])
def test_the_stack_of_each_construct_is_that_of_the_cdk(example: str) -> None:
    app = cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False)
    ClusterStacks(app, cluster=clusterfile.load(ROOT / "examples" / f"{example}.yaml"), account=ACCOUNT)
    below = [child for stack in app.node.children for child in stack.node.find_all()]
    assert len(below) > 100
    assert all(stack_of(child) is cdk.Stack.of(child) for child in below)


def test_it_is_the_innermost_stack(stack: cdk.Stack) -> None:
    nested = cdk.NestedStack(stack, "Nested")
    vpc = ec2.Vpc.from_vpc_attributes(nested, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-2a"])
    places = [nested, Construct(nested, "Place"), Unhashable(nested, "Unhashable"), stack]
    for place in places:
        group = EfaSecurityGroup(place, "Group", vpc=vpc)
        assert stack_of(group) is stack_of(Construct(group, "Below")) is (stack if place is stack else nested)


class Named(Construct):
    """A user's construct with an attribute that stacks have too."""

    stack_name = "research"


def test_a_construct_with_the_attributes_of_a_stack_is_none(stack: cdk.Stack) -> None:
    place = Named(stack, "Place")
    assert stack_of(AlertTopic(place, "Alerts")) is stack_of(place) is stack


def test_a_scope_without_a_stack_is_refused() -> None:
    app = cdk.App()
    with pytest.raises(Refusal, match=r"^Alerts: must be created in a stack"):
        AlertTopic(app, "Alerts")
