"""Plug-ins: requirements of services that a resource meets together with others that it refers to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol


class Find(Protocol):
    """Function that finds a resource of the templates."""

    def __call__(self, value: Any, property: str | None = None) -> tuple[str, Mapping[str, Any]] | None:
        """Return name and properties of the resource with an id, or with that value of a property; None if unknown.

        Args:
            value: The id, or the value.
            property: A property that names a resource of one type, such as `LaunchTemplateName`. Default: the id.
        """


#: Plug-in for one resource type. It takes the properties of a resource and the function that finds those of others,
#: and returns what the service refuses: `#/PATH: REASON`. A value that the template does not show breaks no rule.
TemplateRule = Callable[[Mapping[str, Any], Find], Iterable[str]]

#: Resource type -> its template rules.
TemplateRules = Mapping[str, Sequence[TemplateRule]]

NO_TEMPLATE_RULES: TemplateRules = MappingProxyType({})


def template_problems(
    type_name: str, properties: Mapping[str, Any], find: Find, template_rules: TemplateRules
) -> list[str]:
    """Return what a service refuses in a resource and the resources that it refers to, empty if nothing."""
    return [problem for rule in template_rules.get(type_name, ()) for problem in rule(properties, find)]
