"""Prometheus, Grafana, alerts and alarms: what the constructs become, and what they refuse."""

import base64
import json
import re
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from observability_stack import ALERT_MANAGER, DASHBOARDS, RULES, ObservabilityParts
from ruamel.yaml import YAML

from ultracluster import metrics, observability
from ultracluster.hardware.grafana import AMAZON_PROMETHEUS_PLUGIN, MANAGED_GRAFANA_REGIONS
from ultracluster.hardware.zones import REGIONS
from ultracluster.observability import self_hosted_grafana
from ultracluster.observability.dashboards import fitted
from ultracluster.observability.rule_check import UNBOUNDED_LABELS, rule_problems

ARN = "arn:aws:aps:eu-west-1:123456789012:workspace/ws-01234567-89ab-cdef-0123-456789abcdef"


@pytest.fixture(scope="module")
def parts() -> tuple[ObservabilityParts, dict[str, Any]]:
    stack = ObservabilityParts(cdk.App())
    template = assertions.Template.from_stack(stack).to_json()
    return stack, template["Resources"]


def of_type(resources: dict[str, Any], type: str) -> list[dict[str, Any]]:
    return [one["Properties"] for one in resources.values() if one["Type"] == type]


def stack(region: str = "us-east-2") -> cdk.Stack:
    return cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="123456789012", region=region))


def policies_of(resources: dict[str, Any], role: str) -> list[dict[str, Any]]:
    """Statements of the policies that are attached to roles whose logical id begins like this."""
    found = []
    for properties in (*of_type(resources, "AWS::IAM::Policy"), *of_type(resources, "AWS::IAM::ManagedPolicy")):
        if any(one["Ref"].startswith(role) for one in properties.get("Roles", [])):
            found += properties["PolicyDocument"]["Statement"]
    return found


def actions(statement: dict[str, Any]) -> list[str]:
    found = statement["Action"]
    return [found] if isinstance(found, str) else found


def test_a_workspace_has_alerts_a_log_a_retention_and_a_fuse(parts: tuple[Any, dict[str, Any]]) -> None:
    (workspace,) = of_type(parts[1], "AWS::APS::Workspace")
    assert workspace["AlertManagerDefinition"] == ALERT_MANAGER
    assert workspace["WorkspaceConfiguration"] == {
        "RetentionPeriodInDays": 90,
        "LimitsPerLabelSets": [{"LabelSet": [{"Name": "cluster", "Value": "llama"}], "Limits": {"MaxSeries": 100_000}}],
    }
    assert "KmsKeyArn" in workspace
    logs = [one["LogGroupName"] for one in of_type(parts[1], "AWS::Logs::LogGroup") if "LogGroupName" in one]
    assert logs
    assert all(name.startswith("/aws/vendedlogs/") for name in logs), "the account's log policy would grow too large"


def test_rules_stand_in_namespaces_called_after_their_files(parts: tuple[Any, dict[str, Any]]) -> None:
    (namespace,) = of_type(parts[1], "AWS::APS::RuleGroupsNamespace")
    assert (namespace["Name"], namespace["Data"]) == ("alerts", RULES)


def test_nodes_may_write_to_their_workspace_and_nothing_else(parts: tuple[Any, dict[str, Any]]) -> None:
    (statement,) = policies_of(parts[1], "Role")
    assert statement["Action"] == "aps:RemoteWrite"
    workspace, attribute = statement["Resource"]["Fn::GetAtt"]
    assert (parts[1][workspace]["Type"], attribute) == ("AWS::APS::Workspace", "Arn")


@pytest.mark.parametrize(
    ("service", "reads"),
    [
        ("aps", {"aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"}),
        ("cloudwatch", {"cloudwatch:GetMetricData", "cloudwatch:ListMetrics"}),
    ],
)
def test_dashboards_may_read_metrics_and_no_more(
    parts: tuple[Any, dict[str, Any]], service: str, reads: set[str]
) -> None:
    for role in ("GrafanaRole", "SelfHostedNodeRole"):
        granted = {action for one in policies_of(parts[1], role) for action in actions(one)}
        assert {one for one in granted if one.startswith(f"{service}:")} == reads


