"""Prometheus, Grafana, alerts and alarms: what the constructs become, and what they refuse."""

import base64
import json
import re
import tarfile
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from ruamel.yaml import YAML

from support.observability_stack import ALERT_MANAGER, DASHBOARDS, RULES, ObservabilityParts
from support.templates import resources_of
from ultracluster import observability
from ultracluster.catalogue.ec2 import REGIONS
from ultracluster.catalogue.monitoring import AMAZON_PROMETHEUS_PLUGIN, MANAGED_GRAFANA_REGIONS, NEW_GRAFANA_REGIONS
from ultracluster.monitoring.alerts import rules as rule_files
from ultracluster.monitoring.alerts._rule_check import UNBOUNDED_LABELS, rule_problems
from ultracluster.monitoring.names import Profile
from ultracluster.observability import _self_hosted_grafana as self_hosted_grafana
from ultracluster.observability._dashboards import dashboard_problems, fitted

ARN = "arn:aws:aps:eu-west-1:123456789012:workspace/ws-01234567-89ab-cdef-0123-456789abcdef"


@pytest.fixture(scope="module")
def parts() -> tuple[ObservabilityParts, dict[str, Any]]:
    stack = ObservabilityParts(cdk.App())
    template = assertions.Template.from_stack(stack).to_json()
    return stack, template["Resources"]


def of_type(resources: dict[str, Any], type: str) -> list[dict[str, Any]]:
    return [resource["Properties"] for resource in resources.values() if resource["Type"] == type]


def stack(region: str = "us-east-2") -> cdk.Stack:
    return cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="123456789012", region=region))


def policies_of(resources: dict[str, Any], role: str) -> list[dict[str, Any]]:
    """Statements of the policies that are attached to roles whose logical id begins like this."""
    statements = []
    for properties in (*of_type(resources, "AWS::IAM::Policy"), *of_type(resources, "AWS::IAM::ManagedPolicy")):
        if any(reference["Ref"].startswith(role) for reference in properties.get("Roles", [])):
            statements += properties["PolicyDocument"]["Statement"]
    return statements


def actions(statement: dict[str, Any]) -> list[str]:
    action = statement["Action"]
    return [action] if isinstance(action, str) else action


def test_a_workspace_has_alerts_a_log_a_retention_and_a_fuse(parts: tuple[Any, dict[str, Any]]) -> None:
    (workspace,) = of_type(parts[1], "AWS::APS::Workspace")
    assert workspace["AlertManagerDefinition"] == ALERT_MANAGER
    assert workspace["WorkspaceConfiguration"] == {
        "RetentionPeriodInDays": 90,
        "LimitsPerLabelSets": [{"LabelSet": [{"Name": "cluster", "Value": "llama"}], "Limits": {"MaxSeries": 100_000}}],
    }
    assert "KmsKeyArn" in workspace
    logs = [group["LogGroupName"] for group in of_type(parts[1], "AWS::Logs::LogGroup") if "LogGroupName" in group]
    assert logs
    assert all(name.startswith("/aws/vendedlogs/") for name in logs), "the account's log policy would grow too large"


def test_urls_of_a_workspace_are_those_of_its_region_and_id() -> None:
    parent = stack("eu-west-1")
    workspace = observability.PrometheusWorkspace(parent, "Prometheus", alias="llama")
    (id,) = [key for key, value in resources_of(parent).items() if value["Type"] == "AWS::APS::Workspace"]
    start = "https://aps-workspaces.eu-west-1.amazonaws.com/workspaces/"
    workspace_id = {"Fn::GetAtt": [id, "WorkspaceId"]}
    assert parent.resolve(workspace.query_url) == {"Fn::Join": ["", [start, workspace_id]]}
    assert parent.resolve(workspace.remote_write_url) == {
        "Fn::Join": ["", [start, workspace_id, "/api/v1/remote_write"]]
    }


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
        granted = {action for statement in policies_of(parts[1], role) for action in actions(statement)}
        assert {action for action in granted if action.startswith(f"{service}:")} == reads


