"""Groups that launch with network interfaces that their instance type does not have: guard and ClusterRules."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from cdk_rehearsal import guard
from support import GOLDEN
from support.launches import EFA_ON_0, SPECIFICATION, WRONG_CARDS, eks, launched, named, pcs, right_cards, spot_fleet
from support.rehearsal_tools import Template, parameter
from support.service_templates import launch, resource
from ultracluster.testing import TEMPLATE_RULES, ClusterRules

OTHER = {"Other": parameter("x")}


def refused(*stacks: dict[str, Any]) -> list[str]:
    templates = {f"Stack{number}": stack for number, stack in enumerate(stacks)}
    return [*map(str, guard.refusals(templates, template_rules=TEMPLATE_RULES))]


def edited(old: Template, new: Template) -> guard.Report:
    return guard.compare({"Resources": old}, {"Resources": new}, template_rules=TEMPLATE_RULES)


@pytest.mark.parametrize("name", WRONG_CARDS)
def test_refuses_a_group_whose_type_does_not_have_the_interfaces(name: str) -> None:
    template, reason = WRONG_CARDS[name]
    (line,) = refused({"Resources": template})
    assert line.startswith("Stack0/It (")
    assert "Stack0/Template: no instance launches" in line
    assert reason in line
    assert "`ultracluster.catalogue.ec2.interfaces` gives rows that fit" in line
    report = edited(OTHER, OTHER | template)
    assert not report.ok
    assert reason in "\n".join(report.lines())
    # What is deployed was not refused.
    assert edited(template, template).ok


@pytest.mark.parametrize("template", [*right_cards()])
def test_accepts_what_launches_or_is_not_shown(template: Template) -> None:
    assert refused({"Resources": template}) == []
    assert edited(OTHER, OTHER | template).ok


def test_an_instance_has_the_interfaces_that_it_names_itself() -> None:
    instance = resource("AWS::EC2::Instance", InstanceType="t3.micro", LaunchTemplate=SPECIFICATION)
    instance["Properties"]["NetworkInterfaces"] = [{"DeviceIndex": "0"}]
    assert refused({"Resources": launched(EFA_ON_0, instance)}) == []
    instance["Properties"]["NetworkInterfaces"] = [{"DeviceIndex": "0"}, {"DeviceIndex": "5"}]
    assert "card 0 supports 2 interfaces, so device 5 is out of range" in refused({"Resources": {"It": instance}})[0]


def test_an_edit_of_the_launch_template_is_refused_for_the_group_that_stays() -> None:
    old = launched([{"DeviceIndex": 0}], eks(), InstanceType="t3.micro")
    new = launched(EFA_ON_0, eks(), InstanceType="t3.micro")
    assert "card 0 offers interface, not efa" in "\n".join(edited(old, new).lines())
    # Another edit beside a group that is deployed.
    assert edited(new, new | OTHER).ok


def test_the_launch_template_may_be_in_another_stack() -> None:
    group = pcs("t3.micro")
    group["Properties"]["CustomLaunchTemplate"]["TemplateId"] = {"Fn::ImportValue": "template"}
    output = {"Value": {"Ref": "Template"}, "Export": {"Name": "template"}}
    first = {"Resources": {"Template": launch(NetworkInterfaces=EFA_ON_0)}, "Outputs": {"Template": output}}
    (line,) = refused(first, {"Resources": {"It": group}})
    assert "Stack0/Template: no instance launches: t3.micro" in line


def test_a_name_in_two_regions_is_ambiguous() -> None:
    template = named(EFA_ON_0, eks("t3.micro"), "Name")
    elsewhere = {"Template": named([{"DeviceIndex": 0}], eks(), "Name")["Template"]}
    assert "Stack0/Template: no instance launches" in refused({"Resources": template})[0]
    assert refused({"Resources": template}, {"Resources": elsewhere}) == []


def test_a_one_shot_request_of_a_spot_fleet_has_interfaces_of_its_own() -> None:
    request = {"InstanceType": "t3.micro", "NetworkInterfaces": [{"DeviceIndex": 0}, {"DeviceIndex": 9}]}
    (line,) = refused({"Resources": {"It": spot_fleet(LaunchSpecifications=[request])}})
    assert "#/SpotFleetRequestConfigData/LaunchSpecifications/0/NetworkInterfaces: no instance launches" in line


def test_cluster_rules_fail_the_synthesis(tmp_path: Path) -> None:
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    cdk.Validations.of(app).add_plugins(ClusterRules())
    stack = cdk.Stack(app, "Mine")
    for name, body in launched(EFA_ON_0, pcs("t3.micro")).items():
        cdk.CfnResource(stack, name, type=body["Type"], properties=body["Properties"])
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    (report,) = json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"]
    (violation,) = report["violations"]
    assert violation["ruleName"] == "PCS-ComputeNodeGroup-CustomLaunchTemplate"
    assert "card 0 offers interface, not efa" in violation["description"]


def test_the_golden_templates_launch() -> None:
    templates = [json.loads(path.read_text()) for path in GOLDEN.glob("*-*.json") if path.stem[0].islower()]
    templates = [template for template in templates if "Resources" in template]
    launches = [row for template in templates for row in template["Resources"].values()]
    assert sum(row["Type"] in TEMPLATE_RULES for row in launches) > 2
    assert refused(*templates) == []
