"""Evaluates what definitions of Kubernetes say in CEL, as the API server does at an update.

`kubernetes_shapes.py` records the rules and the defaults of the projects' own definitions, with project and commit.
A rule that names `oldSelf` is evaluated at updates alone, and only where the old object has the field:
https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#transition-rules (read
2026-11-23)
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import cel

Rule = tuple[str, str, str]


def rules(schema: Any, path: str = "") -> Iterator[Rule]:
    """Path, expression and message of every rule of a definition."""
    for rule in schema.get("x-kubernetes-validations", []):
        yield path[1:], rule["rule"], rule.get("message") or f"failed rule: {rule['rule']}"
    for key, inner in schema.get("properties", {}).items():
        yield from rules(inner, f"{path}.{key}")
    for name, suffix in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(name), dict):
            yield from rules(schema[name], f"{path}{suffix}")


def defaults(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Path and value of every default of a definition."""
    if "default" in schema:
        yield path[1:], schema["default"]
    for key, inner in schema.get("properties", {}).items():
        yield from defaults(inner, f"{path}.{key}")
    if isinstance(schema.get("items"), dict):
        yield from defaults(schema["items"], f"{path}[]")


def reached(path: str, fields: Iterator[str] | list[str]) -> bool:
    """True if an object of these fields has something at the path."""
    return any(field == path or field.startswith((f"{path}.", f"{path}[", f"{path}:")) for field in fields)


def broken(recorded: Mapping[str, Any], new: Any, old: Any | None) -> list[str]:
    """Path and message of the rules of a kind that an object breaks, at its creation or at its update."""
    if not recorded.get("rules"):
        return []
    new, old = _filled(recorded, new), None if old is None else _filled(recorded, old)
    lines = []
    for path, expression, message in recorded["rules"]:
        transition = "oldSelf" in expression
        for value, before in _places(_steps(path), new, old):
            if transition and before is None:
                continue
            names = {"self": value, **({"oldSelf": before} if transition else {})}
            if _program(expression).execute(names) is not True:
                lines.append(f"{path}: Invalid value: {message}")
    return lines


@cache
def _program(expression: str) -> Any:
    return cel.compile(expression)


def _filled(recorded: Mapping[str, Any], item: Any) -> Any:
    """An object with the defaults of its definition."""
    result = json.loads(json.dumps(item))
    for path, value in recorded.get("defaults", []):
        *parents, last = _steps(path)
        for parent, _ in _places(parents, result, None):
            if isinstance(parent, dict):
                parent.setdefault(last, value)
    return result


def _steps(path: str) -> list[str]:
    return [step for step in path.replace("[]", ".[]").split(".") if step]


def _places(steps: list[str], new: Any, old: Any | None) -> Iterator[tuple[Any, Any | None]]:
    """The values at a path, each with what the old object has there. Entries of lists have no old value."""
    if not steps:
        yield new, old
        return
    step, *further = steps
    if step == "[]":
        for entry in new if isinstance(new, list) else []:
            yield from _places(further, entry, None)
    elif step == "*":
        for key, entry in (new if isinstance(new, dict) else {}).items():
            yield from _places(further, entry, old.get(key) if isinstance(old, dict) else None)
    elif isinstance(new, dict) and step in new:
        yield from _places(further, new[step], old.get(step) if isinstance(old, dict) else None)
