"""The program that sends the logs of a node, with stand-ins for journald, CloudWatch and the metadata service."""

import base64
import importlib
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ultracluster.boot import node_logs, scripts
from ultracluster.clusterfile import load
from ultracluster.monitoring.collectors._agent import agent_configuration
from ultracluster.workloads import slurm_jobs

EXAMPLES = Path(__file__).parents[2] / "examples"
NOBODY = 65534
INSTANCE = "i-0123456789abcdef0"
BOOT_US = 1_790_000_000_000_000

# As journalctl: entries of a file, one JSON object on each line, after a cursor that must be in it.
JOURNALCTL = """\
#!/usr/bin/env python3
import json, os, sys
known = {"--output=json", "--no-pager", "--quiet", "--all", "--boot"}
entries = [json.loads(line) for line in open(os.environ["T"] + "/journal")]
for word in sys.argv[1:]:
    if word.startswith("--after-cursor="):
        cursors = [entry["__CURSOR"] for entry in entries]
        if word.partition("=")[2] not in cursors:
            sys.exit("Failed to seek to cursor: Invalid argument")
        entries = entries[cursors.index(word.partition("=")[2]) + 1:]
    elif word not in known:
        sys.exit("journalctl: unrecognized option " + word)
print("\\n".join(map(json.dumps, entries)))
"""

# As CloudWatch Logs: it refuses a stream that does not exist, and what PutLogEvents refuses.
AWS = """\
#!/usr/bin/env python3
import json, os, sys
root, words = os.environ["T"], sys.argv[1:]
with open(root + "/calls", "a") as calls:
    calls.write(" ".join(words) + "\\n")
if os.path.exists(root + "/down"):
    sys.exit("Could not connect to the endpoint URL")
assert words[0] == "logs", words
options = dict(zip(words[2::2], words[3::2]))
assert options["--log-group-name"] == "/ultracluster/pcs_abc/nodes", options
stream = root + "/streams/" + options["--log-stream-name"]
if words[1] == "create-log-stream":
    if os.path.exists(stream):
        sys.exit("An error occurred (ResourceAlreadyExistsException)")
    open(stream, "w").close()
    sys.exit(0)
assert words[1] == "put-log-events", words
if not os.path.exists(stream):
    sys.exit("An error occurred (ResourceNotFoundException) when calling the PutLogEvents operation")
events = json.load(open(options["--log-events"].removeprefix("file://")))
times = [event["timestamp"] for event in events]
size = sum(len(event["message"].encode()) + 26 for event in events)
if not events or len(events) > 10000 or size > 1048576 or times != sorted(times) or times[-1] - times[0] > 86400000:
    sys.exit("An error occurred (InvalidParameterException): %d events, %d bytes" % (len(events), size))
with open(stream, "a") as file:
    file.writelines(json.dumps(event) + "\\n" for event in events)
"""


class _Metadata(BaseHTTPRequestHandler):
    """The metadata service: version 2 only."""

    def do_PUT(self) -> None:
        self._answer(200 if self.headers["X-aws-ec2-metadata-token-ttl-seconds"] else 400, "TOKEN")

    def do_GET(self) -> None:
        allowed = self.headers["X-aws-ec2-metadata-token"] == "TOKEN"
        self._answer(200 if allowed and self.path == "/latest/meta-data/instance-id" else 401, INSTANCE)

    def _answer(self, code: int, text: str) -> None:
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def metadata() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Metadata) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Node:
    """A node of stand-ins."""

    def __init__(self, room: Path, metadata: str) -> None:
        self.room, self.root, self.metadata = room, room / "root", metadata
        (self.root / "var/log/amazon/pcs/lifecycle/actions/nodeBootstrapped").mkdir(parents=True)
        (room / "bin").mkdir()
        (room / "streams").mkdir()
        (room / "journal").touch()
        for name, text in (("journalctl", JOURNALCTL), ("aws", AWS)):
            (room / "bin" / name).write_text(text.replace("/usr/bin/env python3", f"{sys.executable} -IS"))
            (room / "bin" / name).chmod(0o755)
        self.entries = 0

    def journal(self, message: object, **fields: object) -> None:
        self.entries += 1
        entry = {
            "__CURSOR": f"s=1;i={self.entries}",
            "__REALTIME_TIMESTAMP": str(BOOT_US + self.entries * 1000),
            "PRIORITY": "6",
            "MESSAGE": message,
            **fields,
        }
        with (self.room / "journal").open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def log(self, path: str, text: str) -> None:
        with (self.root / "var/log" / path).open("a") as file:
            file.write(text)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.room}/bin:{os.environ['PATH']}",
            "T": str(self.room),
            "ULTRACLUSTER_ROOT": str(self.root),
            "ULTRACLUSTER_METADATA": self.metadata,
            "LOG_GROUP": "/ultracluster/pcs_abc/nodes",
            "NODE": "pcs-node-1",
            "NODE_GROUP": "train",
            "AWS_DEFAULT_REGION": "us-east-2",
            "http_proxy": "http://127.0.0.1:9",
        }

    def run(self, limit: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
        program = Path(scripts.__file__).parent / "_node_logs.py"
        command = [sys.executable, "-S", str(program), "--once"]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=180, preexec_fn=limit
        )

    @property
    def sent(self) -> list[dict[str, Any]]:
        stream = self.room / "streams" / INSTANCE
        lines = stream.read_text().splitlines() if stream.exists() else []
        return [json.loads(json.loads(line)["message"]) for line in lines]

    @property
    def messages(self) -> list[str]:
        return [event["message"] for event in self.sent]


