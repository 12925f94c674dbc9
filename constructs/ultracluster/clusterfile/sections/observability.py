"""The section on metrics, alerts and dashboards, as its keys stand in a cluster file."""

from pydantic import Field

from ultracluster.clusterfile.quantities import Duration
from ultracluster.clusterfile.sections.section import Section
from ultracluster.clusterfile.types import observability as o
from ultracluster.clusterfile.types import values as t
from ultracluster.hardware.prometheus import RETENTION_DAYS


class Saml(Section):
    """How people sign in to Amazon Managed Grafana by SAML 2.0."""

    metadata: o.HttpsUrl = Field(description="Where the identity provider publishes its metadata.")
    role_attribute: o.SamlText = Field(default="role", description="Attribute that holds a person's roles.")
    admins: tuple[o.SamlText, ...] = Field(min_length=1, description="Roles that administer Grafana.")
    editors: tuple[o.SamlText, ...] = Field(default=(), description="Roles that edit. Everybody else views.")


class Grafana(Section):
    """Where dashboards are looked at."""

    kind: o.GrafanaKind = Field(
        default="self-hosted",
        description="self-hosted: a small server in the cluster's network, reached by Session Manager. managed: Amazon "
        "Managed Grafana, which needs IAM Identity Center or SAML. none.",
    )
    workspace: o.GrafanaWorkspaceId | None = Field(
        default=None, description="A workspace of yours in the region, with `managed`. Default: one is made."
    )
    saml: Saml | None = Field(
        default=None, description="How people sign in, with `managed`. Default: by IAM Identity Center."
    )


class Alerts(Section):
    """Who hears of alerts. Each that is named hears of all, except that PagerDuty gets what is critical."""

    topic: t.TopicArn | None = Field(
        default=None,
        description="SNS topic of yours, which lets aps.amazonaws.com and cloudwatch.amazonaws.com publish. Default: "
        "one is made.",
    )
    email: t.Email | None = Field(
        default=None, description="Address that is subscribed to the topic that is made, and has to confirm it."
    )
    pagerduty: o.SecretArn | None = Field(
        default=None,
        description="Secret with a routing key of PagerDuty under `routing_key`, which lets aps.amazonaws.com read it. "
        "Default: PagerDuty hears of nothing.",
    )
    runbooks: o.RunbooksUrl | None = Field(
        default=None,
        description="Where you publish docs/runbooks: each alert carries this address, a slash, its name and `.md`. "
        "Default: the path in the repository.",
    )


class Observability(Section):
    """Metrics, alerts and dashboards."""

    profile: o.MetricsProfile = Field(
        default="standard", description="How much is collected: basic, standard, full; none: nothing is made."
    )
    retention: t.Duration = Field(
        default=Duration.parse(f"{RETENTION_DAYS} d"), description="For how long metrics are kept, 1 d to 1095 d."
    )
    workspace: o.PrometheusWorkspaceArn | None = Field(
        default=None,
        description="A workspace of Amazon Managed Service for Prometheus of yours, which keeps its own alert manager. "
        "Default: one is made.",
    )
    series_limit: t.Count | None = Field(
        default=None,
        description="Active series that the cluster may have; samples of more are discarded. Default: three times what "
        "its nodes should have.",
    )
    vpc_endpoint: t.Flag = Field(
        default=False, description="An endpoint to Prometheus in the VPC, for nodes without another way out."
    )
    grafana: Grafana = Field(default=Grafana(), description="Where dashboards are looked at.")
    alerts: Alerts = Field(default=Alerts(), description="Who hears of alerts.")

    @property
    def on(self) -> bool:
        """Whether anything is made."""
        return self.profile != "none"
