"""Whether FSx sells the file system that the file asks for."""

from collections.abc import Iterator, Sequence

from ultracluster.clusterfile.needs import lustre_size
from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections import Lustre, Storage
from ultracluster.hardware.quotas import LUSTRE_EFA_CONNECTIONS
from ultracluster.planning import LustreSize, check_capacity, lustre_offer

_PATH: Path = ("storage", "lustre")


def check_lustre(storage: Storage | None, *, zone: str | None) -> Iterator[Problem]:
    """Everything that is wrong with the file system."""
    lustre = storage.lustre if storage else None
    if lustre is None or zone is None:
        return
    offer = lustre_offer(zone)
    if not offer.tiers:
        yield Problem(path=_PATH, message=f"FSx sells no PERSISTENT_2 file systems in {zone}; take another zone")
        return
    if lustre.efa and not offer.efa:
        message = f"FSx sells no file systems with EFA in {zone}; remove it, or write efa: false"
        yield Problem(path=(*_PATH, "efa"), message=message)
    if lustre.tier and lustre.tier.mb_per_s_per_tib not in offer.tiers:
        tiers = ", ".join(str(tier) for tier in offer.tiers)
        yield Problem(
            path=(*_PATH, "tier"), message=f"FSx sells the tiers {tiers} MB/s/TiB in {zone}, got {lustre.tier}"
        )
        return
    yield from _check_shape(lustre, lustre_size(lustre, zone=zone))


def _check_shape(lustre: Lustre, size: LustreSize) -> Iterator[Problem]:
    if lustre.capacity is None or lustre.tier is None:
        return
    asked, tier = lustre.capacity.gib, lustre.tier.mb_per_s_per_tib
    for message in check_capacity(asked, tier=tier, efa=size.efa):
        way_out = "; without `tier` any size will do" + (", and without EFA the steps are smaller" if size.efa else "")
        yield Problem(path=(*_PATH, "capacity"), message=message + way_out)
        return
    if size.capacity_gib > asked:
        gives = asked * tier // 1024
        message = (
            f"{asked:,} GiB at {tier} MB/s/TiB give {gives:,} MB/s, and throughput asks for "
            f"{lustre.throughput.mb_per_s:,}; take {size.capacity_gib:,} GiB, or leave capacity or tier out"
        )
        yield Problem(path=(*_PATH, "capacity"), message=message)


def check_efa_connections(
    storage: Storage | None, *, zone: str | None, groups: Sequence[NodeGroup]
) -> Iterator[Problem]:
    """Whether each node can have one connection at least."""
    lustre = storage.lustre if storage else None
    if lustre is None or zone is None:
        return
    try:
        size = lustre_size(lustre, zone=zone)
    except ValueError:
        return
    clients = sum(group.count for group in groups if group.instance_type.lustre_efa_interfaces and group.zone == zone)
    if size.efa and clients > LUSTRE_EFA_CONNECTIONS:
        message = (
            f"a file system takes {LUSTRE_EFA_CONNECTIONS:,} EFA connections, and {clients:,} nodes want at least one "
            "each; write efa: false, and nodes mount it over TCP"
        )
        yield Problem(path=(*_PATH, "efa"), message=message)
