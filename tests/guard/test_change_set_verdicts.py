"""Verdicts of the guard with CloudFormation's change sets: never less strict than without them."""

from typing import Any

import pytest

from cdk_rehearsal.guard import Fate, Report, compare
from cdk_rehearsal.guard._change_sets import with_change_sets
from cdk_rehearsal.guard._report import Cause

PLACE = ("", "Fs")


def template(capacity: int) -> dict[str, Any]:
    properties: dict[str, Any] = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1"], "StorageCapacity": capacity}
    properties["LustreConfiguration"] = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
    return {"Resources": {"Fs": {"Type": "AWS::FSx::FileSystem", "Properties": properties}}}


def change(replacement: str, recreation: str, *, action: str = "Modify", name: str = "StorageCapacity") -> Any:
    target = {"Attribute": "Properties", "Name": name, "RequiresRecreation": recreation}
    details = [{"Target": target, "Evaluation": "Static"}]
    return {"Action": action, "LogicalResourceId": "Fs", "Replacement": replacement, "Details": details}


def report(*changes: Any) -> Report:
    return compare(template(1200), template(2400), change_sets={"": changes})


@pytest.mark.parametrize(
    ("given", "fate"),
    [
        (change("False", "Never"), Fate.UPDATED),
        (change("Conditional", "Always"), Fate.UPDATED),
        (change("Conditional", "Conditionally"), Fate.UNKNOWN),
        (change("True", "Always"), Fate.REPLACED),
        (change("", "Never", action="Dynamic"), Fate.UNKNOWN),
        (change("", "Never", action="Remove"), Fate.UPDATED),
    ],
)
def test_a_change_set_makes_a_verdict_stricter_only(given: Any, fate: Fate) -> None:
    (finding,) = report(given).findings
    assert finding.fate is fate
    assert finding.refused == fate.harmful
    assert finding.replacement == (given["Replacement"] if given["Action"] == "Modify" else "")


def test_a_resource_that_changes_in_the_change_set_alone_is_a_finding() -> None:
    same = compare(template(1200), template(1200), change_sets={"": [change("True", "Always", name="SubnetIds")]})
    (finding,) = same.findings
    assert [(cause.fate, cause.property) for cause in finding.causes] == [(Fate.REPLACED, "SubnetIds")]
    assert not same.ok


@pytest.mark.parametrize("worst", list(Fate))
@pytest.mark.parametrize("given", [change("True", "Always"), change("False", "Never")])
def test_no_verdict_gets_milder(worst: Fate, given: Any) -> None:
    before = (Cause(fate=worst, property="-", reason="a reason"),)
    after = with_change_sets({PLACE: before}, {"": [given]})[PLACE]
    assert after[0] == before[0]
    assert all([*Fate].index(cause.fate) > [*Fate].index(worst) for cause in after[1:])


def test_changes_of_new_resources_are_left_out() -> None:
    assert with_change_sets({}, {"": [change("True", "Always")]}) == {}
