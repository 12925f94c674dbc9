"""Values that are unknown before a deployment, as tokens: equal tokens stand for the same value."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Token:
    """Value that the template does not contain.

    Args:
        key: What it is; the only part that counts when two are compared.
        says: The same for people.
        resource: Stack and logical id, when it is a resource's id or attribute.
        moved: Why it is certain to be another value than before the update; empty when it is not.
        unsure: Why it may be another value than before; empty when there is no reason.
        leaves: The tokens that it is made of, empty when it is a leaf itself.
    """

    key: str
    says: str = field(compare=False)
    resource: tuple[str, str] | None = field(default=None, compare=False)
    moved: str = field(default="", compare=False)
    unsure: str = field(default="", compare=False)
    leaves: tuple["Token", ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        """Return the part that counts in a comparison: unordered lists are sorted by it."""
        return f"Token({self.key})"


class _NoValue:
    """Value of `AWS::NoValue`: the property or item that holds it is left out."""

    def __repr__(self) -> str:
        return "AWS::NoValue"


NO_VALUE = _NoValue()


def leaves(node: Any) -> Iterator[Token]:
    """Go through the tokens in a value that are made of no others."""
    if isinstance(node, Token):
        yield from node.leaves or (node,)
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from leaves(child)


def composite(name: str, *arguments: Any) -> Token:
    """Return the token for the result of a function whose arguments hold tokens."""
    body = json.dumps([name, *arguments], sort_keys=True, default=repr)
    parts = {leaf.key: leaf for argument in arguments for leaf in leaves(argument)}
    return Token(
        key=hashlib.sha256(body.encode()).hexdigest(),
        says=f"{name} of {', '.join(leaf.says for leaf in list(parts.values())[:2])}" if parts else name,
        leaves=tuple(parts.values()),
    )


def joined(pieces: Iterable[Any]) -> Any:
    """Join pieces: a text when all pieces are texts, the token itself when it stands alone."""
    merged: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    if not merged:
        return ""
    return merged[0] if len(merged) == 1 else composite("a text", merged)


def shown(node: Any) -> str:
    """Return a value as a person reads it, shortened."""
    if isinstance(node, Token):
        return node.says
    if isinstance(node, list) and len(node) == 1:
        return shown(node[0])
    body = json.dumps(node, default=lambda value: value.says if isinstance(value, Token) else repr(value))
    return body if len(body) <= 60 else f"{body[:57]}..."
