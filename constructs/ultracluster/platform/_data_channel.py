"""Data channel of a session of Session Manager: messages in order, acknowledged, and sent again until they are.

See: https://github.com/aws/session-manager-plugin, src/message and src/datachannel, and
https://github.com/aws/amazon-ssm-agent, agent/session (read 2026-11-26)
"""

import asyncio
import hashlib
import json
import ssl
import struct
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from enum import IntEnum
from typing import Any, NamedTuple

from ultracluster.platform._websocket import TEXT, WebSocket

# Length of the header without that of the payload, type, version of the schema, time, sequence, flags, id, digest, type
# and length of the payload.
_HEADER = struct.Struct(">I32sIQqQ16s32sII")
_LENGTH = _HEADER.size - 4
#: The plug-in's largest payload.
PAYLOAD = 1024
#: Version of the plug-in whose protocol this is: agents send no keepalive of smux to versions after 1.2.331.0.
VERSION = "1.2.707.0"
_WINDOW = 1_000
_RESEND_SECONDS = 1.0
_GIVE_UP_SECONDS = 300
_PING_SECONDS = 300
_CONNECTIONS = 5
_ACKNOWLEDGED = 3


class Payload(IntEnum):
    """Types of payloads."""

    OUTPUT = 1
    HANDSHAKE_REQUEST = 5
    HANDSHAKE_RESPONSE = 6
    HANDSHAKE_COMPLETE = 7
    FLAG = 10


class SessionError(Exception):
    """The session cannot go on."""


class Message(NamedTuple):
    """A message of the channel."""

    kind: str
    sequence: int
    id: uuid.UUID
    payload_type: int
    payload: bytes


def packed(kind: str, sequence: int, payload_type: int, payload: bytes, *, flags: int = 0) -> bytes:
    """Return a message as it is sent."""
    id, digest, now = uuid.uuid4().bytes, hashlib.sha256(payload).digest(), int(time.time() * 1_000)
    name = kind.encode().ljust(32)
    # The two halves of an id change places.
    header = (_LENGTH, name, 1, now, sequence, flags, id[8:] + id[:8], digest, payload_type, len(payload))
    return _HEADER.pack(*header) + payload


def unpacked(data: bytes) -> Message:
    """Return a message from its bytes.

    Raises:
        SessionError: If it is not one.
    """
    if len(data) < _HEADER.size:
        raise SessionError(f"a message has {len(data)} bytes, and its header {_HEADER.size}")
    length, name, _, _, sequence, _, id, digest, payload_type, size = _HEADER.unpack_from(data)
    payload = data[length + 4 : length + 4 + size]
    if size and hashlib.sha256(payload).digest() != digest:
        raise SessionError("a message has another digest than its payload")
    kind = name.rstrip(b" \0").decode("ascii", "replace")
    return Message(kind, sequence, uuid.UUID(bytes=id[8:] + id[:8]), payload_type, payload)


