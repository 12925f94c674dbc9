"""Two applies at once: the second one waits for nothing, and takes over only what has ended."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.kubernetes_double import Cluster
from support.platform_runs import Run, bundle
from ultracluster.platform import ApplyError, Options, ToolError, _lock, wait_for_gate
from ultracluster.platform._hold import held_queues, hold
from ultracluster.platform._lock import NAME, NAMESPACE, Lease, locked

KEY = ("Lease", NAMESPACE, NAME)


class Clock:
    """A clock of its own, and what happens while it waits."""

    def __init__(self) -> None:
        self.now, self.then = 0.0, list[Callable[[], None]]()

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.then:
            self.then.pop(0)()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    result = Clock()
    monkeypatch.setattr(_lock, "time", SimpleNamespace(monotonic=lambda: result.now, sleep=result.sleep))
    return result


def holder(cluster: Cluster) -> Any:
    return cluster.objects[KEY]["spec"]["holderIdentity"]


def test_a_lease_is_taken_and_given_back() -> None:
    cluster = Cluster()
    for _ in range(2):
        with locked(cluster) as lease:
            assert holder(cluster) == lease.holder
            assert cluster.objects[KEY]["spec"]["leaseDurationSeconds"] == 60
        assert holder(cluster) == ""


def test_an_apply_that_runs_elsewhere_is_left_alone(clock: Clock) -> None:
    cluster = Cluster()
    first = Lease(cluster)
    first.acquire()
    clock.then = [lambda: None, first.renew]
    with pytest.raises(ApplyError, match=f"Lease kube-system/ultracluster-apply: {first.holder} applies") as error:
        Lease(cluster).acquire()
    assert error.value.phase == "check"
    assert clock.now <= 10
    assert holder(cluster) == first.holder


def test_an_apply_that_was_killed_is_taken_over_after_a_minute(clock: Clock) -> None:
    cluster = Cluster()
    first, second = Lease(cluster), Lease(cluster)
    first.acquire()
    second.acquire()
    assert (clock.now, holder(cluster)) == (60, second.holder)
    # The first one was only stopped: it ends before its next phase, and leaves the Lease of the second one.
    first.renew()
    with pytest.raises(ApplyError, match=r"objects: Lease .*: it is lost: another apply has taken it"):
        first.check("objects")
    first.release()
    assert holder(cluster) == second.holder
    second.check("objects")


def test_two_that_begin_at_once_do_not_both_get_it(clock: Clock) -> None:
    cluster = Cluster()
    first, second = Lease(cluster), Lease(cluster)
    create = Cluster._kubectl_create

    def race(arguments: list[str], stdin: str | None) -> str:
        object.__delattr__(cluster, "_kubectl_create")
        first.acquire()
        return create(cluster, arguments, stdin)

    object.__setattr__(cluster, "_kubectl_create", race)
    clock.then = [first.renew]
    with pytest.raises(ApplyError, match="applies at this moment"):
        second.acquire()


@pytest.mark.parametrize(("message", "seconds", "lost"), [("(ServiceUnavailable)", 59, False),
                                                           ("(ServiceUnavailable)", 60, True),
                                                           ("Error from server (Forbidden): no", 0, True)])  # fmt: skip
def test_a_lease_that_is_not_renewed_for_its_duration_is_lost(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, message: str, seconds: float, lost: bool
) -> None:
    cluster = Cluster()
    lease = Lease(cluster)
    lease.acquire()

    def fail(*_: Any) -> str:
        raise ToolError("kubectl replace", message)

    monkeypatch.setattr(Cluster, "_kubectl_replace", fail)
    clock.now += seconds
    lease.renew()
    if lost:
        with pytest.raises(ApplyError, match="it is lost"):
            lease.check("devices")
    else:
        lease.check("devices")


TUNNEL = """
import json, sys
from ultracluster.platform import _connect
class Client:
    meta = type("Meta", (), {"endpoint_url": "https://ssm.us-east-2.amazonaws.com"})
    def client(self, service): return self
    def start_session(self, **request): return {"SessionId": "s-1"}
    def terminate_session(self, SessionId): print("terminated", SessionId, flush=True)
with _connect._tunnel(Client(), "us-east-2", "i-1", "abc.eks.amazonaws.com") as port:
    print("open", flush=True)
    sys.stdin.read()
"""
# Listens as AWS's plug-in does, and writes its process id.
PLUGIN = """#!{python} -S
import json, os, socket, sys
if sys.argv[1] == "--version":
    sys.exit(print("1.2.896.0"))
listener = socket.create_server(("127.0.0.1", int(json.loads(sys.argv[5])["Parameters"]["localPortNumber"][0])))
open({file!r}, "w").write(str(os.getpid()))
while True: listener.accept()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_tunnel_too(tmp_path: Path, number: signal.Signals) -> None:
    plugin, file = tmp_path / "session-manager-plugin", tmp_path / "pid"
    plugin.write_text(PLUGIN.format(python=sys.executable, file=str(file)))
    plugin.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    process = subprocess.Popen(
        [sys.executable, "-c", TUNNEL],
        env=env,
        # Tests may run under nohup, which programs leave as it is.
        preexec_fn=partial(signal.signal, number, signal.SIG_DFL),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    pid = int(file.read_text())
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (128 + number, "terminated s-1\n")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_kubectl_writes_the_lease_that_kubernetes_defines() -> None:
    from support.kubernetes_schemas import validate

    cluster = Cluster()
    with locked(cluster):
        validate(json.loads(json.dumps(cluster.objects[KEY])), "1.35")


def test_a_gate_does_not_resume_queues_while_a_hold_waits_for_jobs(clock: Clock) -> None:
    run = Run()
    assert run.apply(bundle())
    hold(run.cluster, bundle(), "wait", seconds=0)
    other = Lease(run.cluster)
    other.acquire()
    clock.then = [lambda: None, other.renew]
    settings = Options(seconds=0, report=run.lines.append)
    assert not wait_for_gate(run.cluster, bundle(), settings)
    assert held_queues(run.cluster, bundle())
    other.release()
    assert wait_for_gate(run.cluster, bundle(), settings)
    assert not held_queues(run.cluster, bundle())
