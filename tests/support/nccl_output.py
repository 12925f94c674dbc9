"""Output of nccl-tests' all_reduce_perf, as it prints it over EFA."""

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
