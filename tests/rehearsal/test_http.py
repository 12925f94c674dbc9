"""HTTP of the local cloud, as the clients of S3 use it."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from wsgiref.types import WSGIApplication

import pytest
from werkzeug.serving import ThreadedWSGIServer
from werkzeug.wrappers import Request, Response

from cdk_rehearsal.rehearsal._handler import Handler


@Request.application
def echo(request: Request) -> Response:
    return Response(request.get_data())


@contextmanager
def connected(application: WSGIApplication) -> Iterator[socket.socket]:
    """Connection to a server of this application, which has ended its threads at the end."""
    server = ThreadedWSGIServer("127.0.0.1", 0, application, Handler)
    server.daemon_threads = False
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
            yield connection
    finally:
        server.shutdown()
        server.server_close()


def test_a_body_is_requested_before_the_client_sends_it() -> None:
    with connected(echo) as connection:
        connection.sendall(b"PUT / HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"body")
        assert connection.recv(4096).endswith(b"\r\n\r\nbody")


def test_a_client_that_ends_before_its_answer_is_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    begun, gone = Event(), Event()

    @Request.application
    def slow(request: Request) -> Response:
        begun.set()
        gone.wait(20)
        return Response(b"answer")

    with connected(slow) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert begun.wait(20)
        # As the kernel closes the sockets of a process that is terminated with an answer to read.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        gone.set()
    assert capfd.readouterr().err == ""
