"""Rules, and messages that carry the rule that they come from."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleText:
    """Text of a rule, of constructs or of the cluster file.

    Args:
        id: Kebab case; never changes.
        kind: `error` or `warning`.
        reason: Why the rule exists, in one line.
        acceptable: True if `accept` of a cluster file may name it: a warning, or an error that rests on a fact with a
            date. An error that would lose data, or that cannot be expressed in the template, is not acceptable.
    """

    id: str
    kind: Literal["error", "warning"]
    reason: str
    acceptable: bool = False


class Rule(RuleText):
    """Rule that an argument of a construct, or the resources that follow from it, must keep.

    The message of an error is raised; `cdk synth` prints that of a warning.
    """

    __slots__ = ()

    @property
    def warning_id(self) -> str:
        """Id of the warning in `cdk synth`, which `cdk.Validations.of(scope).acknowledge` takes."""
        return f"ultracluster:{self.id}"

    def __call__(self, text: str) -> "Message":
        """Return a message of this rule."""
        return Message(text, self)


class Message(str):
    """Text of an error or a warning, with its rule.

    Args:
        text: What was wrong, what was given, what is allowed, what to do.
        rule: The rule that is broken.
    """

    rule: Rule

    def __new__(cls, text: str, rule: Rule) -> "Message":
        """Create a message."""
        message = super().__new__(cls, text)
        message.rule = rule
        return message


_R = TypeVar("_R", bound=RuleText)
_RULES: dict[type[RuleText], dict[str, RuleText]] = {}


def register(rule: _R) -> _R:
    """Register a rule, in the module that checks it.

    Raises:
        ValueError: If another rule of the same class has the id, or one of another class gives another reason.
    """
    if rule.id in _RULES.setdefault(type(rule), {}):
        raise ValueError(f"the rule {rule.id} is registered twice")
    if any(others[rule.id].reason != rule.reason for others in _RULES.values() if rule.id in others):
        raise ValueError(f"the rule {rule.id} has two reasons")
    _RULES[type(rule)][rule.id] = rule
    return rule


def registered(kind: type[_R]) -> dict[str, _R]:
    """Return the rules of a class by id, in the order of the ids, that imported packages registered."""
    return {id: rule for id, rule in sorted(_RULES.get(kind, {}).items()) if isinstance(rule, kind)}


def error(id: str, reason: str) -> Rule:
    """Register the rule of an error of constructs."""
    return register(Rule(id=id, kind="error", reason=reason))


def warning(id: str, reason: str) -> Rule:
    """Register the rule of a warning of constructs."""
    return register(Rule(id=id, kind="warning", reason=reason, acceptable=True))


#: Rule of the messages that carry none of their own.
ARGUMENT = error("argument", "An argument must have a type and a value that the construct accepts.")
#: Rule of values that a token cannot be.
TOKEN = error("argument-token", "A value that decides what is created must be known at synthesis.")


def nearest(word: str, known: Iterable[str], likeness: float = 0.7, most: int = 1) -> str:
    """Return the known words that a message may propose, with "or" between them, or an empty text."""
    import difflib

    # P5EN.48xlarge is another case of p5en.48xlarge, and only near to p5.48xlarge.
    known = list(known)
    if same := next((name for name in known if name.lower() == word.lower()), ""):
        return same
    return " or ".join(difflib.get_close_matches(word[:60], known, n=most, cutoff=likeness))
