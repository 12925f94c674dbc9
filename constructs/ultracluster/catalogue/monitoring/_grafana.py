"""Amazon Managed Grafana: regions, and Grafana versions of the dashboards."""

from __future__ import annotations

from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_MANAGED_GRAFANA = Source(
    "https://docs.aws.amazon.com/grafana/latest/userguide/what-is-Amazon-Managed-Service-Grafana.html "
    "(cfn-lint 1.58.0)",
    read_on="2026-11-21",
    verify="make facts",
)
_VERSION_UPDATE = Source(
    "https://docs.aws.amazon.com/grafana/latest/userguide/AMG-workspace-version-update.html", read_on="2026-11-21"
)
_DATA_SOURCE = Source(
    "https://docs.aws.amazon.com/grafana/latest/userguide/AMP-adding-AWS-config.html", read_on="2026-11-21"
)
_VPC = Source("https://docs.aws.amazon.com/grafana/latest/userguide/AMG-configure-vpc.html", read_on="2026-11-21")
_AUTHENTICATION = Source(
    "https://grafana.com/docs/grafana/latest/datasources/prometheus/configure/aws-authentication/ "
    "https://github.com/grafana/grafana/issues/118510",
    read_on="2026-11-21",
    as_of="2026-09-15",
)

_WORKSPACES = Source(
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-grafana-workspace.html "
    "(cfn-lint 1.58.0)",
    read_on="2026-11-28",
    verify="aws cloudformation describe-type --region REGION --type RESOURCE --type-name AWS::Grafana::Workspace",
)

#: Regions with Amazon Managed Grafana.
MANAGED_GRAFANA_REGIONS: Annotated[frozenset[str], Stated(_MANAGED_GRAFANA, columns="Regions")] = frozenset(
    {
        *("us-east-1", "us-east-2", "us-west-2", "us-gov-east-1", "us-gov-west-1"),
        *("eu-central-1", "eu-west-1", "eu-west-2"),
        *("ap-northeast-1", "ap-northeast-2", "ap-southeast-1", "ap-southeast-2"),
    }
)
#: Those of them in which CloudFormation creates a workspace: its registry has no AWS::Grafana::Workspace in GovCloud.
NEW_GRAFANA_REGIONS: Annotated[frozenset[str], Stated(_WORKSPACES, columns="Regions")] = MANAGED_GRAFANA_REGIONS - {
    "us-gov-east-1",
    "us-gov-west-1",
}

#: Version of new workspaces. An upgrade cannot be undone.
MANAGED_GRAFANA_VERSION: Annotated[str, Stated(_VERSION_UPDATE, columns="version of Grafana")] = "12.4"

#: The plugin that signs queries to Amazon Managed Service for Prometheus: from version 12 on the workspace has it, and
#: the core plugin signs no more.
AMAZON_PROMETHEUS_PLUGIN: Annotated[str, Stated(_DATA_SOURCE, columns="id of a plugin")] = (
    "grafana-amazonprometheus-datasource"
)

#: Subnets that a workspace is connected to, each in a zone of its own.
LEAST_SUBNETS: Annotated[int, Stated(_VPC, "subnets")] = 2
MOST_SUBNETS: Annotated[int, Stated(_VPC, "subnets")] = 6

#: Version of Grafana OSS on a server of one's own. Its core plugin for Prometheus still signs queries; that of 13
#: doesn't.
#: https://grafana.com/docs/grafana/latest/datasources/prometheus/configure/aws-authentication/ (read 2026-11-21)
#: 12.4.11 is the least of 12 that Grafana advises, for known weaknesses of those before:
#: https://github.com/grafana/grafana/issues/118510 (2026-09-15, read 2026-11-21). Raise it with each of its fixes.
SELF_HOSTED_VERSION: Annotated[str, Stated(_AUTHENTICATION, columns="version of Grafana")] = "12.4.11"
