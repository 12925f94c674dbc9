"""A script that a deployment waits for, in bash with the real curl; the server of the URL is a stand-in."""

import subprocess
from pathlib import Path

import pytest

from support.wait_conditions import wait_conditions
from ultracluster.boot import signalled_script


def run(tmp_path: Path, script: str, handle: str) -> subprocess.CompletedProcess[str]:
    """Run it as the agent of Systems Manager does: a file that `sh` runs."""
    file = tmp_path / "_script.sh"
    file.write_text("\n".join(signalled_script(script, handle=handle)) + "\n")
    file.chmod(0o755)
    return subprocess.run(["sh", "-c", str(file)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("script", "code", "status", "reason"),
    [
        ("cat <<'TABLE'\nqos long\nTABLE\n", 0, "SUCCESS", "qos long"),
        # JSON has no control characters, and quotes of its own.
        ("echo one\nprintf 'a \"b\"\\t\\\\ é\\n' >&2\nexit 3\n", 3, "FAILURE", "one a 'b' / "),
        ("set -eu\nfalse\necho never\n", 1, "FAILURE", ""),
    ],
)
def test_the_result_is_signalled_with_the_output(
    tmp_path: Path, script: str, code: int, status: str, reason: str
) -> None:
    with wait_conditions() as server:
        done = run(tmp_path, script, server.url)
        (signal,) = server.signals
        assert (done.returncode, signal["Status"], signal["Reason"]) == (code, status, reason), done.stdout
        server.expired = True
        assert run(tmp_path, script, server.url).returncode == code, "the hourly run after the deployment"
    assert run(tmp_path, script, "http://127.0.0.1:1/").returncode == code


def test_without_a_deployment_nothing_is_signalled(tmp_path: Path) -> None:
    done = run(tmp_path, "echo done\n", "")
    assert (done.returncode, done.stdout) == (0, "done\n")
