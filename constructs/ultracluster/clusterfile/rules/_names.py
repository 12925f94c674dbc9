"""Names of node groups in a sentence."""

from collections.abc import Iterable

# Of a cluster of hundreds of node groups, a message names the first.
_MOST = 8


def listed(names: Iterable[str]) -> str:
    """Return names in a sentence, each once: all of a few, the first ones of many."""
    each = list(dict.fromkeys(names))
    more = len(each) - _MOST
    return ", ".join(each) if more < 2 else f"{', '.join(each[:_MOST])} and {more} more"
