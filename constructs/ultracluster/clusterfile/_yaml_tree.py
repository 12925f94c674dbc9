"""YAML as a tree of values with their lines and columns.

Stricter than YAML: one document, mappings with text keys, no anchors, no tags. Plain values are read by the core
schema of YAML 1.2, so `no` is a text and a date is a text. Bounds on size and depth keep hostile files cheap.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ultracluster.clusterfile._problems import Located, Path, field_name, shown

_RULE = "yaml"
MAX_BYTES = 2**20
_MAX_LINE = 5_000
_MAX_VALUES = 20_000
_MAX_DEPTH = 20
# What YAML allows in a text, https://yaml.org/spec/1.2.2/#51-character-set; tabs are looked at by the parser.
_NOT_PRINTABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_NOT_PRINTABLE_ASCII = "[^\t\n\r\x20-\x7e]"
_INT = r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
}
# Longer numbers are read as texts.
_MAX_DIGITS = 30


class WrittenInt(int):
    """A whole number with its text: `012` is not `12` to every reader of YAML."""

    text: str


class WrittenFloat(float):
    """A number with its text: `25.10` is not `25.1` if it is a version."""

    text: str


@dataclass(kw_only=True, slots=True)
class Node:
    """A value with its place; lines and columns count from 1."""

    line: int
    column: int
    #: A scalar, or a mapping's or list's children.
    value: Any = None
    #: Where the keys of a mapping are.
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: The file, if it is not the one that was named.
    file: str = ""

    def plain(self) -> Any:
        """Return the value without places, as dictionaries, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def step(self, key: str | int) -> "Node | None":
        """Return the child under a key, or None."""
        child: Node | None = None
        if isinstance(self.value, dict):
            child = self.value.get(key)
        elif isinstance(self.value, list) and isinstance(key, int) and 0 <= key < len(self.value):
            child = self.value[key]
        return child

    def overlay(self, base: "Node") -> "Node":
        """Return a mapping with the keys of both; of this one if both have a key. Mappings in it are merged."""
        children = dict(base.value)
        for key, child in self.value.items():
            both = key in children and isinstance(child.value, dict) and isinstance(children[key].value, dict)
            children[key] = child.overlay(children[key]) if both else child
        return replace(self, value=children, keys={**base.keys, **self.keys})

    def assign(self, file: str) -> None:
        """Set the file of this value and of everything in it."""
        self.file = file
        values = self.value.values() if isinstance(self.value, dict) else self.value
        for child in values if isinstance(self.value, dict | list) else ():
            child.assign(file)

    def place(self, path: Path, *, at_key: bool = False) -> tuple[int, int, str]:
        """Return line, column and file of a value, or of its key; of the nearest value above if there is none."""
        node, place, file = self, (self.line, self.column), self.file
        for i, key in enumerate(path):
            child = node.step(key)
            if child is None:
                break
            key_place = node.keys.get(str(key), (child.line, child.column))
            # A mapping of many lines is shown by its key: its first key's place would mislead.
            place = (
                key_place
                if (at_key and i == len(path) - 1) or isinstance(child.value, dict)
                else (child.line, child.column)
            )
            node, file = child, child.file
        return *place, file


class NotATree(Exception):
    """A text that is not the YAML of a cluster file."""

    def __init__(self, problems: list[Located]) -> None:
        super().__init__()
        self.problems = problems


def parse(text: str) -> tuple[Node, list[Located]]:
    """Parse a text.

    Returns:
        The tree, and errors of repeated keys: the first of each is in the tree.

    Raises:
        NotATree: If there is no tree.
    """
    _check_characters(text)
    builder = _Builder(_events(text))
    root = builder.root()
    if root is None or root.value is None:
        raise _refusal(1, 1, f"the file is empty; {_START}")
    if not isinstance(root.value, dict):
        message = f"a cluster file is a mapping of keys to values, got {shown(root.value)}; {_START}"
        raise _refusal(root.line, root.column, message)
    return root, builder.duplicates


_START = "its first line could be name: llama"


