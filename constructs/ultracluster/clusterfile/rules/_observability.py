"""Rules of metrics, alerts and dashboards."""

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from ultracluster.catalogue.monitoring import (
    ACTIVE_SERIES,
    MANAGED_GRAFANA_REGIONS,
    MOST_RETENTION_DAYS,
    WITHOUT_PROMETHEUS,
)
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import Rule, error, shared, warning
from ultracluster.clusterfile.sections._observability import Alerts, Notifications, Observability
from ultracluster.planning.workload import (
    SERIES_PER_NODE,
    Use,
    alerts_use,
    quota_request,
    rules_use,
    series_at_most,
    uses,
)

_GRAFANA_PRIVATE = warning("grafana-private", "Nodes have no internet access to install Grafana, so none is created.")
_NO_MANAGED_GRAFANA = warning(
    "grafana-region", "CloudFormation has no Amazon Managed Grafana in the Region, so Grafana is self-hosted."
)
_ALERTS_WITHOUT_SUBSCRIPTION = warning(
    "alerts-without-subscription", "The topic of the alerts has no subscription in the file."
)
_ALERT_MANAGER = warning("alert-manager", "An existing workspace has its own alert manager, which is not changed.")
_OFF = error("observability-off", "Without metrics the other keys have no effect.")
_RETENTION = shared("metrics-retention")
_EXISTING = error("workspace-existing", "An existing workspace keeps its own retention, limit and alert manager.")
_QUOTA = error(
    "metrics-quota",
    "Amazon Managed Service for Prometheus has quotas of active series and samples for a workspace.",
    acceptable=True,
)
_QUOTA_NEAR = warning(
    "metrics-quota-near", "A workspace near its quota discards samples, rules or alerts when the cluster grows."
)
_SHARED_ENDPOINT = warning(
    "vpc-endpoint-shared",
    "The private DNS name of a VPC endpoint is for the whole VPC, and a VPC has one for a service.",
)
# As a part of the quota: two thirds.
_NEAR = 1.5
_SERIES = error("metrics-series-limit", "A limit below the series of the nodes discards samples.")
ALERT_TUNING = error("alerts-tuning", "Only alerts of the library can be changed, and only what they have.")
RULE_FILES = error("observability-rules", "A workspace must be able to load the rule files.")
ALERT_ROUTES = error("observability-routes", "The alert manager must be able to use a route.")
_EMPTY = error("alerts-empty", "An empty section has no effect.")
_TOPIC_AND_EMAIL = error("topic-and-email", "An existing topic keeps its own subscriptions.")
_GRAFANA = error("grafana-kind", "`workspace`, `saml`, `users` and `groups` configure Amazon Managed Grafana.")
_SAML = error("grafana-saml", "A role has one permission, and a workspace one way to sign in.")
_GRAFANA_REGION = error(
    "grafana-workspace-region", "Amazon Managed Grafana is not available in every Region.", acceptable=True
)

_PROMETHEUS_REGION = error(
    "prometheus-region",
    "Amazon Managed Service for Prometheus is not available in every Region.",
    acceptable=True,
)

_PATH: Path = ("observability",)


def check_observability(draft: Draft) -> Iterator[Problem]:
    """Check the section, except the number of series."""
    requested = draft.observability
    if not requested.on:
        for key in sorted(requested.model_fields_set - {"profile"}):
            message = "has no effect with profile: none; remove it, or the profile"
            yield _OFF((*_PATH, key.replace("_", "-")), message, at_key=True)
        return
    region = valid(lambda: draft.region)
    if region in WITHOUT_PROMETHEUS:
        message = (
            f"{region} has no Amazon Managed Service for Prometheus (read 2026-11-27), which stores the metrics; write "
            "observability: {profile: none}"
        )
        yield _PROMETHEUS_REGION((*_PATH, "profile"), message, at_key="profile" not in requested.model_fields_set)
    yield from _RETENTION.of_days((*_PATH, "retention"), "metrics", requested.retention, MOST_RETENTION_DAYS)
    yield from _check_alerts(requested)
    yield from _check_grafana(requested, region)
    if requested.workspace is not None:
        for key in sorted(requested.model_fields_set & {"retention", "series_limit"}):
            message = "an existing workspace keeps its own; remove it, or the workspace"
            yield _EXISTING((*_PATH, key.replace("_", "-")), message, at_key=True)
        if requested.routes:
            message = "an existing workspace keeps its own alert manager: add the routes to that"
            yield _EXISTING((*_PATH, "routes"), message, at_key=True)
        for key, receiver in (("pagerduty", "PagerDuty"), ("watchdog", "the topic")):
            if getattr(requested.alerts, key) is not None:
                message = f"an existing workspace keeps its own alert manager: name {receiver} in that"
                yield _EXISTING((*_PATH, "alerts", key), message, at_key=True)


