"""Errors of the section `observability` of a cluster file."""

import pytest
from clusterfile.test_observability import NORTH, WORKSPACE, with_section, wrong

from support import ROOT
from support.clusterfile_data import problems


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{alerts: {}}", "observability.alerts: has no keys; name a topic, an email, pagerduty, runbooks or changes"),
        (
            "{alerts: {topic: arn:aws:sns:us-east-2:123456789012:oncall, email: a@example.com}}",
            "observability.alerts.email: an existing topic keeps its subscriptions",
        ),
        (
            "{alerts: {topic: arn:aws:sns:us-east-1:123456789012:oncall}}",
            "observability.alerts.topic: is in us-east-1, and must be in the cluster's Region, us-east-2",
        ),
        (
            "{alerts: {topic: arn:aws-cn:sns:us-east-2:123456789012:oncall}}",
            "observability.alerts.topic: is in the partition aws-cn, and us-east-2 is in aws; write arn:aws:",
        ),
        (
            f"{{workspace: {WORKSPACE.replace('arn:aws:', 'arn:aws-us-gov:')}}}",
            "observability.workspace: is in the partition aws-us-gov, and us-east-2 is in aws",
        ),
        (
            "{alerts: {pagerduty: arn:awsx:secretsmanager:us-east-2:123456789012:secret:a}}",
            "observability.alerts.pagerduty: is in the partition awsx, and us-east-2 is in aws",
        ),
        (
            "{alerts: {watchdog: arn:aws:sns:us-east-1:123456789012:dead-man}}",
            "observability.alerts.watchdog: is in us-east-1, and must be in the cluster's Region, us-east-2",
        ),
        (
            f"{{workspace: {WORKSPACE}, alerts: {{watchdog: arn:aws:sns:us-east-2:123456789012:dead-man}}}}",
            "observability.alerts.watchdog: an existing workspace keeps its own alert manager: name the topic in that",
        ),
        ("{alerts: {email: 'a@example.com\\n'}}", "observability.alerts.email: must be a mail address"),
        ("{alerts: {email: 'a\"@example.com'}}", "observability.alerts.email: must be a mail address"),
        ("{alerts: {email: a@-.com}}", "observability.alerts.email: must be a mail address"),
        (
            "{grafana: {kind: managed, saml: {metadata: 'https://a:b@idp/x', admins: [sre]}}}",
            "observability.grafana.saml.metadata: must be an address that begins with https:// and a host",
        ),
        ("{grafana: {kind: managed, saml: {metadata: 'https://?x', admins: [sre]}}}", "https:// and a host"),
        (
            "{grafana: {kind: managed, saml: {metadata: https://idp, admins: [a, b], editors: [b]}}}",
            "observability.grafana.saml: names b twice",
        ),
        (
            "{alerts: {pagerduty: 0123456789abcdef0123456789abcdef}}",
            "observability.alerts.pagerduty: must be the ARN of a secret, and not its content, arn:aws:secretsmanager",
        ),
        ("{retention: 12 h}", "observability.retention: metrics are kept for whole days, 1 d to 1095 d, got 12 h"),
        ("{retention: 1096 d}", "observability.retention: metrics are kept for whole days, 1 d to 1095 d, got 1096 d"),
        ("{profile: standart}", "observability.profile: a profile is one of basic, standard, full, none, got"),
        ("{profile: none, retention: 7 d}", "observability.retention: has no effect with"),
        (
            "{series-limit: 1000}",
            "observability.series-limit: 65 nodes have up to 104,000 active series with profile: standard, so samples "
            "would be discarded; allow 104,000 or more",
        ),
        ("{series-limit: 50000001}", "series-limit: a workspace supports 50,000,000 active series by default"),
        (
            "{grafana: {workspace: g-0123456789}}",
            "observability.grafana.workspace: is for Amazon Managed Grafana, and kind is self-hosted; write",
        ),
        (
            "{grafana: {kind: managed, workspace: g-0123456789, saml: {metadata: https://idp, admins: [sre]}}}",
            "observability.grafana.saml: people sign in to an existing workspace as it is configured",
        ),
        ("{grafana: {kind: managed, saml: {metadata: https://idp, admins: []}}}", "needs at least one entry"),
        ("{grafana: {kind: managed, users: {ada: viewer}}}", "must be the id of a user or group of IAM Ident"),
        (
            "{grafana: {groups: {94482488-3041-7012-ab12-123456789012: viewer}}}",
            "observability.grafana.groups: is for Amazon Managed Grafana, and kind is self-hosted; write",
        ),
        (
            "{grafana: {kind: managed, saml: {metadata: https://idp, admins: [sre]}, groups: "
            "{94482488-3041-7012-ab12-123456789012: viewer}}}",
            "observability.grafana.groups: are of IAM Identity Center, and people sign in by SAML",
        ),
        ("{grafana: {kind: oss}}", "observability.grafana.kind: a kind of Grafana is one of self-hosted, managed,"),
        (f"{{workspace: {WORKSPACE}, retention: 7 d}}", "observability.retention: an existing workspace keeps its own"),
        ("{workspace: ws-0123}", "observability.workspace: must be the ARN of a workspace"),
        ("{label: {team: x}}", "unknown key"),
        ("{alerts: {runbooks: 'http://wiki/runbooks'}}", "observability.alerts.runbooks: must be an address"),
        ("{alerts: {runbooks: 'https://wiki/runbooks/'}}", "observability.alerts.runbooks: must be an address"),
        ("{alerts: {runbooks: 'https://wiki/?page='}}", "observability.alerts.runbooks: must be an address"),
        ("{alerts: {runbooks: 'javascript:alert(1)'}}", "observability.alerts.runbooks: must be an address"),
        ("{alerts: {runbooks: docs/runbooks}}", "observability.alerts.runbooks: must be an address"),
    ],
)  # fmt: skip
def test_rejects_invalid_sections(section: str, message: str) -> None:
    assert message in wrong(section)


def test_rejects_an_existing_grafana_in_a_region_without_the_service() -> None:
    error = wrong("{grafana: {kind: managed, workspace: g-0123456789}}", NORTH.replace("capacity: cr", "capacity: cr"))
    assert "eu-north-1 has no Amazon Managed Grafana" in error


def test_reports_all_errors_at_once() -> None:
    section = "{retention: 12 h, alerts: {}, grafana: {workspace: g-0123456789}}"
    assert len(problems(with_section(section))) == 3


def test_an_admin_of_another_partition_is_refused() -> None:
    eks = (ROOT / "examples" / "eks-minimal.yaml").read_text().replace("arn:aws:iam", "arn:aws-cn:iam")
    (error,) = problems(eks)
    assert "kubernetes.admins[0]: is in the partition aws-cn, and us-east-2 is in aws" in error