def test_the_topic_takes_alerts_of_its_workspace_and_alarms_of_its_account_alone(
    parts: tuple[Any, dict[str, Any]],
) -> None:
    (policy,) = of_type(parts[1], "AWS::SNS::TopicPolicy")
    statements = {one["Sid"]: one for one in policy["PolicyDocument"]["Statement"] if "Sid" in one}
    alert_manager = statements["AlertManager"]
    assert alert_manager["Principal"] == {"Service": "aps.amazonaws.com"}
    assert alert_manager["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}
    assert alert_manager["Condition"]["ArnLike"]["aws:SourceArn"]["Fn::GetAtt"][1] == "Arn"
    assert statements["Alarms"]["Condition"]["ArnLike"]["aws:SourceArn"] == {
        "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":cloudwatch:us-east-2:123456789012:alarm:*"]]
    }
    (topic,) = of_type(parts[1], "AWS::SNS::Topic")
    assert "KmsMasterKeyId" in topic


def test_a_topic_of_yours_is_left_as_it_is() -> None:
    found = stack()
    topic = sns.Topic.from_topic_arn(found, "Theirs", "arn:aws:sns:us-east-2:123456789012:oncall")
    alerts = observability.AlertTopic(found, "Alerts", topic=topic)
    alerts.allow_workspace(ARN)
    assert assertions.Template.from_stack(found).to_json().get("Resources", {}) == {}


def test_whatever_breaks_in_the_pipeline_tells_the_topic_and_not_the_alert_manager(
    parts: tuple[Any, dict[str, Any]],
) -> None:
    alarms = of_type(parts[1], "AWS::CloudWatch::Alarm")
    queries = json.dumps([alarm["Metrics"] for alarm in alarms])
    for metric in (
        "DiscardedSamples",
        "RuleEvaluationFailures",
        "RuleGroupIterationsMissed",
        "AlertManagerNotificationsFailed",
        "AlertManagerNotificationsThrottled",
        "ActiveSeries",
        "ActiveAlerts",
    ):
        assert metric in queries
    assert all(alarm["AlarmActions"] and alarm["OKActions"] for alarm in alarms)
    assert sorted(alarm["Threshold"] for alarm in alarms)[-2:] == [800, 40_000_000]


@pytest.mark.parametrize(
    ("here", "what"),
    [(("123456789012", "us-east-2"), "region eu-west-1"), (("210987654321", "eu-west-1"), "account 123456789012")],
)
def test_rejects_rules_for_a_workspace_that_cloudformation_does_not_reach(here: tuple[str, str], what: str) -> None:
    found = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account=here[0], region=here[1]))
    with pytest.raises(ValueError, match=f"S/P: the workspace is in the {what}, and rules are written in the stack's"):
        observability.ExistingPrometheusWorkspace(found, "P", arn=ARN, rules={"alerts.yaml": RULES})
    assert observability.ExistingPrometheusWorkspace(found, "Q", arn=ARN).region == "eu-west-1"


def test_a_workspace_of_yours_gets_rules_and_keeps_the_rest() -> None:
    found = stack("eu-west-1")
    workspace = observability.ExistingPrometheusWorkspace(found, "Prometheus", arn=ARN, rules={"alerts.yaml": RULES})
    assert workspace.remote_write_url == (
        "https://aps-workspaces.eu-west-1.amazonaws.com/workspaces/ws-01234567-89ab-cdef-0123-456789abcdef"
        "/api/v1/remote_write"
    )
    resources = assertions.Template.from_stack(found).to_json()["Resources"]
    assert [one["Type"] for one in resources.values()] == ["AWS::APS::RuleGroupsNamespace"]


def test_rejects_an_arn_that_is_no_workspaces() -> None:
    with pytest.raises(ValueError, match="S/P: arn must be that of a workspace"):
        observability.ExistingPrometheusWorkspace(stack(), "P", arn="arn:aws:aps:eu-west-1:123456789012:workspace/x")


def test_rejects_what_a_workspace_does_not_take_all_at_once() -> None:
    with pytest.raises(ValueError, match=r"retention_days must be 1 to 1,095, got 2000.*at least 1 series, got 0"):
        observability.PrometheusWorkspace(stack(), "P", alias="llama", retention_days=2_000, series_limits={"llama": 0})


def test_rejects_more_rules_than_a_workspace_takes() -> None:
    many = RULES + "".join(f"      - alert: A{number}\n        expr: vector(1)\n" for number in range(2_000))
    with pytest.raises(ValueError, match=r"there are 2,001 rules, and a workspace takes 2,000"):
        observability.PrometheusWorkspace(stack(), "P", alias="llama", rules={"alerts.yaml": many})