@pytest.fixture
def node(tmp_path: Path, metadata: str) -> Node:
    return Node(tmp_path, metadata)


def test_a_node_sends_what_is_evidence_to_the_stream_of_its_instance(node: Node) -> None:
    node.journal("NVRM: Xid (PCI:0000:b9:00): 79, GPU has fallen off the bus.", _TRANSPORT="kernel")
    node.journal("Starting Metrics of the node...", SYSLOG_IDENTIFIER="systemd", UNIT="ultracluster-metrics.service")
    node.journal("fsx.mount: Failed", SYSLOG_IDENTIFIER="systemd", UNIT="fsx.mount", PRIORITY="3")
    node.journal("job 7: refused: devices", SYSLOG_IDENTIFIER="prolog")
    node.journal("health-check: failed: 7 of 8 GPUs", _SYSTEMD_UNIT="ultracluster-health-check.service")
    node.journal("slurmd version 25.11.2 started", _SYSTEMD_UNIT="slurmd-25.11.service", SYSLOG_IDENTIFIER="slurmd")
    node.journal("session opened for user ada", SYSLOG_IDENTIFIER="sshd", _SYSTEMD_UNIT="ssh.service")
    node.log("amazon/pcs/bootstrap.log", "Bootstrap starting\n")
    node.log("amazon/pcs/lifecycle/actions/executor.log", "checksum mismatch\n")
    node.log("amazon/pcs/lifecycle/actions/nodeBootstrapped/ultracluster-boot.log", "node-boot: no /fsx\n")
    node.log("slurmd.log", "error: prolog failed: rc:1 output:prolog: refused\n")
    done = node.run()
    assert done.returncode == 0, done.stderr
    assert {(event["source"], event["message"]) for event in node.sent} == {
        ("journal", "NVRM: Xid (PCI:0000:b9:00): 79, GPU has fallen off the bus."),
        ("systemd", "fsx.mount: Failed"),
        ("prolog", "job 7: refused: devices"),
        ("journal", "health-check: failed: 7 of 8 GPUs"),
        ("slurmd", "slurmd version 25.11.2 started"),
        ("bootstrap.log", "Bootstrap starting"),
        ("executor.log", "checksum mismatch"),
        ("ultracluster-boot.log", "node-boot: no /fsx"),
        ("slurmd.log", "error: prolog failed: rc:1 output:prolog: refused"),
    }
    assert {(event["node"], event["group"]) for event in node.sent} == {("pcs-node-1", "train")}
    assert all("cluster" not in event for event in node.sent), "a node without metrics does not know its cluster"


