"""Commands of the section on plans of docs/guides/cluster-file.md."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import ROOT
from ultracluster.cli import app

PAGE = (ROOT / "docs" / "guides" / "cluster-file.md").read_text()
SECTION = PAGE.partition("## Plan it for a model\n")[2].partition("\n## ")[0]
# A command, and the lines of its output that the page shows.
COMMANDS = [
    (command, shown.strip("\n"))
    for block in re.findall(r"^```console\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=range(len(COMMANDS)))
def test_commands_run_and_print_what_the_page_shows(
    command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(command)
    assert program == "ultracluster"
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stderr) == (0, "")
    assert set(shown.splitlines()) <= set(result.stdout.splitlines())
