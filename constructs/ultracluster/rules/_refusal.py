"""The exception of a construct that refuses its arguments."""

import re
from collections.abc import Iterable

from ultracluster.rules._rule import ARGUMENT, Message

# Whole or cut short. Its number differs from run to run, and says nothing to a reader.
_TOKEN = re.compile(r"[$#]\{Token\[[\w.-]*\]?\}?", re.ASCII)


class Refusal(ValueError):
    """Arguments that a construct refuses; no resource is created. Each line ends with the id of a rule.

    Args:
        place: The construct, or its path as text. Empty for a function without a construct.
        messages: One message or several. A plain `str` is a message of the rule `argument`.
    """

    def __init__(self, place: object, messages: str | Iterable[str]) -> None:
        #: Path of the construct.
        self.path: str = place if isinstance(place, str) else place.node.path  # type: ignore[attr-defined]
        #: The messages, each once.
        self.messages: tuple[Message, ...] = tuple(
            (text.rule if isinstance(text, Message) else ARGUMENT)(_TOKEN.sub("<token>", text))
            for text in dict.fromkeys([messages] if isinstance(messages, str) else messages)
        )
        at = f"{self.path}: " if self.path else ""
        super().__init__("\n".join(f"{at}{message} [{message.rule.id}]" for message in self.messages))
