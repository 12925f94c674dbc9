"""General types: CPU, G, Inf and Trn types, as EC2 describes them. Facts that its API lacks are not known.

`scripts/general_types.py` writes the table `general_types.json`, which is read on the first look-up.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ultracluster.catalogue.ec2._gpus import GPUS
from ultracluster.catalogue.ec2._instance_type import InstanceType, Kind, NetworkCard, Purchase

_KINDS: dict[str, Kind] = {"i": "interface", "a": "efa", "y": "efa-only"}
_PURCHASE: dict[str, Purchase] = {"o": "on-demand", "s": "spot", "c": "capacity-block"}
_STRATEGIES = {"c": "cluster", "p": "partition", "s": "spread"}


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
        gpus=gpus,
        gpu=GPUS.get(gpu),
        gpu_model=gpu,
        nvme=(disks, size),
        ebs_gbps=ebs,
        purchase=tuple(_PURCHASE[letter] for letter in sold),
        placement_strategies=tuple(_STRATEGIES[letter] for letter in placed),
        source=table["source"],
        read_on=table["read_on"],
    )


@cache
def _table() -> Mapping[str, Any]:
    table: dict[str, Any] = json.loads((Path(__file__).parent / "general_types.json").read_bytes())
    return table
