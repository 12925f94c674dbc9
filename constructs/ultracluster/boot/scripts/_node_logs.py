#!/usr/bin/env python3
"""Send the log of a node to CloudWatch Logs, with the AWS CLI.

What is sent: of the journal the kernel, warnings and errors of everybody, and every line of what makes a node of a
cluster; of files the logs of AWS PCS, slurmd and cloud-init; and the output of batch jobs. Each event is a JSON
object: node, group, cluster, source, message; for jobs also job.

The program runs on the node's own Python, 3.9 or newer, and imports nothing but its standard library and
`ultracluster_job_output` beside it. The environment has LOG_GROUP, NODE, NODE_GROUP and AWS_DEFAULT_REGION.
"""

from __future__ import annotations

import glob
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from typing import Any, NamedTuple

from ultracluster_job_output import find_outputs, new_lines  # type: ignore[import-not-found]

ROOT = os.environ.get("ULTRACLUSTER_ROOT", "")
STATE = ROOT + "/var/lib/ultracluster/node-logs.json"
METRICS = "/etc/ultracluster/metrics/agent.yaml"
BATCH = ROOT + "/run/ultracluster/node-logs.batch"
# /var/log/amazon/pcs/bootstrap.log, its folder `lifecycle`, and /var/log/slurmd.log:
# https://docs.aws.amazon.com/pcs/latest/userguide/troubleshooting_compute-node-bootstrap.html,
# cng-node-lifecycle-actions-configure.html and monitoring_cloudwatch.html (read 2026-11-22); on SageMaker HyperPod
# /var/log/slurm: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-log-rotation.html (a copy of
# it read 2026-11-26)
FILES = (
    "/var/log/cloud-init-output.log",
    "/var/log/amazon/pcs/**/*.log",
    "/var/log/slurmd.log",
    "/var/log/slurm/slurmd.log",
    "/var/log/slurm/slurmctld.log",
)
# slurmstepd's cgroup, `cgroup/v1` and `cgroup/v2`: https://slurm.schedmd.com/cgroup_v2.html (read 2026-11-24)
JOB_OF_CGROUP = re.compile(r"/job_(\d+)(/|$)")
UNITS = ("ultracluster", "slurmd", "pcs", "cloud-", "nvidia", "amazon-ssm-agent")
NAMES = ("ultracluster", "slurm", "pcs", "cloud-init", "prolog", "epilog")
WARNING = 4
# A request has at most 10,000 events and 1,048,576 bytes, 26 more for each event, in the order of time, within 24
# hours: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html (read 2026-11-22).
MOST_EVENTS, MOST_BYTES, EVENT_BYTES, MOST_MS = 10_000, 1_000_000, 26, 23 * 3600 * 1000
LONGEST_MESSAGE = 16_384
# Lines of the journal in the first round, which has the whole boot, and in each that follows: a device that floods the
# kernel's log must not flood the bill.
MOST_AT_FIRST, MOST_IN_A_ROUND = 20_000, 2_000
MOST_READ_BYTES = 1_000_000
BOOT_SECONDS, BOOT_PAUSE, PAUSE = 1_800, 5, 30
# A job that fails at once has ended before the next round: where a new job prints is looked up each second.
NEW_SECONDS = 120


class Event(NamedTuple):
    """A line of a log: time in ms, where it comes from, the line, and the job that wrote it."""

    at: int
    source: str
    message: str
    job: str = ""


