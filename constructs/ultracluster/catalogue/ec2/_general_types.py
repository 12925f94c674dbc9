"""General types: CPU, G, Inf and Trn types, as EC2 describes them. Other facts that its API lacks are not known.

`scripts/general_types.py` writes the table `general_types.json`, which is read on the first look-up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from ultracluster.catalogue.ec2._gpus import GPUS
from ultracluster.catalogue.ec2._instance_type import InstanceType, Kind, NetworkCard, Purchase, SoftwareFloor
from ultracluster.catalogue.provenance import Source, Stated

_KINDS: dict[str, Kind] = {"i": "interface", "a": "efa", "y": "efa-only"}
_PURCHASE: dict[str, Purchase] = {"o": "on-demand", "s": "spot", "c": "capacity-block"}
_STRATEGIES = {"c": "cluster", "p": "partition", "s": "spread"}

_EFA_CLIENTS = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html "
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
    read_on="2026-11-27",
)
#: Families with EFA on Nitro v3, and Trn2: FSx for Lustre supports EFA on Nitro v4 and later, and not on Trn2.
NO_LUSTRE_EFA: Annotated[tuple[str, ...], Stated(_EFA_CLIENTS, columns="families")] = (
    *("c5n", "g4dn", "g5", "i3en", "inf1", "m5dn", "m5n", "m5zn", "r5dn", "r5n", "x2iezn"),
    *("trn2", "trn2u"),
)
_GUIDE = Source("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html", read_on="2026-11-20")
#: Oldest software of a custom image for a family.
FLOORS: Annotated[
    Mapping[str, SoftwareFloor], Stated(_GUIDE, columns="family: oldest driver, CUDA and EFA installer")
] = MappingProxyType(
    {
        "g7": SoftwareFloor(driver="595", cuda="13.2", efa_installer="1.48.0"),
        "g7e": SoftwareFloor(driver="575", cuda="12.9", efa_installer="1.45.0"),
    }
)


def general_type_names() -> tuple[str, ...]:
    """Return the names of the general types."""
    return tuple(_table()["types"])


@cache
def general_type(name: str) -> InstanceType | None:
    """Return the record of a general type, or None."""
    table = _table()
    row = table["types"].get(name)
    if row is None:
        return None
    arm64, cpu, vcpus, cores, memory, cards, addresses, efa, gpus, gpu, disks, size, ebs, sold, placed = row
    kinds = [(kind, most, gbps) for count, kind, most, gbps in cards for _ in range(count)]
    return InstanceType(
        name=name,
        architecture="arm64" if arm64 else "x86_64",
        cpu=cpu,
        vcpus=vcpus,
        cores=cores,
        memory_gib=memory,
        cards=tuple(
            NetworkCard(index=index, kinds=tuple(_KINDS[letter] for letter in kind), max_interfaces=most, ena_gbps=gbps)
            for index, (kind, most, gbps) in enumerate(kinds)
        ),
        ipv4_per_interface=addresses,
        max_efa=efa,
        lustre_efa_interfaces=_lustre_efa_interfaces(name, len(kinds), efa),
        gpus=gpus,
        gpu=GPUS.get(gpu),
        gpu_model=gpu,
        nvme=(disks, size),
        ebs_gbps=ebs,
        software=FLOORS.get(name.partition(".")[0]),
        purchase=tuple(_PURCHASE[letter] for letter in sold),
        placement_strategies=tuple(_STRATEGIES[letter] for letter in placed),
        source=table["source"],
        read_on=table["read_on"],
    )


def _lustre_efa_interfaces(name: str, cards: int, efa: int) -> int | None:
    """Return the EFA interfaces that AWS's tool configures: two with several cards, or else one."""
    if not efa or name.partition(".")[0] in NO_LUSTRE_EFA:
        return None
    return min(efa, 2 if cards > 1 else 1)


@cache
def _table() -> Mapping[str, Any]:
    table: dict[str, Any] = json.loads((Path(__file__).parent / "general_types.json").read_bytes())
    return table
