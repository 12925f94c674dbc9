"""Types of arguments: pydantic checks them, and each error is a sentence that names the argument."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError
from typing_extensions import TypedDict

from ultracluster.rules import Refusal

_SHOWN = 60
_EXPECTED = {
    "bool_type": "True or False",
    "float_type": "a number",
    "int_type": "a whole number",
    "string_type": "a string",
}
_PLAIN = (str, int, float, list, tuple, dict, type(None))


def shown(value: object) -> str:
    """Return the repr of a value, shortened; an object without one is its type, and a construct also its path."""
    text = repr(value)
    if " object at 0x" in text:
        path = getattr(getattr(value, "node", None), "path", "")
        text = f"{type(value).__name__} {path}".rstrip()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def check_fields(value: Any) -> None:
    """Raise a Refusal if a field of a dataclass does not have its declared type."""
    check_types(value.__class__, {field.name: getattr(value, field.name) for field in fields(value)})


def check_types(owner: Callable[..., Any], values: Mapping[str, object]) -> None:
    """Raise a Refusal if an argument does not have its declared type."""
    if errors := type_errors(owner, values):
        raise Refusal("", errors)


def type_errors(owner: Callable[..., Any], values: Mapping[str, object]) -> list[str]:
    """Return a sentence for each argument that does not have its declared type.

    Args:
        owner: Function or class that declares the arguments.
        values: The arguments, by name.
    """
    try:
        _adapter(owner).validate_python(dict(values))
    except ValidationError as error:
        errors: dict[str, tuple[list[str], object]] = {}
        for detail in error.errors():
            name = str(detail["loc"][0])
            errors.setdefault(name, ([], values[name]))[0].append(_expected(detail))
        return [
            f"{name} must be {' or '.join(dict.fromkeys(expected))}, got {shown(value)}"
            for name, (expected, value) in errors.items()
        ]
    return []


@cache
def _adapter(owner: Callable[..., Any]) -> TypeAdapter[Any]:
    hints = {name: _checkable(hint) for name, hint in get_type_hints(owner).items()}
    arguments = TypedDict("arguments", hints, total=False)  # type: ignore[misc]  # the fields are not literals
    setattr(arguments, "__pydantic_config__", ConfigDict(strict=True, arbitrary_types_allowed=True))  # noqa: B010
    return TypeAdapter(arguments)


def _expected(error: ErrorDetails) -> str:
    if "Sequence" in error["msg"]:
        return "a list"
    return _EXPECTED.get(error["type"]) or error["msg"].removeprefix("Input should be ")


def _checkable(hint: Any) -> Any:
    """Replace what pydantic cannot check, and literals, which have rules with better messages."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return str
    if origin in (Union, UnionType, Sequence, Mapping):
        generic: Any = Union if origin is UnionType else origin
        return generic[tuple(_checkable(part) for part in parts)]
    if getattr(hint, "_is_protocol", False):
        return _validated(f"an {hint.__name__}", partial(_has_members, hint))
    # A dataclass checks its own fields.
    if isinstance(hint, type) and is_dataclass(hint):
        return _validated(f"a {hint.__name__}", lambda value: isinstance(value, hint))
    return hint


def _validated(expected: str, fits: Callable[[object], bool]) -> Any:
    def validate(value: object) -> object:
        if not fits(value):
            raise PydanticCustomError("kind", "Input should be {expected}", {"expected": expected})
        return value

    return Annotated[Any, BeforeValidator(validate)]


def _has_members(protocol: type, value: object) -> bool:
    """Return True for a value with the members of an interface of the CDK, which `isinstance` cannot check."""
    return not isinstance(value, _PLAIN) and all(_has(value, name) for name in dir(protocol) if name[0] != "_")


def _has(value: object, member: str) -> bool:
    if hasattr(type(value), member):
        return True
    try:
        return hasattr(value, member)
    except RuntimeError:  # Node raises for a property that an imported resource does not know.
        return True
