"""Location of clients that reach a file system over EFA."""

from ipaddress import IPv4Network

from ultracluster.rules import Message, error

# "Use the same Availability Zone and /16 CIDR as your EFA-enabled client instances":
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html (read 2026-11-21)
_PREFIX = 16

EFA_REACH = error("lustre-efa-reach", "EFA reaches a file system within one VPC and one /16 only.")


def check_efa_reach(
    file_system: IPv4Network | None,
    client: IPv4Network | None,
    *,
    file_system_zone: str | None = None,
    client_zone: str | None = None,
) -> list[Message]:
    """Find what prevents EFA between clients and a file system; empty if nothing does, or too little is known.

    Args:
        file_system: Range of the file system's subnet, or None if not known.
        client: Range of a subnet of clients, or None if not known.
        file_system_zone: Name or id of the file system's zone, or None if not known.
        client_zone: Name or id of the clients' zone.
    """
    problems = []
    alike = bool(file_system_zone and client_zone) and ("-az" in str(file_system_zone)) == ("-az" in str(client_zone))
    # A zone name does not determine a zone id: each account maps names differently.
    if alike and file_system_zone != client_zone:
        problems.append(
            f"clients in {client_zone} can't use EFA to a file system in {file_system_zone}: EFA does not cross zones; "
            "move one of them, or let them mount it over TCP"
        )
    known = file_system is not None and client is not None and min(file_system.prefixlen, client.prefixlen) >= _PREFIX
    if known and file_system and client and _surrounding(file_system) != _surrounding(client):
        problems.append(
            f"clients in {client} can't use EFA to a file system in {file_system}: both must be in one /16; use "
            f"subnets of {_surrounding(client)} for both, or make the file system without EFA"
        )
    return [*map(EFA_REACH, problems)]


def _surrounding(subnet: IPv4Network) -> IPv4Network:
    return subnet.supernet(new_prefix=_PREFIX)
