"""Each reason by which a node drains itself has a row in docs/operations/node-health.md."""

import re

from support import ROOT
from ultracluster.boot import scripts

PAGE = (ROOT / "docs" / "operations" / "node-health.md").read_text()
SCRIPTS = (ROOT / "constructs" / "ultracluster" / "boot" / "scripts").glob("*.sh")


def test_each_reason_of_the_library_has_its_remedy() -> None:
    section = PAGE.partition("## Bring a node back")[2].partition("\n## ")[0]
    rows = "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| "))
    files = {name for file in SCRIPTS for name in re.findall(r"\bhealth/([a-z][a-z-]+)", file.read_text())}
    assert {"devices", "mounts", "users", "script"} <= files
    assert [name for name in sorted(files) if f"`ultracluster: {name}`" not in rows] == []
    assert 'mark="ultracluster, "' in scripts.text("drain-on-failure.sh")
    assert "`ultracluster, flapping`" in rows
