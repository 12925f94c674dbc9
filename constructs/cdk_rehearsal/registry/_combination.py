"""Requirement on properties that a service takes together only, or never together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cdk_rehearsal.registry._rejections import at
from cdk_rehearsal.registry._rule_values import is_given

#: Stands for any value that a property certainly has.
GIVEN = "any value"


@dataclass(frozen=True, kw_only=True, slots=True)
class Combination:
    """Requirement on the properties beside others.

    Args:
        reason: What the service requires.
        when: Path -> values with which it applies. None is for a property that is not given.
        without: Properties that the service then refuses.
        needs: Properties of which it then requires one.
    """

    reason: str
    when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def problems(self, properties: Mapping[str, Any]) -> Iterator[str]:
        """Yield how properties violate the requirement. A value that the template does not show violates none."""
        if not all(_is_one_of(at(properties, path), allowed) for path, allowed in self.when.items()):
            return
        for path in self.without:
            if is_given(at(properties, path)):
                yield f"#/{path.replace('.', '/')}: {self.reason}"
        if self.needs and all(at(properties, path) is None for path in self.needs):
            yield f"#/{self.needs[0].replace('.', '/')}: {self.reason}"


def _is_one_of(value: Any, allowed: tuple[Any, ...]) -> bool:
    if allowed == (GIVEN,):
        return is_given(value)
    return (value is None or isinstance(value, str | int)) and value in allowed


def either(reason: str, *paths: str) -> tuple[Combination, ...]:
    """Return a requirement for each property that excludes all after it."""
    return tuple(
        Combination(reason=reason, when={path: (GIVEN,)}, without=paths[index + 1 :])
        for index, path in enumerate(paths[:-1])
    )