class DataChannel:
    """Channel of one session.

    Args:
        url: Address of the channel.
        token: Token of the session.
        context: TLS settings.
        resume: Function that returns another address and token after the connection was lost.
        receive: Function that takes what the agent sends.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        context: ssl.SSLContext,
        resume: Callable[[], tuple[str, str]],
        sign: Callable[[str], Mapping[str, str]],
        receive: Callable[[bytes], Awaitable[None]],
    ) -> None:
        self._url, self._token, self._context = url, token, context
        self._resume, self._sign, self._receive = resume, sign, receive
        #: Set when the agent is ready to forward.
        self.ready = asyncio.Event()
        self._socket: WebSocket | None = None
        self._sent = self._expected = 0
        # When the connection of now began.
        self._opened = 0.0
        # Messages that are not acknowledged, by number: their bytes, and when they were sent first and last.
        self._waiting: dict[int, tuple[bytes, float, float]] = {}
        self._early: dict[int, Message] = {}
        self._room = asyncio.Condition()

    async def run(self) -> None:
        """Receive until the session ends.

        Raises:
            SessionError: When it has ended.
        """
        failures = 0
        again = asyncio.ensure_future(self._send_again())
        try:
            while True:
                try:
                    headers = await asyncio.to_thread(self._sign, self._url)
                    self._socket = await WebSocket.connect(self._url, self._context, headers)
                    await self._socket.send(self._opening(), TEXT)
                    self._opened = time.monotonic()
                    while True:
                        message = unpacked(await self._socket.receive())
                        failures = 0
                        await self._take(message)
                except OSError as error:
                    failures += 1
                    if failures >= _CONNECTIONS or again.done():
                        raise SessionError(str(error)) from None
                    await asyncio.sleep(0.1 * 2**failures)
                    self._url, self._token = await asyncio.to_thread(self._resume)
        finally:
            again.cancel()
            if self._socket is not None:
                self._socket.close()

    async def send(self, payload: bytes, payload_type: int = Payload.OUTPUT) -> None:
        """Send a payload, once there is room for another message without acknowledgement."""
        async with self._room:
            await self._room.wait_for(lambda: len(self._waiting) < _WINDOW)
            data, now = packed("input_stream_data", self._sent, payload_type, payload), time.monotonic()
            self._waiting[self._sent] = (data, now, now)
            self._sent += 1
        await self._post(data)

    def _opening(self) -> bytes:
        values = {"MessageSchemaVersion": "1.0", "RequestId": str(uuid.uuid4()), "TokenValue": self._token}
        return json.dumps({**values, "ClientId": str(uuid.uuid4()), "ClientVersion": VERSION}).encode()

    async def _post(self, data: bytes) -> None:
        # What a lost connection does not deliver is sent again.
        try:
            if self._socket is not None:
                await self._socket.send(data)
        except OSError:
            pass

    async def _send_again(self) -> None:
        pinged = time.monotonic()
        while True:
            await asyncio.sleep(_RESEND_SECONDS / 10)
            now = time.monotonic()
            waiting = sorted(self._waiting.items())
            # One by one, as the plug-in does, those of a lost connection would take a tenth of a second each.
            lost = [item for item in waiting if item[1][2] < self._opened]
            for number, (data, first, last) in lost or waiting[:1]:
                if now - first > _GIVE_UP_SECONDS and self._socket is not None:
                    self._socket.close()
                    return
                if number in self._waiting and (lost or now - last > _RESEND_SECONDS):
                    self._waiting[number] = (data, first, now)
                    await self._post(data)
            if now - pinged > _PING_SECONDS and self._socket is not None:
                pinged = now
                with suppress(OSError):
                    await self._socket.ping()

    async def _take(self, message: Message) -> None:
        if message.kind == "channel_closed":
            reason = json.loads(message.payload or b"{}").get("Output")
            raise SessionError(f"Session Manager has ended the session{': ' if reason else ''}{reason or ''}")
        if message.kind == "acknowledge":
            async with self._room:
                self._waiting.pop(json.loads(message.payload)["AcknowledgedMessageSequenceNumber"], None)
                self._room.notify_all()
        if message.kind != "output_stream_data":
            return
        if message.sequence > self._expected:
            self._early[message.sequence] = message
        elif message.sequence == self._expected:
            await self._use(message)
            while (following := self._early.pop(self._expected, None)) is not None:
                await self._use(following)
        # A message that came before was acknowledged, and that was lost.
        content = {
            "AcknowledgedMessageType": message.kind,
            "AcknowledgedMessageId": str(message.id),
            "AcknowledgedMessageSequenceNumber": message.sequence,
            "IsSequentialMessage": True,
        }
        await self._post(packed("acknowledge", 0, 0, json.dumps(content).encode(), flags=_ACKNOWLEDGED))

    async def _use(self, message: Message) -> None:
        self._expected += 1
        if message.payload_type == Payload.OUTPUT:
            await self._receive(message.payload)
        elif message.payload_type == Payload.HANDSHAKE_REQUEST:
            actions = json.loads(message.payload)["RequestedClientActions"]
            response = {"ClientVersion": VERSION, "ProcessedClientActions": [*map(_answer, actions)], "Errors": None}
            await self.send(json.dumps(response).encode(), Payload.HANDSHAKE_RESPONSE)
        elif message.payload_type == Payload.HANDSHAKE_COMPLETE:
            self.ready.set()
        elif message.payload_type == Payload.FLAG and message.payload == b"\0\0\0\3":
            print("the instance does not reach the endpoint; see the log of its agent", file=sys.stderr, flush=True)


def _answer(action: dict[str, Any]) -> dict[str, Any]:
    kind, parameters = action["ActionType"], action.get("ActionParameters") or {}
    if kind == "KMSEncryption":
        raise SessionError("the account encrypts sessions with KMS, and that needs AWS's session-manager-plugin")
    properties = parameters.get("Properties") or {}
    if (kind, parameters.get("SessionType"), properties.get("type")) != ("SessionType", "Port", "LocalPortForwarding"):
        raise SessionError(f"the agent asks for {kind} {parameters.get('SessionType', '')}, and no forwarded port")
    return {"ActionType": kind, "ActionStatus": 1, "ActionResult": None, "Error": ""}
