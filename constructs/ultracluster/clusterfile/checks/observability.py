"""Whether metrics, alerts and dashboards can be as the file says."""

from collections.abc import Iterator

from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections.observability import Observability
from ultracluster.hardware.grafana import MANAGED_GRAFANA_REGIONS
from ultracluster.hardware.prometheus import ACTIVE_SERIES, MOST_RETENTION_DAYS
from ultracluster.planning.series import SERIES_PER_NODE, series_at_most

_PATH: Path = ("observability",)
_DAY = 86_400


def check_observability(wish: Observability | None, *, region: str | None) -> Iterator[Problem]:
    """Everything that is wrong with the section, whatever nodes there are.

    Args:
        wish: The section. None: it could not be read.
        region: The region. None: not known, not checked.
    """
    if wish is None:
        return
    said = wish.model_fields_set
    if not wish.on:
        for key in sorted(said - {"profile"}):
            message = "there is nothing to say of it with profile: none; remove it, or the profile"
            yield Problem(path=(*_PATH, key.replace("_", "-")), at_key=True, message=message)
        return
    if wish.retention.amount % _DAY or not _DAY <= wish.retention.amount <= MOST_RETENTION_DAYS * _DAY:
        message = f"metrics are kept for whole days, 1 d to {MOST_RETENTION_DAYS} d, got {wish.retention}"
        yield Problem(path=(*_PATH, "retention"), message=message)
    yield from _check_alerts(wish)
    yield from _check_grafana(wish, region)
    if wish.workspace is not None:
        for key in sorted(said & {"retention", "series_limit"}):
            message = "a workspace of yours keeps its own; remove it, or the workspace"
            yield Problem(path=(*_PATH, key.replace("_", "-")), at_key=True, message=message)
        if wish.alerts.pagerduty is not None:
            message = "a workspace of yours keeps its own alert manager: name PagerDuty in that"
            yield Problem(path=(*_PATH, "alerts", "pagerduty"), at_key=True, message=message)


def check_series(wish: Observability | None, nodes: int) -> Iterator[Problem]:
    """Whether the series of all nodes fit.

    Args:
        wish: The section. None: it could not be read.
        nodes: All nodes, login nodes included.
    """
    if wish is None or not wish.on:
        return
    most = series_at_most(wish.profile, nodes)
    less = [profile for profile in SERIES_PER_NODE if series_at_most(profile, nodes) <= ACTIVE_SERIES]
    if most > ACTIVE_SERIES:
        message = (
            f"{nodes:,} nodes have up to {most:,} active series with {wish.profile}, and a workspace takes "
            f"{ACTIVE_SERIES:,} by default (L-5A151448); "
            + (f"take {less[-1]}" if less else "have it raised, and name the workspace")
        )
        if wish.workspace is None:
            yield Problem(path=(*_PATH, "profile"), at_key="profile" not in wish.model_fields_set, message=message)
    elif wish.series_limit is not None and wish.series_limit < most:
        message = (
            f"{nodes:,} nodes have up to {most:,} active series with profile: {wish.profile}, so samples would be "
            f"discarded; allow {most:,} or more, or take less than {wish.profile}"
        )
        yield Problem(path=(*_PATH, "series-limit"), message=message)
    elif wish.series_limit is not None and wish.series_limit > ACTIVE_SERIES:
        message = f"a workspace takes {ACTIVE_SERIES:,} series by default (L-5A151448), got {wish.series_limit:,}"
        yield Problem(path=(*_PATH, "series-limit"), message=message)


def _check_alerts(wish: Observability) -> Iterator[Problem]:
    alerts = wish.alerts
    if "alerts" in wish.model_fields_set and not alerts.model_fields_set:
        message = "says nothing; name a topic, an email, pagerduty or runbooks, or remove it"
        yield Problem(path=(*_PATH, "alerts"), at_key=True, message=message)
    if alerts.topic is not None and alerts.email is not None:
        message = "subscribe the address to your topic yourself; with a topic of yours none is made"
        yield Problem(path=(*_PATH, "alerts", "email"), message=message)


def _check_grafana(wish: Observability, region: str | None) -> Iterator[Problem]:
    grafana = wish.grafana
    for key, value in (("workspace", grafana.workspace), ("saml", grafana.saml)):
        if value is not None and grafana.kind != "managed":
            message = f"is for Amazon Managed Grafana, and kind is {grafana.kind}; write kind: managed, or remove it"
            yield Problem(path=(*_PATH, "grafana", key), at_key=True, message=message)
    if grafana.workspace is not None and grafana.saml is not None:
        message = "people sign in to a workspace of yours as it says; remove one of the two"
        yield Problem(path=(*_PATH, "grafana", "saml"), at_key=True, message=message)
    if grafana.saml is not None:
        roles = [*grafana.saml.admins, *grafana.saml.editors]
        for role in sorted({role for role in roles if roles.count(role) > 1}):
            message = f"names {role} twice; a role administers or edits, and is named once"
            yield Problem(path=(*_PATH, "grafana", "saml"), at_key=True, message=message)
    if grafana.workspace is not None and region is not None and region not in MANAGED_GRAFANA_REGIONS:
        message = f"{region} has no Amazon Managed Grafana, so no workspace of yours is there; take kind: self-hosted"
        yield Problem(path=(*_PATH, "grafana", "workspace"), message=message)
