"""Scripts of the user whose failures terminate a limited number of nodes, in bash; Slurm and AWS are stand-ins."""

import hashlib
import json
import shutil
import socket
import time
from pathlib import Path

import pytest

from support.node_boot import Node
from support.node_boot.gpu_node import GpuNode
from ultracluster.boot import NodeScript, limited_script, script_slots

AWS = Path(__file__).parents[1] / "support/node_boot/aws"
SLOTS = script_slots("llama", "compute")
FAILS = b'#!/usr/bin/env bash\necho "run $*"\nexit 7'
WORKS = b'#!/usr/bin/env bash\necho "run $*"\n'
REASON = "failed: the script EDR agent exited with code 7\n"


INSTANCE = "i-0123456789abcdef0"


def prepared(node: Node) -> Node:
    (node.state / "aws").symlink_to(AWS)
    node.says("metadata/instance-id", INSTANCE)
    node.says("instances", INSTANCE)
    return node


def is_terminated(node: Node) -> bool:
    """Return True if the node has terminated itself."""
    return INSTANCE not in (node.state / "instances").read_text()


def launch(node: Node) -> None:
    """AWS PCS launches another one."""
    node.reboot()
    shutil.rmtree(node.root / "opt/ultracluster")
    node.says("instances", INSTANCE)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return prepared(Node(tmp_path))


def taken(node: Node, *ages: int) -> None:
    values = {name: f"{int(time.time()) - age} other EDR agent" for name, age in zip(SLOTS, ages, strict=False)}
    (node.state / "parameters.json").write_text(json.dumps(values))


def slots(node: Node) -> dict[str, str]:
    path = node.state / "parameters.json"
    values: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return values


def run(node: Node, content: bytes = FAILS, *, url: str | None = None, every_boot: bool = False) -> tuple[int, str]:
    """Run a script as AWS PCS does; its exit code and output."""
    sha256 = hashlib.sha256(content).hexdigest()
    script = NodeScript(
        name="EDR agent", every_boot=every_boot, content=None if url else content, url=url, sha256=sha256
    )
    limited = limited_script(script, cluster="llama", nodes="compute", region="us-east-2")
    assert limited.content is not None
    program = node.file("/pcs/script", "")
    program.write_bytes(limited.content)
    done = node.start(program, "--group", "two words")
    return done.returncode, done.stdout


def is_reported(node: Node) -> bool:
    return (node.root / "run/ultracluster/health/script").exists()


def test_a_script_that_succeeds_takes_no_slot_and_gets_its_arguments(node: Node) -> None:
    assert run(node, WORKS) == (0, "run --group two words\n")
    assert not is_reported(node)
    assert slots(node) == {}


def test_the_first_failures_terminate_nodes_which_take_no_jobs_and_the_next_one_stays(node: Node) -> None:
    for number in range(1, 4):
        assert run(node)[0] == 1
        assert (is_terminated(node), node.health("script")) == (True, REASON)
        assert sorted(slots(node)) == [*SLOTS[:number]]
        launch(node)
    assert run(node)[0] == 1
    assert (is_terminated(node), node.health("script")) == (False, REASON)


@pytest.mark.parametrize(("age", "terminated"), [(3000, False), (4000, True)], ids=("recent", "old"))
def test_a_slot_is_free_after_an_hour(node: Node, age: int, terminated: bool) -> None:
    taken(node, 10, age, 10)
    assert run(node)[0] == 1
    assert is_terminated(node) is terminated


@pytest.mark.parametrize("action", ["ssm put-parameter", "ssm get-parameter", "ec2 terminate-instances"])
def test_a_node_that_cannot_count_or_may_not_end_itself_stays(node: Node, action: str) -> None:
    node.says("denied", action)
    assert run(node)[0] == 1
    assert (is_terminated(node), node.health("script")) == (False, REASON)


