"""Output of nccl-tests' all_reduce_perf over EFA, and of `ncclras -f json`."""

import json
from collections.abc import Iterable

_HEAD = """\
# nThread 1 nGpus 1 minBytes 8388608 maxBytes 17179869184 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#
# Using devices
{ranks}
node-0:1:1 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa-direct (found 16 nics)
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
_TAIL = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 371.338\n#\n"


def output(results: dict[int, float], *, nodes: int = 2, gpus: int = 8, wrong: str = "0") -> str:
    """Output for bandwidths by the size of the message."""
    ranks = "\n".join(
        f"#  Rank {rank:2} Group  0 Pid {rank} on ip-10-1-1-{rank // gpus} device {rank % gpus:2} [0000:53:00] H100"
        for rank in range(nodes * gpus)
    )
    lines = "".join(
        f"{size:12} {size // 4:13} {'float':>9} {'sum':>7} {-1:7} {100.0:8.2f} {bandwidth / 2:7.2f} {bandwidth:7.2f} "
        f"{wrong:>6} {100.0:8.2f} {bandwidth / 2:7.2f} {bandwidth:7.2f} {'0':>6}\n"
        for size, bandwidth in results.items()
    )
    return _HEAD.format(ranks=ranks) + lines + _TAIL


def ras_document(communicators: Iterable[tuple[int, Iterable[int], Iterable[int]]]) -> str:
    """Document of NCCL's RAS for communicators: size, ranks that do not answer, and ranks that have left.

    The form of NCCL's src/ras/client_support.cc (commit 5067397c, read 2026-11-27), as in the sample of its User Guide.
    """
    entries = []
    for number, (size, silent, left) in enumerate(communicators):
        missing = {rank: True for rank in silent} | {rank: False for rank in left}
        entries.append(
            {
                "hash": hex(0xAE94 + number),
                "secondary_hash": "0xb7e7:0xb824",
                "size": size,
                "ranks_count": size - len(missing),
                "missing_ranks_count": len(missing),
                "ranks": [_rank(rank, {"init_state": 0, "async_error": 0, "finalize_called": False,
                                       "destroy_flag": False, "abort_flag": False})
                          | {"collective_counts": {"Broadcast": 0, "AllReduce": 9}}
                          for rank in range(size) if rank not in missing],
                "missing_ranks": [_rank(rank, {"unresponsive": silent, "considered_dead": False})
                                  for rank, silent in missing.items()],
            }
        )  # fmt: skip
    document = {
        "nccl_version": "2.29.1",
        "cuda_runtime_version": 13000,
        "cuda_driver_version": 13000,
        "timestamp": "2025-12-19 13:06:53",
        "communicators_count": len(entries),
        "communicators": entries,
        "ras": {"collection_time_sec": 0.0, "timeouts_count": 0},
    }
    return json.dumps(document, indent=2) + "\n"


def _rank(rank: int, status: dict[str, object]) -> dict[str, object]:
    return {
        "rank": rank,
        "host": f"10.1.1.{rank // 8}",
        "pid": 1000 + rank,
        "cuda_dev": rank % 8,
        "nvml_dev": rank % 8,
        "status": status,
    }
