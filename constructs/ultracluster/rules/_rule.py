"""Rules, and messages that carry the rule that they come from."""

from dataclasses import dataclass
from typing import Literal

from ultracluster.rules._reasons import REASONS

_RULES: "dict[str, Rule]" = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """Rule that an argument of a construct, or the resources that follow from it, must keep.

    Args:
        id: Kebab case; never changes.
        kind: `error`, which is raised, or `warning`, which `cdk synth` prints.
        reason: Why the rule exists, in one line.
    """

    id: str
    kind: Literal["error", "warning"]
    reason: str

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


def error(id: str, reason: str | None = None) -> Rule:
    """Register the rule of an error, in the module that checks it.

    Args:
        id: Id of the rule.
        reason: Its reason. Default: the one in `REASONS`, of a rule that the cluster file has too.

    Raises:
        ValueError: If another rule has the id.
    """
    return _register(Rule(id=id, kind="error", reason=reason or REASONS[id]))


def warning(id: str, reason: str | None = None) -> Rule:
    """Register the rule of a warning, in the module that prints it; otherwise as `error`."""
    return _register(Rule(id=id, kind="warning", reason=reason or REASONS[id]))


def registered() -> list[Rule]:
    """Return the rules of the packages that are imported, in the order of their ids."""
    return [rule for _, rule in sorted(_RULES.items())]


def _register(rule: Rule) -> Rule:
    if rule.id in _RULES:
        raise ValueError(f"the rule {rule.id} is registered twice")
    _RULES[rule.id] = rule
    return rule


#: Rule of the messages that carry none of their own.
ARGUMENT = error("argument", "An argument must have a type and a value that the construct takes.")
#: Rule of values that a token cannot be.
TOKEN = error("argument-token", "A value that decides what is created must be known at synthesis.")