def _check_characters(text: str) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _MAX_LINE:
            raise _refusal(number, 1, f"the line has {len(line):,} characters, and {_MAX_LINE:,} are allowed")
    # The pattern of all characters takes longer to compile than a file of ASCII takes to read.
    bad = re.search(_NOT_PRINTABLE_ASCII if text.isascii() else _NOT_PRINTABLE, text)
    if bad:
        before = text[: bad.start()]
        column = bad.start() - before.rfind("\n")
        raise _refusal(
            before.count("\n") + 1,
            column,
            f"the character U+{ord(bad.group()):04X} can't be in YAML; is this a text file?",
        )


def _refusal(line: int, column: int, message: str) -> NotATree:
    return NotATree([Located(line=line, column=column, field="", message=message, rule=_RULE)])


def _events(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from ultracluster.clusterfile._yaml_errors import described

    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except YAMLError as error:
        line, column, message = described(error, text)
        raise _refusal(line, column, f"this is not YAML: {message}") from None


class _Builder:
    """Builds the tree from the parser's events."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.duplicates: list[Located] = []
        self._events = events
        self._values = 0

    def root(self) -> Node | None:
        root, documents = None, 0
        for event in self._events:
            match type(event).__name__:
                case "DocumentStartEvent":
                    documents += 1
                    if documents > 1:
                        message = "a second document begins here, and a cluster file is one; remove the ---"
                        raise _refusal(*_place(event), message)
                case "ScalarEvent" | "MappingStartEvent" | "SequenceStartEvent" | "AliasEvent":
                    root = self._node(event, ())
        return root

    def _node(self, event: Any, path: Path) -> Node:
        """Return the value that begins with an event."""
        self._check(event)
        line, column = _place(event)
        node, kind = Node(line=line, column=column), type(event).__name__
        if kind == "ScalarEvent":
            node.value = _scalar(event)
            return node
        if len(path) >= _MAX_DEPTH:
            raise _refusal(line, column, f"values are nested more than {_MAX_DEPTH} deep; a cluster file needs 4")
        node.value = {} if kind == "MappingStartEvent" else []
        for inner in iter(lambda: next(self._events), None):
            if type(inner).__name__ in ("MappingEndEvent", "SequenceEndEvent"):
                break
            if isinstance(node.value, list):
                node.value.append(self._node(inner, (*path, len(node.value))))
            else:
                key = self._key(node, inner, path)
                node.value.setdefault(key, self._node(next(self._events), (*path, key)))
        return node

    def _check(self, event: Any) -> None:
        if type(event).__name__ == "AliasEvent":
            raise _unwanted(event, f"*{event.anchor} is an alias", "write the value out")
        self._values += 1
        if self._values > _MAX_VALUES:
            message = f"the file holds more than {_MAX_VALUES:,} values, far more than a cluster needs"
            raise _refusal(*_place(event), message)
        if event.anchor is not None:
            raise _unwanted(event, f"&{event.anchor} is an anchor", "write the value out where it is meant")
        if event.tag is not None:
            raise _unwanted(event, f"{event.tag} is a tag", "remove it")

    def _key(self, mapping: Node, event: Any, path: Path) -> str:
        self._check(event)
        line, column = _place(event)
        if type(event).__name__ != "ScalarEvent":
            raise _refusal(
                line, column, f"a key must be a text, got {shown({} if 'Map' in type(event).__name__ else [])}"
            )
        key = str(event.value)
        first, _ = mapping.keys.setdefault(key, (line, column))
        if mapping.keys[key] != (line, column):
            message = f"the key is here a second time, and first in line {first}; rename or remove one"
            field = field_name((*path, key))
            self.duplicates.append(Located(line=line, column=column, field=field, rule=_RULE, message=message))
        return key


def _unwanted(event: Any, what: str, remedy: str) -> NotATree:
    return _refusal(*_place(event), f"{what[:80]}, which a cluster file can't have; {remedy}")


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _scalar(event: Any) -> Any:
    text: str = event.value
    # Quoted and block texts are texts; only a plain one is looked at.
    if event.style is not None and event.style != "":
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if len(text) > _MAX_DIGITS:
        return text
    if re.fullmatch(_INT, text):
        whole = WrittenInt(int(text, 0 if text[:2] in ("0o", "0x") else 10))
        whole.text = text
        return whole
    if re.fullmatch(_FLOAT, text):
        word = text.lower()
        number = WrittenFloat(word.replace(".", "") if word.endswith(("inf", "nan")) else word)
        number.text = text
        return number
    return text
