"""Rules and Kubernetes collectors of a cluster file."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from ultracluster.catalogue.ec2 import interfaces
from ultracluster.clusterfile import ALERT_ROUTES, ALERT_TUNING, RULE_FILES, ClusterFile, Path, Problem
from ultracluster.monitoring._description import near_series
from ultracluster.monitoring.alerts import (
    GRAFANA,
    Route,
    Tuning,
    pagerduty,
    route_problem,
    rule_problems,
    rules,
    rules_quota_problems,
    sns,
    tuning_problems,
)
from ultracluster.monitoring.collectors import RemoteWrite, cluster_objects, node_objects, shared_objects
from ultracluster.monitoring.dashboards import cloudwatch_dashboards, dashboards, source_uid
from ultracluster.monitoring.names import Profile
from ultracluster.planning.capacity import expected_times, runs_until

# EKS's own label of a managed group: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html (read
# 2026-11-21)
_GROUP_LABEL = "eks.amazonaws.com/nodegroup"
_SYSTEM = "system"


def profile_of(cluster: ClusterFile) -> Profile | None:
    """Return the metrics profile, or None without observability."""
    section = cluster.observability
    return Profile[section.profile.upper()] if section.on else None


def cluster_dashboards(cluster: ClusterFile, *, lustre: bool) -> tuple[dict[str, str], str | None]:
    """Return the dashboards of a cluster file, by uid, and the prefix of the log groups that one of them reads.

    Args:
        cluster: Cluster file.
        lustre: Whether the cluster has a file system of FSx for Lustre.
    """
    traits = cluster.traits
    sent = traits.log_groups and (not traits.logs_add_on or traits.logs_add_on in cluster.kubernetes.requested_add_ons)
    groups = traits.log_groups.format(name=cluster.name) if sent else None
    insights = bool(traits.logs_add_on)
    boards = dashboards(logs=groups is not None, container_insights=insights)
    more = cloudwatch_dashboards(lustre=lustre, log_groups=groups, container_insights=insights)
    return {**boards, **more}, groups


def cluster_rules(cluster: ClusterFile, *, grafana: str | None = None) -> dict[str, str]:
    """Return the rule files of the cluster by name; empty without observability.

    Args:
        cluster: Cluster file.
        grafana: Address of the Grafana that the deployment creates or uses, to which alerts link unless the file names
            another. By default, the forwarded port of the self-hosted server.
    """
    profile = profile_of(cluster)
    if profile is None:
        return {}
    inventory = {(cluster.name, group): count for group, count in cluster.expected_nodes.items()}
    starts, drains, ends = _times(cluster)
    changes = _changes(cluster)
    library = rules(
        profile,
        inventory=inventory,
        starts=starts,
        drains=drains,
        ends=ends,
        runbooks=cluster.observability.alerts.runbooks,
        tuning=Tuning(**{**changes, "thresholds": {"SeriesNearQuota": near_series(cluster), **changes["thresholds"]}}),
        grafana=cluster.observability.alerts.grafana or grafana or GRAFANA,
        # A workspace may have those of several clusters, of which Grafana would choose the first by name.
        data_source=source_uid(cluster.name) if cluster.grafana == "managed" else None,
        # Another cluster may share the workspace, even one created here.
        cluster=cluster.name,
    )
    return {**library, **rule_files(cluster)}


_Times = dict[tuple[str, str], float]


def _times(cluster: ClusterFile) -> tuple[_Times, _Times, _Times]:
    """Return when the capacity of node groups starts, is drained under Slurm, and ends, in Unix time."""
    starts, drains, ends = _Times(), _Times(), _Times()
    traits = cluster.traits
    for group in cluster.node_groups:
        key = (cluster.name, group.name)
        start, end = expected_times(group.capacity)
        if start is not None:
            starts[key] = start.timestamp()
        if end is None:
            continue
        if traits.starts_by_schedule:
            # EKS, or a schedule, scales the group to zero before EC2 terminates its instances.
            end = runs_until(group.capacity) or end
        else:
            drain = cluster.notifications.drain.seconds if traits.powers_nodes_off else 0
            drains[key] = end.timestamp() - drain
        ends[key] = end.timestamp()
    return starts, drains, ends


def rule_files(cluster: ClusterFile) -> dict[str, str]:
    """Return the texts of the rule files that the cluster file names, by file name.

    Raises:
        OSError: If a file cannot be read.
    """
    return {FilePath(path).name: FilePath(path).read_text("utf-8") for path in cluster.observability.rules}


def alert_routes(cluster: ClusterFile) -> list[Route]:
    """Return the receivers of alerts by their labels, as the cluster file has them."""
    return [
        Route(
            matchers=route.matchers,
            receiver={
                **({} if route.topic is None else sns(route.topic, cluster.region)),
                **({} if route.pagerduty is None else pagerduty(route.pagerduty)),
            },
            continue_=route.continue_,
        )
        for route in cluster.observability.routes
    ]


def check_tuning(cluster: ClusterFile) -> Iterator[Problem]:
    """Yield the errors of a cluster file in changes of alerts."""
    place: Path = ("observability", "alerts")
    for key, name, message in tuning_problems(_changes(cluster)):
        yield ALERT_TUNING((*place, key.replace("_", "-"), name), message, at_key=True)


def check_rule_files(cluster: ClusterFile) -> Iterator[Problem]:
    """Yield the errors of a cluster file in its rule files."""
    problems = list(_rule_problems(cluster))
    yield from problems
    if not problems and cluster.observability.rules:
        for message in rules_quota_problems(cluster_rules(cluster)):
            yield RULE_FILES(("observability", "rules"), message)


def _rule_problems(cluster: ClusterFile) -> Iterator[Problem]:
    taken = {"recording", "alerts"}
    profile = profile_of(cluster) or Profile.FULL
    for index, path in enumerate(cluster.observability.rules):
        place: Path = ("observability", "rules", index)
        name = FilePath(path).name.removesuffix(".yaml")
        if name in taken:
            yield RULE_FILES(place, f"{name} is the name of another namespace of the workspace; rename the file")
        taken.add(name)
        try:
            text = FilePath(path).read_text("utf-8")
        except (OSError, ValueError) as error:
            yield RULE_FILES(place, f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")
        else:
            yield from (RULE_FILES(place, message) for message in rule_problems({name: text}, profile, reserved=True))


def check_routes(cluster: ClusterFile) -> Iterator[Problem]:
    """Yield the errors of a cluster file in its routes."""
    alerts = cluster.observability.alerts
    if alerts.watchdog is not None and alerts.watchdog == alerts.topic:
        text = "the topic of all alerts would get the Watchdog every five minutes; name another one"
        yield ALERT_ROUTES(("observability", "alerts", "watchdog"), text)
    for index, route in enumerate(cluster.observability.routes):
        place: Path = ("observability", "routes", index)
        for number, matcher in enumerate(route.matchers):
            if message := route_problem(matcher):
                yield ALERT_ROUTES((*place, "matchers", number), message)
            elif re.fullmatch(r'alertname ?=~? ?"Watchdog"', matcher):
                text = "the Watchdog has a receiver of its own: write observability: {alerts: {watchdog: TOPIC-ARN}}"
                yield ALERT_ROUTES((*place, "matchers", number), text)
        if route.topic is not None and route.topic.split(":")[3] != cluster.region:
            yield ALERT_ROUTES((*place, "topic"), f"the alert manager publishes to topics of {cluster.region} only")


def _changes(cluster: ClusterFile) -> dict[str, Any]:
    """Return the arguments of a `Tuning`; of a file with errors, those that are valid."""
    changes = {
        name: value
        for name, value in cluster.observability.alerts
        if name in ("off", "severity", "thresholds", "pending_period")
    }
    if "pending_period" in changes:
        changes["pending_period"] = {name: f"{period.seconds}s" for name, period in changes["pending_period"].items()}
    return changes


def collector_objects(
    cluster: ClusterFile, *, url: str, selectors: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """Return the collectors of every node group, of the system nodes, and of the cluster as a whole.

    Args:
        cluster: Cluster file.
        url: Remote write URL: the stacks' output `RemoteWriteUrl`.
        selectors: Labels of the nodes of each group, by its name.

    Returns:
        Objects; empty without observability.
    """
    profile = profile_of(cluster)
    if profile is None:
        return []
    workspace = cluster.observability.workspace
    to = RemoteWrite(region=cluster.region if workspace is None else workspace.split(":")[3], url=url)
    claims = cluster.kubernetes.gpu == "dra-driver"
    groups = [
        (
            group.name,
            group.instance_type,
            sum(interface.kind in ("efa", "efa-only") for interface in interfaces(group.instance_type, group.layout)),
            selectors[group.name],
        )
        for group in cluster.node_groups
    ]
    if cluster.service_count:
        groups.append((_SYSTEM, cluster.service_type, 0, {_GROUP_LABEL: _SYSTEM}))
    return [
        *shared_objects(),
        *(
            object
            for name, instance_type, efa, selector in groups
            for object in node_objects(
                instance_type,
                cluster=cluster.name,
                group=name,
                efa_devices=efa,
                to=to,
                selector=selector,
                profile=profile,
                claims=claims,
            )
        ),
        *cluster_objects(cluster=cluster.name, to=to, profile=profile, claims=claims),
    ]
