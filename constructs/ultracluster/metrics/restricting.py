"""PromQL of ours, made to read one cluster alone."""

import re

_STRING = r'"(?:[^"\\]|\\.)*"'
_SELECTOR = rf'\{{(?:[^}}"]|{_STRING})*\}}'
# What holds no metric comes first: texts, ranges, lists of labels, functions, numbers and times.
_PART = re.compile(
    rf"(?P<other>{_STRING}|\[[^\]]*\]|\b(?:by|on|ignoring|group_left|group_right|without)\s*\([^)]*\)"
    r"|\b[a-zA-Z_]\w*(?=\s*\(|\s+(?:by|without)\b)|\b[0-9][\w.]*|\b(?:and|or|unless|bool|offset|by|on|Inf|NaN)\b)"
    rf"|(?P<name>[a-zA-Z_:][\w:]*)?\s*(?P<labels>{_SELECTOR})"
    r"|(?P<bare>[a-zA-Z_:][\w:]*)"
)


def of_cluster(expression: str, cluster: str) -> str:
    """An expression whose every selector asks for one cluster.

    Args:
        expression: PromQL of ours.
        cluster: Name of the cluster, fit for a label.
    """
    matcher = f'cluster="{cluster}"'

    def narrowed(found: re.Match[str]) -> str:
        if found["other"]:
            return found[0]
        if found["bare"]:
            return f"{found['bare']}{{{matcher}}}"
        inside = found["labels"][1:-1].strip()
        return f"{found['name'] or ''}{{{matcher}{', ' if inside else ''}{inside}}}"

    return _PART.sub(narrowed, expression)
