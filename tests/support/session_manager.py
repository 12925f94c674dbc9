"""Session Manager and the agent of an instance: a data channel over a WebSocket, and connections by smux.

It refuses what the real ones refuse: requests without a signature, frames without a mask, another token, messages with
a wrong header or digest. AWS's own plug-in (1.2.0, built from its source, 2026-11-26), which signs nothing, forwarded a
port through it before it required the signature.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
import struct
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

HEADER = struct.Struct(">I32sIQqQ16s32sII")
SMUX = struct.Struct("<BBHI")
ACCESS_KEY, SECRET_KEY = "AKIAEXAMPLE", "example"
PROPERTIES = {"portNumber": "443", "type": "LocalPortForwarding"}
SESSION_TYPE = {"ActionType": "SessionType", "ActionParameters": {"SessionType": "Port", "Properties": PROPERTIES}}


def certificate(directory: Path) -> Path:
    """A certificate of 127.0.0.1, with its key in one file."""
    file = directory / "server.pem"
    command = (
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout {file} -out {file}.crt"
    )
    options = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command.split(), *options], check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file


class Refused(Exception):
    """Reason for which the service closes a connection."""


class Service:
    """The service and the agent.

    Attributes:
        token: Token of the session.
        actions: What the agent asks for in its handshake.
        lose: Numbers of messages of the client that get lost once.
        swap: Numbers of messages of the agent that come after their successor.
        cut: Numbers of messages of the client after which the connection is cut, once each.
        refused: Reasons for which connections were closed.
        opened: Number of connections of the data channel.
        streams: Number of connections to the target.
    """

    def __init__(self, target: int, pem: Path) -> None:
        self.target, self.pem, self.token = target, pem, "token-1"
        self.actions: list[dict[str, Any]] = [SESSION_TYPE]
        self.lose: set[int] = set()
        self.swap: set[int] = set()
        self.cut: set[int] = set()
        self.refused: list[str] = []
        self.opened = self.streams = self.port = 0
        self.writer: asyncio.StreamWriter | None = None
        self.sent = self.expected = 0
        self.waiting: dict[int, tuple[bytes, float]] = {}
        self.early: dict[int, tuple[int, bytes]] = {}
        self.held: bytes | None = None
        self.buffer = bytearray()
        self.targets: dict[int, asyncio.StreamWriter] = {}
        self.order = asyncio.Lock()
        self.tasks: list[asyncio.Future[None]] = []

    @property
    def session(self) -> dict[str, str]:
        """Answer of `StartSession` and `ResumeSession`."""
        url = f"wss://127.0.0.1:{self.port}/v1/data-channel/s-1?role=publish_subscribe"
        return {"SessionId": "s-1", "StreamUrl": url, "TokenValue": self.token}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection of the client."""
        again = asyncio.ensure_future(self._send_again())
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            if not request.startswith("GET /v1/data-channel/s-1?role=publish_subscribe HTTP/1.1"):
                raise Refused("another path")
            headers = {
                name.lower(): value for name, _, value in (line.partition(": ") for line in request.splitlines())
            }
            if headers.get("authorization") != self._signature(headers):
                raise Refused("another signature")
            key = headers["sec-websocket-key"]
            accept = hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
            answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            answer += f"Sec-WebSocket-Accept: {base64.b64encode(accept).decode()}\r\n\r\n"
            writer.write(answer.encode())
            kind, data = await self._frame(reader, writer)
            opening = json.loads(data)
            names = {"MessageSchemaVersion", "RequestId", "TokenValue", "ClientId", "ClientVersion"}
            if kind != 1 or {*opening} != names or opening["MessageSchemaVersion"] != "1.0":
                raise Refused("another first message")
            if opening["TokenValue"] != self.token:
                raise Refused("another token")
            self.writer, self.opened = writer, self.opened + 1
            if self.opened == 1:
                request = json.dumps({"AgentVersion": "3.3.987.0", "RequestedClientActions": self.actions})
                await self.send(5, request.encode())
            while True:
                kind, data = await self._frame(reader, writer)
                if kind != 2:
                    raise Refused(f"a frame of the kind {kind}")
                await self._take(data)
        except Refused as reason:
            self.refused.append(str(reason))
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass
        finally:
            again.cancel()
            writer.close()

    def _signature(self, headers: Mapping[str, str]) -> str:
        """The header of a request that is signed by the example's key, by Signature Version 4."""
        when, signed = headers.get("x-amz-date", ""), "host;x-amz-date"
        request = f"GET\n/v1/data-channel/s-1\nrole=publish_subscribe\nhost:127.0.0.1:{self.port}\n"
        request += f"x-amz-date:{when}\n\n{signed}\n{hashlib.sha256(b'').hexdigest()}"
        scope = (when[:8], "us-east-2", "ssmmessages", "aws4_request")
        digest = hashlib.sha256(request.encode()).hexdigest()
        key = b"AWS4" + SECRET_KEY.encode()
        for part in (*scope, f"AWS4-HMAC-SHA256\n{when}\n{'/'.join(scope)}\n{digest}"):
            key = hmac.digest(key, part.encode(), "sha256")
        credential = f"Credential={ACCESS_KEY}/{'/'.join(scope)}"
        return f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={signed}, Signature={key.hex()}"

    async def _frame(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[int, bytes]:
        while True:
            first, second = await reader.readexactly(2)
            if not second & 0x80:
                raise Refused("a frame without a mask")
            length = second & 0x7F
            if length > 125:
                length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8), "big")
            mask = await reader.readexactly(4)
            masked, repeated = await reader.readexactly(length), (mask * (length // 4 + 1))[:length]
            data = (int.from_bytes(masked) ^ int.from_bytes(repeated)).to_bytes(length)
            if first & 0x0F == 9:
                self._post(data, writer, kind=10)
            elif first & 0x0F == 8:
                raise OSError("closed")
            else:
                return first & 0x0F, data

    def _post(self, data: bytes, writer: asyncio.StreamWriter | None = None, *, kind: int = 2) -> None:
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
        if (writer := writer or self.writer) is not None:
            writer.write(bytes([0x80 | kind]) + size + data)

    def _message(self, kind: str, number: int, payload_type: int, payload: bytes, flags: int = 0) -> bytes:
        id, digest = uuid.uuid4().bytes, hashlib.sha256(payload).digest()
        now = int(time.time() * 1000)
        parts = (116, kind.encode().ljust(32, b"\0"), 1, now, number, flags, id, digest, payload_type, len(payload))
        return HEADER.pack(*parts) + payload

    async def send(self, payload_type: int, payload: bytes) -> None:
        """Send a message of the agent, and keep it until it is acknowledged."""
        number, self.sent = self.sent, self.sent + 1
        data = self._message("output_stream_data", number, payload_type, payload)
        self.waiting[number] = (data, time.monotonic())
        if number in self.swap:
            self.held = data
            return
        self._post(data)
        if self.held is not None:
            self._post(self.held)
            self.held = None
        with suppress(OSError):
            if self.writer is not None:
                await self.writer.drain()

    async def _send_again(self) -> None:
        while True:
            await asyncio.sleep(0.1)
            for number, (data, sent) in sorted(self.waiting.items())[:1]:
                if time.monotonic() - sent > 0.5:
                    self.waiting[number] = (data, time.monotonic())
                    self._post(data)

    async def _take(self, data: bytes) -> None:
        length, name, schema, created, number, flags, id, digest, payload_type, size = HEADER.unpack_from(data)
        kind, payload = name.decode().strip(), data[HEADER.size :]
        if (
            (length, schema, len(payload)) != (116, 1, size)
            or not created
            or hashlib.sha256(payload).digest() != digest
        ):
            raise Refused("a message with a wrong header or digest")
        if kind == "acknowledge":
            content = json.loads(payload)
            if flags != 3 or content["AcknowledgedMessageType"] != "output_stream_data":
                raise Refused("another acknowledgement")
            self.waiting.pop(content["AcknowledgedMessageSequenceNumber"], None)
            return
        if kind != "input_stream_data":
            raise Refused(f"a message {kind}")
        if number in self.lose:
            self.lose.remove(number)
            return
        if number < self.expected:
            # It acknowledges no message twice: handleStreamDataMessage in agent/session/datachannel/datachannel.go.
            return
        text = str(uuid.UUID(bytes=id[8:] + id[:8]))
        known = {"AcknowledgedMessageType": kind, "AcknowledgedMessageId": text}
        known_number = {"AcknowledgedMessageSequenceNumber": number, "IsSequentialMessage": True}
        self._post(self._message("acknowledge", 0, 0, json.dumps(known | known_number).encode(), 3))
        self.early[number] = (payload_type, payload)
        while self.expected in self.early:
            current, self.expected = self.expected, self.expected + 1
            await self._use(*self.early.pop(current))
            if current in self.cut:
                self.cut.remove(current)
                self.token = f"token-{self.opened + 1}"
                raise OSError("cut")

    async def _use(self, payload_type: int, payload: bytes) -> None:
        if payload_type == 6:
            response = json.loads(payload)
            statuses = [action["ActionStatus"] for action in response["ProcessedClientActions"]]
            if statuses != [1] or not response["ClientVersion"]:
                raise Refused(f"a handshake that fails: {response}")
            await self.send(7, b'{"HandshakeTimeToComplete": 1000000, "CustomerMessage": ""}')
        elif payload_type == 1:
            self.buffer += payload
            while len(self.buffer) >= SMUX.size:
                version, command, size, number = SMUX.unpack_from(self.buffer)
                if version != 1 or command > 3 or (number % 2 == 0 and command != 3):
                    raise Refused("no frame of smux")
                if len(self.buffer) < SMUX.size + size:
                    return
                data = bytes(self.buffer[SMUX.size : SMUX.size + size])
                del self.buffer[: SMUX.size + size]
                await self._smux(command, number, data)

    async def _smux(self, command: int, number: int, data: bytes) -> None:
        if command == 0:
            self.streams += 1
            reader, self.targets[number] = await asyncio.open_connection("127.0.0.1", self.target)
            self.tasks.append(asyncio.ensure_future(self._answers(number, reader)))
        elif number in self.targets and command == 2:
            self.targets[number].write(data)
            await self.targets[number].drain()
        elif number in self.targets and command == 1:
            self.targets.pop(number).close()

    async def _answers(self, number: int, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while data := await reader.read(8_000):
                await self._to_client(2, number, data)
        await self._to_client(1, number, b"")
        if number in self.targets:
            self.targets.pop(number).close()

    async def _to_client(self, command: int, number: int, data: bytes) -> None:
        frame = SMUX.pack(1, command, len(data), number) + data
        async with self.order:
            for start in range(0, len(frame), 1024):
                await self.send(1, frame[start : start + 1024])


@contextmanager
def session_manager(target: int, pem: Path) -> Iterator[Service]:
    """Serve until the end of the block, in a thread."""
    service, started, stop = Service(target, pem), threading.Event(), threading.Event()

    async def serve() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        server = await asyncio.start_server(service.serve, "127.0.0.1", 0, ssl=context)
        service.port = server.sockets[0].getsockname()[1]
        started.set()
        await asyncio.to_thread(stop.wait)
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for writer in service.targets.values():
            writer.close()
        await asyncio.sleep(0.1)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    started.wait()
    try:
        yield service
    finally:
        stop.set()
        thread.join()
