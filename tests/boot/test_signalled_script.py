"""A script that a deployment waits for, in bash with the real curl; the server of the URL is a stand-in."""

import subprocess
import time
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
        ("sh -c 'kill -TERM $$'\n", 143, "FAILURE", "Terminated"),
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


def test_a_node_that_stops_signals_nothing(tmp_path: Path) -> None:
    """The status of the last command, which the signal interrupts, is 0 in bash's trap of EXIT."""
    file = tmp_path / "script"
    with wait_conditions() as server:
        file.write_text(
            "\n".join(signalled_script("touch waits\nuntil false; do sleep 0.1; done\n", handle=server.url))
        )
        with subprocess.Popen(["bash", str(file)], cwd=tmp_path, stdout=subprocess.DEVNULL) as node:
            while not (tmp_path / "waits").exists():
                time.sleep(0.02)
            node.terminate()
            assert node.wait(timeout=60) == 143
        assert not server.signals
