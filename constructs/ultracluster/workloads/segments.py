"""How a job that spans UltraServers is cut, so that each piece stays inside one NVLink domain."""


def segment_nodes(domain: int) -> int:
    """Nodes of a segment, for `sbatch --segment`: the largest power of two that a domain holds.

    16 of the 18 instances of u-p6e-gb200x72, which are 64 of its 72 GPUs, and 8 of the 9 of u-p6e-gb200x36. Parallel
    dimensions are powers of two, and what is left over stands by: a segment still finds its nodes if some are drained.

    Args:
        domain: Instances of an UltraServer.

    Raises:
        ValueError: When there is none.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-nvidia-imex.html (read 2026-11-21)
    """
    if domain < 1:
        raise ValueError(f"domain must be at least 1 instance, got {domain}")
    return 1 << (domain.bit_length() - 1)
