"""Intrinsic functions, resolved strictly: what is unknown or cannot be resolved is an error, never left in place."""

import base64
import ipaddress
import json
import re
from collections.abc import Callable
from typing import Any, Protocol

from cdk_rehearsal.registry import SUBSTITUTION
from cdk_rehearsal.rehearsal._errors import TemplateError
from cdk_rehearsal.rehearsal._template import PSEUDO_PARAMETERS, Template, split_attribute

_DYNAMIC = re.compile(r"\{\{resolve:([a-z-]+):([^}]*)\}\}")


class _NoValue:
    """Value of `AWS::NoValue`: the property that holds it is left out."""


NO_VALUE = _NoValue()


class Scope(Protocol):
    """Knowledge of a stack while its template is resolved."""

    def reference(self, name: str) -> Any:
        """Value of `Ref` of a resource, parameter or pseudo parameter."""

    def attribute(self, name: str, attribute: str) -> Any:
        """Attribute of a resource."""

    def import_value(self, name: str) -> Any:
        """Value that another stack exports under that name."""

    def stack_output(self, arguments: dict[str, Any]) -> Any:
        """Output of another stack, the weak kind of reference."""

    def zones(self, region: str) -> list[str]:
        """Names of a region's availability zones; "" is the stack's own region."""

    def dynamic(self, service: str, reference: str) -> str:
        """Value that `{{resolve:service:reference}}` stands for."""


