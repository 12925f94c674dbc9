"""Failures that end every command in the same way: calls of AWS, with exit code 3, and phases of an apply."""

import sys
from typing import Any

from typer.core import TyperGroup

from ultracluster.cli._output import end, fail

_CREDENTIALS = "check the Region, and the credentials: `aws sts get-caller-identity`"
_NETWORK = "check the Region, the network and the proxy"
_PROXY = "what answered is not AWS: look at the proxy, and at AWS_ENDPOINT_URL"
_RATE = "AWS limits the rate of calls: run the command again"
_PERMISSION = "the credentials lack this permission"
# Parts of error codes, such as ThrottlingException, and what to do.
_REMEDIES = {
    "Throttl": _RATE,
    "TooManyRequests": _RATE,
    "RequestLimitExceeded": _RATE,
    "SlowDown": _RATE,
    "AccessDenied": _PERMISSION,
    "UnauthorizedOperation": _PERMISSION,
}


class Commands(TyperGroup):
    """The commands of the program."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command. A failed call of AWS, or phase of an apply, ends it without a traceback."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            # A module that nobody imported raised no error.
            platform = sys.modules.get("ultracluster.platform")
            of_apply = platform is not None and isinstance(error, platform.ApplyError)
            if remedy := _remedy(error.__cause__ or error):
                end(str(error) if of_apply else remedy if remedy == _PROXY else f"{error}; {remedy}", 3)
            if of_apply:
                fail(str(error))
            raise


def _remedy(error: BaseException) -> str | None:
    """Return what to do about a failed call of AWS, or None if the error is another one."""
    exceptions, parsers = sys.modules.get("botocore.exceptions"), sys.modules.get("botocore.parsers")
    if exceptions is None or parsers is None:
        return None
    if isinstance(error, parsers.ResponseParserError):
        return _PROXY
    if isinstance(error, exceptions.ClientError):
        code = str(error.response.get("Error", {}).get("Code"))
        return next((text for part, text in _REMEDIES.items() if part in code), _CREDENTIALS)
    if isinstance(error, exceptions.ConnectionError | exceptions.HTTPClientError):
        return _NETWORK
    return _CREDENTIALS if isinstance(error, exceptions.BotoCoreError) else None
