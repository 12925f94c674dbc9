"""The exact messages of many cluster files, bad and good: `messages.txt` is reviewed like code.

Each case there is a file, written as its difference from `GOOD`, and what is printed about it: `>` an error, `~` a
warning. The first is `GOOD`; the others leave out warnings that it has, too, and have `-` for one that they lack.
`pytest tests/clusterfile/test_messages.py --update-snapshots` updates the messages.
"""

import difflib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.clusterfile_data import GOOD
from ultracluster.clusterfile import ClusterFileError, loads, warnings

# Those of the section, in its order: a new key changes no message.
_KEYS = re.compile(r"allowed are [a-z0-9, -]+(?= \[unknown-key\])")
GOLDEN = Path(__file__).parent / "messages.txt"


@cache
def warnings_of(text: str) -> tuple[str, ...]:
    return tuple(f"{warning.id}: {warning.message}" for warning in warnings(loads(text, "c.yaml")))


def messages(text: str) -> list[str]:
    try:
        shown = warnings_of(text)
    except ClusterFileError as error:
        return [_KEYS.sub("allowed are KEYS", f"> {problem.render('c.yaml')}") for problem in error.problems]
    usual = () if text == GOOD else warnings_of(GOOD)
    missing = [f"- {warning.partition(': ')[0]}" for warning in usual if warning not in shown]
    return [*missing, *(f"~ {warning}" for warning in shown if warning not in usual)]


def written(text: str) -> Iterator[str]:
    old, new = GOOD.split("\n"), text.split("\n")
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield f"@ {i1}:{i2}"
            yield from (f"| {line}" if f"|{line}|".isprintable() else f"! {json.dumps(line)}" for line in new[j1:j2])


def read(lines: list[str]) -> str:
    result, position, old = [], 0, GOOD.split("\n")
    for line in lines:
        if line.startswith("@ "):
            start, end = map(int, line[2:].split(":"))
            result += old[position:start]
            position = end
        else:
            result.append(line[2:] if line.startswith("| ") else json.loads(line[2:]))
    return "\n".join([*result, *old[position:]])


def cases() -> list[str]:
    """The files, each once."""
    blocks = GOLDEN.read_text().removesuffix("\n").split("\n\n")
    return [read([line for line in block.split("\n") if line[:2] in ("@ ", "| ", "! ")]) for block in blocks]


def render(texts: list[str]) -> str:
    assert texts[0] == GOOD
    return "\n\n".join("\n".join([*written(text), *messages(text)]) for text in texts) + "\n"


def test_messages_match_the_reviewed_ones(pytestconfig: pytest.Config) -> None:
    texts = cases()
    assert len(texts) > 700
    assert len(set(texts)) == len(texts)
    result = render(texts)
    if pytestconfig.getoption("--update-snapshots"):
        GOLDEN.write_text(result)
    assert result == GOLDEN.read_text(), "messages changed; if that is meant: --update-snapshots, and read the change"
