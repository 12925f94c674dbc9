"""AWS partitions of regions, and the domains of their services.

Source: data/endpoints.json of https://github.com/boto/botocore (1.44.5, read 2026-11-21).
"""

from __future__ import annotations

from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_BOTOCORE = Source("https://github.com/boto/botocore", read_on="2026-11-21")

# Beginning of a region's name, partition, domain. All other regions are in `aws`.
_OTHERS: Annotated[
    tuple[tuple[str, ...], ...], Stated(_BOTOCORE, columns="beginning of the name of a Region, partition, domain")
] = (
    ("cn-", "aws-cn", "amazonaws.com.cn"),
    ("us-gov-", "aws-us-gov", "amazonaws.com"),
    ("us-iso-", "aws-iso", "c2s.ic.gov"),
    ("us-isob-", "aws-iso-b", "sc2s.sgov.gov"),
    ("eu-isoe-", "aws-iso-e", "cloud.adc-e.uk"),
    ("us-isof-", "aws-iso-f", "csp.hci.ic.gov"),
    ("eusc-", "aws-eusc", "amazonaws.eu"),
)


def partition_of(region: str) -> str:
    """Return the partition of a region: `aws`, `aws-cn` and so on."""
    return next((partition for prefix, partition, _ in _OTHERS if region.startswith(prefix)), "aws")


def domain_of(region: str) -> str:
    """Return the domain of a region's services: `amazonaws.com` and so on."""
    return next((domain for prefix, _, domain in _OTHERS if region.startswith(prefix)), "amazonaws.com")


def via_service(service: str, region: str) -> str | list[str]:
    """Return the values of the condition key `kms:ViaService` for a service of a region.

    For China no source of AWS has the domain: bootstrap-template.yaml of the CDK CLI 2.1148.1 has that of the partition
    aws there, and other pages have variables (read 2026-11-28). Both name the same service.
    """
    host = f"{service}.{region}.amazonaws.com"
    return [host, f"{host}.cn"] if region.startswith("cn-") else host


def lustre_host(file_system_id: str, region: str) -> str:
    """Return the DNS name of a Lustre file system, whose domain is not that of the partition in China.

    See: https://github.com/aws/aws-parallelcluster-cookbook/pull/995 (read 2026-11-27)
    """
    domain = domain_of(region).removesuffix(".cn")
    return f"{file_system_id}.fsx.{region}.{domain}"


def partition_problem(arn: str, region: str | None = None) -> str | None:
    """Return the error of the partition of an ARN, or None.

    Args:
        arn: The ARN.
        region: Required region. By default, the region in the ARN.
    """
    _, partition, _, there, _ = arn.split(":", 4)
    where = region or there
    if not where or partition == partition_of(where):
        return None
    return f"is in the partition {partition}, and {where} is in {partition_of(where)}; write arn:{partition_of(where)}:"
