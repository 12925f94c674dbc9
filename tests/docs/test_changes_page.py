"""The guard prints what docs/operations/changes.md shows."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import ROOT
from ultracluster.cli import _output, app

PAGE = (ROOT / "docs" / "operations" / "changes.md").read_text()
SHOWN = [block for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if "guard" in block]


def lines(text: str) -> list[str]:
    # How many there are in all changes with each part that a cluster gets.
    counted = re.sub(r"\d+ (stateful|kept|node groups)", r"N \1", text)
    return [line.rstrip() for line in counted.splitlines() if line.strip()]


@pytest.mark.parametrize("block", SHOWN, ids=["updated", "replaced"])
def test_the_commands_of_the_page_print_what_it_shows(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "golden").symlink_to(ROOT / "tests" / "golden")
    monkeypatch.chdir(tmp_path)
    # As on a terminal with 100 columns: in a pipe, a row is one line.
    monkeypatch.setattr(_output, "_WIDEST", 100)
    printed = ""
    for line in block.splitlines():
        if line.startswith("$ ultracluster "):
            printed += CliRunner().invoke(app, shlex.split(line)[2:]).output
        elif line.startswith("$ ") and "pip install" not in line:
            subprocess.run(["bash", "-c", line[2:].replace("cp -r", "cp -rL")], check=True)
    assert lines(printed) == [line for line in lines(block) if not line.startswith("$ ")]
