"""Servers of inference on Kubernetes: probes."""

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.kubernetes_data import cluster, nodes
from ultracluster.kubernetes import Object
from ultracluster.workloads._kubernetes_jobs import job_objects

#: Of a second of a server, in tests.
FAST = 0.05


def server(name: str) -> list[Object]:
    """The objects of a job file on four nodes."""
    (objects,) = (objects for path, _, objects in job_objects(cluster(nodes(count=4))) if path == f"train/{name}.yaml")
    return objects


def probes(objects: list[Object]) -> list[Object]:
    templates = [item["spec"]["leaderWorkerTemplate"] for item in objects if item["kind"] == "LeaderWorkerSet"]
    containers = [pod for item in templates for pod in item["leaderTemplate"]["spec"]["containers"]]
    return [container["readinessProbe"] for container in containers if "readinessProbe" in container]


@pytest.fixture
def port() -> Iterator[int]:
    """A server whose /health answers as that of SGLang: once it has slept for a second."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(FAST)
            self.send_response(200 if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield http.server_port
    http.shutdown()
    http.server_close()


def answers(probe: Object, port: int) -> bool:
    """Probe as the kubelet: one deadline for the whole exchange, by default of one second."""
    deadline = time.monotonic() + FAST * probe.get("timeoutSeconds", 1)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET {probe['httpGet']['path']} HTTP/1.1\r\nHost: pod\r\n\r\n".encode())
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            status = connection.recv(64)
        except TimeoutError:
            return False
    return b" 200 " in status and time.monotonic() < deadline


@pytest.mark.parametrize(("name", "probed"), [("vllm", 1), ("sglang", 1), ("dynamo", 3)])
def test_a_server_that_answers_after_a_second_is_ready(name: str, probed: int, port: int) -> None:
    readiness = probes(server(name))
    assert len(readiness) == probed
    assert all(answers(probe, port) for probe in readiness)
    # SGLang gives up a probe after 20 s: a shorter limit would call a busy server unready.
    assert all(probe["timeoutSeconds"] > 20 for probe in readiness)


def test_the_probe_of_kubernetes_by_default_is_too_short(port: int) -> None:
    assert not answers({"httpGet": {"path": "/health"}}, port)
