"""Read the output of jobs on this node, for the program that sends the logs of the node.

It is what the batch script prints, and its errors, as its process shows. A job may name another in the file `output` of
its own directory: the path, and the size when the job began; an empty file keeps its output here. What the user wrote
is read with the user's permissions, and never waited for.
"""

from __future__ import annotations

import glob
import math
import os
import pwd
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

DIRECTORIES = "/var/lib/ultracluster/job-metrics/"
# Of each job in a round: a job that prints without end must not flood the bill.
MOST_BYTES, SECONDS = 200_000, 10
# The step of a batch script, whose child the script is: `slurmstepd: [1001.batch]`.
_BATCH = re.compile(rb"slurmstepd: \[(\d+)\.batch\]")
# What follows the job in the key of its errors, where they have a file of their own.
_ERRORS = ".err"
# The process that has not come back from a file.
_HANGING: dict[str, subprocess.Popen[bytes]] = {}
# When a job was first seen.
_SEEN: dict[str, float] = {}


def new_lines(root: str, outputs: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what jobs have written since the last round: job, name of the file, line.

    Args:
        root: Root of the file system, in tests.
        outputs: Path, offset and owner by job, which this updates. A job that has ended, whose directory is gone, is
            read to its end and forgotten.
    """
    running = find_outputs(root, outputs)
    for key, output in sorted(outputs.items()):
        job = key.replace(_ERRORS, "")
        data = _read(**output)
        # A line that is still being written is read when it is complete.
        partly = job in running and len(data) < MOST_BYTES
        end = data.rfind(b"\n") + 1 if partly else len(data)
        output["offset"] += end
        if job not in running and len(data) < MOST_BYTES and not _hangs(output["path"]):
            del outputs[key]
        for line in data[:end].decode(errors="replace").splitlines():
            if line.strip():
                yield job, os.path.basename(output["path"]), line


def find_outputs(root: str, outputs: dict[str, Any], *, within: float = math.inf) -> set[str]:
    """Add the outputs of jobs that have none to `outputs`, and return the jobs of this node.

    Args:
        root: Root of the file system, in tests.
        outputs: As for `new_lines`.
        within: Only of jobs that were first seen within these seconds.
    """
    running = {os.path.basename(path): path for path in glob.glob(root + DIRECTORIES + "*")}
    now = time.monotonic()
    for job in _SEEN.keys() - running.keys():
        del _SEEN[job]
    new = {job: path for job, path in running.items() if now - _SEEN.setdefault(job, now) < within}
    new = {job: path for job, path in new.items() if job not in outputs}
    scripts = _batch_scripts() if new else {}
    for job, path in new.items():
        name = path + "/output"
        if not os.path.lexists(name):
            outputs.update(_printed(job, path, scripts.get(job)))
        elif output := _named(name):
            outputs[job] = output
    return set(running)


def _named(path: str) -> dict[str, Any] | None:
    """Return path, offset and owner of the output that a job named; the file is the user's, and may be anything."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            lines = os.read(descriptor, 5_000).decode().splitlines() if regular else []
        finally:
            os.close(descriptor)
        if len(lines) == 2 and lines[0].startswith("/") and lines[1].isdecimal():
            return {"path": lines[0], "offset": int(lines[1]), "owner": os.stat(os.path.dirname(path)).st_uid}
    except (OSError, ValueError):
        pass
    return None


def _batch_scripts() -> dict[str, str]:
    """Return the process of the batch script of each job on this node."""
    scripts = {}
    for process in glob.glob("/proc/[0-9]*"):
        try:
            # The arguments of a process that waits for a file system may never come; its name comes at once.
            with open(f"{process}/comm", "rb") as file:
                if not file.read().startswith(b"slurm"):
                    continue
            with open(f"{process}/cmdline", "rb") as file:
                step = _BATCH.match(file.read(100))
            if step:
                number = process.removeprefix("/proc/")
                with open(f"/proc/{number}/task/{number}/children", encoding="ascii") as file:
                    scripts[step[1].decode()] = file.read().split()[0]
        except (OSError, IndexError):
            # It has ended, or has no child yet.
            continue
    return scripts


def _printed(job: str, directory: str, script: str | None) -> dict[str, Any]:
    """Return path, offset and owner of the output and of the errors of a batch script, once it has printed.

    They may be files of earlier jobs. Their size would be a question to a file system that may not answer.
    """
    outputs: dict[str, Any] = {}
    try:
        owner, process = os.stat(directory).st_uid, f"/proc/{script}"
        if os.stat(process).st_uid != owner:
            return {}
        positions = {}
        for key, number in ((job + _ERRORS, 2), (job, 1)):
            path = os.readlink(f"{process}/fd/{number}")
            with open(f"{process}/fdinfo/{number}", encoding="ascii") as file:
                positions[path] = int(file.readline().split()[1])
            outputs[key] = {"path": path, "offset": max(0, positions[path] - MOST_BYTES), "owner": owner}
    except (OSError, ValueError):
        return {}
    if outputs[job]["path"] == outputs[job + _ERRORS]["path"]:
        del outputs[job + _ERRORS]
    return outputs if any(positions.values()) else {}


def _hangs(path: str) -> bool:
    return path in _HANGING and _HANGING[path].poll() is None


def _read(path: str, offset: int, owner: int) -> bytes:
    """Return what follows in a file that its owner may read, or nothing."""
    if _hangs(path):
        return b""
    who: dict[str, Any] = {}
    if os.geteuid() == 0:
        try:
            who = {"user": owner, "group": pwd.getpwuid(owner).pw_gid, "extra_groups": []}
        except KeyError:
            return b""
    script = '[ -f "$1" ] && tail -c "+$2" -- "$1" | head -c "$3"'
    try:
        reading: subprocess.Popen[bytes] = subprocess.Popen(
            ["sh", "-c", script, "sh", path, str(offset + 1), str(MOST_BYTES)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **who,
        )
    except (OSError, ValueError):
        # A path with a null byte, or a user with too many processes.
        return b""
    try:
        # The process is the user's, who may write more into its pipe.
        return reading.communicate(timeout=SECONDS)[0][:MOST_BYTES]
    except subprocess.TimeoutExpired:
        # Not waited for: a process that hangs in a file system does not end.
        os.killpg(reading.pid, signal.SIGKILL)
        _HANGING[path] = reading
        print(f"job-output: {path} does not answer, and is read later", file=sys.stderr, flush=True)
        return b""