def test_a_node_of_hyperpod_sends_the_logs_of_slurm(node: Node) -> None:
    (node.root / "var/log/slurm").mkdir()
    node.log("slurm/slurmd.log", "error: Prolog failed\n")
    node.log("slurm/slurmctld.log", "error: Nodes ip-10-0-0-1 not responding\n")
    agent = node.root / "etc/ultracluster/metrics/agent.yaml"
    agent.parent.mkdir(parents=True)
    agent.write_text(agent_configuration(cluster="orca", group="train", region="us-east-2", gpus=True))
    assert node.run().returncode == 0
    assert {event["cluster"] for event in node.sent} == {"orca"}
    assert {(event["source"], event["message"]) for event in node.sent} == {
        ("slurmd.log", "error: Prolog failed"),
        ("slurmctld.log", "error: Nodes ip-10-0-0-1 not responding"),
    }


def test_only_what_is_new_is_sent_again(node: Node) -> None:
    node.journal("one", _TRANSPORT="kernel")
    node.log("slurmd.log", "two\nthr")
    assert node.run().returncode == 0
    calls = (node.room / "calls").read_text()
    assert node.run().returncode == 0
    assert (node.room / "calls").read_text() == calls, "nothing is new, and CloudWatch was asked"
    node.log("slurmd.log", "ee\n")
    node.journal("four", _TRANSPORT="kernel")
    assert node.run().returncode == 0
    assert sorted(node.messages) == ["four", "one", "three", "two"]


def test_what_cloudwatch_did_not_take_is_sent_later(node: Node) -> None:
    node.journal("one", _TRANSPORT="kernel")
    node.log("slurmd.log", "two\n")
    (node.room / "down").touch()
    done = node.run()
    assert done.returncode == 1
    assert "Could not connect" in done.stderr
    (node.room / "down").unlink()
    assert node.run().returncode == 0
    assert sorted(node.messages) == ["one", "two"]


def test_a_log_that_was_rotated_and_a_journal_that_was_lost_are_read_from_their_beginning(node: Node) -> None:
    node.journal("one", _TRANSPORT="kernel")
    node.log("slurmd.log", "two, of some length\n")
    assert node.run().returncode == 0
    (node.room / "journal").write_text("")
    (node.root / "var/log/slurmd.log").write_text("three\n")
    node.journal("four", _TRANSPORT="kernel")
    assert node.run().returncode == 0
    assert sorted(node.messages) == ["four", "one", "three", "two, of some length"]


def test_a_flood_of_the_kernel_is_sent_in_requests_that_cloudwatch_takes_and_is_cut(node: Node) -> None:
    node.journal("first", _TRANSPORT="kernel")
    assert node.run().returncode == 0
    for number in range(2_500):
        node.journal(f"{number} " + "x" * 1_000, _TRANSPORT="kernel")
    done = node.run()
    assert done.returncode == 0, done.stderr
    assert len(node.messages) == 1 + 2_000 + 1
    assert node.messages[-1] == "500 lines of the journal were left out: too many at once"
    assert (node.room / "calls").read_text().count("put-log-events") > 2


def test_a_journal_of_hours_without_cloudwatch_needs_little_memory(node: Node) -> None:
    node.journal("first", _TRANSPORT="kernel")
    assert node.run().returncode == 0
    entry = {"__CURSOR": "s=1", "__REALTIME_TIMESTAMP": str(BOOT_US), "_TRANSPORT": "kernel", "MESSAGE": "x" * 4_000}
    (node.room / "bin" / "journalctl").write_text(f"#!/bin/sh\nyes '{json.dumps(entry)}' | head -n 40000\n")
    bytes = 128 * 1024 * 1024
    done = node.run(lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes)))
    assert done.returncode == 0, done.stderr
    assert len(node.messages) == 1 + 2_000 + 1
    assert node.messages[-1] == "38000 lines of the journal were left out: too many at once"


def test_on_a_full_disk_nothing_is_sent_twice(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in node.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(Path(scripts.__file__).parent))
    monkeypatch.delitem(sys.modules, "_node_logs", raising=False)
    program = importlib.import_module("_node_logs")
    state = node.root / "var/lib/ultracluster"
    state.mkdir(parents=True)
    (state / "node-logs.json.new").symlink_to("/dev/full")
    log = program.Log()
    for number in range(3):
        node.journal(f"line {number}", _TRANSPORT="kernel")
        assert program.send(log, INSTANCE)
    assert node.messages == ["line 0", "line 1", "line 2"]
    (state / "node-logs.json.new").unlink()
    node.journal("line 3", _TRANSPORT="kernel")
    assert program.send(log, INSTANCE)
    assert node.run().returncode == 0
    assert node.messages == ["line 0", "line 1", "line 2", "line 3"], "another start reads it"


