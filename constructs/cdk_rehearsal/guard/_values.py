"""The intrinsic functions of one template, resolved as far as the template allows.

What is left are tokens: two values that are equal here are equal in every deployment, as long as what the tokens stand
for stays.
"""

from collections.abc import Callable
from typing import Any, Protocol

from cdk_rehearsal.guard._template import Template
from cdk_rehearsal.guard._tokens import NO_VALUE, Token, composite, joined
from cdk_rehearsal.registry import SUBSTITUTION, text


class Surroundings(Protocol):
    """Context of one template: its own history, and other stacks."""

    def resource(self, stack: str, logical_id: str, attribute: str | None) -> Token:
        """Id or attribute of a resource."""

    def parameter(self, stack: str, name: str) -> Token:
        """Value of a parameter."""

    def mapping(self, stack: str, name: str | None) -> Token:
        """Stand-in for the contents of a mapping, or of all mappings for None."""

    def export(self, name: str) -> Any:
        """Value that a known stack exports, or None."""

    def output(self, stack_name: str, output: str) -> Any:
        """Output of a stack, or None when it is not known."""


class Values:
    """Works out the values of one template.

    Args:
        stack: Name of the stack.
        template: Its template.
        around: What stands around it.
    """

    def __init__(self, stack: str, template: Template, around: Surroundings) -> None:
        self._stack = stack
        self._template = template
        self._around = around
        self._conditions: dict[str, bool | Token | None] = {}
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAtt": self._get_att,
            "Fn::GetStackOutput": self._get_stack_output,
            "Fn::If": self._if,
            "Fn::ImportValue": self._import_value,
            "Fn::Join": self._join,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::Sub": self._sub,
        }

    def resolve(self, node: Any) -> Any:
        """Resolve every intrinsic of a value, or replace it by a token."""
        if isinstance(node, list):
            return [item for item in map(self.resolve, node) if item is not NO_VALUE]
        if not isinstance(node, dict):
            return node
        name = next(iter(node)) if len(node) == 1 else ""
        if name != "Ref" and not name.startswith("Fn::"):
            resolved = {key: self.resolve(value) for key, value in node.items()}
            return {key: value for key, value in resolved.items() if value is not NO_VALUE}
        handler = self._functions.get(name)
        try:
            result = handler(node[name]) if handler else None
        except (TypeError, ValueError, LookupError, AttributeError):
            result = None  # malformed: AWS rejects it; here it only has to differ when it is changed
        return composite(name, self.resolve(node[name])) if result is None else result

    def condition(self, name: str) -> bool | Token:
        """Evaluate a named condition, as far as it can be known."""
        if name not in self._conditions:
            self._conditions[name] = None
            expression = self._template.conditions.get(name)
            self._conditions[name] = self._test(expression)
        known = self._conditions[name]
        return composite("a condition of itself", name) if known is None else known

    def _test(self, node: Any) -> bool | Token:
        name, argument = next(iter(node.items())) if isinstance(node, dict) and len(node) == 1 else ("", node)
        listed = argument if isinstance(argument, list) else []
        if name == "Condition" and isinstance(argument, str):
            return self.condition(argument)
        if name == "Fn::Equals" and len(listed) == 2:
            left, right = (_text(self.resolve(operand)) for operand in listed)
            if left == right:
                return True
            return False if isinstance(left, str) and isinstance(right, str) else composite(name, left, right)
        if name == "Fn::Not" and len(listed) == 1:
            result = self._test(listed[0])
            return composite(name, result) if isinstance(result, Token) else not result
        if name in ("Fn::And", "Fn::Or") and listed:
            decides = name == "Fn::Or"
            tests = [self._test(operand) for operand in listed]
            if any(test is decides for test in tests):
                return decides
            unknown = [test for test in tests if isinstance(test, Token)]
            return composite(name, *sorted(unknown, key=lambda token: token.key)) if unknown else not decides
        return composite(name or "a condition", self.resolve(argument))

    def _ref(self, name: Any) -> Any:
        if name == "AWS::NoValue":
            return NO_VALUE
        if name in self._template.parameters:
            return self._around.parameter(self._stack, name)
        if name in self._template.resources:
            return self._around.resource(self._stack, name, None)
        if name.startswith("AWS::"):
            return Token(key=f"Ref {name}", says=name)
        return Token(key=f"{self._stack} no {name}", says=f"{name}, which the template does not have")

    def _get_att(self, value: Any) -> Any:
        name, attribute = value.split(".", 1) if isinstance(value, str) else value
        attribute = self.resolve(attribute)
        if name not in self._template.resources or not isinstance(attribute, str):
            return None
        return self._around.resource(self._stack, name, attribute)

    def _if(self, value: Any) -> Any:
        name, yes, no = value
        holds = self.condition(name)
        if isinstance(holds, Token):
            return _choice(holds, self.resolve(yes), self.resolve(no))
        return self.resolve(yes if holds else no)

    def _join(self, value: Any) -> Any:
        separator, parts = value[0], self.resolve(value[1])
        if not isinstance(parts, list) or not isinstance(separator, str):
            return None
        pieces: list[Any] = []
        for part in parts:
            pieces += [separator, _text(part)] if pieces else [_text(part)]
        return joined(pieces)

    def _sub(self, value: Any) -> Any:
        whole, given = (value, {}) if isinstance(value, str) else value
        pieces, end = [], 0
        for match in SUBSTITUTION.finditer(whole):
            pieces.append(whole[end : match.start()])
            end, name = match.end(), match[2].strip()
            if match[1]:
                pieces.append(f"${{{name}}}")
            elif name in given:
                pieces.append(_text(self.resolve(given[name])))
            else:
                pieces.append(_text(self.resolve({"Fn::GetAtt": name} if "." in name else {"Ref": name})))
        return joined([*pieces, whole[end:]])

    def _split(self, value: Any) -> Any:
        separator, whole = value[0], self.resolve(value[1])
        return whole.split(separator) if isinstance(whole, str) else None

    def _select(self, value: Any) -> Any:
        index, parts = _text(self.resolve(value[0])), self.resolve(value[1])
        return parts[int(index)] if isinstance(parts, list) and isinstance(index, str) else None

    def _find_in_map(self, value: Any) -> Any:
        keys = [_text(self.resolve(key)) for key in value[:3]]
        if not all(isinstance(key, str) for key in keys):
            contents = self._around.mapping(self._stack, keys[0] if isinstance(keys[0], str) else None)
            return composite("a mapping", contents, keys[1:], self.resolve(value[3:]))
        node: Any = self._template.mappings
        for key in keys:
            if not isinstance(node, dict) or key not in node:
                return self.resolve(value[3]["DefaultValue"])
            node = node[key]
        return node

    def _import_value(self, value: Any) -> Any:
        name = _text(self.resolve(value))
        if not isinstance(name, str):
            return None
        exported = self._around.export(name)
        return Token(key=f"import {name}", says=f"the import {name}") if exported is None else exported

    def _get_stack_output(self, value: Any) -> Any:
        reference = self.resolve(value)
        output = self._around.output(reference["StackName"], reference["OutputName"])
        if output is not None:
            return output
        token = composite("Fn::GetStackOutput", reference)
        says = f"the output {reference['OutputName']} of {reference['StackName']}"
        return Token(key=token.key, says=says, leaves=token.leaves)


def _choice(holds: Token, yes: Any, no: Any) -> Any:
    """Value of `Fn::If` when the condition is unknown; a choice of mappings is a mapping of choices."""
    if yes == no:
        return yes
    if all(isinstance(side, dict) or side is NO_VALUE for side in (yes, no)):
        first, second = (side if isinstance(side, dict) else {} for side in (yes, no))
        names = [*first, *(name for name in second if name not in first)]
        return {name: _choice(holds, first.get(name, NO_VALUE), second.get(name, NO_VALUE)) for name in names}
    return composite("Fn::If", holds, yes, no)


def _text(value: Any) -> Any:
    return text(value) if isinstance(value, str | int | float) else value
