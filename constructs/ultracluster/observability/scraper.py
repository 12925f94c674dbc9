"""A collector that AWS runs: it scrapes what an EKS cluster or a VPC holds."""

import base64
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_aps as l1
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.hardware.prometheus import SCRAPER_SUBNETS


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
        ValueError: When there are fewer than two subnets, or no group.

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
        if len(subnets) < SCRAPER_SUBNETS or not security_groups:
            raise ValueError(
                f"{self.node.path}: a scraper takes {SCRAPER_SUBNETS} subnets or more, in zones of their own, and a "
                f"security group, got {len(subnets)} and {len(security_groups)}"
            )
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


def _encoded(configuration: str) -> str:
    if cdk.Token.is_unresolved(configuration):
        return cdk.Fn.base64(configuration)
    return base64.b64encode(configuration.encode()).decode()
