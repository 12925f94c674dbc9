"""The report of a canary, in bash with the real curl; the server of the URL and AWS's tool are stand-ins."""

import json
import os
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

import ultracluster.boot.scripts

SCRIPT = Path(ultracluster.boot.scripts.__file__).parent / "canary.sh"
CONTENT = "a" * 64


class _Bucket(HTTPServer):
    """The bucket of the wait conditions: it takes PUT without a content type, as the URL is signed, and JSON."""

    signals: list[dict[str, str]]
    expired = False


class _Handler(BaseHTTPRequestHandler):
    server: _Bucket

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = 403 if self.server.expired or self.headers["Content-Type"] else 200
        if code == 200:
            self.server.signals.append(json.loads(body))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(b"<Message>Request has expired</Message>" if self.server.expired else b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def bucket() -> Iterator[_Bucket]:
    server = _Bucket(("127.0.0.1", 0), _Handler)
    server.signals = []
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def root(tmp_path: Path, bucket: _Bucket) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "value").write_text(
        f"{CONTENT} http://127.0.0.1:{bucket.server_port}/stack?X-Amz-Signature=a%2Fb&x=1\n"
    )
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
    command = ["bash", str(SCRIPT), "/p", "r", content]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)


def test_a_node_that_is_well_reports_success(root: Path, bucket: _Bucket) -> None:
    result = run(root)
    assert result.returncode == 0, result.stdout + result.stderr
    (signal,) = bucket.signals
    assert (signal["Status"], signal["UniqueId"]) == ("SUCCESS", "canary")


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("boot", 'failed: unit "x" failed, see `journalctl`\n', "boot: unit x failed, see journalctl"),
        ("mounts", "failed: /fsx is not mounted\n", "mounts: /fsx is not mounted"),
        ("boot", None, "the boot script has not ended"),
    ],
)
def test_a_node_that_is_not_well_reports_the_reason(
    root: Path, bucket: _Bucket, file: str, text: str | None, reason: str
) -> None:
    path = root / "run/ultracluster/health" / file
    path.unlink() if text is None else path.write_text(text)
    assert run(root).returncode == 0
    assert [(signal["Status"], signal["Reason"]) for signal in bucket.signals] == [("FAILURE", reason)]


def test_a_node_that_becomes_well_in_time_reports_success(root: Path, bucket: _Bucket) -> None:
    devices = root / "run/ultracluster/health/devices"
    check = root / "usr/local/sbin/ultracluster-health-check"
    # The second check passes: drivers take their time.
    check.write_text(
        f'#!/bin/sh\n[ -e {devices} ] && echo ok >{devices} || {{ echo "failed: no GPU" >{devices}; exit 1; }}\n'
    )
    check.chmod(0o755)
    assert run(root, limit=30).returncode == 0
    assert [signal["Status"] for signal in bucket.signals] == ["SUCCESS"]


def test_a_failed_check_of_devices_is_reported(root: Path, bucket: _Bucket) -> None:
    check = root / "usr/local/sbin/ultracluster-health-check"
    check.write_text(f'#!/bin/sh\necho "failed: 7 of 8 GPUs" >{root}/run/ultracluster/health/devices\nexit 1\n')
    check.chmod(0o755)
    run(root)
    assert [(signal["Status"], signal["Reason"]) for signal in bucket.signals] == [("FAILURE", "devices: 7 of 8 GPUs")]


def test_a_node_of_another_content_reports_nothing(root: Path, bucket: _Bucket) -> None:
    result = run(root, "b" * 64)
    assert (result.returncode, bucket.signals) == (0, [])
    assert "no deployment waits for this node" in result.stdout


def test_a_node_that_is_replaced_after_the_deployment_is_no_failure(root: Path, bucket: _Bucket) -> None:
    bucket.expired = True
    result = run(root)
    assert result.returncode == 0
    assert "the deployment has ended" in result.stdout


def test_a_refused_report_and_an_unreadable_parameter_are_failures(root: Path, bucket: _Bucket) -> None:
    (root.parent / "value").write_text(f"{CONTENT} http://127.0.0.1:1/\n")
    assert run(root).returncode == 1
    (root.parent / "bin/aws").write_text("#!/bin/sh\nexit 254\n")
    result = run(root)
    assert (result.returncode, bucket.signals) == (1, [])
    assert "the parameter /p cannot be read" in result.stdout
