"""Errors of an apply: the phase, the object, the reason and the remedy."""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["connect", "check", "controllers", "webhooks", "devices", "objects", "removal", "gate", "hold"]


@dataclass(slots=True)
class ApplyError(Exception):
    """Failure of an apply."""

    phase: Phase
    subject: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        """Return the message."""
        return f"{self.phase}: {self.subject}: {self.reason.strip()}\n  remedy: {self.remedy}"


@dataclass(slots=True)
class ToolError(Exception):
    """Exit code other than zero of kubectl or helm."""

    command: str
    message: str

    def __str__(self) -> str:
        """Return what the tool wrote to standard error."""
        return self.message
