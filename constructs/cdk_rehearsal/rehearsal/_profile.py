"""Import of moto without the user's own AWS settings, and without models of botocore that it does not need."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest import mock

_OWN = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")


@contextmanager
def no_profile() -> Iterator[None]:
    """Hide the user's profile and files: moto makes a boto3 session at import, which reads them, or fails on them."""
    before = {name: os.environ.pop(name) for name in _OWN if name in os.environ}
    hidden = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    os.environ.update(hidden)
    try:
        yield
    finally:
        for name in hidden:
            os.environ.pop(name, None)
        os.environ.update(before)


@contextmanager
def one_loader() -> Iterator[None]:
    """Read the list of services once in the life of moto, and no model of EC2 in its import.

    moto asks for the regions of EC2 three times at import. botocore reads the model of EC2, ten megabytes, for the name
    that the list of endpoints has for it: 0.15 s of CPU time. It is that of the service. For each service that moto
    answers, it looks through the directories of all: 15 ms (2026-11-28).
    """
    import boto3
    import moto.core.utils
    from botocore import session
    from botocore.regions import EndpointResolver
    from moto.core.base_backend import AccountSpecificBackend

    utils: Any = moto.core.utils
    new = session.create_loader
    session.create_loader = cache(new)
    resolver = EndpointResolver(session.create_loader().load_data("endpoints"))

    def regions(_: Any, service_name: str, partition_name: str = "aws", allow_non_regional: bool = False) -> Any:
        return resolver.get_available_endpoints(service_name, partition_name, allow_non_regional)

    if not hasattr(utils.create_loader, "cache_info"):
        utils.create_loader = cache(utils.create_loader)
    try:
        with mock.patch.object(boto3.Session, "get_available_regions", regions):
            yield
        # Of all services: it reads what is read already.
        AccountSpecificBackend.get_session().get_available_services()
    finally:
        session.create_loader = new
