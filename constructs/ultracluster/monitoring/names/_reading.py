"""Metrics that a PromQL expression reads."""

import re
from functools import cache

from ultracluster.monitoring.names._all import METRICS, OTHERS, metrics
from ultracluster.monitoring.names._metric import Profile

_STRINGS = re.compile(r'"[^"]*"')
_ASIDE = re.compile(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|on|ignoring|group_left|group_right|without) \([^)]*\)")
_WORD = re.compile(r"(?<![\w.])[a-zA-Z_][a-zA-Z0-9_:]*(?!\w*\s*\()")
_OPERATORS = frozenset({"and", "or", "unless", "bool", "offset", "Inf", "NaN", "by", "on", "ignoring"})


def reads(expression: str) -> frozenset[str]:
    """Return the names of the metrics in an expression."""
    bare = _ASIDE.sub(" ", _STRINGS.sub("", expression))
    return frozenset(_WORD.findall(bare)) - _OPERATORS


@cache
def read_from_exporters(profile: Profile) -> frozenset[str]:
    """Return the exporter metrics that the recording rules of a profile read; nothing else needs to be sent."""
    every = frozenset[str]().union(*(reads(metric.promql) for metric in metrics(profile)))
    return every - METRICS.keys() - OTHERS.keys() - {"up", "scrape_samples_post_metric_relabeling"}
