"""HTTP of the local cloud, as the clients of S3 use it."""

import socket
from threading import Thread

from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from cdk_rehearsal.rehearsal._handler import Handler


@Request.application
def echo(request: Request) -> Response:
    return Response(request.get_data())


def test_a_body_is_requested_before_the_client_sends_it() -> None:
    server = make_server("127.0.0.1", 0, echo, request_handler=Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
            connection.sendall(b"PUT / HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
            assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(b"body")
            assert connection.recv(4096).endswith(b"\r\n\r\nbody")
    finally:
        server.shutdown()
        server.server_close()
