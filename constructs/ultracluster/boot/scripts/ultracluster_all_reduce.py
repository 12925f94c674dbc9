"""All-reduce of a pair of nodes, a process for each GPU, as nccl-tests measure it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

PORT = int(os.environ.get("ULTRACLUSTER_GATE_PORT", 29_600))
# The first all-reduce of a node loads its libraries.
PAIR_SECONDS = float(os.environ.get("ULTRACLUSTER_GATE_LIMIT", 300))


def run_pair(address: str, half: int, facts: dict[str, Any], *, nvlink: bool) -> dict[str, Any]:
    """Run an all-reduce with another pod, a process for each GPU. `half` is 0 for the pod at the address, else 1.

    Without `nvlink` it runs over EFA, also in an NVLink domain:
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-mnnvl-enable (read 2026-11-27)
    """
    gpus, sizes = max(1, facts["gpus"]), ",".join(map(str, facts["sizes"]))
    command = [sys.executable, __file__, address, str(PORT + 1), str(2 * gpus), sizes]
    environment = {**os.environ, "NCCL_DEBUG": "INFO", **({} if nvlink else {"NCCL_MNNVL_ENABLE": "0"})}
    processes = [
        subprocess.Popen([*command, str(half * gpus + gpu), str(gpu)], env=environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for gpu in range(gpus)
    ]  # fmt: skip
    outputs: list[str] = []
    deadline, error = time.monotonic() + PAIR_SECONDS, ""
    for process in processes:
        try:
            outputs.append(process.communicate(timeout=max(0.1, deadline - time.monotonic()))[0])
        except subprocess.TimeoutExpired:
            error = f"did not end within {PAIR_SECONDS:g} s"
            break
        if process.returncode:
            error = f"ended with {process.returncode}: {last_line(outputs[-1])[:150]}"
            break
    for process in processes:
        process.kill()
    if error:
        return {"error": error}
    if facts["efa"] and "selected provider is efa" not in outputs[0].lower():
        return {"error": "did not run over EFA"}
    result: dict[str, Any] = json.loads(last_line(outputs[0])) if half == 0 else {}
    return result


def last_line(output: str) -> str:
    """Return the last line of a program. NCCL 2.28 closes its plug-ins at the end of the process, and logs it."""
    lines = [line for line in output.splitlines() if line.strip() and " NCCL INFO " not in line]
    return lines[-1] if lines else ""


def all_reduce(address: str, port: int, world: int, sizes: Sequence[int], rank: int, gpu: int) -> None:
    """Measure an all-reduce as nccl-tests do, and print the bus bandwidth of each size in GB/s."""
    import torch
    import torch.distributed as dist

    device = torch.device("cuda", gpu) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    backend, options = ("nccl", {"device_id": device}) if device.type == "cuda" else ("gloo", {})
    dist.init_process_group(backend, init_method=f"tcp://{address}:{port}", rank=rank, world_size=world, **options)
    bandwidths = {}
    for size in sizes:
        values = torch.zeros(size // 4, dtype=torch.float32, device=device)
        for count in (5, 20):
            dist.barrier()
            start = time.monotonic()
            for _ in range(count):
                dist.all_reduce(values)
            if device.type == "cuda":
                torch.cuda.synchronize()
            seconds = (time.monotonic() - start) / count
        # https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md (read 2026-11-26)
        bandwidths[size] = size / seconds * 2 * (world - 1) / world / 1e9
        del values
    dist.destroy_process_group()
    print(json.dumps({"rates": bandwidths}), flush=True)


if __name__ == "__main__":
    address, port, world, sizes, rank, gpu = sys.argv[1:]
    all_reduce(address, int(port), int(world), [int(size) for size in sizes.split(",")], int(rank), int(gpu))
