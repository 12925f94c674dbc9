"""FSx for OpenZFS file systems for the home directories of a cluster."""

from dataclasses import dataclass

from ultracluster.catalogue.storage import openzfs as facts
from ultracluster.planning import check_types
from ultracluster.rules import error

HOME_SOLD = error("home-configuration", "FSx for OpenZFS limits capacity, IOPS and the connections of clients.")
HOME_CLIENTS = error("home-clients", "NFS allows the ranges that it is given, and nodes must be in one of them.")
HOME_BACKUPS = error("home-backups", "FSx keeps daily backups for 1 to 90 whole days.")

#: Prefix of the data bucket that S3 Files shows as home directories.
HOME_PREFIX = "home/"
#: TCP connections of one client (`nconnect`). Four let 2,048 nodes, the most that AWS PCS manages in a cluster, mount
#: the smallest server of the second generation, which takes 8,192; sixteen, the most that Linux opens, would let 512.
CONNECTIONS_PER_CLIENT = 4

#: Twenty users with 10 GiB each fill it to four fifths, the limit that AWS recommends. It never shrinks.
CAPACITY_GIB = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenZfsSize:
    """Size of a file system.

    Args:
        deployment_type: How many servers, of which generation, in how many zones.
        capacity_gib: SSD storage in GiB.
        throughput_mb_per_s: Throughput capacity in MB/s: the baseline, which the server sustains; it bursts
            higher. It changes in place, up and down.
        iops: SSD IOPS, or None for three per GiB, which are free.
        reasons: Reasons of the choice, in sentences.
    """

    deployment_type: facts.DeploymentType
    capacity_gib: int
    throughput_mb_per_s: int
    iops: int | None
    reasons: tuple[str, ...]

    @property
    def deployment(self) -> facts.OpenZfsDeployment:
        """Facts of the deployment type."""
        return facts.DEPLOYMENTS[self.deployment_type]

    @property
    def most_clients(self) -> int:
        """Nodes that can mount it at once."""
        return facts.connections(self.throughput_mb_per_s) // CONNECTIONS_PER_CLIENT

    @property
    def transfer_bytes(self) -> int:
        """Bytes of one read or write of a client, at most."""
        return facts.transfer_bytes(self.throughput_mb_per_s)


def size_openzfs(
    *,
    region: str | None = None,
    clients: int = 1,
    deployment_type: facts.DeploymentType | None = None,
    capacity_gib: int = CAPACITY_GIB,
    throughput_mb_per_s: int | None = None,
    iops: int | None = None,
    any_throughput: bool = False,
) -> OpenZfsSize:
    """Return the cheapest file system that suits the home directories of a cluster in one zone.

    Args:
        region: The region, which may not sell every deployment type. Default: not known, not checked.
        clients: Nodes that mount it at once.
        deployment_type: Default: two servers in one zone, of the generation that the region sells.
        capacity_gib: SSD storage in GiB.
        throughput_mb_per_s: Throughput capacity in MB/s. Default: the smallest that takes so many clients, from
            128 MB/s on.
        iops: SSD IOPS. Default: three for each GiB.
        any_throughput: Accept a throughput that is not in the catalogue. Default: no.

    Raises:
        ValueError: If FSx does not offer it. All reasons at once.

    See: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance.html (read 2026-11-21)
    """
    given = {"clients": clients, "capacity_gib": capacity_gib, "throughput_mb_per_s": throughput_mb_per_s, "iops": iops}
    check_types(size_openzfs, given)
    problems = []
    if deployment_type is not None and deployment_type not in facts.DEPLOYMENTS:
        raise ValueError(f"the deployment type must be one of {', '.join(facts.DEPLOYMENTS)}, got {deployment_type!r}")
    chosen, why = (deployment_type, "You chose it.") if deployment_type else _deployment_type(region)
    sold = facts.DEPLOYMENTS[chosen]
    if region and not facts.sold_in(chosen, region):
        others = ", ".join(other for other in facts.DEPLOYMENTS if facts.sold_in(other, region))
        problems.append(f"{chosen} is not available in {region}; use one of {others}")
    if not facts.SMALLEST_GIB <= capacity_gib <= facts.LARGEST_GIB:
        problems.append(f"the capacity must be {facts.SMALLEST_GIB} to {facts.LARGEST_GIB:,} GiB, got {capacity_gib:,}")
    least_iops = min(facts.IOPS_PER_GIB * capacity_gib, sold.most_iops)
    if iops is not None and not least_iops <= iops <= sold.most_iops:
        problems.append(
            f"the IOPS of {capacity_gib:,} GiB must be {least_iops:,} ({facts.IOPS_PER_GIB} for each GiB) to "
            f"{sold.most_iops:,}, got {iops:,}"
        )
    throughput = throughput_mb_per_s or _throughput(sold, clients)
    if throughput not in sold.throughput_mb_per_s and not any_throughput:
        steps = ", ".join(f"{step:,}" for step in sold.throughput_mb_per_s)
        problems.append(f"the throughput of {chosen} must be one of {steps} MB/s, got {throughput:,}")
    most = facts.connections(throughput) // CONNECTIONS_PER_CLIENT
    if clients > most:
        problems.append(
            f"a server of {throughput:,} MB/s supports {facts.connections(throughput):,} connections, "
            f"{CONNECTIONS_PER_CLIENT} of each client, so {most:,} clients, got {clients:,}; {_way_out(sold, clients)}"
        )
    if problems:
        raise ValueError("; ".join(problems))
    return OpenZfsSize(
        deployment_type=chosen,
        capacity_gib=capacity_gib,
        throughput_mb_per_s=throughput,
        iops=iops,
        reasons=(
            f"{chosen}: {why}",
            f"{capacity_gib:,} GiB: keep it below {facts.FULL_PERCENT} %, "
            f"{capacity_gib * facts.FULL_PERCENT // 100:,} GiB; it grows in place and never shrinks.",
            f"{throughput:,} MB/s, for up to {most:,} nodes; it changes in place.",
        ),
    )


def _deployment_type(region: str | None) -> tuple[facts.DeploymentType, str]:
    two_servers = "two servers, because an unavailable home stops every login and every job script"
    if region is None or facts.sold_in("SINGLE_AZ_HA_2", region):
        return "SINGLE_AZ_HA_2", f"{two_servers}; one zone."
    if facts.sold_in("SINGLE_AZ_HA_1", region):
        return "SINGLE_AZ_HA_1", f"{two_servers}; the second generation is not available in {region}."
    return (
        "SINGLE_AZ_1",
        f"{region} supports one server, or two zones; a failure or maintenance makes it unavailable for half an hour.",
    )


def _throughput(sold: facts.OpenZfsDeployment, clients: int) -> int:
    # 64 MB/s are left out: that server has 2 GB of memory, and takes no more than 256 KiB at a time.
    steps = [step for step in sold.throughput_mb_per_s if step >= 128]
    return next((step for step in steps if facts.connections(step) >= clients * CONNECTIONS_PER_CLIENT), steps[-1])


def _way_out(sold: facts.OpenZfsDeployment, clients: int) -> str:
    larger = _throughput(sold, clients)
    if facts.connections(larger) >= clients * CONNECTIONS_PER_CLIENT:
        return f"use {larger:,} MB/s"
    return "let only the login nodes mount it, or use EFS"
