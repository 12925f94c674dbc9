"""Failures of the API server: those that pass by themselves, and those of the caller's permission."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ultracluster.platform._errors import ApplyError, Phase, ToolError

# Messages of the API server and kubectl that go away by themselves: it restarts, or controllers start. As kubectl
# 1.35.2 wrote them for the statuses 429, 500, 503 and 504 and for a closed port on 2026-11-23.
_PASSING = re.compile(
    r"failed calling webhook|no matches for kind|connection refused|was refused - did you specify|"
    r"connection reset|connection lost|EOF|i/o timeout|TLS handshake|no route to host|no such host|"
    r"etcdserver: |too many requests|\((?:ServiceUnavailable|InternalError|Timeout|TooManyRequests)\)|"
    r"ServiceUnavailable|could not find the requested resource|in the time allotted|no answer within|"
    r"couldn't get current server API group list",
    re.IGNORECASE,
)
# The same for the statuses 401 and 403, and for a command that prints no token.
_REFUSED = re.compile(r"\(Forbidden\)|\(Unauthorized\)|logged in to the server|getting credentials|ExpiredToken")
_SIGN_IN = "sign in again, with a principal that `kubernetes.admins` of the cluster file names; then apply again"


def passes(message: str) -> bool:
    """Return True if a later attempt may succeed."""
    return bool(_PASSING.search(message)) and not refused(message)


def refused(message: str) -> bool:
    """Return True if the API server refuses the caller."""
    return bool(_REFUSED.search(message))


@contextmanager
def phase(name: Phase) -> Iterator[None]:
    """Report the failure of a tool as an error of a phase, with its remedy."""
    try:
        yield
    except ToolError as error:
        remedy = "remove the reason; apply continues where it stopped"
        if refused(error.message):
            remedy = _SIGN_IN
        elif passes(error.message):
            remedy = "check the path to the API server; apply continues where it stopped"
        raise ApplyError(name, f"API server ({error.command})", error.message, remedy) from None