def test_the_topic_takes_alerts_of_its_workspace_and_alarms_of_its_account_alone(
    parts: tuple[Any, dict[str, Any]],
) -> None:
    (policy,) = of_type(parts[1], "AWS::SNS::TopicPolicy")
    statements = {
        statement["Principal"]["Service"]: statement
        for statement in policy["PolicyDocument"]["Statement"]
        if "Service" in statement["Principal"]
    }
    assert statements.keys() == {"aps.amazonaws.com", "cloudwatch.amazonaws.com"}
    alert_manager = statements["aps.amazonaws.com"]
    assert alert_manager["Action"] == ["sns:GetTopicAttributes", "sns:Publish"]
    assert alert_manager["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}
    assert alert_manager["Condition"]["ArnLike"]["aws:SourceArn"]["Fn::GetAtt"][1] == "Arn"
    assert statements["cloudwatch.amazonaws.com"]["Condition"]["ArnLike"]["aws:SourceArn"] == {
        "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":cloudwatch:us-east-2:123456789012:alarm:*"]]
    }
    (topic,) = of_type(parts[1], "AWS::SNS::Topic")
    assert "KmsMasterKeyId" in topic


def test_an_existing_topic_is_not_changed() -> None:
    parent = stack()
    topic = sns.Topic.from_topic_arn(parent, "Theirs", "arn:aws:sns:us-east-2:123456789012:oncall")
    alerts = observability.AlertTopic(parent, "Alerts", topic=topic)
    alerts.grants.publish(observability.PrometheusWorkspace.from_workspace_arn(parent, "Imported", ARN))
    assert resources_of(parent) == {}


def test_failures_of_the_pipeline_notify_the_topic_and_not_the_alert_manager(
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
    parent = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account=here[0], region=here[1]))
    workspace = observability.PrometheusWorkspace.from_workspace_arn(parent, "P", ARN)
    assert workspace.region == "eu-west-1"
    with pytest.raises(ValueError, match=f"S/Rules: the workspace is in the {what}, and CloudFormation creates its"):
        observability.PrometheusRules(parent, "Rules", workspace=workspace, rules={"alerts.yaml": RULES})


def test_an_imported_workspace_gets_rules_alone() -> None:
    parent = stack("eu-west-1")
    workspace = observability.PrometheusWorkspace.from_workspace_arn(parent, "Prometheus", ARN)
    observability.PrometheusRules(parent, "Rules", workspace=workspace, rules={"alerts.yaml": RULES})
    assert workspace.remote_write_url == (
        "https://aps-workspaces.eu-west-1.amazonaws.com/workspaces/ws-01234567-89ab-cdef-0123-456789abcdef"
        "/api/v1/remote_write"
    )
    resources = resources_of(parent)
    assert [resource["Type"] for resource in resources.values()] == ["AWS::APS::RuleGroupsNamespace"]


def test_a_workspace_is_imported_by_an_arn_that_only_a_deployment_knows() -> None:
    parent = stack()
    arn = cdk.CfnParameter(parent, "Arn").value_as_string
    workspace = observability.PrometheusWorkspace.from_workspace_arn(parent, "P", arn)
    resolved = json.dumps(parent.resolve([workspace.query_url, workspace.remote_write_url, workspace.workspace_id]))
    assert resolved.count('{"Fn::Split": [":", {"Ref": "Arn"}]}') == 5
    assert "${Token[" not in resolved


def test_a_workspace_is_imported_by_its_id() -> None:
    parent = stack()
    id = "ws-01234567-89ab-cdef-0123-456789abcdef"
    workspace = observability.PrometheusWorkspace.from_workspace_attributes(parent, "P", workspace_id=id)
    assert (workspace.region, workspace.env.account) == ("us-east-2", "123456789012")
    assert workspace.workspace_id == id
    assert workspace.query_url.endswith(f"workspaces/{id}")


def test_rejects_an_arn_that_is_not_the_arn_of_a_workspace() -> None:
    with pytest.raises(ValueError, match="S/P: workspace_arn must be the ARN of a workspace"):
        observability.PrometheusWorkspace.from_workspace_arn(
            stack(), "P", "arn:aws:aps:eu-west-1:123456789012:workspace/x"
        )


