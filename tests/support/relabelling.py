"""The relabelling of Prometheus, as its configuration describes it."""

import re
from typing import Any


def relabelled(labels: dict[str, str], rules: list[dict[str, Any]]) -> dict[str, str] | None:
    """Labels after the relabelling of Prometheus, or None if the sample is dropped."""
    result = dict(labels)
    for rule in rules:
        regex = re.compile(rule.get("regex", "(.*)"))
        value = rule.get("separator", ";").join(result.get(name, "") for name in rule.get("source_labels", ()))
        match = regex.fullmatch(value)
        if rule["action"] == ("keep" if match is None else "drop"):
            return None
        if rule["action"] == "replace" and match:
            result[rule["target_label"]] = match.expand(rule.get("replacement", "$1").replace("$1", r"\1"))
        if rule["action"] == "labeldrop":
            result = {name: value for name, value in result.items() if not regex.fullmatch(name)}
    return result
