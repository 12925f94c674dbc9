"""Processes of the CDK CLI that run one command after the other."""

import contextlib
import json
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Self

_KEPT = Path(__file__).parent / "kept_cli.cjs"
_END = "\0"
# The library's app ends within two seconds (2026-11-28).
_END_SECONDS = 5


class CliProcesses:
    """Runs commands of one CLI, each in a process that is idle, or in a new one. A context manager."""

    def __init__(self, *, keep: bool = True) -> None:
        self._keep = keep
        self._idle: list[subprocess.Popen[str]] = []
        self._running: set[subprocess.Popen[str]] = set()
        self._commands: dict[subprocess.Popen[str], set[str]] = {}
        self._together = self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._idle:
            process.communicate()

    @contextlib.contextmanager
    def stopped_by_errors(self, pool: Executor) -> Iterator[None]:
        """End the commands of other threads if the `with` block raises, as Ctrl-C does. They begin none after that.

        Args:
            pool: These threads. The block ends when they are idle.
        """
        self._together = True
        try:
            yield
        except BaseException:
            self._stop()
            pool.shutdown()
            raise
        finally:
            self._together = self._stopped = False

    def _stop(self) -> None:
        """End all commands, and let none begin until the `with` block of `stopped_by_errors` has ended."""
        self._stopped = self._together
        for process in self._running.copy():
            process.terminate()

    def run(
        self,
        program: Sequence[str],
        arguments: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        each_line: Callable[[str], None],
    ) -> tuple[int, str]:
        """Run a command to its end, and return its exit code and its output."""
        if self._stopped:
            return -signal.SIGTERM, ""
        process = self._begin(program, arguments, folder, environment)
        self._running.add(process)
        if self._stopped:
            process.terminate()
        assert process.stdout is not None
        lines: list[str] = []
        try:
            for line in process.stdout:
                # The output before it may end without a new line.
                text, ended, code = line.partition(_END)
                if text:
                    lines.append(text)
                    each_line(text.rstrip("\n"))
                if ended:
                    self._idle.append(process)
                    return int(code), "".join(lines)
        except BaseException:
            self._stop()
            _end(process)
            raise
        finally:
            self._running.remove(process)
        process.communicate()
        return process.returncode, "".join(lines)

    def _begin(
        self, program: Sequence[str], arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> subprocess.Popen[str]:
        if self._idle:
            # One that has run this command has compiled its code: a quarter of the time of a deployment.
            process = max(
                self._idle, key=lambda idle: (arguments[0] in self._commands[idle], len(self._commands[idle]))
            )
            self._idle.remove(process)
            self._commands[process].add(arguments[0])
            assert process.stdin is not None
            request = {"args": arguments, "folder": str(folder), "environment": environment}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return process
        variables = {}
        if self._keep:
            # A CLI that is no program of Node, or does not run in its first process, ends after each command.
            options = environment.get("NODE_OPTIONS", "")
            variables = {"CDK_REHEARSAL_KEPT": options, "NODE_OPTIONS": f'{options} --require "{_KEPT}"'}
        process = subprocess.Popen(
            [*program, *arguments],
            cwd=folder,
            env={**environment, **variables},
            stdin=subprocess.PIPE if self._keep else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._commands[process] = {arguments[0]}
        return process


def _end(process: "subprocess.Popen[str]") -> None:
    """End the CLI. The app that it started then ends too, and deletes its files, unless it hangs."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_END_SECONDS)
