"""A workspace of Amazon Managed Service for Prometheus, created or imported."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

import aws_cdk as cdk
import jsii
from aws_cdk import aws_aps as l1
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.catalogue.ec2 import domain_of
from ultracluster.catalogue.monitoring import DEFINITION_BYTES, MOST_RETENTION_DAYS, RETENTION_DAYS
from ultracluster.cloudwatch import Alarms
from ultracluster.observability._checks import WORKSPACE_ID, region_problem
from ultracluster.observability._iprometheus_workspace import IPrometheusWorkspace
from ultracluster.observability._prometheus_grants import PrometheusGrants
from ultracluster.observability._prometheus_metrics import PrometheusMetrics, alarm_definitions
from ultracluster.observability._prometheus_rules import PrometheusRules
from ultracluster.planning import arn_problem, checked, known, stack_of, text_problem
from ultracluster.rules import Refusal, error, shared
from ultracluster.security import check_same_region

_RETENTION = shared("metrics-retention")
_SERIES = error("prometheus-series-limit", "The limit of a cluster allows at least one series.")
_DEFINITION = error(
    "prometheus-alert-manager",
    "Amazon Managed Service for Prometheus accepts Alertmanager's configuration in a wrapper, up to a size.",
)
_ARN = re.compile(rf"arn:aws[a-z-]*:aps:[a-z0-9-]+:\d{{12}}:workspace/{WORKSPACE_ID.pattern}", re.ASCII)
_ARN_FORM = "arn:aws:aps:REGION:ACCOUNT:workspace/ws-..."
_ALERT_MANAGER = "aps.amazonaws.com"
_ALIAS_CHARACTERS = 100


@jsii.implements(iam.IGrantable)
class _PrometheusWorkspaceBase(cdk.Resource):
    """Members of a created and of an imported workspace."""

    workspace_arn: str
    workspace_id: str
    region: str
    query_url: str
    remote_write_url: str

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The alert manager of the workspace: a service that acts for this workspace alone."""
        return self._alert_manager

    @cached_property
    def _alert_manager(self) -> iam.IPrincipal:
        return iam.ServicePrincipal(
            _ALERT_MANAGER,
            conditions={
                "StringEquals": {"aws:SourceAccount": self.env.account},
                "ArnLike": {"aws:SourceArn": self.workspace_arn},
            },
        )

    @property
    def grants(self) -> PrometheusGrants:
        """Permissions on the workspace."""
        return PrometheusGrants(self.workspace_arn)

    @property
    def metrics(self) -> PrometheusMetrics:
        """CloudWatch metrics of the workspace."""
        return PrometheusMetrics(self.workspace_id)

    @property
    def alarms(self) -> Alarms:
        """CloudWatch alarms of the workspace; `add` or `add_all` creates them."""
        return Alarms(self, alarm_definitions(self.metrics))


