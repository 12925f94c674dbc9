"""Keeps moto away from the user's own AWS settings while it is imported."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

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
