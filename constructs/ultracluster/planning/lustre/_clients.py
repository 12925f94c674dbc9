"""Throughput between nodes and a file system, limited by the nodes."""

from dataclasses import dataclass
from fractions import Fraction

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.ec2 import instance_type as look_up
from ultracluster.catalogue.storage import lustre, lustre_quotas

_MB_PER_GBIT = 125


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreClients:
    """The nodes of a job, all of one type, that write and read a file system together.

    Args:
        instance_type: A name of the catalogue, or a record.
        count: How many nodes.
        efa_interfaces: EFA interfaces of a node that connect to the file system. Default: what AWS's client script
            configures, or fewer when all nodes together would open more than 1,024 connections.
        gpudirect_storage: Whether files go straight to and from GPU memory.
    """

    instance_type: InstanceType | str
    count: int
    efa_interfaces: int | None = None
    gpudirect_storage: bool = False

    def problems(self) -> list[str]:
        """Return the errors of the nodes: none of them, an unknown type, or a type without the feature."""
        problems = [] if self.count >= 1 else [f"there must be at least one node, got {self.count}"]
        try:
            record = self.record
        except ValueError as error:
            return [*problems, str(error)]
        if self.efa_interfaces is not None and record.lustre_efa_interfaces is None:
            problems.append(f"{record.name} does not reach FSx over EFA; leave efa_interfaces out")
        elif self.efa_interfaces is not None and not 1 <= self.efa_interfaces <= record.max_efa:
            problems.append(f"{record.name} has 1 to {record.max_efa} EFA interfaces, got {self.efa_interfaces}")
        if self.gpudirect_storage and not record.gpudirect_storage:
            problems.append(f"FSx supports no GPUDirect Storage on {record.name}; leave gpudirect_storage out")
        return problems

    @property
    def record(self) -> InstanceType:
        """The facts of the type."""
        return look_up(self.instance_type) if isinstance(self.instance_type, str) else self.instance_type

    @property
    def can_use_efa(self) -> bool:
        """True if every node can have at least one EFA connection."""
        return bool(self.record.lustre_efa_interfaces) and self.count <= lustre_quotas.EFA_CONNECTIONS

    @property
    def interfaces(self) -> int:
        """EFA interfaces of a node that connect to a file system with EFA; 0: it comes over TCP."""
        if not self.can_use_efa:
            return 0
        default = self.record.lustre_efa_interfaces or 0
        return self.efa_interfaces or min(default, lustre_quotas.EFA_CONNECTIONS // self.count)

    def check_connections(self) -> list[str]:
        """Return the error of the number of EFA connections, with the numbers that fit."""
        most = lustre_quotas.EFA_CONNECTIONS
        each = self.interfaces or self.efa_interfaces or 1
        if not self.record.lustre_efa_interfaces or self.count * each <= most:
            return []
        nodes = most // each
        ways = [f"{most // self.count} EFA interfaces a node instead of {each}"] if self.count <= most else []
        ways.append(f"{nodes:,} nodes, {self.count - nodes:,} fewer")
        return [
            f"{self.count:,} nodes with {each} EFA interface{'s' if each > 1 else ''} each open {self.count * each:,} "
            f"EFA connections, and a file system supports {most:,}: use {' or '.join(ways)}, or go without EFA"
        ]

    def mb_per_s(self, *, efa: bool, storage_servers: int) -> Fraction:
        """Return the maximum throughput of all nodes together, in MB/s.

        Args:
            efa: Whether the file system has EFA.
            storage_servers: How many servers it has: over TCP, a node gets 5 Gbit/s from each.
        """
        return self.count * self.gbps(efa=efa, storage_servers=storage_servers) * _MB_PER_GBIT

    def gbps(self, *, efa: bool, storage_servers: int) -> Fraction:
        """Return the maximum throughput of a node, in Gbit/s; see `mb_per_s`."""
        cards = self.record.cards
        if efa and self.interfaces:
            most = lustre.EFA_GPUDIRECT_GBPS if self.gpudirect_storage else lustre.EFA_GBPS
            # EC2 gives no EFA figure for cards whose EFA has the whole of their ENA bandwidth. The slowest card counts.
            of_cards = [card.efa_gbps or card.ena_gbps for card in cards if card.takes_efa]
            known = [gbps for gbps in of_cards if gbps is not None]
            limits = [most, *([self.interfaces * min(known)] if known else [])]
            return min(Fraction(gbps) for gbps in [*limits, *([self.record.efa_gbps] if self.record.efa_gbps else [])])
        # Lustre's TCP takes one interface, that of the first card.
        first = cards[0].ena_gbps or lustre.TCP_GBPS
        return min(map(Fraction, (lustre.TCP_GBPS, first, storage_servers * lustre.TCP_GBPS_PER_SERVER)))

    def servers_for(self, mb_per_s: Fraction, *, efa: bool) -> int | None:
        """Return the fewest storage servers at which the nodes reach a throughput, or None if no number suffices.

        Args:
            mb_per_s: All nodes together, in MB/s.
            efa: Whether the file system has EFA.
        """
        each = mb_per_s / self.count / _MB_PER_GBIT
        flows = each / lustre.TCP_GBPS_PER_SERVER
        servers = 1 if efa and self.interfaces else max(1, -(-flows.numerator // flows.denominator))
        return servers if self.gbps(efa=efa, storage_servers=servers) >= each else None
