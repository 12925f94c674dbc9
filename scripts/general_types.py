"""Write the catalogue's table of general types: `python scripts/general_types.py`.

The source is the answer of EC2's DescribeInstanceTypes that moto carries. A type is in the table if it is a virtual
machine on Nitro or bare metal, and its accelerators, if it has any, are whole NVIDIA GPUs or Neuron devices. Types that
`catalogue/ec2/_types.py` describes by hand are left out, and so is the rest of the P family.
"""

import gzip
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import moto

from ultracluster.catalogue.ec2 import INSTANCE_TYPES, instance_type_from_api

_ROOT = Path(__file__).parent.parent
TABLE = _ROOT / "constructs" / "ultracluster" / "catalogue" / "ec2" / "general_types.json"
# The day on which moto's release with this answer was built, and the day on which it was read.
_AS_OF, _READ_ON = "2026-10-27", "2026-11-22"
# FPGAs, video and Qualcomm's accelerators have drivers that no image of AWS PCS or EKS brings.
_OTHER_ACCELERATORS = ("FpgaInfo", "MediaAcceleratorInfo")


def described() -> dict[str, dict[str, Any]]:
    """Return every instance type of the answer by name."""
    path = Path(moto.__file__).parent / "ec2" / "resources" / "instance_types.json.gz"
    with gzip.open(path) as file:
        items: dict[str, dict[str, Any]] = json.load(file)
    return items


def belongs(name: str, item: dict[str, Any]) -> bool:
    """Return True if a type belongs into the table."""
    gpus = item.get("GpuInfo", {}).get("Gpus", [])
    return (
        True in (item.get("Hypervisor") == "nitro", item.get("BareMetal"))
        and not name.startswith("mac")
        and name not in INSTANCE_TYPES
        and not name.startswith("p")
        and not any(key in item for key in _OTHER_ACCELERATORS)
        and ("InferenceAcceleratorInfo" not in item or "NeuronInfo" in item)
        and all(gpu["Manufacturer"] == "NVIDIA" and gpu.get("GpuPartitionSize", 1) == 1 for gpu in gpus)
    )


def row(item: dict[str, Any]) -> list[Any]:
    """Return the values of a type, in the order in which `_general_types.py` reads them."""
    record = instance_type_from_api(item)
    cards: list[list[Any]] = []
    for card in record.cards:
        values: list[Any] = ["".join(kind[0] if kind == "interface" else kind[-1] for kind in card.kinds)]
        values += [card.max_interfaces, _short(card.ena_gbps)]
        if cards and cards[-1][1:] == values:
            cards[-1][0] += 1
        else:
            cards.append([1, *values])
    return [
        record.architecture == "arm64",
        record.cpu,
        record.vcpus,
        record.cores,
        _short(record.memory_gib),
        cards,
        record.ipv4_per_interface,
        record.max_efa,
        record.gpus,
        record.gpu_model,
        *record.nvme,
        _short(record.ebs_gbps),
        "".join(word[0] for word in record.purchase),
        "".join(word[0] for word in record.placement_strategies),
    ]


def _short(value: float | None) -> float | None:
    return value if value is None or value % 1 else int(value)


def table() -> str:
    """Return the text of the table, a line for each type."""
    types = {name: row(item) for name, item in sorted(described().items()) if belongs(name, item)}
    head = {"source": f"EC2 DescribeInstanceTypes, as moto {version('moto')} carries it", "as_of": _AS_OF}
    lines = [f'"{name}": {json.dumps(values, separators=(",", ":"))}' for name, values in types.items()]
    return json.dumps({**head, "read_on": _READ_ON})[:-1] + ', "types": {\n' + ",\n".join(lines) + "\n}}\n"


if __name__ == "__main__":
    TABLE.write_text(table())
