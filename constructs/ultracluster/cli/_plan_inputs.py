"""Arguments of `ultracluster plan`: numbers with units, lists of node counts."""

import re

_NUMBER = re.compile(r"\s*([0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*([A-Za-z/%]*)\s*", re.ASCII)
_COUNT = {"": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_DAYS = {"": 1.0, "d": 1.0, "h": 1 / 24, "min": 1 / 1440}
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3}
_MOST_COUNTS = 100_000


def count(what: str, text: str | None) -> float | None:
    """Return a number such as 405e9, 405B or 15.6T.

    Raises:
        ValueError: If it is not one.
    """
    return _number(what, text, _COUNT, "K, M, B (1e9) and T (1e12)")


def days(text: str | None) -> float | None:
    """Return days such as 30, 30d or 12h.

    Raises:
        ValueError: If it is not a duration.
    """
    return _number("--days", text, _DAYS, "d, h and min; without a unit it is days")


def seconds(what: str, text: str | None) -> float | None:
    """Return seconds such as 0.05 or 50ms.

    Raises:
        ValueError: If it is not a duration.
    """
    return _number(what, text, _SECONDS, "s and ms; without a unit it is seconds")


def fraction(what: str, text: str | None) -> float | None:
    """Return a fraction such as 0.4 or 40%.

    Raises:
        ValueError: If it is not one.
    """
    # 40 without a unit is not 40 %: the planner refuses it, with the range.
    return _number(what, text, {"": 1.0, "%": 0.01}, "%, as in 40%")


def whole(what: str, text: str) -> int:
    """Return a whole number such as 8192, 32K or 1M, of which K is 1,000.

    Raises:
        ValueError: If it is not one.
    """
    number = count(what, text) or 0.0
    if number != int(number):
        raise ValueError(f"{what} must be a whole number, got {text!r}")
    return int(number)


def _number(what: str, text: str | None, units: dict[str, float], known: str) -> float | None:
    if text is None:
        return None
    match = _NUMBER.fullmatch(text[:60])
    if match is None:
        raise ValueError(f"{what} must be a number, 0 or more, got {text[:60]!r}; units are {known}")
    number, unit = match.groups()
    if unit not in units:
        raise ValueError(f"unknown unit {unit!r} in {what} {text!r}; units are {known}")
    return float(number.replace(",", "").replace("_", "")) * units[unit]


def node_counts(text: str) -> list[int]:
    """Return the numbers of nodes of `8,16,32` or `1..1250` or `8..1024*2`, which doubles.

    Raises:
        ValueError: If it is not a list of numbers above zero.
    """
    match = re.fullmatch(r"(\d{1,6})\.\.(\d{1,6})(?:\*(\d+(?:\.\d+)?))?", text.strip())
    if match:
        low, high, factor = int(match[1]), int(match[2]), float(match[3] or 0)
        if not 1 <= low <= high or (match[3] and factor <= 1):
            raise ValueError(f"--counts must run upward from 1 or more, with a factor above 1, got {text!r}")
        if not match[3]:
            return list(range(low, min(high, low + _MOST_COUNTS) + 1))
        counts, value = [], float(low)
        while value <= high:
            counts.append(round(value))
            value *= factor
        return sorted(set(counts))
    if not re.fullmatch(r"\d{1,6}(,\d{1,6})*", text.strip()):
        raise ValueError(f"--counts must be 8,16,32 or 1..1250 or 8..1024*2, got {text[:60]!r}")
    return sorted({int(number) for number in text.split(",")})


def assignments(texts: list[str]) -> dict[str, str]:
    """Return names and values of `NAME=VALUE`.

    Raises:
        ValueError: If one has no equals sign.
    """
    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise ValueError(f"--set must be NAME=VALUE, got {', '.join(wrong)}")
    return {name.strip(): value.strip() for name, _, value in (text.partition("=") for text in texts)}