def test_an_alarm_takes_threshold_period_and_action() -> None:
    parent = stack()
    workspace = observability.PrometheusWorkspace(parent, "P", alias="llama")
    topic = sns.Topic(parent, "Topic")
    workspace.alarms.add("ActiveSeries", topic, threshold=5_000, period=cdk.Duration.minutes(15), evaluation_periods=2)
    (alarm,) = of_type(resources_of(parent), "AWS::CloudWatch::Alarm")
    assert (alarm["Threshold"], alarm["EvaluationPeriods"], alarm["Metrics"][0]["Period"]) == (5_000, 2, 900)
    assert "5,000 active series" in alarm["AlarmDescription"]


def test_a_principal_that_publishes_to_the_topic_may_use_its_key() -> None:
    parent = stack()
    role = iam.Role(parent, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    observability.AlertTopic(parent, "Alerts").grants.publish(role).assert_success()
    (statements,) = [
        policy["PolicyDocument"]["Statement"] for policy in of_type(resources_of(parent), "AWS::IAM::Policy")
    ]
    assert {"sns:Publish", "kms:Decrypt"} <= {action for statement in statements for action in actions(statement)}


def test_rejects_what_a_workspace_does_not_take_all_at_once() -> None:
    with pytest.raises(ValueError, match=r"(?s)retention_days must be 1 to 1,095, got 2000.*at least 1 series, got 0"):
        observability.PrometheusWorkspace(stack(), "P", alias="llama", retention_days=2_000, series_limits={"llama": 0})


def test_rejects_more_rules_than_a_workspace_takes() -> None:
    many = RULES + "".join(f"      - alert: A{number}\n        expr: vector(1)\n" for number in range(2_000))
    with pytest.raises(
        ValueError, match=r"there are 2,001 rules, those of the library included, and a workspace takes 2,000"
    ):
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
def test_no_rule_keeps_such_a_label(label: str) -> None:
    assert list(rule_problems({name.removesuffix(".yaml"): text for name, text in rule_files().items()})) == []
    assert not re.search(rf"by \([^)]*\b{label}\b", "".join(rule_files(Profile.FULL).values()))


@pytest.mark.parametrize("text", ["", "groups", "groups: []", "- alert: A\n  expr: x\n", "{"])
def test_rejects_what_is_no_rule_file(text: str) -> None:
    with pytest.raises(ValueError, match="mine is no rule file"):
        observability.PrometheusWorkspace(stack(), "P", alias="llama", rules={"mine.yaml": text})


def test_grafana_receives_its_workspaces_role_and_region(parts: tuple[Any, dict[str, Any]]) -> None:
    (content,) = of_type(parts[1], "Custom::GrafanaContent")
    whole = json.dumps(content)
    # The types that the plugin knows: grafana-aws-sdk, pkg/awsauth/authtype.go (v1.5.2, read 2026-11-27).
    assert re.findall(r'sigV4AuthType[\\":]+(\w[\w-]*)', whole) == ["ec2_iam_role"]
    assert AMAZON_PROMETHEUS_PLUGIN in whole
    assert content["Folder"] == "ultracluster-llama"
    assert content["ServiceTimeout"] == "900"


def test_the_handler_may_use_its_own_workspace_alone(parts: tuple[Any, dict[str, Any]]) -> None:
    statements = policies_of(parts[1], "ContentRole")
    grafana = [
        statement for statement in statements if any(action.startswith("grafana:") for action in actions(statement))
    ]
    assert len(grafana) == 1
    assert "/workspaces/" in json.dumps(grafana[0]["Resource"])
    assert "*" not in json.dumps(grafana[0]["Resource"])
    assert all(statement["Resource"] != "*" for statement in statements)


def test_a_changed_dashboard_is_an_update_and_the_same_ones_are_none() -> None:
    def content(title: str) -> dict[str, Any]:
        parent = stack()
        observability.GrafanaContent(
            parent,
            "Content",
            name="llama",
            grafana="g-0123456789",
            workspace=ARN,
            dashboards={"fleet": json.dumps({"uid": "fleet", "title": title})},
        )
        resources = resources_of(parent)
        (properties,) = of_type(resources, "Custom::GrafanaContent")
        (function,) = of_type(resources, "AWS::Lambda::Function")
        return {**properties, "Code": function["Code"]}

    first, same, other = content("Fleet"), content("Fleet"), content("The fleet")
    assert first == same
    assert first["Content"] != other["Content"]
    assert first["Code"] != other["Code"]
    assert first["Folder"] == other["Folder"]


@pytest.mark.parametrize("name", ["llama", "a" * 27, "a" * 28, "a" * 40])
def test_the_uid_of_a_folder_is_never_too_long_for_grafana(name: str) -> None:
    content = observability.GrafanaContent(
        stack(), "C", name=name, grafana="g-0123456789", workspace=ARN, dashboards={}
    )
    assert len(content.uid) <= 40


def test_dashboards_name_the_plugin_that_a_grafana_has() -> None:
    for plugin in ("prometheus", AMAZON_PROMETHEUS_PLUGIN):
        dashboard = json.loads(fitted(DASHBOARDS, plugin)["fleet"])
        assert dashboard["templating"]["list"][0]["query"] == plugin
        assert dashboard["panels"][0]["datasource"] == {"type": plugin, "uid": "${datasource}"}
        assert dashboard["panels"][0]["type"] == "stat"


def test_rejects_what_is_no_dashboard_all_at_once() -> None:
    dashboards = {
        "one": "{",
        "two": "[]",
        "three": '{"uid": "3", "title": "Three"}',
        "a b": '{"uid":"a b","title":"x"}',
    }
    problems = "\n".join(dashboard_problems(dashboards))
    for message in ("['one'] is no JSON", "['two'] is no dashboard", "['three'] has the uid '3'", "['a b'] has no uid"):
        assert message in problems


def test_a_workspace_takes_private_subnets_in_zones_of_their_own(parts: tuple[Any, dict[str, Any]]) -> None:
    (workspace,) = of_type(parts[1], "AWS::Grafana::Workspace")
    assert len(workspace["VpcConfiguration"]["SubnetIds"]) == 2
    assert workspace["PermissionType"] == "CUSTOMER_MANAGED"
    assert workspace["AuthenticationProviders"] == ["AWS_SSO"]


def test_people_sign_in_by_saml() -> None:
    parent = stack()
    saml = observability.Saml(
        metadata_url="https://idp", role_attribute="role", admin_roles=["sre"], email_attribute="mail"
    )
    observability.GrafanaWorkspace(parent, "G", name="llama", saml=saml)
    resources = resources_of(parent)
    (workspace,) = of_type(resources, "AWS::Grafana::Workspace")
    assert workspace["AuthenticationProviders"] == ["SAML"]
    assert workspace["SamlConfiguration"] == {
        "IdpMetadata": {"Url": "https://idp"},
        "AssertionAttributes": {"Email": "mail", "Role": "role"},
        "RoleValues": {"Admin": ["sre"]},
    }


@pytest.mark.parametrize("region", ["eu-north-1", "us-gov-west-1"])
def test_rejects_a_region_without_grafana_and_subnets_without_groups(region: str) -> None:
    parent = stack(region)
    subnet = ec2.Subnet.from_subnet_id(parent, "Subnet", "subnet-0123456789abcdef0")
    with pytest.raises(ValueError, match=rf"(?s)no Amazon Managed Grafana in {region}.*2 to 6.*go together"):
        observability.GrafanaWorkspace(parent, "G", name="llama", subnets=[subnet])


def test_the_regions_of_grafana_are_regions() -> None:
    assert set(REGIONS.values()) >= MANAGED_GRAFANA_REGIONS


@pytest.mark.parametrize("region", sorted(MANAGED_GRAFANA_REGIONS))
def test_cloudformation_has_a_workspace_where_one_is_created(region: str) -> None:
    """The registry of the Region, as cfn-lint carries it: CloudFormation refuses a template with another type."""
    registry = json.loads(files("cfnlint.data.schemas.providers").joinpath(f"{region}.json").read_text())
    assert ("AWS::Grafana::Workspace" in registry) == (region in NEW_GRAFANA_REGIONS)


def test_nobody_reaches_a_server_of_ones_own_but_by_session_manager(parts: tuple[Any, dict[str, Any]]) -> None:
    resources = parts[1]
    (template,) = [resource["LaunchTemplateData"] for resource in of_type(resources, "AWS::EC2::LaunchTemplate")]
    assert template["MetadataOptions"]["HttpTokens"] == "required"
    (interface,) = template["NetworkInterfaces"]
    assert interface["AssociatePublicIpAddress"] is False
    (group,) = interface["Groups"]
    name = group["Fn::GetAtt"][0]
    assert "SecurityGroupIngress" not in resources[name]["Properties"]
    rules = [
        rule for rule in of_type(resources, "AWS::EC2::SecurityGroupIngress") if name in json.dumps(rule["GroupId"])
    ]
    assert rules == []
    assert "GF_SERVER_HTTP_ADDR=127.0.0.1" in json.dumps(template["UserData"])


def test_a_new_dashboard_makes_a_new_server() -> None:
    def template(title: str) -> dict[str, Any]:
        parent = stack()
        vpc = ec2.Vpc.from_vpc_attributes(parent, "V", vpc_id="vpc-0123456789abcdef0", availability_zones=["a"])
        observability.SelfHostedGrafana(
            parent,
            "G",
            name="llama",
            vpc=vpc,
            subnet=ec2.Subnet.from_subnet_id(parent, "Subnet", "subnet-0123456789abcdef0"),
            workspace=ARN,
            dashboards={"fleet": json.dumps({"uid": "fleet", "title": title})},
        )
        resources = resources_of(parent)
        assert next(
            resource for resource in resources.values() if resource["Type"] == "AWS::AutoScaling::AutoScalingGroup"
        )["UpdatePolicy"]["AutoScalingRollingUpdate"]
        (found_template,) = of_type(resources, "AWS::EC2::LaunchTemplate")
        return found_template

    assert template("Fleet") == template("Fleet")
    assert template("Fleet") != template("The fleet")


def test_a_server_queries_cloudwatch_in_the_configured_region() -> None:
    with tarfile.open(fileobj=BytesIO(self_hosted_grafana._bundle({}, "us-west-2"))) as archive:
        text = archive.extractfile("provisioning/datasources/ultracluster.yaml").read()  # type: ignore[union-attr]
    prometheus, cloudwatch = YAML(typ="safe").load(text)["datasources"]
    assert (prometheus["type"], cloudwatch["type"]) == ("prometheus", "cloudwatch")
    assert cloudwatch["jsonData"] == {"authType": "default", "defaultRegion": "us-west-2"}
    assert cloudwatch["editable"] is False


def test_rejects_a_region_of_cloudwatch_that_only_a_deployment_knows() -> None:
    parent = stack()
    vpc = ec2.Vpc.from_vpc_attributes(parent, "V", vpc_id="vpc-0123456789abcdef0", availability_zones=["a"])
    with pytest.raises(ValueError, match="cloudwatch_region is written to a file: give its name, such as us-east-2"):
        observability.SelfHostedGrafana(
            parent,
            "G",
            name="llama",
            vpc=vpc,
            subnet=ec2.Subnet.from_subnet_id(parent, "Subnet", "subnet-0123456789abcdef0"),
            workspace=ARN,
            dashboards={},
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


def test_an_endpoint_allows_the_named_peers(parts: tuple[Any, dict[str, Any]]) -> None:
    (endpoint,) = [candidate for candidate in of_type(parts[1], "AWS::EC2::VPCEndpoint")]
    assert endpoint["ServiceName"] == "com.amazonaws.us-east-2.aps-workspaces"
    assert endpoint["PrivateDnsEnabled"] is True
    (rule,) = [
        candidate
        for candidate in of_type(parts[1], "AWS::EC2::SecurityGroupIngress")
        if candidate.get("FromPort") == 443
    ]
    assert "Nodes" in json.dumps(rule["SourceSecurityGroupId"])


def test_a_scraper_asks_a_vpc_or_an_eks_cluster() -> None:
    parent = stack()
    subnets = [ec2.Subnet.from_subnet_id(parent, f"S{number}", f"subnet-0123456789abcdef{number}") for number in (0, 1)]
    group = ec2.SecurityGroup.from_security_group_id(parent, "G", "sg-0123456789abcdef0")
    more: dict[str, Any] = {"workspace": ARN, "configuration": "scrape_configs: []\n", "security_groups": [group]}
    observability.PrometheusScraper(parent, "Vpc", alias="slurm", subnets=subnets, **more)
    eks = "arn:aws:eks:us-east-2:123456789012:cluster/llama"
    observability.PrometheusScraper(parent, "Eks", alias="eks", subnets=subnets, eks_cluster=eks, **more)
    resources = resources_of(parent)
    sources = [scraper["Source"] for scraper in of_type(resources, "AWS::APS::Scraper")]
    assert [set(source) for source in sources] == [{"VpcConfiguration"}, {"EksConfiguration"}]
    assert sources[1]["EksConfiguration"]["ClusterArn"] == eks
    (blob, _) = [
        scraper["ScrapeConfiguration"]["ConfigurationBlob"] for scraper in of_type(resources, "AWS::APS::Scraper")
    ]
    assert base64.b64decode(blob) == b"scrape_configs: []\n"
    with pytest.raises(ValueError, match=r"S/One: subnets must hold 2 or more.*got 1 and 1"):
        observability.PrometheusScraper(parent, "One", alias="one", subnets=subnets[:1], **more)


def test_the_asset_of_the_handler_holds_the_handler_and_the_dashboards(tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path))
    ObservabilityParts(app)
    app.synth()
    (folder,) = [path.parent for path in tmp_path.rglob("cdk-rehearsal-handler.json")]
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert names == ["cdk-rehearsal-handler.json", "dashboards/fleet.json", "grafana_content.py", "grafana_http.py"]


@jsii.implements(cdk.IPropertyInjector)
class _KeepLogs:
    @property
    def construct_unique_id(self) -> str:
        return logs.LogGroup.PROPERTY_INJECTION_ID

    def inject(self, original_props: Any, *, scope: Any, id: str) -> Any:
        return {**original_props, "retention": logs.RetentionDays.ONE_YEAR}


def test_property_injectors_reach_the_constructs_of_the_cdk_inside() -> None:
    parent = stack()
    cdk.PropertyInjectors.of(parent).add(_KeepLogs())
    observability.PrometheusWorkspace(parent, "P", alias="llama")
    (log,) = of_type(resources_of(parent), "AWS::Logs::LogGroup")
    assert log["RetentionInDays"] == 365


def test_tags_reach_the_volume_of_a_server() -> None:
    parent = stack()
    vpc = ec2.Vpc.from_vpc_attributes(parent, "V", vpc_id="vpc-0123456789abcdef0", availability_zones=["a"])
    subnet = ec2.Subnet.from_subnet_id(parent, "Subnet", "subnet-0123456789abcdef0")
    server = observability.SelfHostedGrafana(
        parent, "G", name="llama", vpc=vpc, subnet=subnet, workspace=ARN, dashboards={}
    )
    cdk.Tags.of(server).add("cost-center", "42")
    (template,) = of_type(resources_of(parent), "AWS::EC2::LaunchTemplate")
    tags = {entry["ResourceType"]: entry["Tags"] for entry in template["LaunchTemplateData"]["TagSpecifications"]}
    assert tags["volume"] == tags["instance"]
    assert {"Key": "cost-center", "Value": "42"} in tags["volume"]
    assert {"Key": "Name", "Value": "llama-grafana"} in tags["volume"]
