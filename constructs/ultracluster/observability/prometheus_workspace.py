"""A workspace of Amazon Managed Service for Prometheus, made or brought."""

import re
from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_aps as l1
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.hardware.partitions import domain_of, partition_problem
from ultracluster.hardware.prometheus import DEFINITION_BYTES, MOST_RETENTION_DAYS, RETENTION_DAYS
from ultracluster.observability.checks import known
from ultracluster.observability.prometheus_access import PrometheusGrants
from ultracluster.observability.rule_groups import RuleGroups

#: ARN of a workspace.
WORKSPACE_ARN = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):aps:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):"
    r"workspace/(?P<id>ws-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    re.ASCII,
)
_ALIAS_CHARACTERS = 100


class PrometheusWorkspace(Construct):
    """A workspace with its rules, its alert manager, its log and a limit of series for each cluster.

    The workspace goes with its stack, and the samples with it: give `removal_policy` to keep them.

    Args:
        alias: Name that people see.
        rules: Rule files, by name. Default: none.
        alert_manager: The definition of its alert manager, as `alert_manager_definition` writes it. Default: none.
        retention_days: For how long samples are kept. Default: 150 days.
        series_limits: Active series that each cluster may have at most, by the value of the label `cluster`: a fuse, so
            that one cluster's mistake is no other's outage. Samples beyond it are discarded, and an alarm says so.
        key: Key of yours for the samples; a workspace never changes it. Default: one that AWS owns.
        log_retention: How long the log of the ruler and the alert manager is kept. Default: three months.
        removal_policy: What becomes of it when it leaves the stack. Default: it is deleted.

    Raises:
        ValueError: When a number or a text is not what the service takes; all at once.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-aps-workspace.html
    (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        alias: str,
        rules: Mapping[str, str] | None = None,
        alert_manager: str | None = None,
        retention_days: int = RETENTION_DAYS,
        series_limits: Mapping[str, int] | None = None,
        key: kms.IKey | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.DESTROY,
    ) -> None:
        super().__init__(scope, id)
        limits = series_limits or {}
        problems = list(_problems(alias, alert_manager, retention_days, limits))
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        # A log group below /aws/vendedlogs/ keeps the account's resource policy of CloudWatch Logs from growing over
        # its 5,120 characters. https://docs.aws.amazon.com/prometheus/latest/userguide/CW-logs.html (read 2026-11-21)
        name = f"/aws/vendedlogs/prometheus/{cdk.Names.unique_resource_name(self, max_length=100)}"
        log = logs.LogGroup(
            self, "Log", log_group_name=name, retention=log_retention, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        self.resource = l1.CfnWorkspace(
            self,
            "Resource",
            alias=alias,
            alert_manager_definition=alert_manager,
            kms_key_arn=None if key is None else key.key_arn,
            logging_configuration=l1.CfnWorkspace.LoggingConfigurationProperty(log_group_arn=log.log_group_arn),
            workspace_configuration=l1.CfnWorkspace.WorkspaceConfigurationProperty(
                retention_period_in_days=retention_days,
                limits_per_label_sets=[_limit(cluster, most) for cluster, most in sorted(limits.items())] or None,
            ),
        )
        self.resource.apply_removal_policy(removal_policy)
        #: ARN of the workspace.
        self.arn: str = self.resource.attr_arn
        #: Its id, `ws-...`.
        self.workspace_id: str = self.resource.attr_workspace_id
        #: Its region.
        self.region: str = cdk.Stack.of(self).region
        #: Where queries go.
        self.query_url: str = _without_slash(self.resource.attr_prometheus_endpoint)
        #: Where samples go.
        self.remote_write_url: str = f"{self.resource.attr_prometheus_endpoint}api/v1/remote_write"
        #: Who may use it.
        self.grants = PrometheusGrants(self, self.arn)
        RuleGroups(self, "Rules", workspace_arn=self.arn, rules=rules or {})


class ExistingPrometheusWorkspace(Construct):
    """A workspace of yours. It gets rules beside its own; its alert manager, its limits and its log stay yours.

    Args:
        arn: Its ARN. In another region or account than the stack's it gets no rules: CloudFormation makes them in its
            own alone.
        rules: Rule files, by name; each is a namespace whose name must be free. Default: none.

    Raises:
        ValueError: When it is no ARN of a workspace, or of one that rules can't be written to.
    """

    def __init__(self, scope: Construct, id: str, *, arn: str, rules: Mapping[str, str] | None = None) -> None:
        super().__init__(scope, id)
        match = WORKSPACE_ARN.fullmatch(arn)
        if match is None:
            raise ValueError(
                f"{self.node.path}: arn must be that of a workspace, arn:aws:aps:REGION:ACCOUNT:workspace/ws-..., "
                f"got {arn[:120]!r}"
            )
        stack = cdk.Stack.of(self)
        wrong = partition_problem(arn)
        problems = [] if wrong is None else [f"arn {wrong}"]
        problems += [
            f"the workspace is in the {what} {there}, and rules are written in the stack's, {here}; make this one in a "
            "stack there, or give no rules"
            for what, here, there in (
                ("region", stack.region, match["region"]),
                ("account", stack.account, match["account"]),
            )
            if rules and here != there and known(here)
        ]
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        #: ARN of the workspace.
        self.arn = arn
        #: Its id, `ws-...`.
        self.workspace_id: str = match["id"]
        #: Its region.
        self.region: str = match["region"]
        #: Where queries go.
        self.query_url = query_url(arn)
        #: Where samples go.
        self.remote_write_url = f"{self.query_url}/api/v1/remote_write"
        #: Who may use it.
        self.grants = PrometheusGrants(self, arn)
        RuleGroups(self, "Rules", workspace_arn=arn, rules=rules or {})


def query_url(arn: str) -> str:
    """Where queries of a workspace go, by its ARN.

    See: https://docs.aws.amazon.com/general/latest/gr/prometheus-service.html (read 2026-11-21)
    """
    _, _, _, region, _, resource = arn.split(":")
    return f"https://aps-workspaces.{region}.{domain_of(region)}/workspaces/{resource.removeprefix('workspace/')}"


def _limit(cluster: str, most: int) -> l1.CfnWorkspace.LimitsPerLabelSetProperty:
    return l1.CfnWorkspace.LimitsPerLabelSetProperty(
        label_set=[l1.CfnWorkspace.LabelProperty(name="cluster", value=cluster)],
        limits=l1.CfnWorkspace.LimitsPerLabelSetEntryProperty(max_series=most),
    )


def _without_slash(endpoint: str) -> str:
    # Only a deployment knows the endpoint, which ends in a slash.
    return cdk.Fn.select(0, cdk.Fn.split("/api/v1/", f"{endpoint}api/v1/"))


def _problems(alias: str, alert_manager: str | None, retention_days: int, limits: Mapping[str, int]) -> list[str]:
    problems = []
    if known(alias) and not 1 <= len(alias.strip()) <= _ALIAS_CHARACTERS:
        problems.append(f"alias must be 1 to {_ALIAS_CHARACTERS} characters, got {alias[:120]!r}")
    if alert_manager is not None and known(alert_manager) and "alertmanager_config:" not in alert_manager:
        problems.append("alert_manager must be AMP's wrapper around the configuration; amp_definition makes it")
    if not 1 <= retention_days <= MOST_RETENTION_DAYS:
        problems.append(f"retention_days must be 1 to {MOST_RETENTION_DAYS:,}, got {retention_days}")
    if len((alert_manager or "").encode()) > DEFINITION_BYTES:
        problems.append(f"alert_manager must be at most {DEFINITION_BYTES:,} bytes, got {len(alert_manager or ''):,}")
    if any(not cluster for cluster in limits):
        problems.append("series_limits: a cluster has no name")
    problems += [
        f"series_limits: {cluster} must be allowed at least 1 series, got {most}"
        for cluster, most in limits.items()
        if most < 1
    ]
    return problems
