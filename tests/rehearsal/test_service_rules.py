"""Templates that AWS refuses although their schemas allow them."""

from collections.abc import Iterator

import pytest

from cdk_rehearsal import guard
from support.rehearsal_tools import Stacks, Template, file_system, local_stacks, parameter
from support.service_templates import BROKEN, launch, resource


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as running:
        yield running


@pytest.mark.parametrize("name", BROKEN)
def test_rehearsal_and_guard_refuse_what_the_service_refuses(stacks: Stacks, name: str) -> None:
    template, reason = BROKEN[name]
    stack = stacks.create({"It": template})
    assert stacks.status(stack) == "ROLLBACK_COMPLETE"
    assert reason in stacks.reasons(stack)
    good = {"Other": parameter("x")}
    report = guard.compare({"Resources": good}, {"Resources": {**good, "It": template}})
    assert not report.ok
    assert reason in "\n".join(report.lines())
    # What is deployed was not refused, whatever these rules hold of it.
    same = {"Resources": {"It": template}}
    assert guard.compare(same, same).ok


def test_values_that_the_template_does_not_show_break_no_rule() -> None:
    hidden = {"Fn::ImportValue": "x"}
    new = {
        "A": launch(UserData={"Fn::Base64": hidden}, NetworkInterfaces=hidden),
        "B": resource("AWS::EC2::VPC", CidrBlock=hidden),
        "C": file_system(StorageCapacity=hidden, LustreConfiguration=hidden),
        "D": parameter(hidden),
    }
    old = {"Resources": {"Other": parameter("x")}}
    assert guard.compare(old, {"Resources": {**old["Resources"], **new}}).ok


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"Resources": {f"R{number}": parameter("x") for number in range(501)}}, "greater than maximum allowed, 500"),
        ({"Outputs": {f"O{number}": {"Value": "x"} for number in range(201)}}, "greater than maximum allowed, 200"),
        ({"Description": "x" * 1025}, "'Description' length is greater than 1024"),
        ({"Parameters": {"P": {"Type": "String", "Default": "x" * 4097}}}, "longer than 4096 bytes"),
        ({"Metadata": {"x": "x" * 1_000_000}}, "may not exceed 1000000 bytes"),
    ],
    ids=["resources", "outputs", "description", "parameter", "size"],
)
def test_templates_beyond_the_quotas_of_cloudformation_are_refused(
    stacks: Stacks, sections: Template, reason: str
) -> None:
    content = {"Resources": {"It": parameter("x")}} | sections
    assert reason in stacks.refusal(**{"resources": content.pop("Resources"), **content})