def test_a_node_that_was_off_for_days_is_sent_in_requests_of_a_day(node: Node) -> None:
    for day in range(3):
        node.journal("day", _TRANSPORT="kernel", __REALTIME_TIMESTAMP=str(BOOT_US + day * 86_400_000_000))
    assert node.run().returncode == 0
    assert node.messages == ["day"] * 3


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ([255, 104, 105], "�hi"),
        (["one", "two"], "one two"),
        ("y" * 20_000, "y" * 16_384),
        ('a "quote", a \\ and a \t tab', 'a "quote", a \\ and a \t tab'),
    ],
)
def test_what_a_program_wrote_arrives(node: Node, message: object, sent: str) -> None:
    node.journal(message, _TRANSPORT="kernel")
    assert node.run().returncode == 0
    assert node.messages == [sent]


def test_entries_that_are_no_log_are_left_out(node: Node) -> None:
    node.journal(None, _TRANSPORT="kernel")
    with (node.room / "journal").open("a") as file:
        file.write('{"__CURSOR": "s=1;i=x"}\n')
    node.journal("good", _TRANSPORT="kernel", PRIORITY=None)
    assert node.run().returncode == 0
    assert node.messages == ["good"]


def test_the_name_of_the_node_is_slurms_once_it_is_known(node: Node) -> None:
    (node.root / "run/ultracluster/drain").mkdir(parents=True)
    (node.root / "run/ultracluster/drain/node").write_text("train-3\n")
    node.journal("one", _TRANSPORT="kernel")
    assert node.run().returncode == 0
    assert [event["node"] for event in node.sent] == ["train-3"]


class Job:
    """A job whose file was rendered, as far as the line that names its output."""

    def __init__(self, node: Node, number: int, owner: int = 0) -> None:
        self.node, self.number = node, number
        self.directory = node.root / f"var/lib/ultracluster/job-metrics/{number}"
        self.directory.mkdir(parents=True)
        os.chown(self.directory, owner, 0)
        self.output = node.room / f"train-{number}.out"

    def name_output(self) -> None:
        files = slurm_jobs(load(EXAMPLES / "slurm-minimal.yaml"))
        text = next(file.text for file in files if file.path.endswith("pretrain.sbatch"))
        line = next(line for line in text.splitlines() if "/output" in line)
        line = line.replace("/var/lib", f"{self.node.root}/var/lib")
        with self.output.open("a") as file:
            environment = {"SLURM_JOB_ID": str(self.number), "PATH": os.environ["PATH"]}
            subprocess.run(["bash", "-euc", line], env=environment, stdout=file, stderr=file, check=True)

    def print(self, text: str) -> None:
        with self.output.open("a") as file:
            file.write(text)

    def end(self) -> None:
        shutil.rmtree(self.directory)


def test_the_output_of_a_job_is_sent_with_its_id_to_its_last_line(node: Node) -> None:
    job = Job(node, 1001)
    job.print("of an earlier start\n")
    job.name_output()
    job.print("step 1\nste")
    assert node.run().returncode == 0
    job.print("p 2\nTraceback")
    assert node.run().returncode == 0
    assert node.messages == ["step 1", "step 2"]
    job.end()
    assert node.run().returncode == 0
    assert node.run().returncode == 0
    assert node.messages == ["step 1", "step 2", "Traceback"]
    assert {(event["job"], event["source"], event["node"]) for event in node.sent} == {
        ("1001", "train-1001.out", "pcs-node-1")
    }


