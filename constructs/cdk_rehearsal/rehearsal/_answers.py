"""Responses of the handlers of custom resources, at a URL on the local cloud's own port."""

import json
from threading import Lock
from typing import Any
from uuid import uuid4

PATH = "/rehearsal/answers/"


class Answers:
    """The answers that are awaited, and those that came."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: dict[str, dict[str, Any] | None] = {}
        self.endpoint = ""

    def expect(self) -> tuple[str, str]:
        """Await an answer: give its request id, and the URL that it must be PUT to."""
        request_id = str(uuid4())
        with self._lock:
            self._answers[request_id] = None
        return request_id, f"{self.endpoint}{PATH}{request_id}"

    def put(self, request_id: str, body: bytes) -> bool:
        """Take an answer in; False when none is awaited under that id or it is no JSON object."""
        try:
            answer = json.loads(body)
        except ValueError:
            return False
        with self._lock:
            if request_id not in self._answers or not isinstance(answer, dict):
                return False
            # The first answer counts, as on AWS.
            if self._answers[request_id] is None:
                self._answers[request_id] = answer
            return True

    def take(self, request_id: str) -> dict[str, Any] | None:
        """Return the response and stop awaiting it; None when it did not come."""
        with self._lock:
            return self._answers.pop(request_id, None)
