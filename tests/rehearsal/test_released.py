"""Stacks that deploy before those whose exports they no longer use."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_rehearsal.deploy import AssembledStack, Comparison, comparison, released_first
from support.rehearsal_tools import REGION, body, local_stacks, parameter

ROLE = {"Role": {"Value": "r", "Export": {"Name": "Cluster:Role"}}}
PLAIN = {"Name": {"Value": "n"}}


def uses(*exports: str, **outputs: str) -> dict[str, Any]:
    weak = [{"Fn::GetStackOutput": {"StackName": stack, "OutputName": name}} for stack, name in outputs.items()]
    value = {"Fn::Join": ["", [*({"Fn::ImportValue": export} for export in exports), *weak]]}
    return {"Resources": {"Use": {"Type": "AWS::SSM::Parameter", "Properties": {"Value": value}}}}


def first(tmp_path: Path, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    sides = Comparison(deployed=tmp_path / "deployed", assembled=tmp_path / "assembled")
    tmp_path.mkdir(exist_ok=True)
    for folder, templates in ((sides.deployed, before), (sides.assembled, after)):
        folder.mkdir()
        for name, template in templates.items():
            (folder / f"{name}.template.json").write_text(json.dumps({"Resources": {}, **template}))
    names = dict.fromkeys([*before, *after])
    return [
        stack.name
        for stack in released_first(
            [AssembledStack(name=name, account=None, region=None, template=tmp_path) for name in names], sides
        )
    ]


def test_a_stack_that_no_longer_imports_what_leaves_is_first(tmp_path: Path) -> None:
    before = {"Cluster": {"Outputs": ROLE}, "Compute": uses("Cluster:Role"), "Other": uses()}
    assert first(tmp_path, before, {"Cluster": {"Outputs": PLAIN}, "Compute": uses(), "Other": uses()}) == ["Compute"]


def test_exports_that_stay_or_are_still_used_change_no_order(tmp_path: Path) -> None:
    before = {"Cluster": {"Outputs": ROLE}, "Compute": uses("Cluster:Role")}
    assert first(tmp_path / "a", before, {"Cluster": {"Outputs": ROLE}, "Compute": uses()}) == []
    assert first(tmp_path / "b", before, {"Cluster": {}, "Compute": uses("Cluster:Role")}) == []
    assert first(tmp_path / "c", before, {"Cluster": {}, "Compute": uses(), "New": uses()}) == ["Compute"]


def test_a_stack_that_needs_something_new_keeps_its_place(tmp_path: Path) -> None:
    before = {"Cluster": {"Outputs": ROLE | PLAIN}, "Compute": uses("Cluster:Role")}
    new = {"Cluster": {"Outputs": PLAIN | {"More": {"Value": "m", "Export": {"Name": "Cluster:More"}}}}}
    assert first(tmp_path / "a", before, {**new, "Compute": uses("Cluster:More")}) == []
    assert first(tmp_path / "b", before, {**new, "Compute": uses(Cluster="More")}) == []
    # What is deployed can be used at once.
    assert first(tmp_path / "c", before, {**new, "Compute": uses(Cluster="Name")}) == ["Compute"]


def test_a_stack_that_left_the_app_is_deleted_after_its_importers_are_updated(tmp_path: Path) -> None:
    with local_stacks() as stacks:
        left = stacks.create({"Role": parameter("r")}, Outputs=ROLE)
        user = stacks.create({"Use": parameter({"Fn::ImportValue": "Cluster:Role"})})
        template = tmp_path / "user.json"
        template.write_text(body({"Use": parameter("x")}))
        stack = AssembledStack(name=user, account=None, region=REGION, template=template)

        def sides(folder: str) -> Comparison:
            (tmp_path / folder).mkdir()
            return comparison(
                [stack],
                lambda service, _: stacks.client(service),
                tmp_path / folder,
                belongs=lambda row: bool(row["StackName"] == left),
            )

        delete = f"aws cloudformation delete-stack --region {REGION} --stack-name {left}"
        assert sides("before").deletions() == [
            f"delete {left} after the deployment, which ends the imports of {user}: {delete}"
        ]
        with pytest.raises(ClientError, match="in use by"):
            stacks.delete(left)
        stacks.update(user, json.loads(template.read_text())["Resources"])
        assert sides("after").deletions() == [f"or delete {left} first: {delete}"]
        assert stacks.delete(left) == "DELETE_COMPLETE"
