"""Rules of constructs and of the cluster file: every refusal and warning has a stable id and a reason."""

from ultracluster.rules._file_checks import FileCheck, add_file_checks, file_checks
from ultracluster.rules._refusal import Refusal
from ultracluster.rules._rule import (
    ARGUMENT,
    TOKEN,
    Message,
    Rule,
    RuleText,
    error,
    register,
    registered,
    warning,
)
from ultracluster.rules._shared import SHARED, shared

__all__ = [
    "ARGUMENT",
    "SHARED",
    "TOKEN",
    "FileCheck",
    "Message",
    "Refusal",
    "Rule",
    "RuleText",
    "add_file_checks",
    "error",
    "file_checks",
    "register",
    "registered",
    "shared",
    "warning",
]