class Log:
    """The log of this node, and how far it has been sent."""

    def __init__(self) -> None:
        try:
            with open(STATE, encoding="utf-8") as file:
                self.state: dict[str, Any] = json.load(file)
        except (OSError, ValueError):
            self.state = {"cursor": None, "files": {}}

    def read(self) -> tuple[list[Event], dict[str, Any]]:
        """Return what is new, and the state once it has been sent."""
        after = {"cursor": self.state["cursor"], "files": dict(self.state["files"])}
        after["jobs"] = {job: dict(output) for job, output in self.state.get("jobs", {}).items()}
        output = [Event(now(), source, line, job) for job, source, line in new_lines(ROOT, after["jobs"])]
        events = [*self._journal(after), *self._files(after), *output]
        return sorted(events, key=lambda event: event.at), after

    def keep(self, state: dict[str, Any]) -> None:
        """Write how far the log has been sent. On a full disk, it stays in memory."""
        self.state = state
        try:
            os.makedirs(os.path.dirname(STATE), exist_ok=True)
            with open(STATE + ".new", "w", encoding="utf-8") as file:
                json.dump(state, file)
            os.replace(STATE + ".new", STATE)
        except OSError as error:
            report(f"how far the log has been sent is not written: {error}")

    def _journal(self, after: dict[str, Any]) -> list[Event]:
        command = ["journalctl", "--output=json", "--no-pager", "--quiet", "--all"]
        start = after["cursor"]
        command.append("--after-cursor=" + start if start else "--boot")
        events: list[Event] = []
        left_out, most = 0, MOST_IN_A_ROUND if start else MOST_AT_FIRST
        # Line by line: after hours without CloudWatch Logs, the journal is more than the memory of this program.
        with subprocess.Popen(command, stdout=subprocess.PIPE) as journal:
            for line in journal.stdout or ():
                try:
                    entry = json.loads(line)
                    at, message = int(entry["__REALTIME_TIMESTAMP"]) // 1000, text(entry.get("MESSAGE"))
                    after["cursor"] = entry["__CURSOR"]
                except (KeyError, TypeError, ValueError):
                    continue
                if not wanted(entry) or not message:
                    continue
                if len(events) >= most:
                    left_out += 1
                    continue
                job = JOB_OF_CGROUP.search(text(entry.get("_SYSTEMD_CGROUP")))
                source = text(entry.get("SYSLOG_IDENTIFIER")) or "journal"
                events.append(Event(at, source, message, job[1] if job else ""))
        if journal.returncode and start:
            # A journal in memory is gone after a reboot, and its cursors with it.
            report("the journal has no such cursor, and is read from its beginning")
            after["cursor"] = None
            return self._journal(after)
        if left_out:
            events.append(Event(now(), "node-logs", f"{left_out} lines of the journal were left out: too many at once"))
        return events

    def _files(self, after: dict[str, Any]) -> list[Event]:
        events: list[Event] = []
        for pattern in FILES:
            for path in sorted(glob.glob(ROOT + pattern, recursive=True)):
                try:
                    events += self._lines(path, after["files"])
                except OSError as error:
                    report(f"{path} cannot be read: {error}")
        return events

    def _lines(self, path: str, offsets: dict[str, Any]) -> list[Event]:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            inode, offset = offsets.get(path, (status.st_ino, 0))
            if inode != status.st_ino or offset > status.st_size:
                offset = 0
            file.seek(offset)
            data = file.read(MOST_READ_BYTES)
        # A line that is still being written is read when it is complete.
        end = data.rfind(b"\n") + 1 or (len(data) if len(data) == MOST_READ_BYTES else 0)
        offsets[path] = (status.st_ino, offset + end)
        source = os.path.basename(path)
        lines = data[:end].decode(errors="replace").splitlines()
        return [Event(now(), source, line) for line in lines if line.strip()]


def wanted(entry: dict[str, Any]) -> bool:
    """Return whether an entry of the journal is sent."""
    priority = text(entry.get("PRIORITY"))
    if entry.get("_TRANSPORT") == "kernel" or (priority.isdigit() and int(priority) <= WARNING):
        return True
    unit = text(entry.get("_SYSTEMD_UNIT")) or text(entry.get("UNIT"))
    itself = text(entry.get("_SYSTEMD_UNIT")) == "ultracluster-node-logs.service"
    # Messages of systemd on units that start and end, twice a minute, are no evidence; its failures are warnings.
    name = text(entry.get("SYSLOG_IDENTIFIER"))
    return not itself and name != "systemd" and (unit.startswith(UNITS) or name.startswith(NAMES))


def text(value: Any) -> str:
    """Return a field of the journal: bytes that are no text are a list of numbers, and a field may be there twice."""
    if isinstance(value, list):
        numbers = all(isinstance(part, int) for part in value)
        return bytes(value).decode(errors="replace") if numbers else " ".join(map(text, value))
    return value if isinstance(value, str) else ""


