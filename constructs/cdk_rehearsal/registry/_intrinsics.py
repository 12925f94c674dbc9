"""Intrinsic functions of a template, resolved as far as possible; tokens stand for values known at deployment only."""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cdk_rehearsal.registry._normal import text, walk

#: `${Name}` in the text of `Fn::Sub`; the first group is "!" where it is literal.
SUBSTITUTION = re.compile(r"\$\{(!?)([^}]*)\}")


class _NoValue:
    """Value of `AWS::NoValue`: the property or item that holds it is left out."""

    def __repr__(self) -> str:
        return "AWS::NoValue"


NO_VALUE = _NoValue()


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Token:
    """Value that the template does not contain; equal tokens stand for the same value.

    Args:
        key: Identity of the value; the only part that counts when two are compared.
        label: Name of the value in reports.
        resource: Stack and logical id, when it is a resource's id or attribute.
        moved: Why it is certain to be another value than before the update; empty when it is not.
        unsure: Why it may be another value than before; empty when there is no reason.
        leaves: The tokens that it consists of, empty when it is a leaf itself.
    """

    key: str
    label: str = field(compare=False)
    resource: tuple[str, str] | None = field(default=None, compare=False)
    moved: str = field(default="", compare=False)
    unsure: str = field(default="", compare=False)
    leaves: tuple["Token", ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        """Return the part that counts in a comparison: unordered lists are sorted by it."""
        return f"Token({self.key})"


def leaves(node: Any) -> Iterator[Token]:
    """Go through the tokens in a value that consist of no others."""
    for item in walk(node):
        if isinstance(item, Token):
            yield from item.leaves or (item,)


def composite(name: str, *arguments: Any) -> Token:
    """Return the token for the result of a function whose arguments hold tokens."""
    body = json.dumps([name, *arguments], sort_keys=True, default=repr)
    parts = {leaf.key: leaf for argument in arguments for leaf in leaves(argument)}
    return Token(
        key=hashlib.sha256(body.encode()).hexdigest(),
        label=f"{name} of {', '.join(leaf.label for leaf in list(parts.values())[:2])}" if parts else name,
        leaves=tuple(parts.values()),
    )


class Intrinsics(ABC):
    """Intrinsic functions and conditions of one template. Subclasses resolve its references."""

    def __init__(self, conditions: Mapping[str, Any], mappings: Mapping[str, Any]) -> None:
        self._conditions = conditions
        self._mappings = mappings
        self._tested: dict[str, Any] = {}
        self.functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAtt": self._get_att,
            "Fn::GetStackOutput": lambda value: self.stack_output(self.resolve(value)),
            "Fn::If": self._if,
            "Fn::ImportValue": lambda value: self.import_value(self.text(self.resolve(value))),
            "Fn::Join": self._join,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::Sub": self._sub,
        }
        self.tests: dict[str, Callable[[Any], Any]] = {
            "Condition": self.condition,
            "Fn::And": lambda operands: self._any_or_all("Fn::And", operands),
            "Fn::Equals": self._equals,
            "Fn::Not": self._not,
            "Fn::Or": lambda operands: self._any_or_all("Fn::Or", operands),
        }

    @abstractmethod
    def reference(self, name: str) -> Any:
        """Value of `Ref`, of all but `AWS::NoValue`."""

    @abstractmethod
    def attribute(self, name: str, attribute: Any) -> Any:
        """Value of `Fn::GetAtt`."""

    @abstractmethod
    def import_value(self, name: Any) -> Any:
        """Value that another stack exports."""

    @abstractmethod
    def stack_output(self, arguments: Any) -> Any:
        """Value of `Fn::GetStackOutput`."""

    @abstractmethod
    def unresolved(self, name: str, argument: Any, error: Exception) -> Any:
        """Result of a function that has none, because it is unknown, malformed or refers to unknown values."""

    def resolve(self, node: Any) -> Any:
        """Return a value with every intrinsic resolved."""
        if isinstance(node, list):
            return [item for item in map(self.resolve, node) if item is not NO_VALUE]
        if not isinstance(node, dict):
            return node
        name = next(iter(node)) if len(node) == 1 else ""
        if name == "Ref" or name.startswith("Fn::"):
            return self._call(self.functions, name, node[name])
        resolved = {key: self.resolve(value) for key, value in node.items()}
        return {key: value for key, value in resolved.items() if value is not NO_VALUE}

    def condition(self, name: str) -> Any:
        """Evaluate a named condition: a boolean, or a token."""
        if name not in self._tested:
            self._tested[name] = composite("a condition of itself", name)
            self._tested[name] = self.test(self._conditions.get(name))
        return self._tested[name]

    def test(self, node: Any) -> Any:
        """Evaluate a condition, or an assertion of a rule: a boolean, or a token."""
        name, argument = (
            next(iter(node.items())) if isinstance(node, dict) and len(node) == 1 else ("a condition", node)
        )
        return self._call(self.tests, name, argument)

    def text(self, value: Any) -> Any:
        """Return a scalar as text, and anything else as it is."""
        return text(value) if isinstance(value, str | int | float) else value

    def _call(self, functions: Mapping[str, Callable[[Any], Any]], name: str, argument: Any) -> Any:
        try:
            return functions[name](argument)
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            return self.unresolved(name, argument, error)

    def _ref(self, name: Any) -> Any:
        if not isinstance(name, str):
            raise TypeError("it names a resource or parameter")
        return NO_VALUE if name == "AWS::NoValue" else self.reference(name)

    def _get_att(self, value: Any) -> Any:
        name, attribute = value.split(".", 1) if isinstance(value, str) else value
        return self.attribute(name, self.resolve(attribute))

    def _if(self, value: Any) -> Any:
        name, yes, no = value
        holds = self.condition(name)
        if isinstance(holds, Token):
            return _choice(holds, self.resolve(yes), self.resolve(no))
        return self.resolve(yes if holds else no)

    def _join(self, value: Any) -> Any:
        separator, parts = value[0], self.resolve(value[1])
        if not isinstance(parts, list):
            raise TypeError("it joins a list of strings")
        if not isinstance(separator, str):
            raise TypeError("its delimiter is a string")
        pieces = [piece for part in parts for piece in (separator, self.text(part))]
        return _joined(pieces[1:])

    def _sub(self, value: Any) -> Any:
        whole, given = (value, {}) if isinstance(value, str) else value
        pieces, end = [], 0
        for match in SUBSTITUTION.finditer(whole):
            pieces.append(whole[end : match.start()])
            end, name = match.end(), match[2].strip()
            if match[1]:
                pieces.append(f"${{{name}}}")
            elif name in given:
                pieces.append(self.text(self.resolve(given[name])))
            else:
                pieces.append(self.text(self.resolve({"Fn::GetAtt": name} if "." in name else {"Ref": name})))
        return _joined([*pieces, whole[end:]])

    def _split(self, value: Any) -> list[str]:
        separator, whole = value[0], self.resolve(value[1])
        if not isinstance(whole, str):
            raise TypeError("it splits a string")
        return whole.split(separator)

    def _select(self, value: Any) -> Any:
        index, parts = int(self.text(self.resolve(value[0]))), self.resolve(value[1])
        if not isinstance(parts, list):
            raise TypeError("it selects from a list")
        if not 0 <= index < len(parts):
            raise IndexError(f"there is no element {index} in {len(parts)}")
        return parts[index]

    def _find_in_map(self, value: Any) -> Any:
        keys = [self.text(self.resolve(key)) for key in value[:3]]
        node: Any = self._mappings
        for key in keys:
            if not isinstance(node, Mapping) or key not in node:
                if len(value) > 3 and "DefaultValue" in value[3]:
                    return self.resolve(value[3]["DefaultValue"])
                raise KeyError(f"the mappings have no {'.'.join(keys)}")
            node = node[key]
        return node

    def _equals(self, operands: Any) -> Any:
        left, right = (self.text(self.resolve(operand)) for operand in operands)
        if left == right:
            return True
        return False if isinstance(left, str) and isinstance(right, str) else composite("Fn::Equals", left, right)

    def _not(self, operands: Any) -> Any:
        (operand,) = operands
        result = self.test(operand)
        return composite("Fn::Not", result) if isinstance(result, Token) else not result

    def _any_or_all(self, name: str, operands: Any) -> Any:
        decides = name == "Fn::Or"
        results = [self.test(operand) for operand in operands]
        if any(result is decides for result in results):
            return decides
        unknown = [result for result in results if isinstance(result, Token)]
        return composite(name, *sorted(unknown, key=lambda token: token.key)) if unknown else not decides


def _choice(holds: Token, yes: Any, no: Any) -> Any:
    """Value of `Fn::If` when the condition is unknown; a choice of mappings is a mapping of choices."""
    if yes == no:
        return yes
    if all(isinstance(side, dict) or side is NO_VALUE for side in (yes, no)):
        first, second = (side if isinstance(side, dict) else {} for side in (yes, no))
        names = [*first, *(name for name in second if name not in first)]
        return {name: _choice(holds, first.get(name, NO_VALUE), second.get(name, NO_VALUE)) for name in names}
    return composite("Fn::If", holds, yes, no)


def _joined(pieces: Iterable[Any]) -> Any:
    """Join pieces: a text when all pieces are texts, the token itself when it is alone."""
    merged: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    if not merged:
        return ""
    return merged[0] if len(merged) == 1 else composite("a text", merged)