class PrometheusWorkspace(_PrometheusWorkspaceBase):
    """A workspace with its rules, its alert manager, its log and a limit of series for each cluster.

    By default, the workspace outlives its stack: samples are needed most after a cluster has failed.

    Args:
        alias: Display name.
        rules: Rule files, by name. Default: none.
        alert_manager: Definition of its alert manager, as `amp_definition` returns it. Default: none.
        retention_days: Days that samples are kept. Default: 150.
        series_limits: Most active series of each cluster, by the value of the label `cluster`, so that a mistake in one
            cluster does not affect the others. Samples above it are discarded, and an alarm reports it.
        key: KMS key of the samples; a workspace never changes it. Default: a key that AWS owns.
        log_retention: Retention of the log of the ruler and the alert manager. Default: three months.
        removal_policy: Policy when it leaves the stack. Default: it is retained, except when the deployment that
            creates it fails.

    Raises:
        Refusal: If a number or a text is not valid; all at once.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-aps-workspace.html
    (read 2026-11-21)
    """

    @staticmethod
    @checked
    def from_workspace_arn(scope: Construct, id: str, workspace_arn: str) -> IPrometheusWorkspace:
        """Import an existing workspace. Its alert manager, limits and log stay as they are; see `PrometheusRules`.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            workspace_arn: ARN of the workspace, or a token.

        Raises:
            Refusal: If it is not the ARN of a workspace.
        """
        problems = [
            *text_problem("workspace_arn", workspace_arn, _ARN, f"the ARN of a workspace, {_ARN_FORM}"),
            *arn_problem("workspace_arn", workspace_arn, _ARN_FORM),
        ]
        if problems:
            raise Refusal(f"{scope.node.path}/{id}", problems[0])
        imported = _PrometheusWorkspaceBase(scope, id, environment_from_arn=workspace_arn)
        parts = stack_of(scope).split_arn(workspace_arn, cdk.ArnFormat.SLASH_RESOURCE_NAME)
        imported.workspace_arn, imported.workspace_id = workspace_arn, str(parts.resource_name)
        imported.region = str(parts.region)
        imported.query_url = _url(imported.region, imported.workspace_id)
        imported.remote_write_url = f"{imported.query_url}/api/v1/remote_write"
        return imported

    @staticmethod
    @checked
    def from_workspace_attributes(
        scope: Construct, id: str, *, workspace_id: str, region: str | None = None, account: str | None = None
    ) -> IPrometheusWorkspace:
        """Import an existing workspace. Its alert manager, limits and log stay as they are; see `PrometheusRules`.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            workspace_id: Id of the workspace, `ws-...`, or a token.
            region: Region of the workspace. Default: that of the stack.
            account: Account of the workspace. Default: that of the stack.

        Raises:
            Refusal: If the id is not the id of a workspace.
        """
        problems = list(text_problem("workspace_id", workspace_id, WORKSPACE_ID, "the id of a workspace, ws-..."))
        problems += region_problem("region", region)
        if account is not None:
            problems += text_problem("account", account, r"[0-9]{12}", "an account of 12 digits")
        if problems:
            raise Refusal(f"{scope.node.path}/{id}", problems)
        arn = stack_of(scope).format_arn(
            service="aps", region=region, account=account, resource="workspace", resource_name=workspace_id
        )
        return PrometheusWorkspace.from_workspace_arn(scope, id, arn)

    @checked
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
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        limits = series_limits or {}
        problems = [*_problems(alias, alert_manager, retention_days, limits), *check_same_region(scope, {"key": key})]
        if problems:
            raise Refusal(self, problems)
        log = vended_log(self, log_retention)
        resource = l1.CfnWorkspace(
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
        resource.apply_removal_policy(removal_policy)
        self.workspace_arn = resource.attr_arn
        self.workspace_id = resource.attr_workspace_id
        self.region = stack_of(self).region
        # Not PrometheusEndpoint: AWS documents it with /api/v1/ in the resource reference, and without it in the API.
        self.query_url = _url(self.region, self.workspace_id)
        self.remote_write_url = f"{self.query_url}/api/v1/remote_write"
        PrometheusRules(self, "Rules", workspace=self, rules=rules or {})


def workspace_of(scope: Construct, workspace: IPrometheusWorkspace | str) -> IPrometheusWorkspace:
    """Return a workspace, imported if an ARN, a token of an ARN, or an id is given."""
    if not isinstance(workspace, str):
        return workspace
    if known(workspace) and not workspace.startswith("arn:"):
        return PrometheusWorkspace.from_workspace_attributes(scope, "Workspace", workspace_id=workspace)
    return PrometheusWorkspace.from_workspace_arn(scope, "Workspace", workspace)


def vended_log(scope: Construct, retention: logs.RetentionDays) -> logs.LogGroup:
    """Create the log group of a workspace or a collector.

    A log group below /aws/vendedlogs/ keeps the account's resource policy of CloudWatch Logs from growing over its
    5,120 characters. https://docs.aws.amazon.com/prometheus/latest/userguide/CW-logs.html (read 2026-11-21)
    """
    name = f"/aws/vendedlogs/prometheus/{cdk.Names.unique_resource_name(scope, max_length=100)}"
    return logs.LogGroup(
        scope, "Log", log_group_name=name, retention=retention, removal_policy=cdk.RemovalPolicy.DESTROY
    )


def query_url(arn: str) -> str:
    """Return the URL of the queries of a workspace.

    Args:
        arn: ARN of the workspace, known at synthesis.

    See: https://docs.aws.amazon.com/general/latest/gr/prometheus-service.html (read 2026-11-21)
    """
    _, _, _, region, _, resource = arn.split(":")
    return _url(region, resource.removeprefix("workspace/"))


def _url(region: str, workspace_id: str) -> str:
    domain = domain_of(region) if known(region) else cdk.Aws.URL_SUFFIX
    return f"https://aps-workspaces.{region}.{domain}/workspaces/{workspace_id}"


def _limit(cluster: str, most: int) -> l1.CfnWorkspace.LimitsPerLabelSetProperty:
    return l1.CfnWorkspace.LimitsPerLabelSetProperty(
        label_set=[l1.CfnWorkspace.LabelProperty(name="cluster", value=cluster)],
        limits=l1.CfnWorkspace.LimitsPerLabelSetEntryProperty(max_series=most),
    )


def _problems(alias: str, alert_manager: str | None, retention_days: int, limits: Mapping[str, int]) -> Iterator[str]:
    if known(alias) and not 1 <= len(alias.strip()) <= _ALIAS_CHARACTERS:
        yield f"alias must be 1 to {_ALIAS_CHARACTERS} characters, got {alias[:120]!r}"
    definition = alert_manager or ""
    if alert_manager is not None and known(definition) and "alertmanager_config:" not in definition:
        yield _DEFINITION("alert_manager must be AMP's wrapper around the configuration; amp_definition makes it")
    if not 1 <= retention_days <= MOST_RETENTION_DAYS:
        yield _RETENTION(f"retention_days must be 1 to {MOST_RETENTION_DAYS:,}, got {retention_days}")
    if (size := len(definition.encode())) > DEFINITION_BYTES:
        yield _DEFINITION(f"alert_manager must be at most {DEFINITION_BYTES:,} bytes, got {size:,}")
    if any(not cluster for cluster in limits):
        yield _SERIES("series_limits: a cluster has no name")
    for cluster, most in limits.items():
        if most < 1:
            yield _SERIES(f"series_limits: {cluster} must be allowed at least 1 series, got {most}")