def test_the_output_of_a_job_that_ends_between_two_rounds_is_sent(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step is a stand-in by its title; a real one is in the tests of a real Slurm."""
    monkeypatch.syspath_prepend(str(Path(scripts.__file__).parent))
    reader = importlib.import_module("ultracluster_job_output")
    jobs = Job(node, 123457), Job(node, 123458, owner=NOBODY)
    # A process is called after its program.
    (program := node.room / "slurmstepd").symlink_to("/bin/sh")
    step = f"""exec -a "slurmstepd: [$1.batch]" {program} -c "sh -c 'echo Traceback; sleep 60; :' >>$2 2>&1; :" """
    steps = [
        subprocess.Popen(["bash", "-c", step, "-", str(job.number), str(job.output)], start_new_session=True)
        for job in jobs
    ]
    outputs: dict[str, Any] = {}
    try:
        until = time.monotonic() + 60
        while not (outputs and all(job.output.exists() for job in jobs)) and time.monotonic() < until:
            assert reader.find_outputs(str(node.root), outputs, within=300) == {"123457", "123458"}
            time.sleep(0.05)
    finally:
        for process in steps:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    # The process of the other one is not its owner's.
    assert list(outputs) == ["123457"]
    for job in jobs:
        job.end()
    assert list(reader.new_lines(str(node.root), outputs)) == [("123457", "train-123457.out", "Traceback")]
    assert outputs == {}


def test_only_new_jobs_are_looked_up_between_two_rounds(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(scripts.__file__).parent))
    reader = importlib.import_module("ultracluster_job_output")
    job = Job(node, 7)
    job.name_output()
    outputs: dict[str, Any] = {}
    assert reader.find_outputs(str(node.root), outputs, within=0) == {"7"}
    assert outputs == {}
    reader.find_outputs(str(node.root), outputs)
    assert list(outputs) == ["7"]


def test_the_last_lines_of_a_job_wait_for_a_file_system_that_does_not_answer(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(scripts.__file__).parent))
    reader = importlib.import_module("ultracluster_job_output")
    job = Job(node, 7)
    job.name_output()
    job.print("Traceback\n")
    outputs: dict[str, Any] = {}
    reader.find_outputs(str(node.root), outputs)
    with subprocess.Popen(["sleep", "60"]) as hanging:
        monkeypatch.setitem(reader._HANGING, str(job.output), hanging)
        job.end()
        assert list(reader.new_lines(str(node.root), outputs)) == []
        hanging.kill()
    assert list(reader.new_lines(str(node.root), outputs)) == [("7", "train-7.out", "Traceback")]
    assert outputs == {}


def test_a_job_file_names_its_output_only_where_a_node_knows_the_job(tmp_path: Path, node: Node) -> None:
    job = Job(node, 1)
    job.end()
    job.name_output()
    assert job.output.read_text() == "", "the line must print nothing, and must not fail"


def test_a_user_cannot_have_others_files_sent(node: Node) -> None:
    """Root reads the output with the permissions of the owner of the job."""
    secret = node.room / "secret"
    secret.write_text("of root\n")
    secret.chmod(0o600)
    for number, name in enumerate((f"{secret}\n0\n", f"{secret}\nx\n", "relative\n0\n", "/dev/zero\n0\n", "")):
        job = Job(node, number, owner=NOBODY)
        (job.directory / "output").write_text(name)
    (Job(node, 77, owner=NOBODY).directory / "output").symlink_to(secret)
    os.mkfifo(Job(node, 78, owner=NOBODY).directory / "output")
    assert node.run().returncode == 0
    assert node.sent == []


def test_a_user_cannot_end_the_program(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(scripts.__file__).parent))
    reader = importlib.import_module("ultracluster_job_output")
    (Job(node, 1, owner=NOBODY).directory / "output").write_text("/a\0b\n0\n")
    (Job(node, 2, owner=NOBODY).directory / "output").write_bytes(b"/\xff\n0\n")
    (Job(node, 3, owner=NOBODY).directory / "output").mkdir()
    good = Job(node, 4)
    good.name_output()
    good.print("one\n")
    before = len(os.listdir("/proc/self/fd"))
    outputs: dict[str, Any] = {}
    lines = [line for _ in range(3) for line in reader.new_lines(str(node.root), outputs)]
    assert lines == [("4", "train-4.out", "one")]
    assert len(os.listdir("/proc/self/fd")) == before, "each round leaves a file open"

    def too_many(*args: object, **options: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(reader.subprocess, "Popen", too_many)
    good.print("two\n")
    assert list(reader.new_lines(str(node.root), outputs)) == []
    monkeypatch.undo()
    assert [line for _, _, line in reader.new_lines(str(node.root), outputs)] == ["two"]


def test_a_file_that_does_not_answer_delays_one_round_only(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(scripts.__file__).parent))
    reader = importlib.import_module("ultracluster_job_output")
    (node.room / "bin" / "tail").write_text("#!/bin/sh\nsleep 60\n")
    (node.room / "bin" / "tail").chmod(0o755)
    monkeypatch.setenv("PATH", f"{node.room}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(reader, "SECONDS", 0.2)
    job = Job(node, 5)
    job.name_output()
    job.print("one\n")
    outputs: dict[str, Any] = {}
    assert list(reader.new_lines(str(node.root), outputs)) == []
    (node.room / "bin" / "tail").unlink()
    reader._HANGING[str(job.output)].wait(timeout=10)
    assert list(reader.new_lines(str(node.root), outputs)) == [("5", "train-5.out", "one")]


def test_what_a_job_prints_without_end_is_sent_in_parts(node: Node) -> None:
    job = Job(node, 9)
    job.name_output()
    job.print("x" * 79 + "\n")
    job.print(("y" * 79 + "\n") * 5_000)
    assert node.run().returncode == 0
    first = len(node.messages)
    assert first == 2_500, "200,000 bytes of a job in a round"
    assert node.run().returncode == 0
    assert node.run().returncode == 0
    assert len(node.messages) == 5_001


def test_a_message_of_a_process_of_a_job_has_its_id(node: Node) -> None:
    cgroup = "/system.slice/slurmstepd.scope/job_1001/step_0/user/task_3"
    node.journal("segfault at 0", PRIORITY="4", _SYSTEMD_CGROUP=cgroup, SYSLOG_IDENTIFIER="python")
    node.journal("an error of the node", PRIORITY="3", _SYSTEMD_CGROUP="/system.slice/job_exporter.service")
    assert node.run().returncode == 0
    assert [event.get("job") for event in node.sent] == ["1001", None]


def test_journalctl_takes_the_options_of_the_program(tmp_path: Path) -> None:
    """The real one, on a journal without entries."""
    options = ["--output=json", "--no-pager", "--quiet", "--all"]
    done = subprocess.run(["journalctl", f"--directory={tmp_path}", *options, "--boot"], capture_output=True, text=True)
    assert "unrecognized" not in done.stderr
    assert "invalid" not in done.stderr.lower()


def test_the_script_installs_the_program_and_never_fails(tmp_path: Path) -> None:
    script = node_logs(log_group="/ultracluster/pcs_abc/nodes", region="us-east-2")
    assert (script.on_error, script.every_boot, script.stage) == ("CONTINUE", True, "nodeBootstrapped")
    assert script.content is not None
    (tmp_path / "script").write_bytes(script.content)
    (tmp_path / "bin").mkdir()
    systemctl = tmp_path / "bin" / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/asked\n[ "$1" != restart ]\n')
    systemctl.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}/bin:/usr/bin:/bin",
        "ULTRACLUSTER_ROOT": str(tmp_path / "root"),
        "PCS_NODE_ID": "pcs-node-1",
        "PCS_COMPUTE_NODE_GROUP_NAME": "train",
    }
    (tmp_path / "root").mkdir()
    for _ in range(2):
        done = subprocess.run(["bash", str(tmp_path / "script"), *script.arguments], env=environment, check=False)
        assert done.returncode == 0
    assert (tmp_path / "asked").read_text().splitlines()[:3] == [
        "daemon-reload",
        "enable --quiet ultracluster-node-logs.service",
        "restart --no-block ultracluster-node-logs.service",
    ]
    assert (tmp_path / "root/etc/ultracluster/node-logs").read_text().splitlines() == [
        "LOG_GROUP=/ultracluster/pcs_abc/nodes",
        "AWS_DEFAULT_REGION=us-east-2",
        "NODE=pcs-node-1",
        "NODE_GROUP=train",
    ]
    program = tmp_path / "root/usr/local/sbin/ultracluster-node-logs"
    assert program.read_text() == scripts.text("_node_logs.py")
    assert program.stat().st_mode & 0o777 == 0o755


def test_the_archive_of_the_script_has_the_program_and_its_unit() -> None:
    content = node_logs(log_group="g", region="r").content
    assert content is not None
    packed = base64.b64decode(content.split(b"\n#FILES\n")[1])
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert archive.getnames() == [
            "usr/local/sbin/ultracluster-node-logs",
            "usr/local/sbin/ultracluster_job_output.py",
            "etc/systemd/system/ultracluster-node-logs.service",
        ]
