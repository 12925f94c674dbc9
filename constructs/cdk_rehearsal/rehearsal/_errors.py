"""Errors of a rehearsal.

- `RehearsalError`: the rehearsal cannot run at all (no CDK CLI, no cdk.json). For the person who started it.
- `TemplateError`: CloudFormation refuses the request (HTTP 400, `ValidationError`), nothing is created.
- `ResourceError`: one resource cannot be created, changed or deleted. The stack fails and rolls back.
"""


class RehearsalError(ValueError):
    """The rehearsal cannot start or go on; the message has the remedy."""


class TemplateError(ValueError):
    """A request that CloudFormation refuses before it creates anything, in its words and with its error code."""

    def __init__(self, message: str, *, code: str = "ValidationError") -> None:
        super().__init__(message)
        self.code = code


class ResourceError(ValueError):
    """A resource that could not be created, changed or deleted; the message becomes its ResourceStatusReason."""


def reason_of(error: Exception) -> str:
    """Return the message of an error of this package, and the name of any other error before its message."""
    known = isinstance(error, ResourceError | TemplateError)
    return str(error) if known else f"{type(error).__name__}: {error}"
