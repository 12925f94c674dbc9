"""A collector that AWS runs: it scrapes what an EKS cluster or a VPC holds."""

import base64
import re
from collections.abc import Iterator, Sequence

import aws_cdk as cdk
from aws_cdk import aws_aps as l1
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.catalogue.monitoring import SCRAPER_SUBNETS
from ultracluster.observability._checks import arn_problem, known, text_problem

# https://docs.aws.amazon.com/prometheus/latest/APIReference/API_CreateScraper.html (read 2026-11-21)
_ALIAS = re.compile(r"[0-9A-Za-z][-.0-9A-Z_a-z]{0,99}", re.ASCII)


class PrometheusScraper(Construct):
    """A managed collector of Amazon Managed Service for Prometheus, with its log.

    In a VPC it finds targets by `static_configs` and `dns_sd_configs` alone, so that it serves few things that stand
    still, such as a Slurm controller; nodes that come and go write by themselves. It costs by the hour.

    Args:
        alias: Name that people see.
        workspace_arn: Where samples go.
        configuration: What it scrapes, a configuration as Prometheus reads it; every 30 seconds at most.
        subnets: Subnets where it stands, 2 or more, in zones of their own.
        security_groups: Groups of its interfaces. Targets must let them in.
        eks_cluster_arn: The EKS cluster that it scrapes, which must let it in by an access entry. Default: the VPC.

    Raises:
        ValueError: When there are fewer than two subnets, no group, or something is not what the service takes; all at
            once.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        alias: str,
        workspace_arn: str,
        configuration: str,
        subnets: Sequence[ec2.ISubnet],
        security_groups: Sequence[ec2.ISecurityGroup],
        eks_cluster_arn: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        problems = [
            *text_problem("alias", alias, _ALIAS, "1 to 100 letters, digits, dots, hyphens and underscores"),
            *arn_problem("workspace_arn", workspace_arn, "arn:aws:aps:REGION:ACCOUNT:workspace/ws-..."),
            *_problems(configuration, eks_cluster_arn, [subnet.subnet_id for subnet in subnets], len(security_groups)),
        ]
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        place = {
            "subnet_ids": [subnet.subnet_id for subnet in subnets],
            "security_group_ids": [group.security_group_id for group in security_groups],
        }
        log = logs.LogGroup(
            self,
            "Log",
            log_group_name=f"/aws/vendedlogs/prometheus/{cdk.Names.unique_resource_name(self, max_length=100)}",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.resource = l1.CfnScraper(
            self,
            "Resource",
            alias=alias,
            source=l1.CfnScraper.SourceProperty(vpc_configuration=l1.CfnScraper.VpcConfigurationProperty(**place))
            if eks_cluster_arn is None
            else l1.CfnScraper.SourceProperty(
                eks_configuration=l1.CfnScraper.EksConfigurationProperty(cluster_arn=eks_cluster_arn, **place)
            ),
            destination=l1.CfnScraper.DestinationProperty(
                amp_configuration=l1.CfnScraper.AmpConfigurationProperty(workspace_arn=workspace_arn)
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
        #: The role that it takes; an access entry of EKS names it.
        self.role_arn: str = self.resource.attr_role_arn


def _problems(configuration: str, eks_cluster_arn: str | None, subnets: Sequence[str], groups: int) -> Iterator[str]:
    if len(subnets) < SCRAPER_SUBNETS or not groups:
        yield (
            f"a scraper takes {SCRAPER_SUBNETS} subnets or more, in zones of their own, and a security group, got "
            f"{len(subnets)} and {groups}"
        )
    elif len(set(subnets)) < len(subnets):
        yield "a subnet is named twice; each must be in a zone of its own"
    if known(configuration) and "scrape_configs:" not in configuration:
        yield "configuration must be one of Prometheus, with scrape_configs, in YAML"
    if eks_cluster_arn is not None:
        yield from arn_problem("eks_cluster_arn", eks_cluster_arn, "arn:aws:eks:REGION:ACCOUNT:cluster/NAME")


def _encoded(configuration: str) -> str:
    if cdk.Token.is_unresolved(configuration):
        return cdk.Fn.base64(configuration)
    return base64.b64encode(configuration.encode()).decode()
