"""Clients of AWS's APIs for commands that read a deployed cluster."""

import os
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from ultracluster.cli._output import misuse

_T = TypeVar("_T")
#: Returns a client of a service in a Region, None for that of the environment.
Clients = Callable[[str, str | None], Any]
# Commands ask STS first: without a path to AWS they end after two attempts.
_ATTEMPTS = {"sts": 2}


def client(service: str, region: str) -> Any:
    """Create a client with the credentials of the environment; throttled calls are repeated."""
    try:
        import boto3
    except ImportError:
        misuse("this command calls AWS, and boto3 is not installed; run: pip install 'cdk-ultracluster[live]'")
    from botocore.config import Config

    from ultracluster.platform import core_session, refuse_pages

    retries = {"mode": "standard", "total_max_attempts": _ATTEMPTS.get(service, 9)}
    config = Config(retries=retries)
    if boto3.DEFAULT_SESSION is None:
        boto3.setup_default_session(botocore_session=core_session())
    result = boto3.client(service, region_name=region, config=config)
    refuse_pages(result.meta.events)
    return result


def clients_of_command() -> Clients:
    """Return clients that are created once for all stacks: each has its connections, and takes 10 ms of CPU time."""
    return cache(lambda service, region: client(service, region or os.environ.get("AWS_REGION", "")))


def check_credentials(clients: Clients, region: str) -> None:
    """Raise botocore's error if AWS does not take the credentials: a command then ends before it synthesizes."""
    clients("sts", region).get_caller_identity()


def call(operation: Callable[..., _T], missing: str = "", **arguments: Any) -> _T | None:
    """Return the result of an operation, or None if AWS answers with the code `missing`."""
    from botocore.exceptions import ClientError

    try:
        return operation(**arguments)
    except ClientError as error:
        if missing and error.response["Error"]["Code"] in missing.split():
            return None
        raise
