"""docs/guides/storage.md shows the errors of the library."""

import re

import pytest

from support import ROOT
from ultracluster.planning.lustre import Checkpoint, LustreClients, LustreGoal, checkpoint_bytes, plan_lustre

PAGE = (ROOT / "docs" / "guides" / "storage.md").read_text()


def test_the_errors_on_the_page_are_the_errors_of_the_library() -> None:
    shown = re.findall(r"^ValueError: (.*)$", PAGE, re.MULTILINE)
    clients = LustreClients(instance_type="p4d.24xlarge", count=2)
    checkpoint = Checkpoint(size_bytes=checkpoint_bytes(70e9), stall_seconds=30)
    with pytest.raises(ValueError, match="p4d") as caught:
        plan_lustre(LustreGoal(checkpoint=checkpoint, clients=clients))
    assert shown == [str(caught.value)]
