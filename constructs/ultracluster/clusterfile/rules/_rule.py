"""Rules of a cluster file: every error and warning has a stable id, which `accept` names."""

from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.rules import SHARED, RuleText, register, registered
from ultracluster.rules import Rule as ConstructRule


class Rule(RuleText):
    """Rule of a cluster file."""

    __slots__ = ()

    def __call__(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Create an error of this rule."""
        return Problem(path=path, message=message, at_key=at_key, rule=self.id)


def error(id: str, reason: str, *, acceptable: bool = False) -> Rule:
    """Register the rule of an error."""
    return register(Rule(id=id, kind="error", reason=reason, acceptable=acceptable))


def warning(id: str, reason: str) -> Rule:
    """Register the rule of a warning."""
    return register(Rule(id=id, kind="warning", reason=reason, acceptable=True))


def shared(rule: str | ConstructRule) -> Rule:
    """Register a rule that constructs have too: one of `SHARED`, or that of a check of a package below."""
    text = SHARED[rule] if isinstance(rule, str) else rule
    return register(Rule(id=text.id, kind=text.kind, reason=text.reason, acceptable=text.acceptable))


def rules() -> dict[str, Rule]:
    """Return the rules by id, in the order of the ids."""
    return registered(Rule)
