"""Imports without garbage collections."""

import subprocess
import sys

import pytest

CODE = """
import gc
collections = []
gc.callbacks.append(lambda phase, info: collections.append(phase))
{before}
import ultracluster.startup
collections.clear()
import ultracluster.clusterfile
assert not collections, len(collections)
assert gc.isenabled() is {enabled}
assert gc.get_freeze_count() > 30_000, gc.get_freeze_count()
assert len(gc.get_objects()) < 100, len(gc.get_objects())
"""


@pytest.mark.parametrize(("before", "enabled"), [("", True), ("gc.disable()", False)])
def test_the_import_of_the_cluster_file_collects_nothing(before: str, enabled: bool) -> None:
    code = CODE.format(before=before, enabled=enabled)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
