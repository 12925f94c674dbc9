"""Output of an NVIDIA H100 80GB HBM3 without NVLink, with driver 580.159.04 and NCCL 2.28.9, on 2026-11-28.

`loads.jsonl` has NVML's GPM metrics, power and utilisation of loads, each over three seconds, as shares of one:

hang: the second all-reduce of two ranks, which one of them never joins. spin: 16 blocks that poll. small: kernels that
the host starts one by one. graph: a generation with CUDA graphs, by layers of width 512. copy: to the host and back.
decode: a batch of one. sort: of 100 million integers. train-*: `ultracluster_train.py` with 1.4 billion parameters,
with 110 million and a batch of one, with two layers of width 64, and the last with two ranks on the GPU, over TCP.
"""

import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def text(name: str) -> str:
    """Return the output of a program."""
    return (_HERE / f"{name}.txt").read_text()


def loads() -> list[dict[str, Any]]:
    """Return the figures of each load."""
    return [json.loads(line) for line in (_HERE / "loads.jsonl").read_text().splitlines()]
