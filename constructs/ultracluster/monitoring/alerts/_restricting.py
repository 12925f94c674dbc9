"""PromQL narrowed to one cluster."""

import re
from functools import lru_cache

_STRING = r'"(?:[^"\\]|\\.)*"'
_SELECTOR = rf'\{{(?:[^}}"]|{_STRING})*\}}'
# Parts without a metric come first: strings, ranges, label lists, functions, numbers and durations.
_PART = re.compile(
    rf"(?P<other>{_STRING}|\[[^\]]*\]|\b(?:by|on|ignoring|group_left|group_right|without)\s*\([^)]*\)"
    r"|\b[a-zA-Z_]\w*(?=\s*\(|\s+(?:by|without)\b)|\b[0-9][\w.]*|\b(?:and|or|unless|bool|offset|by|on|Inf|NaN)\b)"
    rf"|(?P<name>[a-zA-Z_:][\w:]*)?\s*(?P<labels>{_SELECTOR})"
    r"|(?P<bare>[a-zA-Z_:][\w:]*)"
)
# In no expression.
_CLUSTER = "\0"
_MATCHER = f'cluster="{_CLUSTER}"'


def of_cluster(expression: str, cluster: str) -> str:
    """Return an expression whose selectors all match one cluster.

    Args:
        expression: PromQL of a rule.
        cluster: Name of the cluster, fit for a label.
    """
    return _of_any(expression).replace(_CLUSTER, cluster)


@lru_cache(maxsize=1024)
def _of_any(expression: str) -> str:
    """Return an expression with a placeholder for the name of the cluster: apps and tests have many clusters."""
    return _PART.sub(_narrowed, expression)


def _narrowed(match: re.Match[str]) -> str:
    if match["other"]:
        return match[0]
    if match["bare"]:
        return f"{match['bare']}{{{_MATCHER}}}"
    inside = match["labels"][1:-1].strip()
    return f"{match['name'] or ''}{{{_MATCHER}{', ' if inside else ''}{inside}}}"
