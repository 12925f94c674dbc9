"""Processes of the CDK CLI that run one command after the other."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest

from cdk_rehearsal.deploy import CliProcesses, node_path
from support.waiting import wait_until

# As the CDK CLI is laid out: a program that calls a function of its library.
PROGRAM = 'require("../lib").cli();'
COMMAND = [sys.executable, "-c", "from ultracluster.cli import main; main()"]
LIBRARY = """
const child = require("node:child_process");
exports.cli = async (args = process.argv.slice(2)) => {
  const inherited = child.execSync("echo ${NODE_OPTIONS-none}").toString().trim();
  console.log(process.pid, process.cwd(), process.env.ONLY ?? "none", inherited, ...args);
  process.stderr.write("problem"); // without a new line at its end
  process.exitCode = Number(args[0]);
};
"""


def cli_in(folder: Path) -> list[str]:
    for name, text in {"bin/cdk": PROGRAM, "lib/index.js": LIBRARY}.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(text)
    return [str(node_path()), str(folder / "bin" / "cdk")]


def words(processes: CliProcesses, program: list[str], code: str, folder: Path, **variables: str) -> list[str]:
    lines: list[str] = []
    environment = {"PATH": os.environ["PATH"], **variables}
    result, output = processes.run(
        program, [code, "--deploy"], folder=folder, environment=environment, each_line=lines.append
    )
    assert (result, output.splitlines()) == (int(code), lines)
    assert lines[1:] == ["problem"]
    return lines[0].split()


def test_one_process_runs_commands_each_in_its_folder_and_environment(tmp_path: Path) -> None:
    program, other = cli_in(tmp_path), tmp_path / "lib"
    with CliProcesses() as processes:
        first = words(processes, program, "3", tmp_path, ONLY="first")
        assert first[1:] == [str(tmp_path), "first", "none", "3", "--deploy"]
        assert words(processes, program, "0", other) == [first[0], str(other), "none", "none", "0", "--deploy"]
        assert words(processes, program, "1", tmp_path)[0] == first[0]
    with CliProcesses() as processes:
        assert words(processes, program, "0", tmp_path, NODE_OPTIONS="--no-warnings")[3] == "--no-warnings"
    assert not Path("/proc", first[0]).exists()


def test_a_command_runs_where_it_has_run_before(tmp_path: Path) -> None:
    program, both = cli_in(tmp_path), Barrier(2)
    environment = {"PATH": os.environ["PATH"]}

    def at_once(command: str) -> str:
        lines: list[str] = []

        def wait(line: str) -> None:
            lines.append(line)
            if len(lines) == 1:
                both.wait()

        processes.run(program, [command], folder=tmp_path, environment=environment, each_line=wait)
        return lines[0].split()[0]

    with CliProcesses() as processes, ThreadPoolExecutor(2) as pool:
        first = dict(zip("12", pool.map(at_once, "12"), strict=True))
        assert len(set(first.values())) == 2
        for command in "1221":
            assert words(processes, program, command, tmp_path)[0] == first[command]


def test_without_keeping_each_command_has_its_process(tmp_path: Path) -> None:
    program = cli_in(tmp_path)
    with CliProcesses(keep=False) as processes:
        assert len({words(processes, program, code, tmp_path)[0] for code in "012"}) == 3


def test_another_program_ends_after_each_command(tmp_path: Path) -> None:
    """As a script that starts the CLI in a process of its own, or a CLI of another layout."""
    code = "import sys, os; print(os.getpid(), flush=True); print('problem'); sys.exit(int(sys.argv[1]))"
    script = tmp_path / "cdk"
    script.write_text('console.log(process.pid); console.log("problem"); process.exitCode = Number(process.argv[2])')
    for program in ([sys.executable, "-c", code], [str(node_path()), str(script)]):
        with CliProcesses() as processes:
            assert len({words(processes, program, result, tmp_path)[0] for result in "012"}) == 3


def test_commands_of_other_threads_are_stopped_and_do_not_begin(tmp_path: Path) -> None:
    begun, later = tmp_path / "begun", tmp_path / "later"
    environment = {"PATH": os.environ["PATH"]}
    with CliProcesses() as processes, ThreadPoolExecutor(1) as pool:

        def submit(file: Path) -> Future[tuple[int, str]]:
            command = [
                sys.executable,
                "-c",
                f"import pathlib, time; pathlib.Path({str(file)!r}).touch(); time.sleep(600)",
            ]
            return pool.submit(
                processes.run, command, ["x"], folder=tmp_path, environment=environment, each_line=lambda line: None
            )

        commands = [submit(begun), submit(later)]
        wait_until("the command", begun.exists)
        with pytest.raises(KeyboardInterrupt), processes.stopped_by_errors(pool):
            raise KeyboardInterrupt
        assert [command.result(timeout=60)[0] for command in commands] == [-signal.SIGTERM] * 2
        assert not later.exists()
        # Those of others do.
        assert words(processes, cli_in(tmp_path), "0", tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_cli_and_deletes_the_scratch_directory(tmp_path: Path, number: signal.Signals) -> None:
    app, scratch = tmp_path / "app", tmp_path / "scratch"
    app.mkdir()
    scratch.mkdir()
    # The parent of the app's shell is the CLI.
    pid = tmp_path / "pid"
    (app / "cdk.json").write_text(json.dumps({"app": f"echo $PPID > {pid}.new; mv {pid}.new {pid}; sleep 2"}))
    environment = {**os.environ, "TMPDIR": str(scratch)}
    # Tests may run under nohup, which programs leave as it is.
    process = subprocess.Popen(
        [*COMMAND, "rehearse", "--app", str(app)],
        env=environment,
        preexec_fn=partial(signal.signal, number, signal.SIG_DFL),
    )
    wait_until("the synthesis", pid.exists)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert [path.name for path in scratch.iterdir() if path.name.startswith(("cdk-rehearsal", "ultracluster"))] == []
    cli = Path("/proc", pid.read_text().strip(), "cmdline")
    assert not cli.exists() or b"cdk" not in cli.read_bytes()


# Printed by typer, by rich, and as JSON of an error.
@pytest.mark.parametrize(
    "arguments", [["plan", "--help"], ["types"], ["check", "missing.yaml", "--json"]], ids=" ".join
)
def test_a_full_disk_is_one_line_on_stderr(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: No space left on device; free the disk")


def test_a_reader_that_ends_is_no_traceback() -> None:
    with subprocess.Popen([*COMMAND, "types"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
