"""Values that the threshold of an alert may have."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lowest and highest threshold with which an alert can both fire and clear.

    Args:
        low: Lowest value.
        high: Highest value.
        unit: Unit behind a value, such as ` °C`, or nothing.
        reason: Why there is no value beyond.
    """

    low: float
    high: float
    unit: str
    reason: str

    def __str__(self) -> str:
        """Return the bounds as the errors and the runbooks have them."""
        return f"{self.low:,.12g} to {self.high:,.12g}{self.unit}"


SHARE = Bounds(0, 1, "", "it is compared with a share")
MULTIPLE = Bounds(1, 100, "", "it is compared with a multiple of the usual value")
CELSIUS = Bounds(30, 120, " °C", "GPUs are warmer at work, and shut down below 120 °C")
NUMBER = Bounds(0, 1e9, "", "it is compared with a number of things")
PER_SECOND = Bounds(0, 1e9, " per second", "it is compared with a rate")


def seconds(low: float, high: float, reason: str) -> Bounds:
    """Return bounds in seconds."""
    return Bounds(low, high, " seconds", reason)