class Resolver:
    """Resolves the intrinsics of one template in one stack.

    Args:
        template: The template, for its conditions and mappings.
        scope: What the stack knows.
    """

    def __init__(self, template: Template, scope: Scope) -> None:
        self._template = template
        self._scope = scope
        self._conditions: dict[str, bool | None] = {}
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._reference,
            "Fn::Base64": self._base64,
            "Fn::Cidr": self._cidr,
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAZs": self._get_azs,
            "Fn::GetAtt": self._get_att,
            "Fn::GetStackOutput": self._get_stack_output,
            "Fn::If": self._if,
            "Fn::ImportValue": self._import_value,
            "Fn::Join": self._join,
            "Fn::Length": self._length,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::Sub": self._sub,
            "Fn::ToJsonString": self._to_json_string,
        }

    def resolve(self, node: Any) -> Any:
        """Return `node` with every intrinsic resolved.

        Raises:
            TemplateError: for what is unknown, malformed or has no value.
        """
        if isinstance(node, str):
            return self._dynamic(node)
        if isinstance(node, list):
            return [item for item in map(self.resolve, node) if item is not NO_VALUE]
        if not isinstance(node, dict):
            return node
        name = next((key for key in node if key == "Ref" or key.startswith("Fn::")), None)
        if name is None:
            resolved = {key: self.resolve(value) for key, value in node.items()}
            return {key: value for key, value in resolved.items() if value is not NO_VALUE}
        if len(node) > 1:
            raise TemplateError(f"Template error: {name} stands beside {sorted(set(node) - {name})}; it must be alone")
        handler = self._functions.get(name)
        if handler is None:
            raise TemplateError(f"Template error: the intrinsic function {name} is unknown, or not rehearsed yet")
        try:
            result = handler(node[name])
            return self._dynamic(result) if isinstance(result, str) else result
        except (TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
            if isinstance(error, TemplateError):
                raise
            raise TemplateError(
                f"Template error: {name} cannot take {json.dumps(node[name])[:200]}: {error}"
            ) from error

    def condition(self, name: str) -> bool:
        """Evaluate a named condition."""
        if name not in self._template.conditions:
            raise TemplateError(f"Template error: the condition {name} is not in the template")
        if name in self._conditions:
            if (known := self._conditions[name]) is None:
                raise TemplateError(f"Template error: the condition {name} depends on itself")
            return known
        self._conditions[name] = None
        result = self.test(self._template.conditions[name])
        self._conditions[name] = result
        return result

    def test(self, node: Any) -> bool:
        """Evaluate a condition or a rule's assertion."""
        if not isinstance(node, dict) or len(node) != 1:
            raise TemplateError(f"Template error: {json.dumps(node)} is no condition")
        (name, argument), *_ = node.items()
        match name:
            case "Condition":
                return self.condition(argument)
            case "Fn::Equals":
                left, right = (self.resolve(operand) for operand in argument)
                return text_of(left) == text_of(right)
            case "Fn::Not":
                return not self.test(argument[0])
            case "Fn::And":
                return all(self.test(operand) for operand in argument)
            case "Fn::Or":
                return any(self.test(operand) for operand in argument)
            case "Fn::Contains":
                return text_of(self.resolve(argument[1])) in map(text_of, self.resolve(argument[0]))
            case "Fn::EachMemberEquals":
                wanted = text_of(self.resolve(argument[1]))
                return all(text_of(item) == wanted for item in self.resolve(argument[0]))
            case "Fn::EachMemberIn":
                allowed = {text_of(item) for item in self.resolve(argument[1])}
                return all(text_of(item) in allowed for item in self.resolve(argument[0]))
        raise TemplateError(f"Template error: {name} is no condition function")

    def check_rules(self) -> None:
        """Hold the template's rules against its parameters.

        Raises:
            TemplateError: when an assertion does not hold.
        """
        for name, rule in self._template.rules.items():
            if "RuleCondition" in rule and not self.test(rule["RuleCondition"]):
                continue
            for assertion in rule.get("Assertions", []):
                if not self.test(assertion["Assert"]):
                    raise TemplateError(f"Template error: rule {name}: {assertion.get('AssertDescription', 'failed')}")

    def _dynamic(self, text: str) -> str:
        if "{{resolve:" not in text:
            return text
        return _DYNAMIC.sub(lambda match: self._scope.dynamic(match[1], match[2]), text)

    def _reference(self, name: Any) -> Any:
        if not isinstance(name, str):
            raise TypeError("it names a resource or parameter")
        if name == "AWS::NoValue":
            return NO_VALUE
        if name.startswith("AWS::") and name not in PSEUDO_PARAMETERS:
            raise TemplateError(f"Template error: the pseudo parameter {name} is unknown")
        return self._scope.reference(name)

    def _get_att(self, value: Any) -> Any:
        name, attribute = split_attribute(value)
        return self._scope.attribute(name, self.resolve(attribute))

    def _if(self, value: Any) -> Any:
        name, yes, no = value
        return self.resolve(yes if self.condition(name) else no)

    def _join(self, value: Any) -> str:
        separator, parts = value
        resolved = self.resolve(parts)
        if not isinstance(resolved, list) or any(isinstance(part, dict | list) for part in resolved):
            raise TypeError("it joins a list of strings")
        if not isinstance(separator, str):
            raise TypeError("its delimiter is a string")
        return separator.join(text_of(part) for part in resolved)

    def _split(self, value: Any) -> list[str]:
        separator, text = value
        resolved = self.resolve(text)
        if not isinstance(resolved, str):
            raise TypeError("it splits a string")
        return resolved.split(separator)

    def _select(self, value: Any) -> Any:
        index, parts = int(self.resolve(value[0])), self.resolve(value[1])
        if not isinstance(parts, list):
            raise TypeError("it selects from a list")
        if not 0 <= index < len(parts):
            raise IndexError(f"there is no element {index} in {len(parts)}")
        return parts[index]

    def _sub(self, value: Any) -> str:
        text, given = (value, {}) if isinstance(value, str) else (value[0], value[1])

        def substitute(match: re.Match[str]) -> str:
            literal, name = match[1], match[2].strip()
            if literal:
                return f"${{{name}}}"
            if name in given:
                return text_of(self.resolve(given[name]))
            head, _, attribute = name.partition(".")
            value = self._scope.attribute(head, attribute) if attribute else self._reference(head)
            if isinstance(value, dict | list):
                raise TypeError(f"${{{name}}} is not a string")
            return text_of(value)

        return SUBSTITUTION.sub(substitute, text)

    def _find_in_map(self, value: Any) -> Any:
        keys = [self.resolve(key) for key in value[:3]]
        node: Any = self._template.mappings
        for key in keys:
            if not isinstance(node, dict) or str(key) not in node:
                if len(value) > 3 and "DefaultValue" in value[3]:
                    return self.resolve(value[3]["DefaultValue"])
                raise KeyError(f"the mappings have no {'.'.join(map(str, keys))}")
            node = node[str(key)]
        return node

    def _base64(self, value: Any) -> str:
        return base64.b64encode(text_of(self.resolve(value)).encode()).decode()

    def _cidr(self, value: Any) -> list[str]:
        block, count, *bits = (self.resolve(part) for part in value)
        network = ipaddress.ip_network(block)
        prefix = network.max_prefixlen - int(bits[0] if bits else 8)
        blocks: list[str] = []
        for subnet in network.subnets(new_prefix=prefix):
            if len(blocks) == int(count):
                break
            blocks.append(str(subnet))
        if len(blocks) < int(count):
            raise ValueError(f"{block} holds {len(blocks)} blocks of /{prefix}, {count} are asked for")
        return blocks

    def _get_azs(self, value: Any) -> list[str]:
        return self._scope.zones(self.resolve(value) or "")

    def _import_value(self, value: Any) -> Any:
        return self._scope.import_value(text_of(self.resolve(value)))

    def _get_stack_output(self, value: Any) -> Any:
        return self._scope.stack_output(self.resolve(value))

    def _to_json_string(self, value: Any) -> str:
        return json.dumps(self.resolve(value), separators=(",", ":"))

    def _length(self, value: Any) -> int:
        return len(self.resolve(value))


def text_of(value: Any) -> str:
    """Return a value as CloudFormation writes it into a string.

    Raises:
        TypeError: when the value cannot stand in a string.
    """
    if not isinstance(value, str | int | float):
        what = "AWS::NoValue" if value is NO_VALUE else json.dumps(value)[:100]
        raise TypeError(f"{what} is not a string")
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
