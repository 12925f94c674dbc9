"""Quantities with units: `40 GB/s`, `500 GiB`, `10 min`. Exact, for a float would drift."""

import re
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

from ultracluster.clusterfile._problems import shown

# Digits before the point, and after it.
_WHOLE_DIGITS, _DIGITS = 15, 9
_TEXT = rf"\s*(\d{{1,{_WHOLE_DIGITS}}}(?:\.\d{{1,{_DIGITS}}})?)\s*([A-Za-z][A-Za-z/]{{0,7}})\s*"
# As Prometheus and people write them.
_UNITS_ELSEWHERE = {
    **dict.fromkeys(("sec", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
}
# Gb/s, Gbps, Gbit/s: network people count in bits.
_BITS = r"[kKMGT]i?b(it)?(ps|/s)"


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """A number in the smallest unit of its kind, parsed from a text with a unit.

    Args:
        amount: In the base unit of the kind.
    """

    kind: ClassVar[str] = "quantity"
    example: ClassVar[str] = ""
    #: Unit -> how many of the base unit it is.
    units: ClassVar[dict[str, int]] = {}

    amount: Fraction

    @classmethod
    def parse(cls, text: object) -> Self:
        """Parse a text such as `40 GB/s`.

        Raises:
            ValueError: If it has no unit, has an unknown unit, is not above zero or is not a quantity.
        """
        if isinstance(text, int | float) and not isinstance(text, bool):
            raise ValueError(f"a {cls.kind} needs a unit, got the bare number {text}; {cls._help()}")
        match = re.fullmatch(_TEXT, text, re.ASCII) if isinstance(text, str) and len(text) < 100 else None
        if match is None:
            raise ValueError(f"must be a {cls.kind}, a number and a unit, got {shown(text)}; {cls._help()}")
        number, unit = match.groups()
        if unit not in cls.units:
            hint = cls._near(unit)
            raise ValueError(f"unknown unit {unit!r} for a {cls.kind}, got {text!r}; {hint}{cls._help()}")
        amount = Fraction(number) * cls.units[unit]
        if amount == 0:
            raise ValueError(f"a {cls.kind} must be above zero, got {text!r}; {cls._help()}")
        return cls(amount)

    def __str__(self) -> str:
        """Return the text with the fewest digits; a whole number if possible."""
        written = [(_decimal(self.amount / size), unit) for unit, size in reversed(self.units.items())]
        number, unit = min(
            ((number, unit) for number, unit in written if number), key=lambda pair: ("." in pair[0], len(pair[0]))
        )
        return f"{number} {unit}"

    @classmethod
    def _near(cls, unit: str) -> str:
        if re.fullmatch(_BITS, unit):
            return "b is bits, of which 8 are a byte; " if "/s" in "".join(cls.units) else ""
        flat = unit.lower().replace("ps", "/s")
        near = [known for known in cls.units if known.lower() in (flat, _UNITS_ELSEWHERE.get(flat))]
        return f"did you mean {near[0]}? " if near else ""

    @classmethod
    def pattern(cls) -> str:
        """Return a regular expression of what `parse` accepts, for the JSON schema."""
        units = "|".join(re.escape(unit).replace("/", "\\/") for unit in cls.units)
        return rf"^\s*(?=[0-9.]*[1-9])[0-9]{{1,{_WHOLE_DIGITS}}}(\.[0-9]{{1,{_DIGITS}}})?\s*({units})\s*$"

    @classmethod
    def _help(cls) -> str:
        return f"units are {', '.join(cls.units)}; write it as in {cls.example}"


def _decimal(number: Fraction) -> str | None:
    """Return the number as a text, or None if it has more digits than a quantity may have."""
    digits = next((digits for digits in range(_DIGITS + 1) if (number * 10**digits).denominator == 1), None)
    if digits is None:
        return None
    text = f"{int(number * 10**digits):0{digits + 1}}"
    whole, rest = (text[:-digits], f".{text[-digits:]}") if digits else (text, "")
    return whole + rest if len(whole) <= _WHOLE_DIGITS else None


_BYTES = {
    **{"MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15},
    **{"MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50},
}


class Throughput(Quantity):
    """Bytes per second. GB is 10^9 bytes, GiB 2^30."""

    __slots__ = ()
    kind = "throughput"
    example = "40 GB/s"
    units: ClassVar[dict[str, int]] = {f"{unit}/s": size for unit, size in _BYTES.items() if unit[0] != "P"}

    @property
    def mb_per_s(self) -> int:
        """In MB/s (10^6 bytes), rounded up."""
        return ceil(self.amount / 10**6)


class Size(Quantity):
    """Bytes. GB is 10^9 bytes, GiB 2^30."""

    __slots__ = ()
    kind = "size"
    example = "500 GiB"
    units = _BYTES

    @property
    def gib(self) -> int:
        """In GiB, rounded up."""
        return ceil(self.amount / 2**30)


class Duration(Quantity):
    """Seconds."""

    __slots__ = ()
    kind = "duration"
    example = "10 min"
    units: ClassVar[dict[str, int]] = {"s": 1, "min": 60, "h": 3600, "d": 86_400}

    @property
    def seconds(self) -> int:
        """In seconds, rounded up."""
        return ceil(self.amount)

    @property
    def days(self) -> int | None:
        """In days, or None if it is not a whole number of them."""
        return int(self.amount // 86_400) if self.amount % 86_400 == 0 else None

    @property
    def timedelta(self) -> timedelta:
        """As a timedelta, in whole seconds."""
        return timedelta(seconds=self.seconds)


class Parameters(Quantity):
    """Parameters of a model."""

    __slots__ = ()
    kind = "number of parameters"
    example = "70 B"
    units: ClassVar[dict[str, int]] = {"M": 10**6, "B": 10**9, "T": 10**12}


class Tier(Quantity):
    """Throughput tier of FSx for Lustre: disk throughput for each TiB of capacity."""

    __slots__ = ()
    kind = "throughput tier"
    example = "1000 MB/s/TiB"
    units: ClassVar[dict[str, int]] = {"MB/s/TiB": 1}

    @property
    def mb_per_s_per_tib(self) -> int:
        """In MB/s for each TiB."""
        return int(self.amount)
