"""The sections `observability` and `notifications`: metrics, alerts, dashboards, notices of capacity."""

import re
from typing import Annotated

from pydantic import Field

from ultracluster.catalogue.monitoring import RETENTION_DAYS
from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile._quantities import Duration
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._section import Section, optional
from ultracluster.planning import DOMAIN
from ultracluster.planning.workload import SERIES_PER_NODE

_HOST = rf"https://{DOMAIN}(\.{DOMAIN})*(:[0-9]{{1,5}})?"

Profile = Annotated[str, w.choice((*SERIES_PER_NODE, "none"), "a profile")]
GrafanaKind = Annotated[str, w.choice(("self-hosted", "managed", "none"), "a kind of Grafana")]
GrafanaWorkspaceId = Annotated[
    str,
    w.pattern(
        r"g-[0-9a-f]{10}", "the id of a workspace of Amazon Managed Grafana, such as g-0123456789", "g-0123456789"
    ),
]
GrafanaRole = Annotated[str, w.choice(("admin", "editor", "viewer"), "a role in Grafana")]
# https://docs.aws.amazon.com/grafana/latest/APIReference/API_User.html (read 2026-11-23)
IdentityId = Annotated[
    str,
    w.pattern(
        "([0-9a-fA-F]{10}-)?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        "the id of a user or group of IAM Identity Center",
        "94482488-3041-7012-ab12-123456789012",
    ),
]
_WORKSPACE = "workspace/ws-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_EXAMPLE = "workspace/ws-01234567-89ab-cdef-0123-456789abcdef"
PrometheusWorkspaceArn = Annotated[
    str,
    w.arn("aps", _WORKSPACE, "the ARN of a workspace", "workspace/ws-...", _EXAMPLE),
]
# A host, perhaps a port and a path; no name and password, which would be in the template.
HttpsUrl = Annotated[
    str,
    w.pattern(
        _HOST + r"([/?][A-Za-z0-9./_~:@?=&%+-]{0,1500})?",
        "an address that begins with https:// and a host",
        "https://idp.example.com/metadata",
    ),
]
# The name of a page is put behind it: so no slash at the end, and no query.
RunbooksUrl = Annotated[
    str,
    w.pattern(
        _HOST + r"(/[A-Za-z0-9._~@%+-]{1,200}){0,20}",
        "an address that begins with https:// and has no slash, question mark or hash at the end: pages follow it",
        "https://wiki.example.com/runbooks",
    ),
]
_ANY = r"^.+$"
RuleFile = Annotated[str, w.parsed(lambda value: w.text(value, "the path of a rule file"), _ANY, "team.yaml")]
Matcher = Annotated[
    str, w.parsed(lambda value: w.text(value, 'a matcher of Alertmanager, such as team="nlp"'), _ANY, 'team="nlp"')
]
AlertName = Annotated[str, w.pattern("[A-Z][A-Za-z0-9]{2,60}", "the name of an alert", "JobIdleGpus")]
AlertSeverity = Annotated[str, w.choice(("critical", "warning", "info"), "a severity")]


