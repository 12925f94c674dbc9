"""Managed collector of Amazon Managed Service for Prometheus, for an EKS cluster or a VPC."""

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Protocol

import aws_cdk as cdk
from aws_cdk import aws_aps as l1
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.catalogue.monitoring import SCRAPER_SUBNETS
from ultracluster.network import check_same_vpc
from ultracluster.observability._iprometheus_workspace import IPrometheusWorkspace
from ultracluster.observability._prometheus_workspace import vended_log, workspace_of
from ultracluster.planning import arn_problem, checked, known, text_problem
from ultracluster.rules import Refusal, error

_SUBNETS = error("prometheus-scraper-network", "A managed collector needs subnets in two zones and a security group.")
_CONFIGURATION = error("prometheus-scrape-configuration", "A managed collector accepts a configuration of Prometheus.")

# https://docs.aws.amazon.com/prometheus/latest/APIReference/API_CreateScraper.html (read 2026-11-21)
_ALIAS = re.compile(r"[0-9A-Za-z][-.0-9A-Z_a-z]{0,99}", re.ASCII)


class _EksCluster(Protocol):
    """An EKS cluster of the CDK (`aws_eks`, `aws_eks_v2`) or of `ultracluster.eks`."""

    @property
    def cluster_arn(self) -> str: ...


class PrometheusScraper(Construct):
    """A managed collector of Amazon Managed Service for Prometheus, with its log.

    In a VPC it discovers targets by `static_configs` and `dns_sd_configs` only. Use it for a few fixed targets, such as
    a Slurm controller; nodes that come and go write by themselves. It costs by the hour.

    Args:
        alias: Display name.
        workspace: Workspace that it writes to, its ARN or its id.
        configuration: Configuration in Prometheus' format; the shortest interval is 30 seconds.
        subnets: Subnets of its network interfaces, 2 or more, in different zones.
        security_groups: Security groups of its interfaces. Targets must allow them.
        eks_cluster: EKS cluster that it scrapes, or its ARN; an access entry must allow it. Default: the VPC.

    Raises:
        Refusal: If an argument has a wrong type, or there are fewer than two subnets, no group, or a value is not
            valid; all at once.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        alias: str,
        workspace: IPrometheusWorkspace | str,
        configuration: str,
        subnets: Sequence[ec2.ISubnet],
        security_groups: Sequence[ec2.ISecurityGroup],
        eks_cluster: _EksCluster | str | None = None,
    ) -> None:
        super().__init__(scope, id)
        target = workspace_of(self, workspace)
        cluster_arn = eks_cluster if isinstance(eks_cluster, str | None) else eks_cluster.cluster_arn
        problems = [
            *text_problem("alias", alias, _ALIAS, "1 to 100 letters, digits, dots, hyphens and underscores"),
            *_problems(configuration, cluster_arn, [subnet.subnet_id for subnet in subnets], len(security_groups)),
            *check_same_vpc(
                {
                    **{f"subnets[{index}]": subnet for index, subnet in enumerate(subnets)},
                    **{f"security_groups[{index}]": group for index, group in enumerate(security_groups)},
                }
            ),
        ]
        if problems:
            raise Refusal(self, problems)
        place = {
            "subnet_ids": [subnet.subnet_id for subnet in subnets],
            "security_group_ids": [group.security_group_id for group in security_groups],
        }
        log = vended_log(self, logs.RetentionDays.THREE_MONTHS)
        self.resource = l1.CfnScraper(
            self,
            "Resource",
            alias=alias,
            source=l1.CfnScraper.SourceProperty(vpc_configuration=l1.CfnScraper.VpcConfigurationProperty(**place))
            if cluster_arn is None
            else l1.CfnScraper.SourceProperty(
                eks_configuration=l1.CfnScraper.EksConfigurationProperty(cluster_arn=cluster_arn, **place)
            ),
            destination=l1.CfnScraper.DestinationProperty(
                amp_configuration=l1.CfnScraper.AmpConfigurationProperty(workspace_arn=target.workspace_arn)
            ),
            scrape_configuration=l1.CfnScraper.ScrapeConfigurationProperty(configuration_blob=_encoded(configuration)),
            scraper_logging_configuration=l1.CfnScraper.ScraperLoggingConfigurationProperty(
                logging_destination=l1.CfnScraper.ScraperLoggingDestinationProperty(
                    cloud_watch_logs=l1.CfnScraper.CloudWatchLogDestinationProperty(log_group_arn=log.log_group_arn)
                ),
                scraper_components=[
                    l1.CfnScraper.ScraperComponentProperty(type=type) for type in ("SERVICE_DISCOVERY", "COLLECTOR")
                ],
            ),
        )
        #: Role of the collector, for an access entry of EKS.
        self.role_arn: str = self.resource.attr_role_arn


def _problems(configuration: str, cluster_arn: str | None, subnets: Sequence[str], groups: int) -> Iterator[str]:
    if len(subnets) < SCRAPER_SUBNETS or not groups:
        yield _SUBNETS(
            f"subnets must hold {SCRAPER_SUBNETS} or more, in zones of their own, and security_groups one, got "
            f"{len(subnets)} and {groups}"
        )
    elif len(set(subnets)) < len(subnets):
        yield _SUBNETS("a subnet is named twice; each must be in a zone of its own")
    if known(configuration) and "scrape_configs:" not in configuration:
        yield _CONFIGURATION("configuration must be one of Prometheus, with scrape_configs, in YAML")
    if cluster_arn is not None:
        yield from arn_problem("eks_cluster", cluster_arn, "arn:aws:eks:REGION:ACCOUNT:cluster/NAME")


def _encoded(configuration: str) -> str:
    if cdk.Token.is_unresolved(configuration):
        return cdk.Fn.base64(configuration)
    return base64.b64encode(configuration.encode()).decode()
