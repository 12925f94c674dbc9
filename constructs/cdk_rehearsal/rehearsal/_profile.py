"""Import of moto without the user's own AWS settings, and with each model of botocore read once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

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
    """Read the model of a service once in an import of moto, and the list of services once in its life.

    moto makes three sessions at import, each of which reads the model of EC2: together 0.3 s of CPU time. For each
    service that it answers, it looks through the directories of all: 15 ms (2026-11-28).
    """
    import moto.core.utils
    from botocore import session
    from moto.core.base_backend import AccountSpecificBackend

    utils: Any = moto.core.utils
    new = session.create_loader
    session.create_loader = cache(new)
    if not hasattr(utils.create_loader, "cache_info"):
        utils.create_loader = cache(utils.create_loader)
    try:
        yield
        # Of all services: it reads what is read already.
        AccountSpecificBackend.get_session().get_available_services()
    finally:
        session.create_loader = new
