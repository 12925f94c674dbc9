"""Scripts of the file on HyperPod nodes with Slurm, in the list that the nodes read."""

from types import SimpleNamespace
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from support import EXAMPLES
from ultracluster import clusterfile
from ultracluster.boot import BootScript, Mount, NodeScript
from ultracluster.hyperpod._node_boot import NodeScripts, node_scripts
from ultracluster.hyperpod._script_list import ScriptLists

FILE = next(path for path in EXAMPLES if path.stem == "hyperpod-slurm")
SUM = 64 * "a"


def listed(*user: NodeScript) -> tuple[dict[str, Any], list[Any]]:
    """Return the parameter, and what the nodes may read."""
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "Stack")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    library = NodeScripts(
        scripts=(BootScript(name="boot", text="#!/bin/bash\n", arguments=("fs@tcp:/a",)),), in_place=()
    )
    lists = ScriptLists(stack, "ScriptLists", cluster="orion", roles=[role])
    lists.add(stack, "train", library, user)
    template = Template.from_stack(stack)
    (parameter,) = template.find_resources("AWS::SSM::Parameter").values()
    # Updated clusters have inline policies of each group until the update ends, and all share 10,240 characters.
    template.resource_count_is("AWS::IAM::Policy", 0)
    (policy,) = template.find_resources("AWS::IAM::ManagedPolicy").values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    return parameter["Properties"], statement["Resource"]


def lines(properties: dict[str, Any]) -> list[str]:
    parts = properties["Value"]["Fn::Join"][1]
    return "".join(part if isinstance(part, str) else "X" for part in parts).splitlines()


def test_scripts_of_the_file_follow_those_of_the_library_with_quoted_arguments() -> None:
    agent = NodeScript(
        name="EDR agent",
        url="https://tools.example.com/edr.sh",
        sha256=SUM,
        arguments=("--site", "two words", "$HOME"),
        stage="nodeReady",
        on_error="CONTINUE",
    )
    local = NodeScript(name="local", content=b"#!/bin/sh\n", stage="nodeReady", on_error="STOP_SEQUENCE")
    properties, _ = listed(agent, local)
    library, first, second = lines(properties)
    assert library.endswith("TERMINATE fs@tcp:/a")
    assert first == f"https://tools.example.com/edr.sh {SUM} CONTINUE --site 'two words' '$HOME'"
    assert second.startswith("s3://")
    assert second.endswith(f"{local.checksum} STOP_SEQUENCE")
    assert properties["Tier"] == "Intelligent-Tiering", "a list of more than 4 KiB is an advanced parameter"


def test_nodes_of_an_ultraserver_leave_imex_to_the_service() -> None:
    cluster = clusterfile.load(next(path for path in EXAMPLES if path.stem == "hyperpod-ultraserver"))
    group = next(group for group in cluster.node_groups if group.ultraserver)
    storage: Any = SimpleNamespace(mounts=(), data_bucket=None)
    nodes = node_scripts(cluster, storage, group.instance_type, group=group.name, layout=group.layout, log_group="logs")
    names = {file.path.rpartition("/")[2] for file in nodes.in_place}
    assert "ultracluster-prolog" in names
    assert "ultracluster-imex" not in names


def test_nodes_open_the_root_of_lustre_and_what_exports() -> None:
    associations = "lustre: {data-repository-associations: {/runs: {export: [NEW]}}, "
    cluster = clusterfile.loads(FILE.read_text().replace("lustre: {", associations), "c.yaml")
    storage: Any = SimpleNamespace(
        mounts=[Mount(device="fs@tcp:/a", path="/fsx", type="lustre", options="noatime")], data_bucket=None
    )
    nodes = node_scripts(
        cluster, storage, cluster.node_groups[0].instance_type, group="train", layout=None, log_group="logs"
    )
    texts = {file.path: file.text for file in nodes.in_place}
    assert texts["/etc/ultracluster/exports"] == "/fsx /\n/fsx /runs\n"


def test_nodes_may_read_the_objects_that_scripts_name_and_no_others() -> None:
    agent = NodeScript(name="own", url="s3://tools/own.sh", sha256=SUM, stage="nodeReady")
    _, readable = listed(agent)
    assert len(readable) == 2
    (named,) = [arn for arn in readable if "tools/own.sh" in str(arn)]
    assert named == {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::tools/own.sh"]]}


def test_a_list_without_scripts_of_the_file_is_a_standard_parameter() -> None:
    properties, readable = listed()
    assert "Tier" not in properties
    assert not isinstance(readable, list), "one object"
