"""Content of a workspace of Amazon Managed Grafana: data sources and dashboards."""

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.catalogue.monitoring import AMAZON_PROMETHEUS_PLUGIN
from ultracluster.monitoring.dashboards import source_uid
from ultracluster.observability._checks import region_problem
from ultracluster.observability._cloudwatch_access import cloudwatch_source
from ultracluster.observability._dashboards import dashboard_problems, fitted
from ultracluster.observability._grafana_workspace import IGrafanaWorkspace, grafana_of
from ultracluster.observability._iprometheus_workspace import IPrometheusWorkspace
from ultracluster.observability._prometheus_workspace import workspace_of
from ultracluster.planning import checked, text_problem
from ultracluster.rules import Refusal, error

_HANDLER = Path(__file__).parent / "grafana_content"
# Below the life of the token.
_TIMEOUT_S = 600
_FILES = ("grafana_content.py", "grafana_http.py", "cdk-rehearsal-handler.json")
# All that the handler calls; each takes the workspace as its resource.
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonmanagedgrafana.html (read 2026-11-21)
_ACTIONS = (
    "grafana:CreateWorkspaceServiceAccount",
    "grafana:CreateWorkspaceServiceAccountToken",
    "grafana:DeleteWorkspaceServiceAccount",
    "grafana:DeleteWorkspaceServiceAccountToken",
    "grafana:DescribeWorkspace",
    "grafana:ListWorkspaceServiceAccounts",
)
# Those of AWSGrafanaWorkspacePermissionManagementV2 beside the workspace's own; they take no resource.
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSGrafanaWorkspacePermissionManagementV2.html (read
# 2026-11-23)
_IDENTITY_ACTIONS = (
    "sso-directory:DescribeGroup",
    "sso-directory:DescribeUser",
    "sso:DescribeRegisteredRegions",
    "sso:GetManagedApplicationInstance",
    "sso:GetProfile",
    "sso:GetSharedSsoConfiguration",
    "sso:ListDirectoryAssociations",
    "sso:ListProfileAssociations",
    "sso:ListProfiles",
)
_ROLES = ("admin", "editor", "viewer")
_ROLE = error("grafana-roles", "A user or group has one role in Grafana.")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


class GrafanaContent(Construct):
    """A folder of dashboards and their data sources in a workspace, created by a custom resource.

    CloudFormation supports neither (2026-11-21). The handler creates a service account, uses a token of it and deletes
    both, all within one invocation: no token is stored, returned or logged. An update changes what changed and removes
    what is gone; a deletion removes the folder and the data sources, and nothing else.

    Args:
        name: Name of the cluster, which the folder and the data sources are named after.
        grafana: Grafana workspace or its id, `g-...`; version 12 of Grafana or later. Its role must be allowed to
            query: `workspace.grants.query(grafana)`.
        workspace: Prometheus workspace, its ARN or its id, as the data source.
        dashboards: JSON of each dashboard, by its uid. The uids must be free in the workspace.
        cloudwatch_region: Region whose metrics of CloudWatch are a data source too, for `cloudwatch_dashboards`; then
            `CloudWatchGrants.read(grafana)`. Default: no such data source.
        users: Role of each user of IAM Identity Center, by id: admin, editor or viewer. Default: users are assigned
            elsewhere.
        groups: The same of groups.

    Raises:
        Refusal: If a dashboard, the name, an id, a role or a region is not valid; all at once.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        grafana: IGrafanaWorkspace | str,
        workspace: IPrometheusWorkspace | str,
        dashboards: Mapping[str, str],
        cloudwatch_region: str | None = None,
        users: Mapping[str, str] | None = None,
        groups: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        problems = [
            *text_problem("name", name, _NAME, "1 to 100 letters, digits, dots, hyphens and underscores"),
            *region_problem("cloudwatch_region", cloudwatch_region),
            *dashboard_problems(dashboards),
            *(
                _ROLE(f"{key}: {identity} must be one of {', '.join(_ROLES)}, got {role!r}")
                for key, members in (("users", users), ("groups", groups))
                for identity, role in (members or {}).items()
                if role not in _ROLES
            ),
        ]
        if problems:
            raise Refusal(self, problems)
        members = _members(SSO_USER=users or {}, SSO_GROUP=groups or {})
        workspace_id = grafana_of(self, grafana).workspace_id
        source = workspace_of(self, workspace)
        files = fitted(dashboards, AMAZON_PROMETHEUS_PLUGIN)
        stack = cdk.Stack.of(self)
        #: Uid of the folder and of the data source.
        self.uid = source_uid(name)
        sources = [_data_source(self.uid, name, source)]
        if cloudwatch_region is not None:
            uid = source_uid(name, "cloudwatch")
            sources.append(cloudwatch_source(uid, f"CloudWatch of {name}", cloudwatch_region, "ec2_iam_role"))
        log = logs.LogGroup(
            self, "Log", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        role = iam.Role(
            self,
            "Role",
            description=f"Fills the Grafana workspace of {name}",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        arn = stack.format_arn(service="grafana", resource="/workspaces", resource_name=workspace_id)
        policy = iam.Policy(
            self,
            "Policy",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=list(_ACTIONS), resources=[arn]),
                *(_permissions(arn) if members else ()),
                iam.PolicyStatement(
                    actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log.log_group_arn]
                ),
            ],
        )
        if members:
            reason = "the actions of IAM Identity Center have no resource-level permission"
            cdk.Validations.of(policy).acknowledge(
                cdk.Acknowledgment(id="AwsSolutions-IAM5[Resource::*]", reason=reason)
            )
        # Only Amazon Managed Grafana needs these modules, which are slow to import.
        from aws_cdk import aws_lambda as lambda_
        from aws_cdk import aws_s3_assets as s3_assets

        with tempfile.TemporaryDirectory() as folder:
            code = s3_assets.Asset(self, "Code", path=_write(Path(folder), files))
        # L1: the L2 depends on its role twice, which cfn-lint reports.
        function = lambda_.CfnFunction(
            self,
            "Function",
            description=f"Fills the Grafana workspace of {name}",
            runtime=lambda_.Runtime.PYTHON_3_14.name,
            architectures=["arm64"],
            handler="grafana_content.handle",
            code=lambda_.CfnFunction.CodeProperty(s3_bucket=code.s3_bucket_name, s3_key=code.s3_object_key),
            role=role.role_arn,
            logging_config=lambda_.CfnFunction.LoggingConfigProperty(log_group=log.log_group_name),
            memory_size=256,
            timeout=_TIMEOUT_S,
        )
        # The policy is deleted after it, because a deletion needs the permissions.
        function.node.add_dependency(policy)
        self.resource = cdk.CustomResource(
            self,
            "Resource",
            resource_type="Custom::GrafanaContent",
            service_token=function.attr_arn,
            # CloudFormation would wait for an hour if the function failed.
            service_timeout=cdk.Duration.minutes(15),
            properties={
                "WorkspaceId": workspace_id,
                "Folder": self.uid,
                "Title": f"Cluster {name}",
                "DataSources": stack.to_json_string(sources),
                **({"Members": json.dumps(members)} if members else {}),
                "Content": _checksum(*(part for pair in sorted(files.items()) for part in pair)),
            },
        )


def _members(**kinds: Mapping[str, str]) -> dict[str, str]:
    """Return the roles by kind and id, as the API names them."""
    return {f"{kind}/{id}": role.upper() for kind, roles in kinds.items() for id, role in sorted(roles.items())}


def _permissions(arn: str) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(actions=["grafana:UpdatePermissions"], resources=[arn]),
        iam.PolicyStatement(actions=list(_IDENTITY_ACTIONS), resources=["*"]),
    ]


def _data_source(uid: str, name: str, workspace: IPrometheusWorkspace) -> Mapping[str, object]:
    # `ec2_iam_role` is the role of the workspace, as in the data sources that Managed Grafana provisions. The plugin
    # refuses `workspace-iam-role` of some examples: https://github.com/grafana/grafana-aws-sdk, pkg/awsauth/auth.go
    # (v1.5.2), https://grafana.com/docs/plugins/grafana-amazonprometheus-datasource/latest/configure/ (read 2026-11-27)
    return {
        "uid": uid,
        "name": f"Prometheus of {name}",
        "type": AMAZON_PROMETHEUS_PLUGIN,
        "access": "proxy",
        "url": workspace.query_url,
        "jsonData": {
            "httpMethod": "POST",
            "sigV4Auth": True,
            "sigV4AuthType": "ec2_iam_role",
            "sigV4Region": workspace.region,
            "timeInterval": "30s",
        },
    }


def _write(folder: Path, dashboards: Mapping[str, str]) -> str:
    for name in _FILES:
        shutil.copyfile(_HANDLER / name, folder / name)
    (folder / "dashboards").mkdir()
    for uid, text in dashboards.items():
        (folder / "dashboards" / f"{uid}.json").write_text(text, encoding="utf-8", newline="\n")
    return str(folder)


def _checksum(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