def check_series(requested: Observability, nodes: int) -> Iterator[Problem]:
    """Check that the limit of series allows those of all nodes."""
    if not requested.on:
        return
    most = series_at_most(requested.profile, nodes)
    less = [profile for profile in SERIES_PER_NODE if not any(use.most > use.quota for use in uses(profile, nodes))]
    above = [use for use in uses(requested.profile, nodes) if use.most > use.quota]
    if above:
        requests = [quota_request(use.code, use.most) for use in above]
        message = (
            f"{nodes:,} nodes have up to "
            + " and ".join(f"{use.most:,} {use.what}" for use in above)
            + f" with {requested.profile}, and a workspace supports "
            + " and ".join(f"{use.quota:,} ({use.code})" for use in above)
            + " by default; "
            + (f"use {less[-1]}, or " if less else "")
            + f"name a workspace whose quota is raised: {'; '.join(requests)}"
        )
        if requested.workspace is None:
            yield _QUOTA((*_PATH, "profile"), message, at_key="profile" not in requested.model_fields_set)
    elif requested.series_limit is not None and requested.series_limit < most:
        message = (
            f"{nodes:,} nodes have up to {most:,} active series with profile: {requested.profile}, so samples would be "
            f"discarded; allow {most:,} or more, or use less than {requested.profile}"
        )
        yield _SERIES((*_PATH, "series-limit"), message)
    elif requested.series_limit is not None and requested.series_limit > ACTIVE_SERIES:
        message = (
            f"a workspace supports {ACTIVE_SERIES:,} active series by default (L-5A151448), got "
            f"{requested.series_limit:,}"
        )
        yield _QUOTA((*_PATH, "series-limit"), message)


def _check_alerts(requested: Observability) -> Iterator[Problem]:
    alerts = requested.alerts
    # A section with a misspelt key is not equal: it lacks what that key may mean.
    if "alerts" in requested.model_fields_set and not alerts.model_fields_set and alerts == Alerts():
        message = "has no keys; name a topic, an email, pagerduty, runbooks or changes of alerts, or remove it"
        yield _EMPTY((*_PATH, "alerts"), message, at_key=True)
    yield from check_receivers((*_PATH, "alerts"), alerts)


def check_receivers(path: Path, receivers: Alerts | Notifications) -> Iterator[Problem]:
    """Check that an address is subscribed to a new topic only."""
    if receivers.topic is not None and receivers.email is not None:
        message = "an existing topic keeps its subscriptions: subscribe the address to it, and remove this"
        yield _TOPIC_AND_EMAIL((*path, "email"), message)