def _threshold(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise ValueError(f"a threshold must be a number from 0 to below 1e15, got {shown(value)}")
    return value


Threshold = Annotated[float, w.Word(_threshold, type="number", minimum=0, exclusiveMaximum=1e15, examples=[0.2])]
SamlText = Annotated[
    str,
    w.pattern(
        re.compile(r"[^\s\"'\\<>]([^\"'\\<>\r\n\t]{0,254}[^\s\"'\\<>])?"),
        "a name as the identity provider writes it, at most 256 characters",
        "admin",
    ),
]


class Saml(Section):
    """Sign-in to Amazon Managed Grafana by SAML 2.0."""

    metadata: HttpsUrl = Field(description="Where the identity provider publishes its metadata.")
    role_attribute: SamlText = Field(default="role", description="Attribute that holds a person's roles.")
    email_attribute: SamlText | None = Field(
        default=None, description="Attribute that holds a person's mail address. Default: the one that Grafana expects."
    )
    admins: tuple[SamlText, ...] = Field(
        min_length=1, description="Roles that administer Grafana.", examples=[["admin"]]
    )
    editors: tuple[SamlText, ...] = Field(default=(), description="Roles that edit. Everybody else views.")


class Grafana(Section):
    """The Grafana that shows the dashboards."""

    kind: GrafanaKind = Field(
        default="self-hosted",
        description="self-hosted: a small server in the cluster's network, reached by Session Manager. managed: Amazon "
        "Managed Grafana, which needs IAM Identity Center or SAML. none.",
    )
    workspace: GrafanaWorkspaceId | None = Field(
        default=None, description="An existing workspace in the Region, with `managed`. Default: a new one."
    )
    saml: Saml | None = Field(default=None, description="Sign-in, with `managed`. Default: by IAM Identity Center.")
    users: dict[IdentityId, GrafanaRole] = Field(
        default={}, description="Role of a user of IAM Identity Center, by the user's id, with `managed`."
    )
    groups: dict[IdentityId, GrafanaRole] = Field(
        default={}, description="Role of a group of IAM Identity Center, by the group's id, with `managed`."
    )


class Alerts(Section):
    """Receivers and changes of alerts. Receivers get all alerts, except that PagerDuty gets the critical ones."""

    topic: t.TopicArn | None = Field(
        default=None,
        description="Existing SNS topic that allows aps, cloudwatch and events.amazonaws.com to publish. "
        "Default: a new one.",
    )
    email: t.Email | None = Field(
        default=None, description="Address that is subscribed to the new topic, and has to confirm it."
    )
    pagerduty: t.SecretArn | None = Field(
        default=None,
        description="Secret with a routing key of PagerDuty under `routing_key`, which allows aps.amazonaws.com to "
        "read it, as its customer managed KMS key allows it to decrypt. Default: no notification of PagerDuty.",
    )
    watchdog: t.TopicArn | None = Field(
        default=None,
        description="Existing SNS topic that gets the alert Watchdog every five minutes, for a service that alerts "
        "when it stops. Default: a new topic, and an alarm of CloudWatch that notifies the topic of alerts.",
    )
    runbooks: RunbooksUrl | None = Field(
        default=None,
        description="Where you publish docs/runbooks: each alert carries this address, a slash, its name and `.md`. "
        "Default: their dashboard in Grafana.",
    )
    grafana: RunbooksUrl | None = Field(
        default=None,
        description="Address of the Grafana that alerts link to. Default: the workspace of Amazon Managed Grafana, or "
        "the forwarded port of the self-hosted one.",
    )
    off: tuple[AlertName, ...] = Field(default=(), description="Alerts that are not created.")
    severity: dict[AlertName, AlertSeverity] = Field(
        default={},
        description="Severity of an alert, by its name: critical and warning are sent, info is only shown.",
    )
    thresholds: dict[AlertName, Threshold] = Field(
        default={}, description="Threshold of an alert, by its name, in the unit that its page states."
    )
    pending_period: dict[AlertName, t.Duration] = Field(
        default={}, description="How long the expression of an alert must hold before it fires, by its name."
    )


class Route(Section):
    """Receiver of the alerts that match, instead of that of their severity."""

    matchers: tuple[Matcher, ...] = Field(
        min_length=1, description='Matchers of Alertmanager, which all must match: `LABEL="VALUE"`, !=, =~ or !~.'
    )
    topic: t.TopicArn | None = Field(
        default=None, description="Existing SNS topic of the Region that allows aps.amazonaws.com to publish."
    )
    pagerduty: t.SecretArn | None = Field(
        default=None, description="Secret with a routing key of PagerDuty under `routing_key`. Without both, none."
    )
    continue_: t.Flag = Field(
        default=False, alias="continue", description="Whether the receiver of the severity is notified too."
    )


class Observability(Section):
    """Metrics, alerts and dashboards."""

    profile: Profile = Field(
        default="standard", description="How much is collected: basic, standard, full; none: nothing is created."
    )
    retention: t.Duration = Field(
        default=Duration.parse(f"{RETENTION_DAYS} d"), description="For how long metrics are kept, 1 d to 1095 d."
    )
    workspace: PrometheusWorkspaceArn | None = Field(
        default=None,
        description="An existing workspace of Amazon Managed Service for Prometheus, which keeps its own alert "
        "manager. Default: a new one.",
    )
    series_limit: t.Count | None = Field(
        default=None,
        description="Active series that the cluster may have; samples of more are discarded. Default: three times what "
        "its nodes should have.",
    )
    vpc_endpoint: t.Flag = Field(
        default=False, description="An endpoint to Prometheus in the VPC, for nodes without internet access."
    )
    grafana: Grafana = optional(description="The Grafana that shows the dashboards.")
    alerts: Alerts = optional(description="Receivers of alerts.")
    rules: tuple[RuleFile, ...] = Field(
        default=(),
        description="Rule files of Prometheus, beside the cluster file. Each is a namespace of the workspace with the "
        "name of the file.",
    )
    routes: tuple[Route, ...] = Field(
        default=(), description="Receivers of alerts by their labels, in this order: the first that matches is used."
    )

    @property
    def on(self) -> bool:
        """True if metrics are collected."""
        return self.profile != "none"


class Notifications(Section):
    """Notices of capacity that starts or ends."""

    topic: t.TopicArn | None = Field(
        default=None, description="Existing SNS topic that allows EventBridge to publish. Default: a new one."
    )
    email: t.Email | None = Field(
        default=None, description="Address that is subscribed to the new topic, and has to confirm it."
    )
    drain: t.Duration = Field(
        default=Duration.parse("1 h"),
        description="How long before its instances are terminated the nodes of a Capacity Block start no more jobs.",
    )
    notice: t.Duration = Field(
        default=Duration.parse("1 d"), description="How long before the end of a Capacity Block a notice is sent."
    )
