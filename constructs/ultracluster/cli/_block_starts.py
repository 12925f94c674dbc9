"""Capacity Blocks and reservations that start while their cluster is deployed."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ultracluster.planning.capacity import starts_at

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

# A control plane takes a quarter of an hour, and file systems, nodes and the platform the rest.
_DEPLOYMENT = timedelta(hours=2)


def new_starts(cluster: "ClusterFile", deployed: Path) -> dict[str, datetime]:
    """Return the starts of capacity by node group of EKS, without those whose schedule is deployed."""
    if not cluster.traits.starts_by_schedule:
        return {}
    text = "".join(file.read_text(encoding="utf-8") for file in sorted(deployed.rglob("*.json")))
    starts = {
        group.name: start.astimezone(UTC) for group in cluster.node_groups if (start := starts_at(group.capacity))
    }
    return {name: start for name, start in starts.items() if f"at({start:%Y-%m-%dT%H:%M:%S})" not in text}


def soon(starts: Mapping[str, datetime], now: datetime) -> list[str]:
    """Return a line for each capacity that may start before its schedule is there."""
    return [
        f"{name}: its capacity starts at {start:%Y-%m-%d %H:%M} UTC. A schedule that is created later starts "
        "nothing: if the deployment ends after that, deploy again"
        for name, start in starts.items()
        if now < start < now + _DEPLOYMENT
    ]


def missed(starts: Mapping[str, datetime], began: datetime, now: datetime) -> list[str]:
    """Return a line for each capacity that started while it was deployed."""
    return [
        f"{name}: its capacity started at {start:%Y-%m-%d %H:%M} UTC, during this deployment, and its schedule "
        "may have come too late: run `ultracluster deploy FILE` again, which starts the nodes"
        for name, start in starts.items()
        if began < start <= now
    ]