def batches(events: list[Event], fields: dict[str, str]) -> list[list[dict[str, Any]]]:
    """Return events, in the order of time, as requests that CloudWatch Logs takes."""
    requests: list[list[dict[str, Any]]] = []
    size = 0
    for at, source, message, job in events:
        record = json.dumps(
            {**fields, **({"job": job} if job else {}), "source": source, "message": message[:LONGEST_MESSAGE]},
            ensure_ascii=True,
        )
        length = len(record) + EVENT_BYTES
        batch = requests[-1] if requests else None
        if (
            batch is None
            or len(batch) >= MOST_EVENTS
            or size + length > MOST_BYTES
            or at - batch[0]["timestamp"] > MOST_MS
        ):
            batch, size = [], 0
            requests.append(batch)
        batch.append({"timestamp": at, "message": record})
        size += length
    return requests


def aws(*arguments: str) -> str | None:
    """Run the AWS CLI for CloudWatch Logs; return None, or its error."""
    command = ["aws", "logs", *arguments, "--log-group-name", os.environ["LOG_GROUP"]]
    command += ["--cli-connect-timeout", "10", "--cli-read-timeout", "20", "--output", "json"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stderr.decode(errors="replace").strip() if done.returncode else None


def send(log: Log, stream: str) -> bool:
    """Send what is new; return whether CloudWatch Logs took it."""
    events, after = log.read()
    for batch in batches(events, fields()):
        os.makedirs(os.path.dirname(BATCH), exist_ok=True)
        with open(BATCH, "w", encoding="utf-8") as file:
            json.dump(batch, file)
        command = ("put-log-events", "--log-stream-name", stream, "--log-events", "file://" + BATCH)
        error = aws(*command)
        if error and "ResourceNotFoundException" in error:
            created = aws("create-log-stream", "--log-stream-name", stream)
            error = aws(*command) if created is None or "ResourceAlreadyExists" in created else created
        if error:
            report(f"CloudWatch Logs is not available, and is tried again: {error}")
            return False
    if events or after != log.state:
        log.keep(after)
    return True


def fields() -> dict[str, str]:
    """Return the fields of every event. Slurm's name of the node is known once it has joined."""
    node = os.environ.get("NODE", "")
    try:
        with open(ROOT + "/run/ultracluster/drain/node", encoding="utf-8") as file:
            node = file.read().strip() or node
    except OSError:
        pass
    return {"node": node, "group": os.environ.get("NODE_GROUP", ""), **cluster()}


def cluster() -> dict[str, str]:
    """Return the cluster that metrics of this node have as a label; none on a node without metrics."""
    try:
        with open(ROOT + METRICS, encoding="utf-8") as file:
            label = re.search(r"^\s*cluster: \"?([\w.-]+)", file.read(), re.MULTILINE)
    except OSError:
        label = None
    return {"cluster": label[1]} if label else {}


def instance_id() -> str:
    """Return the id of this instance, from its metadata service."""
    base = os.environ.get("ULTRACLUSTER_METADATA", "http://169.254.169.254") + "/latest/"
    headers = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
    token = urllib.request.Request(base + "api/token", method="PUT", headers=headers)
    # The metadata service is on the node's own link: a proxy does not reach it.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(token, timeout=5) as answer:
        headers = {"X-aws-ec2-metadata-token": answer.read().decode()}
    with direct.open(urllib.request.Request(base + "meta-data/instance-id", headers=headers), timeout=5) as answer:
        return str(answer.read().decode())


def now() -> int:
    """Return the time in milliseconds."""
    return int(time.time() * 1000)


def report(message: str) -> None:
    """Write a line of this program's own log."""
    print(f"node-logs: {message}", file=sys.stderr, flush=True)


def main() -> int:
    """Send the log until the node stops; with the argument --once, once."""
    # A log may have what only root may read.
    os.umask(0o077)
    log, start = Log(), time.monotonic()
    stream = instance_id()
    if sys.argv[1:] == ["--once"]:
        return 0 if send(log, stream) else 1
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopping.append(number))
    while not stopping:
        sent = send(log, stream)
        until = time.monotonic() + (BOOT_PAUSE if sent and time.monotonic() - start < BOOT_SECONDS else PAUSE)
        # In short steps: a signal does not end a sleep.
        while not stopping and time.monotonic() < until:
            time.sleep(1)
            find_outputs(ROOT, log.state.setdefault("jobs", {}), within=NEW_SECONDS)
    # The last words of a node that is terminated.
    send(log, stream)
    return 0


if __name__ == "__main__":
    sys.exit(main())
