"""Arithmetic on the facts of the catalogue. Pure Python."""

from ultracluster.planning._types import check_fields, check_types, shown, type_errors

__all__ = ["check_fields", "check_types", "shown", "type_errors"]
