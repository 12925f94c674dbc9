"""ClusterRules: service rules as a policy validation plugin, over apps without constructs of this library."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_fsx as fsx

from cdk_rehearsal.guard import refusals
from cdk_rehearsal.validation import ClusterRules
from support import GOLDEN

_ID = "ClusterRules::FSx-FileSystem-StorageCapacity"


def synthesise(
    folder: Path, capacity: Any, *, acknowledge: bool = False, transform: str | None = None, nested: bool = False
) -> list[dict[str, Any]]:
    """Synthesise a file system and return the violations in the validation report."""
    app = cdk.App(analytics_reporting=False, outdir=str(folder))
    cdk.Validations.of(app).add_plugins(ClusterRules())
    stack = cdk.Stack(app, "Mine")
    stack.template_options.transforms = [transform] if transform else None
    lustre = fsx.CfnFileSystem(
        cdk.NestedStack(cdk.NestedStack(stack, "Nested"), "Inner") if nested else stack,
        "Lustre",
        file_system_type="LUSTRE",
        subnet_ids=["subnet-0123456789abcdef0"],
        storage_capacity=capacity,
        lustre_configuration={"deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 250},
    )
    if acknowledge:
        cdk.Validations.of(lustre).acknowledge(cdk.Acknowledgment(id=_ID, reason="a test"))
    app.synth()
    return violations(folder)


def violations(folder: Path) -> list[dict[str, Any]]:
    reports = json.loads((folder / "validation-report.json").read_text())["pluginReports"]
    assert {report["pluginName"] for report in reports} <= {"ClusterRules"}
    return [violation for report in reports for violation in report["violations"]]


def test_a_capacity_that_fsx_refuses_fails_the_synthesis(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesise(tmp_path, 1300)
    (violation,) = violations(tmp_path)
    assert violation["ruleName"] == "FSx-FileSystem-StorageCapacity"
    assert violation["description"] == "1,200 or a multiple of 2,400 GiB, got 1,300"
    (construct,) = violation["violatingConstructs"]
    assert construct["constructPath"] == "Mine/Lustre"
    assert construct["cloudFormationResource"]["propertyPaths"] == ["Properties/StorageCapacity"]


@pytest.mark.parametrize(
    "capacity", [2400, cdk.Token.as_number(cdk.Fn.import_value("capacity"))], ids=["good", "unknown"]
)
def test_a_good_and_an_unknown_capacity_violate_no_rule(tmp_path: Path, capacity: Any) -> None:
    assert synthesise(tmp_path, capacity) == []


def test_a_finding_can_be_acknowledged(tmp_path: Path) -> None:
    assert synthesise(tmp_path, 1300, acknowledge=True) == []


def test_templates_of_nested_stacks_are_validated(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesise(tmp_path / "bad", 1300, nested=True)
    (violation,) = violations(tmp_path / "bad")
    (construct,) = violation["violatingConstructs"]
    assert construct["constructPath"] == "Mine/Nested/Inner/Lustre"
    assert synthesise(tmp_path / "accepted", 1300, nested=True, acknowledge=True) == []
    assert synthesise(tmp_path / "good", 2400, nested=True) == []


def test_a_template_with_a_macro_is_named_and_not_validated(tmp_path: Path) -> None:
    (violation,) = synthesise(tmp_path, 1300, transform="Mine::Macro")
    assert violation["severity"] == "warning"
    assert "not validated: the transform" in violation["description"]


def test_quotas_of_cloudformation_are_rules(tmp_path: Path) -> None:
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    cdk.Validations.of(app).add_plugins(ClusterRules())
    cdk.CfnParameter(cdk.Stack(app, "Long"), "Text", default="x" * 4097)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert "CloudFormation-Quota" in (tmp_path / "validation-report.json").read_text()


def test_the_rules_resolve_what_the_template_shows() -> None:
    block = {"Fn::Join": ["/", ["10.0.0.0", {"Fn::FindInMap": ["Sizes", "small", "bits"]}]]}
    subnet = {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": block}}
    mappings = {"Sizes": {"small": {"bits": "29"}}}
    (refusal,) = refusals({"Mine": {"Mappings": mappings, "Resources": {"Subnet": subnet}}})
    assert str(refusal) == (
        "Mine/Subnet (AWS::EC2::Subnet): the service refuses it: #/CidrBlock: a block is between /16 and /28, got /29"
    )


def test_the_golden_templates_violate_no_rule() -> None:
    templates = {path.stem: json.loads(path.read_text()) for path in GOLDEN.glob("llama-*.json")}
    assert len(templates) > 3
    assert refusals(templates) == []
