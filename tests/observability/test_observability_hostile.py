"""Invalid values that the observability constructs reject."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sns as sns

from ultracluster import observability as parts
from ultracluster.catalogue.ec2 import REGIONS, domain_of, instance_type, partition_problem
from ultracluster.catalogue.ec2._partitions import partition_of
from ultracluster.monitoring import KubernetesSource, SlurmSource, volume
from ultracluster.monitoring.alerts import pagerduty, rules
from ultracluster.monitoring.alerts import sns as sns_receiver
from ultracluster.monitoring.alerts._rule_check import rule_problems
from ultracluster.monitoring.collectors import RemoteWrite

ACCOUNT = "123456789012"
ARN = f"arn:aws:aps:us-east-2:{ACCOUNT}:workspace/ws-01234567-89ab-cdef-0123-456789abcdef"
CHINESE = ARN.replace("arn:aws:", "arn:aws-cn:")
TOPIC = f"arn:aws:sns:us-east-2:{ACCOUNT}:oncall"
SECRET = f"arn:aws:secretsmanager:us-east-2:{ACCOUNT}:secret:a"
RULE = "groups:\n  - name: one\n    rules:\n      - record: a:b:c\n        expr: vector(1)\n"
ALERT = (
    "groups:\n  - name: one\n    rules:\n      - alert: Bad\n        expr: vector(1)\n        labels: {severity: x}\n"
)
# Keys and values that Prometheus does not decode.
KEYS = [
    (ALERT + "        fro: 5m\n", "a: Bad has the key fro, which Prometheus rejects; did you mean for?"),
    (ALERT + "        owner: me\n", "has the key owner, which Prometheus rejects; a rule has record, alert,"),
    (ALERT + "        for: 5m1h\n", "a: Bad has for: 5m1h; write a duration such as 10m"),
    (ALERT + "        keep_firing_for: 5 m\n", "a: Bad has keep_firing_for: 5 m; write a duration"),
    (RULE + "        for: 5m\n", "a: a:b:c has for, which alerts have, and it records; remove it"),
    (RULE + "        annotations: {summary: x}\n", "a: a:b:c has annotations, which alerts have"),
    (ALERT + "        annotations: x\n", "a: Bad has annotations: 'x'; write names with texts"),
    (ALERT + "        annotations: {summary: {a: b}}\n", "has annotations: {summary: ...} with a list or keys"),
    (ALERT + "        annotations: {summary: '{{ $value '}\n", "with a template that does not end"),
    (RULE + "    intervall: 5m\n", "a: group one has the key intervall, which Prometheus rejects; did you"),
    (RULE + "    interval: 30\n", "a: group one has interval: 30; write a duration such as 10m"),
    (RULE + "    query_offset: x\n", "a: group one has query_offset: x; write a duration such as 10m"),
    (RULE + "    limit: many\n", "a: group one has limit: many; write a whole number"),
    (RULE + "version: 1\n", "a: has the key version, which Prometheus rejects; a rule file has groups"),
    (RULE.replace("name: one", "limit: 1"), "a: group 1 has no name"),
    (RULE + "      - x\n", "a: group one: rule 2 is 'x'"),
    (RULE + "  - x\n", "a: group 2 is 'x'"),
    (RULE + "  - {name: two, rules: x}\n", "a: group two has rules: 'x'; write a list of rules"),
    (RULE + "        expr: up\n", 'it is not YAML in line 6: found duplicate key "expr"'),
]
MINUTE = cdk.Duration.minutes(1)


def stack() -> cdk.Stack:
    return cdk.Stack(cdk.App(), "S", env=cdk.Environment(account=ACCOUNT, region="us-east-2"))


def detector(alias: str = "a", workspace: str = ARN, query: str = "x", interval: cdk.Duration = MINUTE) -> object:
    return parts.AnomalyDetector(stack(), "P", alias=alias, workspace=workspace, query=query, interval=interval)


def topic(arn: str = TOPIC, email: str | None = None) -> object:
    here = stack()
    return parts.AlertTopic(here, "P", topic=sns.Topic.from_topic_arn(here, "Topic", arn), email=email)


def content(
    name: str = "a", grafana: str = "g-0123456789", workspace: str = ARN, cloudwatch_region: str | None = None
) -> object:
    return parts.GrafanaContent(
        stack(), "P", name=name, grafana=grafana, workspace=workspace, dashboards={},
        cloudwatch_region=cloudwatch_region,
    )  # fmt: skip


def managed(
    name: str = "a", version: str = "12.4", metadata: str = "https://x", admins: tuple[str, ...] = ("a",)
) -> object:
    saml = parts.Saml(metadata_url=metadata, role_attribute="role", admin_roles=admins)
    return parts.GrafanaWorkspace(stack(), "P", name=name, version=version, saml=saml)


def own_server(version: str = "12.4.11", workspace: str = ARN, cloudwatch_region: str | None = None) -> object:
    here = stack()
    vpc = ec2.Vpc(here, "Vpc")
    return parts.SelfHostedGrafana(
        here, "P", name="a", vpc=vpc, subnet=vpc.private_subnets[0], dashboards={}, workspace=workspace,
        version=version, cloudwatch_region=cloudwatch_region,
    )  # fmt: skip


def scraper(
    alias: str = "a", workspace: str = ARN, configuration: str = "scrape_configs: []", eks: str | None = None,
    same: bool = False,
) -> object:  # fmt: skip
    here = stack()
    vpc = ec2.Vpc(here, "Vpc")
    return parts.PrometheusScraper(
        here, "P", alias=alias, workspace=workspace, configuration=configuration, eks_cluster=eks,
        subnets=[vpc.private_subnets[0]] * 2 if same else vpc.private_subnets,
        security_groups=[ec2.SecurityGroup(here, "Group", vpc=vpc)],
    )  # fmt: skip


def workspace(alias: str = "a", alert_manager: str | None = None, limits: dict[str, int] | None = None) -> object:
    return parts.PrometheusWorkspace(stack(), "P", alias=alias, alert_manager=alert_manager, series_limits=limits)


def by_id(workspace_id: str) -> object:
    return parts.PrometheusWorkspace.from_workspace_attributes(stack(), "P", workspace_id=workspace_id)


def existing(arn: str = ARN) -> object:
    here = stack()
    imported = parts.PrometheusWorkspace.from_workspace_arn(here, "P", arn)
    return parts.PrometheusRules(here, "Rules", workspace=imported, rules={"a.yaml": RULE})


@pytest.mark.parametrize(
    "create",
    [detector, topic, content, managed, own_server, scraper, workspace, existing],
    ids=lambda create: create.__name__,
)
def test_accepts_valid_values(create: Callable[[], object]) -> None:
    create()


@pytest.mark.parametrize(
    ("create", "message"),
    [
        (lambda: detector(query=""), "query must be PromQL of 1 to 8,192 characters, got 0"),
        (lambda: detector(query=" \n"), "query must be PromQL"),
        (lambda: detector(query="a" * 8_193), "got 8,193"),
        (lambda: detector(alias=""), "alias must be 1 to 64 letters"),
        (lambda: detector(alias="a b"), "alias must be 1 to 64 letters"),
        (lambda: detector(alias="a" * 65), "alias must be 1 to 64 letters"),
        (lambda: detector(workspace="x"), "workspace_id must be the id of a workspace, ws-..., got 'x'"),
        (lambda: detector(workspace=CHINESE), "workspace_arn is in the partition aws-cn, and us-east-2 is in aws"),
        (lambda: detector(workspace=ARN.replace("us-east-2", "eu-west-1")), "is in the region eu-west-1, and"),
        (lambda: detector(interval=cdk.Duration.seconds(0)), "interval must be 30 to 86,400 whole seconds, got 0"),
        (lambda: detector(interval=cdk.Duration.days(2)), "got 172800"),
        (lambda: detector(interval=cdk.Duration.millis(61_500)), "got 61.5"),
        (lambda: topic(arn=TOPIC.replace("aws", "aws-us-gov", 1)), "topic is in the partition aws-us-gov"),
        (lambda: topic(arn=TOPIC.replace("us-east-2", "us-east-1")), "topic is in us-east-1, and must be in us-east-2"),
        (lambda: topic(arn=f"{TOPIC}.fifo"), "of the type FIFO"),
        (lambda: topic(email="a@example.com, b@example.com"), "email must be a mail address"),
        (lambda: parts.AlertTopic(stack(), "P", email=""), "email must be a mail address"),
        (lambda: parts.AlertTopic(stack(), "P", email="oncall"), "email must be a mail address"),
        (lambda: content(grafana="*"), "workspace_id must be the id of a workspace"),
        (lambda: content(name=""), "name must be 1 to 100 letters"),
        (lambda: content(name="a/../b"), "name must be 1 to 100 letters"),
        (lambda: content(workspace="https://x"), "workspace_id must be the id of a workspace, ws-..."),
        (lambda: content(grafana=None), "grafana must be an IGrafanaWorkspace or a string, got None"),  # type: ignore[arg-type]
        (lambda: content(cloudwatch_region="mars"), "cloudwatch_region must be a Region such as us-east-2"),
        (lambda: managed(metadata="http://x"), "saml.metadata_url must be an address"),
        (lambda: managed(admins=()), "without one, Grafana has no administrator"),
        (lambda: managed(admins=("",)), "an attribute or a role has no name"),
        (lambda: managed(version="latest"), "version must be a version such as 12.4"),
        (lambda: managed(name="a b"), "name must be 1 to 255 letters"),
        (lambda: own_server(version="latest; reboot"), "version must be a version such as"),
        (lambda: own_server(workspace="x y"), "workspace_id must be the id of a workspace"),
        (lambda: own_server(workspace=7), "workspace must be an IPrometheusWorkspace or a string, got 7"),  # type: ignore[arg-type]
        (lambda: own_server(cloudwatch_region="mars"), "cloudwatch_region must be a Region"),
        (lambda: scraper(alias=""), "alias must be 1 to 100 letters"),
        (lambda: scraper(workspace=CHINESE), "is in the partition aws-cn"),
        (lambda: scraper(configuration=""), "configuration must be one of Prometheus"),
        (lambda: scraper(eks="tiny"), "eks_cluster must be an ARN such as arn:aws:eks"),
        (lambda: scraper(same=True), "a subnet is named twice"),
        (lambda: by_id("x' OR '1"), "workspace_id must be the id of a workspace"),
        (lambda: workspace(alias=" "), "alias must be 1 to 100 characters"),
        (lambda: workspace(alias="a" * 101), "alias must be 1 to 100 characters"),
        (lambda: workspace(alert_manager="route: {}"), "alert_manager must be AMP's wrapper"),
        (lambda: workspace(limits={"": 5}), "series_limits: a cluster has no name"),
        (lambda: existing(CHINESE), "workspace_arn is in the partition aws-cn"),
        (lambda: sns_receiver("x", "us-east-2"), "must be the ARN of a topic"),
        (lambda: sns_receiver(TOPIC, "us-west-2"), "is not in us-west-2"),
        (lambda: sns_receiver(TOPIC.replace("aws", "aws-cn", 1), "us-east-2"), "is in the partition aws-cn"),
        (lambda: pagerduty("0123456789abcdef"), "must be the ARN of a secret"),
        (lambda: pagerduty(SECRET, " "), "secret_key must name"),
        (lambda: RemoteWrite(region="mars", url="https://x"), "region must be one such as us-east-2"),
        (lambda: RemoteWrite(region="us-east-2", url="ftp://x"), "url must begin with https://"),
        (lambda: RemoteWrite(region="us-east-2", parameter="--url"), "parameter must be the name of one"),
        (lambda: rules(inventory={("a", "b"): 1.5}), "1.5 nodes expected"),  # type: ignore[dict-item]
        (lambda: rules(runbooks="javascript:alert(1)"), "runbooks must be an address"),
        (lambda: rules(runbooks="https://wiki/"), "runbooks must be an address"),
        (lambda: rules(runbooks=""), "runbooks must be an address"),
        (lambda: SlurmSource(queues=-1, scrapers=-2), "queues must be 0 or more, got -1 [argument]\nscrapers must be"),
        (lambda: KubernetesSource(queues=1, pods=-1), "pods must be 0 or more, got -1"),
        (
            lambda: volume([(instance_type("p5.48xlarge"), -1, -5)]),
            "EFA devices must be 0 or more, got -1 [argument]\np5.48xlarge: nodes must be 0 or more, got -5",
        ),
    ],
)  # fmt: skip
def test_rejects_invalid_values(create: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        create()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RULE.replace("a:b:c", "a b"), "a: 'a b' is no name of a metric"),
        (RULE.replace("a:b:c", "a-b"), "a: 'a-b' is no name of a metric"),
        (
            RULE.replace("      - record: a:b:c\n        expr", "      - expr"),
            "rule 1 must have one of record and alert",
        ),
        (ALERT.replace("Bad", "''"), "rule 1 must have one of record and alert"),
        (ALERT.replace("        expr", "        record: a:b:c\n        expr"), "must have one of record and alert"),
        (RULE.replace("        expr: vector(1)\n", ""), "a: a:b:c has no expr"),
        (RULE.replace("vector(1)", '""'), "a: a:b:c has no expr"),
        (ALERT.replace("severity", "__name__"), "Bad has the label '__name__'"),
        (ALERT.replace("severity", "a-b"), "Bad has the label 'a-b'"),
        (ALERT.replace("{severity: x}", "\n          severity: x\n          a-b: y"), "Bad has the label 'a-b'"),
        (RULE + RULE.removeprefix("groups:\n"), "a has the group one twice"),
        (RULE.replace("      - record", "\t- record"), "a is indented with tabs"),
        *KEYS,
    ],
)
def test_rejects_a_rule_file_that_prometheus_would_reject(text: str, message: str) -> None:
    assert [error for error in rule_problems({"a": text}) if message in error], list(rule_problems({"a": text}))


def test_promtool_rejects_the_same_keys(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.yaml" for number in range(len(KEYS))]
    for file, (text, _) in zip(files, KEYS, strict=True):
        file.write_text(text)
    done = subprocess.run(["promtool", "check", "rules", "--lint=none", *files], capture_output=True, text=True)
    assert (done.returncode, done.stdout.count("SUCCESS")) == (1, 0), done.stdout


@pytest.mark.parametrize(
    "text",
    [
        RULE,
        ALERT,
        ALERT.replace("Bad", '"Node is down"'),
        ALERT.replace("vector(1)", "|\n          up ==\n          0"),
        ALERT.replace("vector(1)", "\n          up == 0"),
        ALERT + "        annotations:\n          a-b: any\n          summary: 'labels: {a-b: c}'\n",
        RULE.replace("a:b:c", '"a:b:c"  # why'),
        RULE + "        for: 0s\n    interval: 1h30m\n    limit: 0\n",
        ALERT + "        for: 0\n        keep_firing_for: 1d\n        annotations: {a: 5, b: '{{ $value }}'}\n",
    ],
)
def test_a_rule_file_that_prometheus_takes_is_taken(text: str) -> None:
    assert list(rule_problems({"a": text})) == []


def test_a_namespace_has_one_file() -> None:
    with pytest.raises(ValueError, match=r"a and a.yaml are the same namespace"):
        parts.PrometheusWorkspace(stack(), "P", alias="a", rules={"a": RULE, "a.yaml": RULE})


def test_all_that_is_wrong_comes_at_once() -> None:
    far = ARN.replace("us-east-2", "eu-west-1")
    with pytest.raises(ValueError, match=r"(?s)alias must be .*workspace is in .*query must be .*interval must"):
        detector("", far, "", cdk.Duration.seconds(1))


def test_what_only_a_deployment_knows_is_taken() -> None:
    here = stack()
    workspace = parts.PrometheusWorkspace(here, "W", alias=cdk.Fn.ref("AWS::StackName"))
    parts.AnomalyDetector(here, "D", alias="a", workspace=workspace, query="x")
    to = parts.AlertTopic(here, "T", topic=sns.Topic(here, "Topic"), email=cdk.Fn.import_value("Mail"))
    workspace.alarms.add_all(to.topic)
    to.grants.publish(workspace)
    anywhere = cdk.Stack(cdk.App(), "Anywhere")
    for region in (here.region, anywhere.region):
        assert sns_receiver(to.topic.topic_arn, region)
        assert RemoteWrite(region=region, url=workspace.remote_write_url).region == region


@pytest.mark.parametrize("region", sorted(set(REGIONS.values())))
def test_the_partition_of_a_region_is_that_of_aws_own_client(region: str) -> None:
    session = botocore.session.get_session()
    assert partition_of(region) == session.get_partition_for_region(region)
    suffix = session.get_data("partitions")["partitions"]
    (expected,) = [partition["outputs"]["dnsSuffix"] for partition in suffix if partition["id"] == partition_of(region)]
    assert domain_of(region) == expected
    assert partition_problem(f"arn:{partition_of(region)}:sns:{region}:{ACCOUNT}:x") is None
