"""Subnets of head node, login nodes and queues."""

from ultracluster.clusterfile import ClusterFile, Path
from ultracluster.parallelcluster._notes import Note, path_of


class Subnets:
    """Subnets by zone: existing ones, or placeholders, which pcluster reports until they are replaced."""

    def __init__(self, cluster: ClusterFile, notes: list[Note]) -> None:
        existing = cluster.network.existing
        self._existing = {cluster.zone: existing.subnet, **existing.subnets} if existing else {}
        self._notes = notes
        self._cluster = cluster
        self._placeholders: dict[str, str] = {}

    def of(self, zone: str, path: Path) -> str:
        """Return the subnet of a zone.

        Args:
            zone: Id of the zone.
            path: Key of the cluster file that the subnet is for.
        """
        if zone in self._existing:
            return self._existing[zone]
        if zone not in self._placeholders:
            # 17 characters, as ids have, which EC2 never gives.
            self._placeholders[zone] = f"subnet-{zone.replace('-', '')[-17:].rjust(17, 'x')}"
            where = path_of(self._cluster, *map(str, path), "zone") if zone != self._cluster.zone else ("zone",)
            self._notes.append(
                Note(
                    path=where,
                    reason="ParallelCluster creates no VPC",
                    fix=f"replace {self._placeholders[zone]} by a private subnet in {zone}",
                )
            )
        return self._placeholders[zone]
