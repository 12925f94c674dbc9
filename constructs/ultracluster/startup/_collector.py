"""Imports without garbage collections."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Import modules without garbage collections, and leave them out of later ones.

    Modules stay as long as the process: those of `clusterfile` are 40,000 objects, those of the CDK half a million. To
    visit them again and again, and twice at the end, took a sixth of the CPU time of `import ultracluster.clusterfile`
    (2026-11-28), and a quarter of that of a synthesis in a new process (2026-11-23).
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