def _check_grafana(requested: Observability, region: str | None) -> Iterator[Problem]:
    grafana = requested.grafana
    for key in ("workspace", "saml", "users", "groups"):
        if getattr(grafana, key) and grafana.kind != "managed":
            message = f"is for Amazon Managed Grafana, and kind is {grafana.kind}; write kind: managed, or remove it"
            yield _GRAFANA((*_PATH, "grafana", key), message, at_key=True)
    if grafana.workspace is not None and grafana.saml is not None:
        message = "people sign in to an existing workspace as it is configured; remove one of the two"
        yield _SAML((*_PATH, "grafana", "saml"), message, at_key=True)
    for key in ("users", "groups"):
        if getattr(grafana, key) and grafana.saml is not None:
            message = (
                "are of IAM Identity Center, and people sign in by SAML, which has their roles; remove one of the two"
            )
            yield _SAML((*_PATH, "grafana", key), message, at_key=True)
    if grafana.saml is not None:
        roles = [*grafana.saml.admins, *grafana.saml.editors]
        for role in sorted({role for role in roles if roles.count(role) > 1}):
            message = f"names {role} twice; a role administers or edits, and is named once"
            yield _SAML((*_PATH, "grafana", "saml"), message, at_key=True)
    if grafana.workspace is not None and region is not None and region not in MANAGED_GRAFANA_REGIONS:
        message = f"{region} has no Amazon Managed Grafana, so no workspace exists there; use kind: self-hosted"
        yield _GRAFANA_REGION((*_PATH, "grafana", "workspace"), message)


def _uses(cluster: ClusterFile) -> tuple[Use, ...]:
    """Return what the cluster may use of the quotas of its workspace."""
    requested = cluster.observability
    added = [rule for path in requested.rules for rule in _rules_in(path)]
    return (
        *uses(requested.profile, cluster.instances),
        rules_use(len(cluster.node_groups), len(added)),
        alerts_use(cluster.instances, sum("alert" in rule for rule in added), shared=requested.workspace is not None),
    )


def _rules_in(path: str) -> Iterator[dict[str, Any]]:
    from ruamel.yaml import YAML

    for group in YAML(typ="safe").load(FilePath(path).read_text("utf-8"))["groups"]:
        yield from group.get("rules") or ()


def warn_observability(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    requested = cluster.observability
    if not requested.on:
        return
    for use in _uses(cluster):
        if use.most * _NEAR > use.quota:
            yield (
                _QUOTA_NEAR,
                f"the cluster may have {use.most:,} {use.what} of the {use.quota:,} of a workspace ({use.code}). "
                f"Before it grows: {quota_request(use.code, 2 * use.most)}",
            )
    if requested.grafana.kind != "none" and cluster.grafana == "none":
        yield (
            _GRAFANA_PRIVATE,
            "no Grafana is created: the self-hosted server installs it from the internet, which it cannot reach. Write "
            "grafana: {kind: none} if that is right, or kind: managed where the Region has it",
        )
    elif requested.grafana.kind == "managed" and cluster.grafana != "managed":
        yield (
            _NO_MANAGED_GRAFANA,
            f"CloudFormation has no Amazon Managed Grafana in {cluster.region}, so a self-hosted server shows the "
            "dashboards; write grafana: {kind: self-hosted} if that is right",
        )
    if requested.vpc_endpoint and cluster.network.existing is not None:
        yield (
            _SHARED_ENDPOINT,
            f"the endpoint of Prometheus answers for all of {cluster.network.existing.vpc}, and admits this cluster's "
            "nodes only: others in the VPC lose Amazon Managed Service for Prometheus, and a second endpoint with "
            "private DNS fails. Remove vpc-endpoint if anything else in the VPC uses the service, or has its endpoint",
        )
    alerts = requested.alerts
    if requested.workspace is None and alerts.topic is None and alerts.email is None:
        pager = (
            ""
            if alerts.pagerduty is None
            else ". PagerDuty gets critical alerts alone, neither warnings nor alarms of CloudWatch, such as that on a "
            "monitoring that sends nothing"
        )
        yield (
            _ALERTS_WITHOUT_SUBSCRIPTION,
            f"the topic of the alerts has no subscription{pager}; write observability: {{alerts: {{email: ...}}}}, or "
            "name an existing topic",
        )
    if requested.workspace is not None:
        yield (
            _ALERT_MANAGER,
            f"{requested.workspace.rpartition('/')[2]} gets the rules, and its own alert manager selects the "
            "receivers of alerts; it must have a receiver for each value of the label severity",
        )
