"""Rules of a cluster file: every error and warning has a stable id, which `accept` names."""

from dataclasses import dataclass
from typing import Literal

from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.rules import REASONS
from ultracluster.rules import Rule as ConstructRule

_RULES: "dict[str, Rule]" = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A rule.

    Args:
        id: Kebab case; never changes.
        kind: `error` or `warning`.
        reason: Why there is the rule, in one line.
        acceptable: Whether `accept` may name it: a warning, or an error that rests on a fact with a date. An error
            that would lose data, or that cannot be expressed in the template, is not acceptable.
    """

    id: str
    kind: Literal["error", "warning"]
    reason: str
    acceptable: bool

    def __call__(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Create an error of this rule."""
        return Problem(path=path, message=message, at_key=at_key, rule=self.id)


def error(id: str, reason: str | None = None, *, acceptable: bool = False) -> Rule:
    """Register the rule of an error. By default, the reason is the one that constructs give too."""
    return _register(Rule(id=id, kind="error", reason=reason or REASONS[id], acceptable=acceptable))


def warning(id: str, reason: str | None = None) -> Rule:
    """Register the rule of a warning. By default, the reason is the one that constructs give too."""
    return _register(Rule(id=id, kind="warning", reason=reason or REASONS[id], acceptable=True))


def shared(rule: ConstructRule) -> Rule:
    """Register the rule of a check that constructs share."""
    return _register(Rule(id=rule.id, kind=rule.kind, reason=rule.reason, acceptable=rule.kind == "warning"))


def registered() -> dict[str, Rule]:
    """Return the registered rules by id."""
    return dict(sorted(_RULES.items()))


def _register(rule: Rule) -> Rule:
    if rule.id in _RULES:
        raise ValueError(f"the rule {rule.id} is registered twice")
    _RULES[rule.id] = rule
    return rule
