"""A tunnel of Session Manager without AWS's plug-in."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.ports import free_ports
from support.session_manager import ACCESS_KEY, SECRET_KEY, SESSION_TYPE, Service, certificate, session_manager
from support.waiting import wait_until

CONTENT = os.urandom(200_000)


class Endpoint(BaseHTTPRequestHandler):
    """The API server: answers GET with the content, and POST with the digest of what it got."""

    def do_GET(self) -> None:
        self._answer(CONTENT)

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(hashlib.sha256(data).hexdigest().encode())

    def _answer(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None: ...


class Resuming(BaseHTTPRequestHandler):
    """`ResumeSession`, whose answer has the token of now."""

    service: Service

    def do_POST(self) -> None:
        assert self.headers["X-Amz-Target"] == "AmazonSSM.ResumeSession"
        assert json.loads(self.rfile.read(int(self.headers["Content-Length"]))) == {"SessionId": "s-1"}
        data = json.dumps(self.service.session).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def service(pem: Path) -> Iterator[Service]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as endpoint:
        threading.Thread(target=endpoint.serve_forever, daemon=True).start()
        with session_manager(endpoint.server_port, pem) as result:
            yield result
        endpoint.shutdown()


class Tunnel:
    """The program that forwards a port."""

    def __init__(self, service: Service, ssm: int = 1) -> None:
        (self.port,) = free_ports(1)
        command = [
            sys.executable,
            "-m",
            "ultracluster.platform",
            "forward",
            "--region=us-east-2",
            f"--port={self.port}",
        ]
        env = {
            **os.environ,
            "AWS_CA_BUNDLE": f"{service.pem}.crt",
            "AWS_ENDPOINT_URL_SSM": f"http://127.0.0.1:{ssm}",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_SSM_START_SESSION_RESPONSE": json.dumps(service.session),
            "PYTHONPATH": str(ROOT / "constructs"),
        }
        self.process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)

    def __enter__(self) -> "Tunnel":
        wait_until("the port is forwarded", self._open, every=0.5)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def _open(self) -> bool:
        assert self.process.poll() is None, self.process.communicate()[1]
        try:
            return self.get() == CONTENT
        except OSError:
            return False

    def get(self) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=300) as answer:
            return bytes(answer.read())

    def post(self, data: bytes) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", data, timeout=300) as answer:
            return str(answer.read().decode())

    def ended(self) -> str:
        """The reason of a tunnel that ended."""
        _, reason = self.process.communicate(timeout=300)
        assert self.process.returncode == 1
        return reason


def test_connections_share_a_session_and_get_what_was_lost_or_came_too_early(service: Service) -> None:
    service.lose, service.swap = {3, 20, 21}, {4, 30, 31}
    with Tunnel(service) as tunnel, ThreadPoolExecutor(4) as pool:
        # The first needs more messages than may wait for an acknowledgement.
        sent = [os.urandom(1_100_000), b"\n", b"a" * 125, b"b" * 70_000]
        answers = [*pool.map(tunnel.post, sent)]
        assert answers == [hashlib.sha256(data).hexdigest() for data in sent]
        assert {*pool.map(lambda _: tunnel.get(), range(3))} == {CONTENT}
    assert (service.refused, service.lose, service.opened) == ([], set(), 1)
    assert service.streams >= 8


def test_a_session_goes_on_after_its_connection_is_cut(service: Service) -> None:
    handler = type("Handler", (Resuming,), {"service": service})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as ssm:
        threading.Thread(target=ssm.serve_forever, daemon=True).start()
        service.cut = {0, 50, 150}
        with Tunnel(service, ssm.server_port) as tunnel:
            data, begun = os.urandom(200_000), time.monotonic()
            assert tunnel.post(data) == hashlib.sha256(data).hexdigest()
            # One by one, the 150 messages of a lost connection would take 15 seconds.
            assert time.monotonic() - begun < 12
            assert tunnel.get() == CONTENT
        ssm.shutdown()
    assert (service.opened, service.refused) == (4, [])


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"ActionType": "KMSEncryption", "ActionParameters": {"KMSKeyId": "k"}}, "needs AWS's session-manager-plugin"),
        (
            {"ActionType": "SessionType", "ActionParameters": {"SessionType": "Standard_Stream"}},
            "the agent asks for SessionType Standard_Stream, and no forwarded port",
        ),
    ],
)
def test_a_session_that_it_cannot_have_ends_with_the_reason(
    service: Service, action: dict[str, Any], reason: str
) -> None:
    service.actions = [action, SESSION_TYPE]
    assert reason in Tunnel(service).ended()


def test_a_request_with_another_signature_is_refused(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SECRET_KEY", "another")
    assert "ResumeSession" in (reason := Tunnel(service).ended()) or "Could not connect" in reason
    assert service.refused == ["another signature"]


def test_a_token_that_is_refused_ends_with_the_reason(service: Service) -> None:
    tunnel = Tunnel(service)
    service.token = "another"
    # There is no Systems Manager that resumes it.
    assert "EndpointConnectionError" in (reason := tunnel.ended()) or "Could not connect" in reason
    assert service.refused == ["another token"]
