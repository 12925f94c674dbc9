"""The comparison with AWS's templates names every property that the examples render, and no other."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from support import ROOT
from support.templates import templates
from ultracluster import clusterfile

PAGE = ROOT / "docs" / "decisions" / "0025-hyperpod-templates.md"
EXAMPLES = {
    "Slurm": ("hyperpod-slurm", "hyperpod-ultraserver"),
    "Kubernetes": ("hyperpod-kubernetes", "hyperpod-governed"),
}
HERE = {"yes": {"Slurm", "Kubernetes"}, "Slurm": {"Slurm"}, "Kubernetes": {"Kubernetes"}, "no": set()}


def rows() -> dict[str, str]:
    matches = re.findall(r"^\| `([\w.]+)` \| [\w ]+ \| (\w+) \|", PAGE.read_text(), re.MULTILINE)
    assert len(matches) > 20
    assert len(dict(matches)) == len(matches)
    return dict(matches)


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Paths of the leaves of a property, without the places in lists."""
    if isinstance(value, dict) and value and not any(key == "Ref" or key.startswith("Fn::") for key in value):
        for key, item in value.items():
            yield from paths(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for item in value:
            yield from paths(item, path)
    else:
        yield path


def rendered(mode: str) -> set[str]:
    created = set()
    for name in EXAMPLES[mode]:
        for template in templates(clusterfile.load(ROOT / "examples" / f"{name}.yaml")).values():
            for resource in template["Resources"].values():
                if resource["Type"] == "AWS::SageMaker::Cluster":
                    created |= {*paths(resource["Properties"])}
    return created


@pytest.mark.parametrize("mode", EXAMPLES)
def test_the_page_has_what_the_examples_render(mode: str) -> None:
    properties = rendered(mode)
    table = rows()
    unnamed = {path for path in properties if not any(f"{path}.".startswith(f"{row}.") for row in table)}
    assert not unnamed
    for row, here in table.items():
        present = any(f"{path}.".startswith(f"{row}.") for path in properties)
        assert present == (mode in HERE[here]), row


_POLICIES = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")


def test_of_the_example_with_a_database_the_controller_alone_reads_the_secret() -> None:
    """Policies of the other nodes are those of the controller, too."""
    created = templates(clusterfile.load(ROOT / "examples" / "hyperpod-ultraserver.yaml"))
    resources = {id: each for template in created.values() for id, each in template["Resources"].items()}
    policies = {id: each["Properties"] for id, each in resources.items() if each["Type"] in _POLICIES}
    of_controller = {id[:-8] for id, policy in policies.items() if "ControllerRole" in str(policy["Roles"])}
    shared = {"NodeRoleDefaultPolicy", "MetricsNodeRoleWriteMetrics", "NodeScriptsRead"}
    assert of_controller == {*shared, "ScriptListsManaged", "ControllerRoleDefaultPolicy"}
    (reader,) = (id for id, policy in policies.items() if "secretsmanager:GetSecretValue" in str(policy))
    assert reader.startswith("ControllerRoleDefaultPolicy")
    assert len(policies[reader]["Roles"]) == 1
    (cluster,) = (each for each in resources.values() if each["Type"] == "AWS::SageMaker::Cluster")
    executed = {g["InstanceGroupName"]: str(g["ExecutionRole"]) for g in cluster["Properties"]["InstanceGroups"]}
    assert [name for name, role in executed.items() if "ControllerRole" in role] == ["controller"]


def test_the_login_command_names_a_node_of_the_group_login() -> None:
    """The filter of the API takes a part of a name."""
    created = templates(clusterfile.load(ROOT / "examples" / "hyperpod-slurm.yaml")).values()
    (output,) = (each["Outputs"]["LoginCommand"] for each in created if "LoginCommand" in each.get("Outputs", {}))
    command = "".join(part if isinstance(part, str) else "ID" for part in output["Value"]["Fn::Join"][1])
    (query,) = re.findall(r'--query "([^"]+)"', command)
    nodes = [{"InstanceGroupName": name, "InstanceId": f"i-{name}"} for name in ("login-gpu", "login")]
    assert import_module("jmespath").search(query, {"ClusterNodeSummaries": nodes}) == "i-login"
