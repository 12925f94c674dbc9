"""HTTP of the local cloud: a connection stays open for further requests, as those of AWS do."""

import socket
from contextlib import suppress
from io import BytesIO
from typing import ClassVar

from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.exceptions import InternalServerError
from werkzeug.test import run_wsgi_app


class Handler(MotoRequestHandler):
    """Answers requests, and prints nothing: the journal has what happened.

    Werkzeug closes each connection, because an application may leave a part of a request unread. Here, requests are
    read whole. A connection and a thread for each took half of the CPU time of a small request (2026-11).
    """

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet
    connections: ClassVar[set[socket.socket]] = set()

    def setup(self) -> None:
        """Remember the connection."""
        super().setup()
        self.connections.add(self.connection)

    def finish(self) -> None:
        """Forget the connection."""
        self.connections.discard(self.connection)
        # The CLI that a failed step terminates has no use for the answer that is still buffered.
        with suppress(ConnectionError):
            super().finish()

    @classmethod
    def close(cls) -> None:
        """Close what clients keep open: no cloud answers there any more."""
        for connection in list(cls.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_expect_100(self) -> bool:
        """Send the answer at once: the buffer would keep it, and clients of S3 wait a second for it."""
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def run_wsgi(self) -> None:
        """Answer one request."""
        self.environ = environ = self.make_environ()
        chunked = environ.get("wsgi.input_terminated", False)
        length = -1 if chunked else int(environ.get("CONTENT_LENGTH") or 0)
        environ["wsgi.input"] = BytesIO(environ["wsgi.input"].read(length))
        try:
            body, status, headers = run_wsgi_app(self.server.app, environ, buffered=True)
        except Exception:  # as Werkzeug does: the client must not wait
            body, status, headers = run_wsgi_app(InternalServerError(), environ, buffered=True)
        content = b"".join(body)
        code, _, reason = status.partition(" ")
        self.send_response(int(code), reason)
        if "Content-Length" not in headers and int(code) not in (204, 304):
            headers["Content-Length"] = str(len(content))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log(self, type: str, message: str, *args: object) -> None:
        """Print nothing."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Do not format what is not printed."""
