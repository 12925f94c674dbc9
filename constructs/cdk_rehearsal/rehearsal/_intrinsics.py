"""Intrinsic functions, resolved strictly: what is unknown or cannot be resolved is an error, never left in place."""

import base64
import ipaddress
import json
import re
from abc import abstractmethod
from itertools import islice
from typing import Any, NoReturn

from cdk_rehearsal.registry import NO_VALUE, Intrinsics, Token
from cdk_rehearsal.rehearsal._errors import TemplateError
from cdk_rehearsal.rehearsal._template import Template

_DYNAMIC = re.compile(r"\{\{resolve:([a-z-]+):([^}]*)\}\}")


class Resolver(Intrinsics):
    """Resolves the intrinsics of one template in one stack."""

    def __init__(self, template: Template) -> None:
        super().__init__(template.conditions, template.mappings)
        self._template = template
        self.functions |= {
            "Fn::Base64": lambda value: base64.b64encode(self.text(self.resolve(value)).encode()).decode(),
            "Fn::Cidr": self._cidr,
            "Fn::GetAZs": lambda value: self.zones(self.resolve(value) or ""),
            "Fn::Length": lambda value: len(self.resolve(value)),
            "Fn::ToJsonString": lambda value: json.dumps(self.resolve(value), separators=(",", ":")),
        }
        self.tests |= {
            "Fn::Contains": lambda value: self._texts(value[1:]) <= self._texts(value[0]),
            "Fn::EachMemberEquals": lambda value: self._texts(value[0]) <= self._texts(value[1:]),
            "Fn::EachMemberIn": lambda value: self._texts(value[0]) <= self._texts(value[1]),
        }

    @abstractmethod
    def zones(self, region: str) -> list[str]:
        """Names of a region's availability zones; "" is the stack's own region."""

    @abstractmethod
    def dynamic(self, service: str, reference: str) -> str:
        """Value that `{{resolve:service:reference}}` stands for."""

    def resolve(self, node: Any) -> Any:
        """Return `node` with every intrinsic resolved, or raise TemplateError."""
        name = (
            next((key for key in node if key == "Ref" or key.startswith("Fn::")), "") if isinstance(node, dict) else ""
        )
        if name and len(node) > 1:
            raise TemplateError(
                f"Template error: {name} has other keys beside it: {sorted(set(node) - {name})}; it must be alone"
            )
        result = super().resolve(node)
        if isinstance(result, str) and "{{resolve:" in result:
            return _DYNAMIC.sub(lambda match: self.dynamic(match[1], match[2]), result)
        return result

    def unresolved(self, name: str, argument: Any, error: Exception) -> NoReturn:
        if isinstance(error, TemplateError):
            raise error
        if name == "a condition":
            raise TemplateError(f"Template error: {json.dumps(argument)[:200]} is no condition") from error
        if error.args == (name,):
            raise TemplateError(f"Template error: the function {name} is unknown here, or not rehearsed yet") from error
        raise TemplateError(f"Template error: {name} cannot take {json.dumps(argument)[:200]}: {error}") from error

    def condition(self, name: str) -> bool:
        """Evaluate a named condition."""
        if name not in self._conditions:
            raise TemplateError(f"Template error: the condition {name} is not in the template")
        result = super().condition(name)
        if isinstance(result, Token):
            raise TemplateError(f"Template error: the condition {name} depends on itself")
        return bool(result)

    def text(self, value: Any) -> str:
        """Return a value as CloudFormation writes it into a string, or raise TypeError."""
        if not isinstance(value, str | int | float):
            what = repr(value) if value is NO_VALUE else json.dumps(value)[:100]
            raise TypeError(f"{what} is not a string")
        return str(value).lower() if isinstance(value, bool) else str(value)

    def check_rules(self) -> None:
        """Check the template's rules, and raise TemplateError when an assertion does not hold."""
        for name, rule in self._template.rules.items():
            if "RuleCondition" in rule and not self.test(rule["RuleCondition"]):
                continue
            for assertion in rule.get("Assertions", []):
                if not self.test(assertion["Assert"]):
                    raise TemplateError(f"Template error: rule {name}: {assertion.get('AssertDescription', 'failed')}")

    def _texts(self, values: Any) -> set[str]:
        return {self.text(item) for item in self.resolve(values)}

    def _cidr(self, value: Any) -> list[str]:
        block, count, *bits = (self.resolve(part) for part in value)
        network = ipaddress.ip_network(self.text(block))
        prefix = network.max_prefixlen - int(bits[0] if bits else 8)
        blocks = [str(subnet) for subnet in islice(network.subnets(new_prefix=prefix), int(count))]
        if len(blocks) < int(count):
            raise ValueError(f"{block} holds {len(blocks)} blocks of /{prefix}, {count} are required")
        return blocks
