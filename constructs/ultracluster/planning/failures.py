"""How often nodes fail, and what spare ones are good for."""

# Llama 3 405B, 54 days on 16,384 H100 in nodes of eight: 419 unexpected interruptions.
# https://arxiv.org/abs/2407.21783, section 3.3.4 (read 2026-11-21)
_INTERRUPTIONS = 419
_DAYS = 54
_GPUS = 16_384

#: Whose figure it is.
SOURCE = "Meta's Llama 3 training (2024)"


def days_between_interruptions(gpus: int) -> float:
    """Days that pass, on average, between two unexpected interruptions of a job that uses all the GPUs.

    Args:
        gpus: At least 1.

    Raises:
        ValueError: When there is no GPU.
    """
    if gpus < 1:
        raise ValueError(f"gpus must be at least 1, got {gpus}")
    return _DAYS / _INTERRUPTIONS * _GPUS / gpus
