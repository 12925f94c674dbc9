"""A start without garbage collections."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Import modules without garbage collections, and leave them out of later ones.

    The modules of the CDK are half a million objects that stay as long as the process. To visit them again and again
    took a quarter of the CPU time of a synthesis in a new process (2026-11-23).
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
