"""Instance types and UltraServers of a cluster file: those of this release, and those that it declares."""

from collections.abc import Mapping
from dataclasses import dataclass

from ultracluster.catalogue.ec2 import INSTANCE_TYPES, InstanceType, UltraServer
from ultracluster.clusterfile.sections._word import did_you_mean


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """Types by name.

    Args:
        declared: The types that the file declares, by name.
    """

    declared: Mapping[str, InstanceType]

    def look_up(self, name: str) -> tuple[InstanceType, UltraServer | None]:
        """Return the type of a name, and the UltraServer if the name is of one.

        Raises:
            ValueError: If the name is not known.
        """
        types = {**INSTANCE_TYPES, **self.declared}
        if name in types:
            return types[name], None
        servers = {server.name: (record, server) for record in types.values() for server in record.ultraservers}
        if name in servers:
            return servers[name]
        hint = did_you_mean(name, [*types, *servers])
        raise ValueError(
            f"unknown instance type {name!r}; {hint}the known ones: ultracluster types; one that is new is declared "
            "under types:"
        )
