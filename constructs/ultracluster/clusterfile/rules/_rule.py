"""Rules of a cluster file: every error and warning has a stable id, which `accept` names."""

from collections.abc import Iterable, Iterator

from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile._quantities import Duration
from ultracluster.rules import SHARED, RuleText, register, registered
from ultracluster.rules import Rule as ConstructRule


class Rule(RuleText):
    """Rule of a cluster file."""

    __slots__ = ()

    def __call__(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Create an error of this rule."""
        return Problem(path=path, message=message, at_key=at_key, rule=self.id)

    def of_new(self, path: Path, keys: Iterable[str], new: str, existing: str = "existing") -> Iterator[Problem]:
        """Yield an error for each key of a section that describes a new resource beside an existing one."""
        for key in sorted(keys):
            message = f"describes a new {new}, and {existing} names an existing one; remove one of the two"
            yield self((*path, key.replace("_", "-")), message, at_key=True)

    def of_days(self, path: Path, what: str, given: Duration, most: int) -> Iterator[Problem]:
        """Yield the error of data that is not kept for 1 to `most` whole days."""
        if given.days not in range(1, most + 1):
            yield self(path, f"{what} are kept for whole days, 1 d to {most} d, got {given}")


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


# Of a cluster of hundreds of node groups, a message names the first.
_MOST = 8


def listed(names: Iterable[str]) -> str:
    """Return names in a sentence, each once: all of a few, the first ones of many."""
    each = list(dict.fromkeys(names))
    more = len(each) - _MOST
    return ", ".join(each) if more < 2 else f"{', '.join(each[:_MOST])} and {more} more"
