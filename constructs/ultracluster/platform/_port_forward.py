"""Forward a local port by a session of Session Manager, as AWS's plug-in does: any number of connections at once.

Connections share the channel by version 1 of smux: https://github.com/xtaci/smux, frame.go and session.go (read
2026-11-26). Their numbers are odd and begin with 3.
"""

import asyncio
import os
import ssl
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress

from ultracluster.platform._data_channel import PAYLOAD, DataChannel, SessionError

__all__ = ["SessionError", "forward"]

_FRAME = struct.Struct("<BBHI")
_VERSION = 1
_OPEN, _END, _DATA, _NOTHING = range(4)
_CHUNK = 2**14
# Data of a connection whose client does not read: then the others wait too.
_QUEUE = 4_096


class PortForward:
    """Connections of a local port, through one session."""

    def __init__(
        self,
        session: Mapping[str, str],
        *,
        context: ssl.SSLContext,
        resume: Callable[[], tuple[str, str]],
        sign: Callable[[str], Mapping[str, str]],
    ) -> None:
        self._channel = DataChannel(
            session["StreamUrl"],
            session["TokenValue"],
            context=context,
            resume=resume,
            sign=sign,
            receive=self._receive,
        )
        self._last = 1
        self._received = bytearray()
        self._queues: dict[int, asyncio.Queue[bytes]] = {}
        # Frames of two connections do not mix.
        self._order = asyncio.Lock()

    async def run(self, port: int) -> None:
        """Listen on a local port once the agent is ready, until the session ends.

        Raises:
            SessionError: When it has ended.
        """
        channel = asyncio.ensure_future(self._channel.run())
        ready = asyncio.ensure_future(self._channel.ready.wait())
        await asyncio.wait((channel, ready), return_when=asyncio.FIRST_COMPLETED)
        if channel.done():
            ready.cancel()
            await channel
        server = await asyncio.start_server(self._connection, "127.0.0.1", port)
        try:
            await channel
        finally:
            # Without waiting for its connections, whose session has ended.
            server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._last += 2
        number, queue = self._last, asyncio.Queue[bytes](_QUEUE)
        self._queues[number] = queue
        writing = asyncio.ensure_future(self._write(queue, writer))
        await self._frame(_OPEN, number)
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self._frame(_DATA, number, data)
        self._queues.pop(number, None)
        # Others wait for room in it.
        while not queue.empty():
            queue.get_nowait()
        writing.cancel()
        writer.close()
        await self._frame(_END, number)

    async def _write(self, queue: "asyncio.Queue[bytes]", writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await queue.get():
                writer.write(data)
                await writer.drain()
        writer.close()

    async def _frame(self, command: int, number: int, data: bytes = b"") -> None:
        frame = _FRAME.pack(_VERSION, command, len(data), number) + data
        async with self._order:
            for start in range(0, len(frame), PAYLOAD):
                await self._channel.send(frame[start : start + PAYLOAD])

    async def _receive(self, data: bytes) -> None:
        self._received += data
        while len(self._received) >= _FRAME.size:
            _, command, length, number = _FRAME.unpack_from(self._received)
            end = _FRAME.size + length
            if len(self._received) < end:
                return
            content = bytes(self._received[_FRAME.size : end])
            del self._received[:end]
            queue = self._queues.get(number)
            if queue is not None and command == _DATA and content:
                await queue.put(content)
            elif queue is not None and command == _END:
                del self._queues[number]
                await queue.put(b"")


def forward(
    session: Mapping[str, str],
    port: int,
    *,
    resume: Callable[[], tuple[str, str]],
    sign: Callable[[str], Mapping[str, str]],
) -> None:
    """Forward a local port until the session ends.

    Args:
        session: Answer of `StartSession`.
        port: Local port.
        resume: Function that returns another address and token of the session.
        sign: Function that returns the headers with the signature of the request for an address.

    Raises:
        SessionError: When it has ended.
    """
    context = ssl.create_default_context(cafile=_authorities())

    async def run() -> None:
        await PortForward(session, context=context, resume=resume, sign=sign).run(port)

    asyncio.run(run())


def _authorities() -> str | None:
    """Return the file of certificate authorities that boto3 uses, which not every Python has."""
    from botocore.httpsession import get_cert_path

    return os.environ.get("AWS_CA_BUNDLE") or str(get_cert_path(True))
