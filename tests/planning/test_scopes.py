"""Stack and path of a construct, which the library answers without Node."""

import aws_cdk as cdk
import pytest
from constructs import Construct

from ultracluster.compute import ScriptAsset
from ultracluster.orchestration import child_scope
from ultracluster.planning import path_of, stack_of


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