def test_a_reboot_repeats_the_report_and_not_the_script(node: Node) -> None:
    taken(node, 10, 10, 10)
    assert run(node) == (1, "run --group two words\n")
    node.reboot()
    assert run(node) == (1, "")
    assert node.health("script") == REASON


def test_a_script_of_every_boot_runs_again_and_clears_its_failure(node: Node) -> None:
    taken(node, 10, 10, 10)
    assert run(node, every_boot=True)[0] == 1
    node.reboot()
    assert run(node, WORKS, every_boot=True) == (0, "run --group two words\n")
    assert not is_reported(node)


@pytest.mark.parametrize("url", ["s3://security-tools/edr.sh", "https://tools.example.com/edr.sh"])
def test_a_script_of_a_url_is_verified(node: Node, url: str) -> None:
    taken(node, 10, 10, 10)
    store = node.state / "store/edr.sh"
    store.write_bytes(WORKS + b"# changed\n")
    assert run(node, WORKS, url=url, every_boot=True) == (1, "")
    assert "cannot be downloaded, or has another checksum" in node.health("script")
    node.reboot()
    store.write_bytes(WORKS)
    assert run(node, WORKS, url=url, every_boot=True) == (0, "run --group two words\n")
    assert not is_reported(node)


# The real curl, with a second in place of 20 and without repetitions; it must end by itself.
CURL = """\
#!/bin/bash
words=()
for word in "$@"; do
    case $word in
        20) word=1 ;;
        5) word=0 ;;
        https://*) word=http://127.0.0.1:{port}/edr.sh ;;
    esac
    words+=("$word")
done
timeout 30 {curl} "${{words[@]}}" || echo "$?" >"{ended}"
exit 1
"""


def test_a_server_that_stalls_does_not_hold_the_boot(node: Node, tmp_path: Path) -> None:
    """AWS PCS replaces a node after 30 minutes of its boot, without limit."""
    taken(node, 10, 10, 10)
    (node.bin / "curl").unlink()
    with socket.create_server(("127.0.0.1", 0)) as server:
        # It accepts the connection, and never answers.
        curl, port, ended = shutil.which("curl", path="/usr/bin:/bin"), server.getsockname()[1], tmp_path / "ended"
        (node.bin / "curl").write_text(CURL.format(curl=curl, port=port, ended=ended))
        (node.bin / "curl").chmod(0o755)
        assert run(node, WORKS, url="https://tools.example.com/edr.sh")[0] == 1
    assert ended.read_text() == "28\n", "the exit code of curl for a limit"
    assert "cannot be downloaded, or has another checksum" in node.health("script")


def test_slurm_drains_a_node_with_the_reason_and_starts_no_job_on_it(tmp_path: Path) -> None:
    node = GpuNode(tmp_path)
    prepared(node)
    taken(node, 10, 10, 10)
    assert run(node)[0] == 1
    assert node.call("prolog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001").returncode == 1
    assert "+DRAIN" in node.slurm()["State"]
    assert node.slurm()["Reason"] == "ultracluster: script: the script EDR agent exited with code 7"


def test_the_breaker_does_not_let_jobs_start_where_a_script_failed(tmp_path: Path) -> None:
    node = GpuNode(tmp_path)
    prepared(node)
    node.file("/etc/ultracluster/breaker", "parameter /ultracluster/llama/health-mode\nregion us-east-2\n")
    mode = {"/ultracluster/llama/health-mode": "observe"}
    (node.state / "parameters.json").write_text(json.dumps(mode))
    node.file("/run/ultracluster/health/script", REASON)
    assert node.call("prolog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001").returncode == 1
    assert "+DRAIN" not in node.slurm()["State"], "the controller drains it, for the prolog"


@pytest.mark.parametrize("on_error", ["CONTINUE", "STOP_SEQUENCE"])
def test_a_script_that_terminates_no_node_stays_as_it_is(on_error: str) -> None:
    script = NodeScript(name="x", content=WORKS, on_error=on_error)  # type: ignore[arg-type]
    assert limited_script(script, cluster="llama", nodes="compute", region="us-east-2") is script
