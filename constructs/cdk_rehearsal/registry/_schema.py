"""Registry schema: the definition of a CloudFormation resource type, from cfn-lint.

Properties are checked against them, `Fn::GetAtt` and `Ref` read them, and they list which changes replace a resource.
"""

import difflib
import json
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import Any

from cfnlint.jsonschema import StandardValidator, ValidationError
from cfnlint.schema import Schema

from cdk_rehearsal.registry._intrinsics import Token
from cdk_rehearsal.registry._losses import losses
from cdk_rehearsal.registry._node_groups import fewer_nodes, undocumented
from cdk_rehearsal.registry._normal import normal, values, walk
from cdk_rehearsal.registry._rejections import NO_RULES, UpdateRules, rejections, unavailable
from cdk_rehearsal.registry._replacement import FIXED_ATTRIBUTES, REPLACED_BY_POLICY, REPLACES, REPLACES_NODES


class ResourceType:
    """One resource type as its registry schema describes it."""

    def __init__(self, schema: Schema) -> None:
        self.name: str = schema.type_name
        self._schema = schema
        #: The schema itself, as JSON.
        self.body: dict[str, Any] = schema.schema

    @cached_property
    def _validator(self) -> Any:
        validator = _Validator(self.body)
        return validator.evolve(context=validator.context.evolve(functions=[]))

    def problems(self, properties: dict[str, Any], made_up: Collection[str] = ()) -> list[str]:
        """Return what the schema rejects in `properties`, empty when nothing. A token violates nothing.

        Args:
            properties: Properties of a resource, resolved.
            made_up: ARNs that the rehearsal made up. What stands after the account in them is a guess, so a pattern
                for ARNs of the same service does not reject them.
        """
        with warnings.catch_warnings():
            # Some patterns of the schemas are dubious to Python's regex engines; that is not the template's fault.
            warnings.simplefilter("ignore", FutureWarning)
            errors = [
                error
                for error in self._validator.iter_errors(properties)
                if not _is_guess(error, made_up) and not _is_impossible(error) and not _is_hidden(error)
            ]
        messages = [_describe(error) for error in errors]
        for path in self.read_only if not self.body.get("patternProperties") else []:
            if "*" not in path and list(values(properties, path)):
                messages.append(f"#/{'/'.join(path)}: is read-only: CloudFormation sets it, a template cannot")
        return sorted(set(messages))

    @property
    def identifiers(self) -> list[list[str]]:
        """Paths of the properties that `Ref` gives, joined with "|"."""
        return _paths(self.body["primaryIdentifier"])

    @property
    def fixed_attributes(self) -> list[list[str]]:
        """Paths of what stays for as long as the resource is not replaced: what identifies it, and known attributes."""
        known = [[name] for name in FIXED_ATTRIBUTES.get(self.name, ())]
        return self.identifiers + _paths(*(self.body.get("additionalIdentifiers") or [])) + known

    @property
    def read_only(self) -> list[list[str]]:
        """Paths of the properties that CloudFormation sets."""
        return _paths(self.body.get("readOnlyProperties", []))

    @property
    def property_names(self) -> list[str]:
        return list(self.body.get("properties", {}))

    def attribute(self, name: str) -> dict[str, Any] | None:
        """Schema of the result of `Fn::GetAtt` of `name`, or None when the type has no such attribute."""
        attributes = self._schema.get_atts
        if (pointer := attributes.get(name)) is not None:
            return self.subschema(pointer.split("/")[2:]) or {"type": "string"}
        head, _, rest = name.rpartition(".")
        # An attribute that is an object gives its members too: Endpoint.Address for Endpoint in the schema.
        return self.subschema(name.split(".")) if rest and attributes.get(head) is not None else None

    @property
    def attributes(self) -> list[str]:
        """Names that `Fn::GetAtt` takes."""
        return sorted(str(name) for name in self._schema.get_atts.data)

    def subschema(self, path: list[str]) -> dict[str, Any] | None:
        """Schema of the property at `path`, references followed, or None."""
        node: dict[str, Any] = self.body
        for part in path:
            node = self.follow(node)
            below = node.get("items") if part == "*" else (node.get("properties") or {}).get(part)
            if not isinstance(below, dict):
                return None
            node = below
        return self.follow(node)

    def follow(self, node: dict[str, Any]) -> dict[str, Any]:
        """Follow the `$ref` of a schema; a schema without one is returned as it is."""
        while "$ref" in node:
            target: dict[str, Any] = self.body
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        return node

    @cached_property
    def replacing(self) -> list[list[str]]:
        """Paths of the properties whose change replaces the resource: by the schema, and by AWS's documentation."""
        paths = _paths(self.body.get("createOnlyProperties", []))
        handlers = self.body.get("handlers", {})
        if handlers and "update" not in handlers:
            paths += [[name] for name in self.property_names]
        return paths + [fact.path.split(".") for fact in REPLACES.get(self.name, ())]

    def normal(self, properties: Any) -> Any:
        """Return properties in normal form, in which they are compared: all that take `old` and `new` need it."""
        return normal(properties, self.body, self.follow)

    def replaced_by(self, old: Any, new: Any) -> list[str]:
        """Return the changed properties that make CloudFormation replace the resource, empty for a plain update."""
        return self._changed(self.replacing, old, new)

    def rejected(self, old: Any, new: Any, update_rules: UpdateRules = NO_RULES) -> dict[str, str]:
        """Return the changed properties that the service cannot update, with the reason: the update fails."""
        return rejections(self.name, old, new, update_rules)

    def losses(self, old: Any, new: Any) -> dict[str, str]:
        """Return the changed properties by which an update in place deletes data, with the reason."""
        return losses(self.name, old, new)

    def unavailable(self, old: Any, new: Any) -> dict[str, str]:
        """Return the changed properties that make the resource unavailable meanwhile, with the reason."""
        return unavailable(self.name, old, new)

    def fewer_nodes(self, old: Any, new: Any) -> dict[str, str]:
        """Return the properties by which a group of nodes shrinks, with the reason."""
        return fewer_nodes(self.name, old, new)

    def undocumented(self, old: Any, new: Any) -> dict[str, str]:
        """Return the changes of a group of nodes whose effect AWS does not document, with the reason."""
        return undocumented(self.name, old, new)

    def replaces_nodes(self, path: str) -> str:
        """Return how a change of the property at a dotted path replaces nodes, or an empty string."""
        facts = REPLACES_NODES.get(self.name, ())
        return next((fact.reason for fact in facts if f"{path}.".startswith(f"{fact.path}.")), "")

    def maybe_replaced_by(self, old: Any, new: Any) -> list[str]:
        """Return the changed properties that replace the resource under conditions which the schema does not state."""
        if self.name in REPLACED_BY_POLICY:
            return []
        return self._changed(_paths(self.body.get("conditionalCreateOnlyProperties", [])), old, new)

    def _changed(self, paths: list[list[str]], old: Any, new: Any) -> list[str]:
        return [".".join(path) for path in paths if list(values(old, path)) != list(values(new, path))]


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6, most: int = 1) -> str:
    """Return "; did you mean X?", or an empty string when nothing is near."""
    near = difflib.get_close_matches(name, list(known), n=most, cutoff=cutoff)
    return f"; did you mean {', '.join(near)}?" if near else ""


