"""dcgm-exporter gets the counters that its release knows."""

import subprocess
from pathlib import Path

import pytest

from ultracluster.boot import scripts


def run(tmp_path: Path, version: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    program = tmp_path / "bin" / "dcgm-exporter"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n[ "$1" != --version ] || {{ echo "{version}"; exit {code}; }}\necho "$@"\n')
    program.chmod(0o755)
    script = tmp_path / "dcgm-exporter.sh"
    script.write_text(scripts.text("dcgm-exporter.sh"))
    return subprocess.run(
        ["bash", script, "/etc/metrics", "--address=:9400"],
        env={"PATH": f"{program.parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("DCGM Exporter version 4.5.3-4.8.2", "old"),
        ("dcgm-exporter version 4.8.4", "old"),
        ("DCGM Exporter version 4.7.0-4.9.0", "new"),
        ("DCGM Exporter version 4.10.0-4.10.1", "new"),
        ("DCGM Exporter version Filled by the build system", "old"),
    ],
)
def test_the_counters_follow_the_release(tmp_path: Path, version: str, names: str) -> None:
    assert run(tmp_path, version).stdout == f"--collectors=/etc/metrics/dcgm-counters-{names}.csv --address=:9400\n"


def test_a_program_that_does_not_run_is_a_failure(tmp_path: Path) -> None:
    assert run(tmp_path, "", code=127).returncode == 1
