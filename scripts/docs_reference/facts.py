"""Generate the reference of the facts."""

import json

from docs_reference.markdown import code, page, table
from ultracluster.catalogue import facts

_ABOUT = """Published figures, limits, prices and names that the library uses, each with its source. The module
of a row is below `constructs/ultracluster/catalogue`: `quotas.QUOTAS` of ec2 is in `ec2/_quotas.py`.
`ultracluster facts --json` prints values that are cut here, and how to verify each; `--older-than 90d` and
`--expiring 60d` list what to look at.

"as of" is the day on which the source stated a fact. Where it is empty, the source carries no date: that is so for the
documentation of AWS. Of a paper, it is the first day of the month in which it appeared. "read" is the day on which the
source was read."""
# A table shows a record whole, and the beginning of a list.
_WIDEST_VALUE = 250


def facts_page() -> str:
    """Page with a table of the facts of each topic."""
    topics: dict[str, list[tuple[str, ...]]] = {}
    for fact in facts():
        value = fact.value if isinstance(fact.value, str) else json.dumps(_known(fact.value))
        short = value if len(value) <= _WIDEST_VALUE else f"{value[: _WIDEST_VALUE - 3]}..."
        topic, _, name = fact.name.partition(".")
        row = (code(name), code(short), fact.unit or fact.columns or "", str(fact.as_of or ""), str(fact.read_on))
        topics.setdefault(topic, []).append((*row, fact.source))
    header = ("name", "value", "unit, or what it holds", "as of", "read", "source")
    return page("Facts", _ABOUT, *(f"## {topic}\n\n{table(header, rows)}" for topic, rows in topics.items()))


def _known(value: object) -> object:
    """Return a record without the fields that have no value."""
    if isinstance(value, dict):
        return {key: inner for key, inner in value.items() if inner not in (None, "", [], {})}
    return value