def test_rejects_a_label_whose_values_have_no_bound() -> None:
    rule = (
        "groups:\n  - name: a\n    rules:\n      - record: job:steps:rate\n        expr: sum by (cluster, LABEL) (x)\n"
    )
    with pytest.raises(ValueError, match="S/P/Rules: mine: job:steps:rate keeps the label pid, whose values have no"):
        observability.PrometheusWorkspace(
            stack(), "P", alias="llama", rules={"mine.yaml": rule.replace("LABEL", "pid")}
        )
    observability.PrometheusWorkspace(stack(), "P", alias="llama", rules={"mine.yaml": rule.replace("LABEL", "node")})


@pytest.mark.parametrize("label", sorted(UNBOUNDED_LABELS))
def test_no_rule_of_ours_keeps_such_a_label(label: str) -> None:
    assert list(rule_problems({name.removesuffix(".yaml"): text for name, text in metrics.rules().items()})) == []
    assert not re.search(rf"by \([^)]*\b{label}\b", "".join(metrics.rules(metrics.Profile.FULL).values()))


@pytest.mark.parametrize("text", ["", "groups", "groups: []", "- alert: A\n  expr: x\n", "{"])
def test_rejects_what_is_no_rule_file(text: str) -> None:
    with pytest.raises(ValueError, match="mine is no rule file"):
        observability.PrometheusWorkspace(stack(), "P", alias="llama", rules={"mine.yaml": text})


def test_grafana_is_told_of_its_workspaces_role_and_region(parts: tuple[Any, dict[str, Any]]) -> None:
    (content,) = of_type(parts[1], "Custom::GrafanaContent")
    whole = json.dumps(content)
    assert "workspace-iam-role" in whole
    assert AMAZON_PROMETHEUS_PLUGIN in whole
    assert content["Folder"] == "ultracluster-llama"
    assert content["ServiceTimeout"] == "900"


def test_the_handler_may_use_its_own_workspace_alone(parts: tuple[Any, dict[str, Any]]) -> None:
    statements = policies_of(parts[1], "ContentRole")
    grafana = [one for one in statements if any(action.startswith("grafana:") for action in actions(one))]
    assert len(grafana) == 1
    assert "/workspaces/" in json.dumps(grafana[0]["Resource"])
    assert "*" not in json.dumps(grafana[0]["Resource"])
    assert all(one["Resource"] != "*" for one in statements)


def test_a_changed_dashboard_is_an_update_and_the_same_ones_are_none() -> None:
    def content(title: str) -> dict[str, Any]:
        found = stack()
        observability.GrafanaContent(
            found,
            "Content",
            name="llama",
            workspace_id="g-0123456789",
            dashboards={"fleet": json.dumps({"uid": "fleet", "title": title})},
            query_url="https://aps",
            region="us-east-2",
        )
        resources = assertions.Template.from_stack(found).to_json()["Resources"]
        (properties,) = of_type(resources, "Custom::GrafanaContent")
        (function,) = of_type(resources, "AWS::Lambda::Function")
        return {**properties, "Code": function["Code"]}

    one, same, other = content("Fleet"), content("Fleet"), content("The fleet")
    assert one == same
    assert one["Content"] != other["Content"]
    assert one["Code"] != other["Code"]
    assert one["Folder"] == other["Folder"]


@pytest.mark.parametrize("name", ["llama", "a" * 27, "a" * 28, "a" * 40])
def test_the_uid_of_a_folder_is_never_too_long_for_grafana(name: str) -> None:
    content = observability.GrafanaContent(
        stack(), "C", name=name, workspace_id="g-0123456789", dashboards={}, query_url="https://aps", region="us-east-2"
    )
    assert len(content.uid) <= 40


def test_dashboards_name_the_plugin_that_a_grafana_has() -> None:
    for plugin in ("prometheus", AMAZON_PROMETHEUS_PLUGIN):
        made = json.loads(fitted(DASHBOARDS, plugin)["fleet"])
        assert made["templating"]["list"][0]["query"] == plugin
        assert made["panels"][0]["datasource"] == {"type": plugin, "uid": "${datasource}"}
        assert made["panels"][0]["type"] == "stat"


def test_rejects_what_is_no_dashboard_all_at_once() -> None:
    dashboards = {
        "one": "{",
        "two": "[]",
        "three": '{"uid": "3", "title": "Three"}',
        "a b": '{"uid":"a b","title":"x"}',
    }
    with pytest.raises(ValueError, match="is no uid") as caught:
        fitted(dashboards, "prometheus")
    for said in ("one is no JSON", "two is no dashboard", "three has the uid '3'", "'a b' is no uid"):
        assert said in str(caught.value)