def _paths(*pointers: list[str]) -> list[list[str]]:
    """Convert "/properties/A/B" to ["A", "B"]."""
    return [pointer.split("/")[2:] for listed in pointers for pointer in listed]


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True


# CloudFormation turns "true" and "5" into the type of the schema.
_TYPES: dict[str, Callable[[Any], bool]] = {
    "boolean": lambda value: isinstance(value, bool) or value in ("true", "false", "True", "False"),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "number": _is_number,
    "string": lambda value: isinstance(value, str | int | float),
}


def _type(validator: Any, types: Any, instance: Any, schema: Any) -> Iterator[Any]:
    expected = [types] if isinstance(types, str) else types
    if not any(_TYPES[kind](instance) if kind in _TYPES else validator.is_type(instance, kind) for kind in expected):
        yield ValidationError(f"{json.dumps(instance, default=str)} is not of type {' or '.join(expected)}")


class _Validator(StandardValidator({}).extend(validators={"type": _type})):  # type: ignore[misc]  # no py.typed
    """cfn-lint's validator of schemas, without the place in a template, which it copies twice for each value."""

    def descend(
        self,
        instance: Any,
        schema: Any,
        path: str | int | None = None,
        schema_path: str | int | None = None,
        property_path: str | None = None,
    ) -> Iterator[Any]:
        for error in self.evolve(schema=schema).iter_errors(instance):
            if path is not None:
                error.path.appendleft(path)
            if schema_path is not None:
                error.schema_path.appendleft(schema_path)
            yield error

    def evolve(self, **changes: Any) -> Any:
        result: Any = object.__new__(type(self))
        vars(result).update(vars(self), **changes)
        return result


# A look-ahead for the beginning of the text: PlacementGroupArn of AWS::EC2::CapacityReservation has
# `placement-group/^.{1,255}$` (read 2026-11-21), which no text matches.
_CARET_INSIDE = re.compile(r"[^\\(|\[^]\^")


def _is_impossible(error: ValidationError) -> bool:
    """Check for requirements that nothing can meet: a mistake of the schema, not of the template."""
    return error.validator == "pattern" and bool(_CARET_INSIDE.search(error.validator_value))


def _is_guess(error: Any, made_up: Collection[str]) -> bool:
    if error.validator not in ("pattern", "anyOf", "oneOf") or error.instance not in made_up:
        return False
    service = error.instance.split(":")[2]
    return f":{service}:" in json.dumps(error.schema)


# Keywords that ask only which properties an object has, or how many items a list.
_SHAPES = (
    *("required", "requiredOr", "requiredXor", "dependentExcluded", "dependentRequired", "additionalProperties"),
    *("maxItems", "minItems"),
)


def _is_hidden(error: Any) -> bool:
    """Check for a value that the template does not show; `Fn::If` may leave out a property or item, too."""
    node = error.instance
    if error.validator in _SHAPES and isinstance(node, dict | list):
        children = node.values() if isinstance(node, dict) else node
        hidden = any(isinstance(child, Token) and child.resource is None for child in children)
        return hidden and error.validator != "additionalProperties"
    # A snapshot has `<asset 0123456789ab>` instead of a hash.
    return any(isinstance(item, Token) or (isinstance(item, str) and "<asset" in item) for item in walk(node))


def _describe(error: Any) -> str:
    where = "#/" + "/".join(str(part) for part in error.path)
    message = error.message
    if error.validator == "additionalProperties" and error.path:
        known = list((error.schema or {}).get("properties", {}))
        message = f"no such property{did_you_mean(str(error.path[-1]), known)}"
    return f"{where}: {message}"
