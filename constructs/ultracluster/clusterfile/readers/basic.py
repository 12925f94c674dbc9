"""Readers that others are made of: texts, words of a closed set, whole numbers."""

import difflib
import re
from collections.abc import Callable, Iterable

from ultracluster.clusterfile.problems import shown


def text(value: object, what: str) -> str:
    """A text, or an error that says what it was to be."""
    if isinstance(value, str):
        return value
    raise ValueError(
        f"must be {what}, got {shown(value)}" + ("; put it in quotes" if isinstance(value, int | float) else "")
    )


def matching(value: object, pattern: re.Pattern[str], what: str) -> str:
    """A text of a pattern, or an error that says what it was to be."""
    found = text(value, what)
    if pattern.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, got {shown(found)}")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant. None: no word is near."""
    near = difflib.get_close_matches(word[:60], list(known), n=1, cutoff=0.7)
    return near[0] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean X? `, or nothing."""
    near = nearest(word, known)
    return f"did you mean {near}? " if near else ""


def one_of(value: object, known: Iterable[str], what: str) -> str:
    """A word of a closed set."""
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    hint = did_you_mean(value, words) if isinstance(value, str) else ""
    allowed = f"one of {', '.join(words)}" if len(words) > 1 else words[0]
    raise ValueError(f"{what} is {allowed}, got {shown(value)}" + (f"; {hint.strip()}" if hint else ""))


def word_of(known: Iterable[str], what: str) -> Callable[[object], str]:
    """The reader of a word of a closed set."""
    return lambda value: one_of(value, known, what)


# A number as long as that was not read as one, quotes or not.
_LONG_NUMBER = 30


def count(value: object) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int):
        quoted = "; remove the quotes" if isinstance(value, str) and value.isascii() and value.isdecimal() else ""
        quoted = quoted if len(str(value)) < _LONG_NUMBER else ""
        raise ValueError(f"must be a whole number, got {shown(value)}{quoted}")
    if value < 1:
        raise ValueError(f"must be at least 1, got {shown(value)}")
    return int(value)


# Far beyond any type; a typing error must not fill the memory.
_MOST_CARDS = 128


def card_count(value: object) -> int:
    """How many network cards, or interfaces on one."""
    found = count(value)
    if found > _MOST_CARDS:
        raise ValueError(f"must be at most {_MOST_CARDS}, got {shown(value)}")
    return found


def spare(value: object) -> int:
    """A whole number, 0 or more."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError(f"must be 0 or more, got {shown(value)}")
        return int(value)
    return count(value)


def flag(value: object) -> bool:
    """True or false."""
    if isinstance(value, bool):
        return value
    words = {"yes": "true", "on": "true", "no": "false", "off": "false"}
    lower = value.strip().lower() if isinstance(value, str) else ""
    hint = f"; write {words.get(lower, lower)}" if lower in words or lower in ("true", "false") else ""
    raise ValueError(f"must be true or false, got {shown(value)}{hint}")
