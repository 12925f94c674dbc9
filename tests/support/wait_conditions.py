"""A stand-in for the bucket of CloudFormation's wait conditions."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


class WaitConditions(HTTPServer):
    """The bucket: PUT without a content type, as the URL is signed, and JSON."""

    signals: list[dict[str, str]]
    expired = False

    @property
    def url(self) -> str:
        """URL of a handle."""
        return f"http://127.0.0.1:{self.server_port}/stack?X-Amz-Signature=a%2Fb&x=1"


class _Handler(BaseHTTPRequestHandler):
    server: WaitConditions

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = 403 if self.server.expired or self.headers["Content-Type"] else 200
        if code == 200:
            self.server.signals.append(json.loads(body))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(b"<Message>Request has expired</Message>" if self.server.expired else b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def wait_conditions() -> Iterator[WaitConditions]:
    """Serve it."""
    server = WaitConditions(("127.0.0.1", 0), _Handler)
    server.signals = []
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
