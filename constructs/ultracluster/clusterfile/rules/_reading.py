"""Rules of reading: the file, its keys, the form of its values."""

from collections.abc import Iterator
from typing import Any

from ultracluster.clusterfile._problems import INVALID_VALUE, Path, Problem
from ultracluster.clusterfile.rules._rule import error

FILE = error("file", "A cluster file is one readable text of UTF-8, and extends one base at most.")
YAML = error("yaml", "A cluster file is one YAML mapping, without anchors, tags and repeated keys.")
EMPTY = error("empty-key", "A key without a value could mean its default, or nothing.")
MISSING = error("missing-key", "The key has no default.")
UNKNOWN_KEY = error("unknown-key", "An unknown key would have no effect.")
VALUE = error(INVALID_VALUE, "A value must have the type and the form that its key accepts.")
_REFERENCE = error(
    "dynamic-reference", "CloudFormation replaces {{resolve:...}} in a template with a parameter or a secret."
)


def check_references(value: Any, path: Path = ()) -> Iterator[Problem]:
    """Yield the keys and texts, wherever they are, that CloudFormation would resolve.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html (read 2026-11-22)
    """
    message = "CloudFormation would replace {{resolve:...}} when it deploys; write the value itself"
    match value:
        case str() if "{{resolve:" in value.lower():
            yield _REFERENCE(path, message)
        case dict():
            for key, child in value.items():
                if "{{resolve:" in str(key).lower():
                    yield _REFERENCE((*path, key), message, at_key=True)
                yield from check_references(child, (*path, key))
        case list():
            for index, child in enumerate(value):
                yield from check_references(child, (*path, index))