def test_a_workspace_takes_private_subnets_in_zones_of_their_own(parts: tuple[Any, dict[str, Any]]) -> None:
    (workspace,) = of_type(parts[1], "AWS::Grafana::Workspace")
    assert len(workspace["VpcConfiguration"]["SubnetIds"]) == 2
    assert workspace["PermissionType"] == "CUSTOMER_MANAGED"
    assert workspace["AuthenticationProviders"] == ["AWS_SSO"]


def test_people_sign_in_by_saml() -> None:
    found = stack()
    saml = observability.Saml(metadata_url="https://idp", role_attribute="role", admin_roles=["sre"])
    observability.GrafanaWorkspace(found, "G", name="llama", saml=saml)
    resources = assertions.Template.from_stack(found).to_json()["Resources"]
    (workspace,) = of_type(resources, "AWS::Grafana::Workspace")
    assert workspace["AuthenticationProviders"] == ["SAML"]
    assert workspace["SamlConfiguration"] == {
        "IdpMetadata": {"Url": "https://idp"},
        "AssertionAttributes": {"Role": "role"},
        "RoleValues": {"Admin": ["sre"]},
    }


def test_rejects_a_region_without_grafana_and_subnets_without_groups() -> None:
    found = stack("eu-north-1")
    subnet = ec2.Subnet.from_subnet_id(found, "Subnet", "subnet-0123456789abcdef0")
    with pytest.raises(ValueError, match=r"eu-north-1 has no Amazon Managed Grafana.*2 to 6.*go together"):
        observability.GrafanaWorkspace(found, "G", name="llama", subnets=[subnet])


def test_the_regions_of_grafana_are_regions() -> None:
    assert set(REGIONS.values()) >= MANAGED_GRAFANA_REGIONS


def test_nobody_reaches_a_server_of_ones_own_but_by_session_manager(parts: tuple[Any, dict[str, Any]]) -> None:
    resources = parts[1]
    (template,) = [one["LaunchTemplateData"] for one in of_type(resources, "AWS::EC2::LaunchTemplate")]
    assert template["MetadataOptions"]["HttpTokens"] == "required"
    (interface,) = template["NetworkInterfaces"]
    assert interface["AssociatePublicIpAddress"] is False
    (group,) = interface["Groups"]
    name = group["Fn::GetAtt"][0]
    assert "SecurityGroupIngress" not in resources[name]["Properties"]
    rules = [one for one in of_type(resources, "AWS::EC2::SecurityGroupIngress") if name in json.dumps(one["GroupId"])]
    assert rules == []
    assert "GF_SERVER_HTTP_ADDR=127.0.0.1" in json.dumps(template["UserData"])


def test_a_new_dashboard_makes_a_new_server() -> None:
    def template(title: str) -> dict[str, Any]:
        found = stack()
        vpc = ec2.Vpc.from_vpc_attributes(found, "V", vpc_id="vpc-0123456789abcdef0", availability_zones=["a"])
        observability.SelfHostedGrafana(
            found,
            "G",
            name="llama",
            vpc=vpc,
            subnet=ec2.Subnet.from_subnet_id(found, "Subnet", "subnet-0123456789abcdef0"),
            dashboards={"fleet": json.dumps({"uid": "fleet", "title": title})},
            query_url="https://aps",
            region="us-east-2",
        )
        resources = assertions.Template.from_stack(found).to_json()["Resources"]
        assert next(one for one in resources.values() if one["Type"] == "AWS::AutoScaling::AutoScalingGroup")[
            "UpdatePolicy"
        ]["AutoScalingRollingUpdate"]
        (found_template,) = of_type(resources, "AWS::EC2::LaunchTemplate")
        return found_template

    assert template("Fleet") == template("Fleet")
    assert template("Fleet") != template("The fleet")


def test_a_server_asks_cloudwatch_in_the_region_that_it_is_told() -> None:
    with tarfile.open(fileobj=BytesIO(self_hosted_grafana._bundle({}, "us-west-2"))) as archive:
        text = archive.extractfile("provisioning/datasources/ultracluster.yaml").read()  # type: ignore[union-attr]
    prometheus, cloudwatch = YAML(typ="safe").load(text)["datasources"]
    assert (prometheus["type"], cloudwatch["type"]) == ("prometheus", "cloudwatch")
    assert cloudwatch["jsonData"] == {"authType": "default", "defaultRegion": "us-west-2"}
    assert cloudwatch["editable"] is False


