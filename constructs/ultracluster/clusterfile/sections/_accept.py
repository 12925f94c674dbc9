"""The key `accept`: rules that the file accepts."""

from typing import Annotated

from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _word as w


def _reason(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"needs the reason why the rule is no concern, got {shown(value)}")


def accepted(value: object) -> dict[str, str]:
    """Parse ids of rules with reasons; which ids there are is for the rules."""
    what = "ids of rules to reasons, as in {interface-quota: raised to 20000}"
    return w.mapped(value, what, key=lambda _: None, parse=_reason)


Accepted = Annotated[
    dict[str, str], w.Word(accepted, type="object", additionalProperties={"type": "string", "minLength": 1})
]
