"""Content of a workspace of Amazon Managed Grafana: data sources and dashboards."""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from ultracluster.catalogue.monitoring import AMAZON_PROMETHEUS_PLUGIN
from ultracluster.observability._checks import GRAFANA_ID, HTTPS_URL, REGION, text_problem
from ultracluster.observability._cloudwatch_access import cloudwatch_source
from ultracluster.observability._dashboards import fitted

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
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


class GrafanaContent(Construct):
    """A folder of dashboards and their data sources in a workspace, made by a custom resource.

    CloudFormation knows neither (2026-11-21). The handler makes a service account, uses a token of it and deletes both,
    all within one invocation: no token is stored, returned or logged. An update changes what changed and removes what
    is gone; a deletion removes the folder and the data sources, and leaves what is yours.

    Args:
        name: Name of the cluster, which the folder and the data sources are called after.
        workspace_id: Id of the workspace, `g-...`; version 12 of Grafana or a later one.
        dashboards: JSON of each dashboard, by its uid. The uids must be free in the workspace.
        query_url: Where the data source queries: `PrometheusWorkspace.query_url`.
        region: Region of that.
        cloudwatch_region: Region whose metrics of CloudWatch are a data source too, for `lustre_dashboards`; then
            `CloudWatchGrants.read(grafana)`. Default: no such data source.

    Raises:
        ValueError: When something is no dashboard, or no name, id, address or region; all at once.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        workspace_id: str,
        dashboards: Mapping[str, str],
        query_url: str,
        region: str,
        cloudwatch_region: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        problems = [
            *text_problem("name", name, _NAME, "1 to 100 letters, digits, dots, hyphens and underscores"),
            *text_problem("workspace_id", workspace_id, GRAFANA_ID, "the id of a workspace, such as g-0123456789"),
            *text_problem("query_url", query_url, HTTPS_URL, "an address that begins with https://"),
            *text_problem("region", region, REGION, "a region such as us-east-2"),
        ]
        if cloudwatch_region is not None:
            problems += text_problem("cloudwatch_region", cloudwatch_region, REGION, "a region such as us-east-2")
        try:
            files = fitted(dashboards, AMAZON_PROMETHEUS_PLUGIN)
        except ValueError as error:
            problems.append(str(error))
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        stack = cdk.Stack.of(self)
        short = name if len(name) <= 27 else _checksum(name)[:27]
        #: Uid of the folder and of the data source: 40 characters at most.
        self.uid = f"ultracluster-{short}"
        sources = [_data_source(self.uid, name, query_url, region)]
        if cloudwatch_region is not None:
            uid = f"cloudwatch-{short}"
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
                iam.PolicyStatement(
                    actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log.log_group_arn]
                ),
            ],
        )
        with tempfile.TemporaryDirectory() as folder:
            code = s3_assets.Asset(self, "Code", path=_write(Path(folder), files))
        # L1, because the L2 says twice that it depends on its role, which cfn-lint minds.
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
        # What it may do goes after it: it has to clean up.
        function.node.add_dependency(policy)
        self.resource = cdk.CustomResource(
            self,
            "Resource",
            resource_type="Custom::GrafanaContent",
            service_token=function.attr_arn,
            # CloudFormation would wait for an hour if the function died.
            service_timeout=cdk.Duration.minutes(15),
            properties={
                "WorkspaceId": workspace_id,
                "Folder": self.uid,
                "Title": f"Cluster {name}",
                "DataSources": stack.to_json_string(sources),
                "Content": _checksum(*(part for pair in sorted(files.items()) for part in pair)),
            },
        )


def _data_source(uid: str, name: str, query_url: str, region: str) -> Mapping[str, object]:
    # https://grafana.com/docs/plugins/grafana-amazonprometheus-datasource/latest/ (read 2026-11-21)
    return {
        "uid": uid,
        "name": f"Prometheus of {name}",
        "type": AMAZON_PROMETHEUS_PLUGIN,
        "access": "proxy",
        "url": query_url,
        "jsonData": {
            "httpMethod": "POST",
            "sigV4Auth": True,
            "sigV4AuthType": "workspace-iam-role",
            "sigV4Region": region,
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