def test_rejects_a_region_of_cloudwatch_that_only_a_deployment_knows() -> None:
    found = stack()
    vpc = ec2.Vpc.from_vpc_attributes(found, "V", vpc_id="vpc-0123456789abcdef0", availability_zones=["a"])
    with pytest.raises(ValueError, match="cloudwatch_region stands in a file: give its name, such as us-east-2"):
        observability.SelfHostedGrafana(
            found,
            "G",
            name="llama",
            vpc=vpc,
            subnet=ec2.Subnet.from_subnet_id(found, "Subnet", "subnet-0123456789abcdef0"),
            dashboards={},
            query_url="https://aps",
            region="us-east-2",
            cloudwatch_region=cdk.Aws.REGION,
        )


def test_the_files_of_a_server_are_the_same_bytes_for_the_same_dashboards() -> None:
    bundle = self_hosted_grafana._bundle({"fleet": "{}"})
    assert bundle == self_hosted_grafana._bundle({"fleet": "{}"})
    with tarfile.open(fileobj=BytesIO(bundle)) as archive:
        assert sorted(archive.getnames()) == [
            "dashboards/fleet.json",
            "provisioning/dashboards/ultracluster.yaml",
            "provisioning/datasources/ultracluster.yaml",
        ]


def test_an_endpoint_lets_in_who_was_named(parts: tuple[Any, dict[str, Any]]) -> None:
    (endpoint,) = [one for one in of_type(parts[1], "AWS::EC2::VPCEndpoint")]
    assert endpoint["ServiceName"] == "com.amazonaws.us-east-2.aps-workspaces"
    assert endpoint["PrivateDnsEnabled"] is True
    (rule,) = [one for one in of_type(parts[1], "AWS::EC2::SecurityGroupIngress") if one.get("FromPort") == 443]
    assert "Nodes" in json.dumps(rule["SourceSecurityGroupId"])


def test_a_scraper_asks_a_vpc_or_an_eks_cluster() -> None:
    found = stack()
    subnets = [ec2.Subnet.from_subnet_id(found, f"S{one}", f"subnet-0123456789abcdef{one}") for one in (0, 1)]
    group = ec2.SecurityGroup.from_security_group_id(found, "G", "sg-0123456789abcdef0")
    more: dict[str, Any] = {"workspace_arn": ARN, "configuration": "scrape_configs: []\n", "security_groups": [group]}
    observability.PrometheusScraper(found, "Vpc", alias="slurm", subnets=subnets, **more)
    eks = "arn:aws:eks:us-east-2:123456789012:cluster/llama"
    observability.PrometheusScraper(found, "Eks", alias="eks", subnets=subnets, eks_cluster_arn=eks, **more)
    resources = assertions.Template.from_stack(found).to_json()["Resources"]
    sources = [one["Source"] for one in of_type(resources, "AWS::APS::Scraper")]
    assert [set(one) for one in sources] == [{"VpcConfiguration"}, {"EksConfiguration"}]
    assert sources[1]["EksConfiguration"]["ClusterArn"] == eks
    (blob, _) = [one["ScrapeConfiguration"]["ConfigurationBlob"] for one in of_type(resources, "AWS::APS::Scraper")]
    assert base64.b64decode(blob) == b"scrape_configs: []\n"
    with pytest.raises(ValueError, match=r"S/One: a scraper takes 2 subnets or more.*got 1 and 1"):
        observability.PrometheusScraper(found, "One", alias="one", subnets=subnets[:1], **more)


def test_grants_of_one_workspace_serve_many_roles() -> None:
    found = stack()
    workspace = observability.ExistingPrometheusWorkspace(found, "P", arn=ARN)
    for name in ("One", "Two"):
        workspace.grants.write(iam.Role(found, name, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")))
    (policy,) = of_type(assertions.Template.from_stack(found).to_json()["Resources"], "AWS::IAM::ManagedPolicy")
    assert len(policy["Roles"]) == 2


def test_the_asset_of_the_handler_holds_the_handler_and_the_dashboards(tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path))
    ObservabilityParts(app)
    app.synth()
    (folder,) = [one.parent for one in tmp_path.rglob("ultracluster-handler.json")]
    names = sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())
    assert names == ["dashboards/fleet.json", "grafana_content.py", "grafana_http.py", "ultracluster-handler.json"]
