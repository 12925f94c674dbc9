"""Failure rates of nodes, and the number of spare nodes."""

# Llama 3 405B, 54 days on 16,384 H100 in nodes of eight: 419 unexpected interruptions.
# https://arxiv.org/abs/2407.21783, section 3.3.4 (read 2026-11-21)
_INTERRUPTIONS = 419
_DAYS = 54
_GPUS = 16_384

#: Whose figure it is.
SOURCE = "Meta's Llama 3 training (2024)"


def days_between_interruptions(gpus: int) -> float:
    """Return the mean days between two unexpected interruptions of a job on all GPUs.

    Args:
        gpus: At least 1.

    Raises:
        ValueError: If `gpus` is below 1.
    """
    if gpus < 1:
        raise ValueError(f"gpus must be at least 1, got {gpus}")
    return _DAYS / _INTERRUPTIONS * _GPUS / gpus
