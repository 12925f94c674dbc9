"""Schemas of Kubernetes' own objects, as `kubernetes-validate` carries them; each is read once."""

from functools import cache
from typing import Any

from kubernetes_validate import ValidationError, utils

__all__ = ["ValidationError", "validate"]

# It reads a file of 1.5 MB, and a directory, for each object: forty times as long as the validation.
utils.schema_contents = cache(utils.schema_contents)
utils.all_versions = cache(utils.all_versions)


def validate(item: Any, version: str) -> None:
    """Raise ValidationError if an object is not valid, or has an unknown field."""
    utils.validate(item, version, strict=True)
