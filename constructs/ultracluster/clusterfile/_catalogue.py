"""The instance types and UltraServers that a cluster file can name: ours, and those that it declares."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from ultracluster.catalogue.ec2 import INSTANCE_TYPES, InstanceType, UltraServer


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """Types by name.

    Args:
        declared: The types that the file declares, by name.
    """

    declared: Mapping[str, InstanceType]

    def look_up(self, name: str) -> tuple[InstanceType, UltraServer | None]:
        """The type of a name, and the UltraServer where the name is one's.

        Raises:
            ValueError: When there is none of that name.
        """
        types = {**INSTANCE_TYPES, **self.declared}
        if name in types:
            return types[name], None
        servers = {server.name: (record, server) for record in types.values() for server in record.ultraservers}
        if name in servers:
            return servers[name]
        near = difflib.get_close_matches(name, [*types, *servers], n=1, cutoff=0.7)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ValueError(
            f"unknown instance type {name!r}; {hint}the known ones: ultracluster types; one that is new is declared "
            "under types:"
        )
