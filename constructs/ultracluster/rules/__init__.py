"""Rules of constructs: every refusal and warning has a stable id and a reason."""

from ultracluster.rules._reasons import REASONS
from ultracluster.rules._refusal import Refusal
from ultracluster.rules._rule import ARGUMENT, TOKEN, Message, Rule, error, registered, warning

__all__ = ["ARGUMENT", "REASONS", "TOKEN", "Message", "Refusal", "Rule", "error", "registered", "warning"]
