"""The report of a canary, in bash with the real curl; the server of the URL and AWS's tool are stand-ins."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.wait_conditions import WaitConditions, wait_conditions
from ultracluster.boot import scripts

CONTENT = "a" * 64


@pytest.fixture
def bucket() -> Iterator[WaitConditions]:
    with wait_conditions() as server:
        yield server


@pytest.fixture
def root(tmp_path: Path, bucket: WaitConditions) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "value").write_text(f"{CONTENT} {bucket.url}\n")
    call = "ssm get-parameter --name /p --region r --query Parameter.Value --output text"
    (tmp_path / "bin/aws").write_text(f'#!/bin/sh\n[ "$*" = "{call}" ] || exit 2\ncat {tmp_path}/value\n')
    (tmp_path / "bin/aws").chmod(0o755)
    root = tmp_path / "root"
    (root / "run/ultracluster/health").mkdir(parents=True)
    (root / "usr/local/sbin").mkdir(parents=True)
    for name in ("boot", "mounts"):
        (root / "run/ultracluster/health" / name).write_text("ok\n")
    return root


def run(root: Path, content: str = CONTENT, *, limit: int = 0) -> subprocess.CompletedProcess[str]:
    variables = {
        "PATH": f"{root.parent}/bin:{os.environ['PATH']}",
        "ULTRACLUSTER_ROOT": str(root),
        "ULTRACLUSTER_CANARY_LIMIT": str(limit),
        "ULTRACLUSTER_PAUSE": "0.1",
    }
    command = ["bash", "-c", scripts.text("canary.sh"), "canary.sh", "/p", "r", content]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)


def test_a_node_that_is_well_reports_success(root: Path, bucket: WaitConditions) -> None:
    result = run(root)
    assert result.returncode == 0, result.stdout + result.stderr
    (signal,) = bucket.signals
    assert (signal["Status"], signal["UniqueId"]) == ("SUCCESS", "canary")


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("boot", 'failed: unit "x" failed, see `journalctl`\n', "boot: unit 'x' failed, see `journalctl`"),
        ("mounts", "failed: /fsx is not mounted\n", "mounts: /fsx is not mounted"),
        ("boot", None, "the boot script has not ended"),
    ],
)
def test_a_node_that_is_not_well_reports_the_reason(
    root: Path, bucket: WaitConditions, file: str, text: str | None, reason: str
) -> None:
    path = root / "run/ultracluster/health" / file
    path.unlink() if text is None else path.write_text(text)
    assert run(root).returncode == 0
    assert [(signal["Status"], signal["Reason"]) for signal in bucket.signals] == [("FAILURE", reason)]


def test_a_node_that_becomes_well_in_time_reports_success(root: Path, bucket: WaitConditions) -> None:
    devices = root / "run/ultracluster/health/devices"
    check = root / "usr/local/sbin/ultracluster-health-check"
    # The second check passes: drivers take their time.
    check.write_text(
        f'#!/bin/sh\n[ -e {devices} ] && echo ok >{devices} || {{ echo "failed: no GPU" >{devices}; exit 1; }}\n'
    )
    check.chmod(0o755)
    assert run(root, limit=30).returncode == 0
    assert [signal["Status"] for signal in bucket.signals] == ["SUCCESS"]


def test_a_failed_check_of_devices_is_reported(root: Path, bucket: WaitConditions) -> None:
    check = root / "usr/local/sbin/ultracluster-health-check"
    check.write_text(f'#!/bin/sh\necho "failed: 7 of 8 GPUs" >{root}/run/ultracluster/health/devices\nexit 1\n')
    check.chmod(0o755)
    run(root)
    assert [(signal["Status"], signal["Reason"]) for signal in bucket.signals] == [("FAILURE", "devices: 7 of 8 GPUs")]


def test_a_node_of_another_content_reports_nothing(root: Path, bucket: WaitConditions) -> None:
    result = run(root, "b" * 64)
    assert (result.returncode, bucket.signals) == (0, [])
    assert "no deployment waits for this node" in result.stdout


def test_a_node_that_is_replaced_after_the_deployment_is_no_failure(root: Path, bucket: WaitConditions) -> None:
    bucket.expired = True
    result = run(root)
    assert result.returncode == 0
    assert "the deployment has ended" in result.stdout


def test_a_refused_report_and_an_unreadable_parameter_are_failures(root: Path, bucket: WaitConditions) -> None:
    (root.parent / "value").write_text(f"{CONTENT} http://127.0.0.1:1/\n")
    assert run(root).returncode == 1
    (root.parent / "bin/aws").write_text("#!/bin/sh\nexit 254\n")
    result = run(root)
    assert (result.returncode, bucket.signals) == (1, [])
    assert "the parameter /p cannot be read" in result.stdout
