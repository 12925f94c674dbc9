"""Rules of constructs: every refusal and warning has a stable id and a reason."""

from ultracluster.rules._file_checks import FileCheck, add_file_checks, file_checks
from ultracluster.rules._reasons import REASONS
from ultracluster.rules._refusal import Refusal
from ultracluster.rules._rule import ARGUMENT, TOKEN, Message, Rule, error, registered, warning

__all__ = [
    "ARGUMENT",
    "REASONS",
    "TOKEN",
    "FileCheck",
    "Message",
    "Refusal",
    "Rule",
    "add_file_checks",
    "error",
    "file_checks",
    "registered",
    "warning",
]
