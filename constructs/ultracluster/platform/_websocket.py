"""A client of WebSocket connections over TLS, as Session Manager needs them: RFC 6455, without extensions."""

import asyncio
import base64
import hashlib
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

TEXT, BINARY, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_HTTPS = 443


@dataclass(frozen=True, slots=True)
class WebSocket:
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @staticmethod
    async def connect(url: str, context: ssl.SSLContext, headers: Mapping[str, str]) -> "WebSocket":
        """Open a connection.

        Args:
            url: Address, with the scheme wss.
            context: Certificates.
            headers: Further headers of the request.

        Raises:
            ConnectionError: If the server does not switch to the protocol.
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        reader, writer = await asyncio.open_connection(host, parts.port or _HTTPS, ssl=context)
        key = base64.b64encode(os.urandom(16))
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Key: {key.decode()}", "Sec-WebSocket-Version: 13"]
        lines += [*(f"{name}: {value}" for name, value in headers.items()), "", ""]
        writer.write("\r\n".join(lines).encode())
        try:
            status, *answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise ConnectionError(f"{host} does not answer: {error}") from None
        values = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in answer)}
        accepted = base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest()).decode()
        if status.split(" ")[1:2] != ["101"] or values.get("sec-websocket-accept") != accepted:
            writer.close()
            raise ConnectionError(f"{host} opens no WebSocket: {status}")
        return WebSocket(reader, writer)

    async def send(self, data: bytes, kind: int = BINARY) -> None:
        """Send a message in one frame, masked as those of a client must be."""
        length, mask = len(data), os.urandom(4)
        size = bytes([length]) if length < 126 else b"\x7e" + length.to_bytes(2, "big")
        if length >= 2**16:
            size = b"\x7f" + length.to_bytes(8, "big")
        repeated = (mask * (length // 4 + 1))[:length]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(length, "big")
        self.writer.write(bytes([0x80 | kind, 0x80 | size[0]]) + size[1:] + mask + masked)
        await self.writer.drain()

    async def ping(self) -> None:
        """Send a ping, which keeps the connection through load balancers."""
        await self.send(b"keepalive", _PING)

    async def receive(self) -> bytes:
        """Return the next message, and answer pings.

        Raises:
            ConnectionError: If the connection ends.
        """
        message = b""
        while True:
            try:
                first, second = await self.reader.readexactly(2)
                length = second & 0x7F
                if length > 125:
                    length = int.from_bytes(await self.reader.readexactly(2 if length == 126 else 8), "big")
                data = await self.reader.readexactly(length)
            except asyncio.IncompleteReadError:
                raise ConnectionError("the connection has ended") from None
            kind = first & 0x0F
            if kind == _CLOSE:
                raise ConnectionError(f"the server has closed the connection: {data[2:].decode(errors='replace')}")
            if kind == _PING:
                await self.send(data, _PONG)
            elif kind != _PONG:
                message += data
                if first & 0x80:
                    return message

    def close(self) -> None:
        """Close the connection."""
        self.writer.close()
