"""The inline policies of a role, which count together."""

from collections.abc import Iterator
from typing import Any

import pytest

from cdk_rehearsal import guard
from support.rehearsal_tools import Stacks, Template, local_stacks

_TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
}


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as running:
        yield running


def document(size: int) -> dict[str, Any]:
    """Return a policy of about this many characters, with white space that does not count."""
    arn = {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::", "x" * size, {"Fn::Sub": "${AWS::Region}"}]]}
    return {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject ", "Resource": arn}}


def role(*sizes: int) -> Template:
    policies = [{"PolicyName": f"P{index}", "PolicyDocument": document(size)} for index, size in enumerate(sizes)]
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": _TRUST, "Policies": policies}}


def policy(size: int, of: Any, name: str = "policy") -> Template:
    properties = {"PolicyName": name, "PolicyDocument": document(size), "Roles": [of]}
    return {"Type": "AWS::IAM::Policy", "Properties": properties}


NODES = {"Ref": "Nodes"}
EXPORT = {"Role": {"Value": NODES, "Export": {"Name": "mend:Role"}}}


def test_policies_of_one_stack_count_together_with_those_of_the_role(stacks: Stacks) -> None:
    fits = {"Nodes": role(3000), "A": policy(3000, NODES, "a"), "B": policy(3500, NODES, "b")}
    name = stacks.create(fits)
    assert stacks.status(name) == "CREATE_COMPLETE"
    # Every part may be the one that exceeds the quota.
    for part in ({"Nodes": role(3600)}, {"A": policy(3600, NODES, "a")}, {"C": policy(500, NODES, "c")}):
        stacks.update(name, {**fits, **part})
        assert stacks.status(name) == "UPDATE_ROLLBACK_COMPLETE"
        assert "characters together; the quota is 10,240" in stacks.reasons(name)
        report = guard.compare({"Resources": fits}, {"Resources": {**fits, **part}})
        assert "/".join(part) in "\n".join(report.lines())
        assert not report.ok
    assert guard.compare({"Resources": fits}, {"Resources": fits}).ok


def test_a_role_alone_and_a_role_that_has_only_a_name_count_too(stacks: Stacks) -> None:
    name = stacks.create({"Nodes": role(6000, 5000)})
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert "Nodes 11,2" in stacks.reasons(name)
    named = {"A": policy(6000, "there", "a"), "B": policy(5000, "there", "b")}
    (refusal,) = guard.refusals({"Mine": {"Resources": named}})
    assert refusal.logical_id == "A"
    assert "Mine/A 6,1" in refusal.reason


def test_a_name_in_stages_is_a_role_of_each() -> None:
    first, second = {"A": policy(6000, "nodes", "a")}, {"B": policy(6000, "nodes", "b")}
    stages = {"assembly-Dev/Compute": {"Resources": first}, "assembly-Prod/Compute": {"Resources": second}}
    assert guard.refusals(stages) == []
    (refusal,) = guard.refusals({"cdk.out/Compute": {"Resources": first}, "cdk.out/Other": {"Resources": second}})
    assert refusal.reason.startswith("the inline policies of the role nodes have 12,")


def test_a_character_counts_once(stacks: Stacks) -> None:
    resources = {"Nodes": role(), "A": policy(0, NODES)}
    statement = resources["A"]["Properties"]["PolicyDocument"]["Statement"]
    for count, fits in ((9_000, True), (10_200, False)):
        statement["Resource"] = "arn:aws:s3:::" + "\u00e9" * count
        assert (guard.refusals({"": {"Resources": resources}}) == []) == fits
        name = stacks.create(resources)
        assert stacks.status(name) == ("CREATE_COMPLETE" if fits else "ROLLBACK_COMPLETE")


def test_policies_of_several_stacks_count_together(stacks: Stacks) -> None:
    first = stacks.create({"Nodes": role(), "A": policy(6000, NODES, "a")}, Outputs=EXPORT)
    other = {"B": policy(6000, {"Fn::ImportValue": "mend:Role"}, "b")}
    second = stacks.create(other)
    assert stacks.status(first) == "CREATE_COMPLETE"
    assert stacks.status(second) == "ROLLBACK_COMPLETE"
    assert f"{first}/A 6,1" in stacks.reasons(second)
    templates = {"One": {"Resources": {"Nodes": role(), "A": policy(6000, NODES)}, "Outputs": EXPORT}}
    assert not guard.refusals(templates)
    (refusal,) = guard.refusals({**templates, "Two": {"Resources": other}})
    assert "the role One/Nodes have 12,2" in refusal.reason


def test_values_that_the_template_does_not_show_count_as_little_as_they_can() -> None:
    hidden = {"Fn::ImportValue": "x"}
    shown = policy(10_000, NODES)
    shown["Properties"]["PolicyDocument"]["Statement"]["Resource"] = {"Fn::If": ["Small", "x", "x" * 20_000]}
    unknown = policy(10_000, NODES)
    unknown["Properties"]["PolicyDocument"] = hidden
    for template in (shown, unknown, policy(20_000, hidden)):
        assert not [
            each
            for each in guard.refusals({"": {"Resources": {"Nodes": role(), "P": template}}})
            if "tog" in each.reason
        ]
