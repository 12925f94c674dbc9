"""Types of arguments: pydantic checks them, and each error is a sentence that names the argument."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial, wraps
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from ultracluster.planning._regions import region_errors
from ultracluster.planning._texts import is_utf8, list_token_errors, token_errors
from ultracluster.rules import ARGUMENT, TOKEN, Message, Refusal, error

# pydantic takes longer to import than all of this package, and only types of arguments need it.
if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
# (read 2026-11-21)
_REMOVAL_POLICY = error("removal-policy", "CloudFormation does not support snapshots of file systems and buckets.")
_P = ParamSpec("_P")
_T = TypeVar("_T")
_SHOWN = 60
#: Characters that no name, id, path or description of AWS may have.
_CONTROL = "[\\x00-\\x1f\\x7f]"
#: Arguments with texts of several lines.
_LINES = frozenset({"alert_manager", "configuration", "query", "script", "text", "user_data"})
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
    """Return a sentence for each argument that does not have its declared type, or is a token in place of a number.

    Args:
        owner: Function or class that declares the arguments.
        values: The arguments, by name.
    """
    # The CDK encodes a token as a float below this number.
    tokens = [name for name, value in values.items() if isinstance(value, float) and value < -1e280]
    messages: list[str] = [TOKEN(f"{name} must be known at synthesis, got a token") for name in tokens]
    if lists := list(list_token_errors(values)):
        return [*messages, *lists]
    given, hints = {name: value for name, value in values.items() if name not in tokens}, _hints(owner)
    # A model of pydantic for each constructor took 2 % of a synthesis (2026-11-27), and only errors need one.
    if not all(name in hints and _fits(hints[name], value) for name, value in given.items()):
        messages += _pydantic_errors(owner, given)
    texts = {name: value for name, value in values.items() if isinstance(value, str) and not is_utf8(value)}
    messages += [f"{name} must be text of UTF-8, got {shown(value)}" for name, value in texts.items()]
    return messages or [error for name, value in values.items() for error in _field_errors(name, value)]


def _pydantic_errors(owner: Callable[..., Any], values: Mapping[str, object]) -> list[str]:
    from pydantic import ValidationError

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


def _fits(hint: Any, value: object) -> bool:
    """Return True for a value that has a type for certain; pydantic decides about all others."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any or origin in (Union, UnionType):
        return hint is Any or any(_fits(part, value) for part in parts)
    if hint is str or origin is Literal:
        return type(value) is str and is_utf8(value)
    if origin is Sequence or (origin is tuple and parts[-1:] == (...,)):
        kinds = (list, tuple) if origin is Sequence else (tuple,)
        return type(value) in kinds and all(_fits(parts[0], each) for each in cast(Sequence[object], value))
    if origin is Mapping:
        return type(value) is dict and all(_fits(parts[0], key) and _fits(parts[1], value[key]) for key in value)
    if getattr(hint, "_is_protocol", False):
        return _has_members(hint, value)
    if not isinstance(hint, type) or issubclass(hint, tuple) or not isinstance(value, hint):
        return False
    # Of other classes, such as that of whole numbers, pydantic does not accept each subclass.
    return type(value) is hint or is_dataclass(hint) or hasattr(hint, "__jsii_type__")


def _field_errors(name: str, value: object) -> list[str]:
    """Return the errors of the fields of a dataclass, or of dataclasses in a list or mapping."""
    if isinstance(value, list | tuple):
        return [error for index, each in enumerate(value) for error in _field_errors(f"{name}[{index}]", each)]
    if isinstance(value, Mapping):
        return [error for key, each in value.items() for error in _field_errors(f"{name}[{key!r}]", each)]
    if not is_dataclass(value) or isinstance(value, type):
        return []
    errors = type_errors(type(value), {field.name: getattr(value, field.name) for field in fields(value)})
    rules = (error.rule if isinstance(error, Message) else ARGUMENT for error in errors)
    return [rule(f"{name}.{error}") for rule, error in zip(rules, errors, strict=True)]


@overload
def as_list(value: str | Sequence[str]) -> list[str]: ...
@overload
def as_list(value: _T | Sequence[_T]) -> list[_T]: ...
def as_list(value: Any) -> list[Any]:
    """Return a list, of one value or several."""
    return list(value) if isinstance(value, list | tuple) else [value]


def checked(create: Callable[_P, _T]) -> Callable[_P, _T]:
    """Wrap a constructor, or a function that imports a resource: wrong types raise a Refusal with the path."""
    return checked_except()(create)


def checked_except(*unchecked: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Return `checked` for a constructor that checks the types of some arguments itself."""

    def wrap(create: Callable[_P, _T]) -> Callable[_P, _T]:
        signature = inspect.signature(create)

        @wraps(create)
        def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            given = {
                name: value
                for name, value in signature.bind(*args, **kwargs).arguments.items()
                if name not in unchecked
            }
            created = given.pop("self", None)
            errors = [*type_errors(create, given), *_id_errors(given["id"])]
            if getattr(given.get("removal_policy"), "name", None) == "SNAPSHOT":
                allowed = "RETAIN_ON_UPDATE_OR_DELETE, RETAIN or DESTROY"
                errors.append(_REMOVAL_POLICY(f"removal_policy must be {allowed}, got SNAPSHOT"))
            errors = errors or [*region_errors(given["scope"], given, created=created)]
            if errors:
                raise Refusal(_path(given), errors)
            if not (unusable := _text_errors(signature, given)):
                return create(*args, **kwargs)
            # The constructor may have a rule for the text, whose message is better.
            try:
                create(*args, **kwargs)
            except Refusal:
                raise
            except Exception as error:
                raise Refusal(_path(given), unusable) from error
            raise Refusal(_path(given), unusable)

        return wrapped

    return wrap


def _path(given: Mapping[str, Any]) -> str:
    """Return the path of the construct that the arguments create."""
    scope = getattr(getattr(given["scope"], "node", None), "path", "")
    return f"{scope}/{given['id'] if isinstance(given['id'], str) else ''}".strip("/")


def _text_errors(signature: inspect.Signature, given: Mapping[str, object]) -> list[str]:
    """Return a sentence for each text without a character, and for each with a control character."""
    errors = []
    for name, value in given.items():
        texts = (
            {f"{name}[{index}]": each for index, each in enumerate(value)} if isinstance(value, list | tuple) else {}
        )
        for place, text in (texts or {name: value}).items():
            if not isinstance(text, str) or text == signature.parameters[name].default:
                continue
            if not text.strip():
                errors.append(f"{place} must have at least one character that is not a space, got {shown(text)}")
            elif name not in _LINES and re.search(_CONTROL, text):
                errors.append(f"{place} must be one line without control characters, got {shown(text)}")
    return errors


def _id_errors(id: object) -> list[str]:
    return ["id must have at least one character, got ''"] if id == "" else [*token_errors({"id": id})]


@cache
def _hints(owner: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(owner)


@cache
def _adapter(owner: Callable[..., Any]) -> "TypeAdapter[Any]":
    from pydantic import ConfigDict, TypeAdapter
    from typing_extensions import TypedDict

    hints = {name: _checkable(hint) for name, hint in _hints(owner).items() if get_origin(hint) is not ClassVar}
    arguments = TypedDict("arguments", hints, total=False)  # type: ignore[misc]  # the fields are not literals
    setattr(arguments, "__pydantic_config__", ConfigDict(strict=True, arbitrary_types_allowed=True))  # noqa: B010
    return TypeAdapter(arguments)


def _expected(error: "ErrorDetails") -> str:
    if "Sequence" in error["msg"]:
        return "a list"
    return _EXPECTED.get(error["type"]) or error["msg"].removeprefix("Input should be ")


def _checkable(hint: Any) -> Any:
    """Replace what pydantic cannot check, and literals, which have rules with better messages."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return str
    if origin in (Union, UnionType, Sequence, Mapping, tuple):
        generic: Any = Union if origin is UnionType else origin
        return generic[tuple(_checkable(part) for part in parts)]
    if getattr(hint, "_is_protocol", False):
        # aws_eks has an ICluster too.
        module = hint.__module__.rpartition(".")[2]
        of_module = f" of {module}" if module.endswith("_v2") else ""
        return _validated(f"an {hint.__name__}{of_module}", partial(_has_members, hint))
    # A dataclass checks its own fields.
    if isinstance(hint, type) and is_dataclass(hint):
        return _validated(f"{_article(hint)} {hint.__name__}", lambda value: isinstance(value, hint))
    return hint


def _article(kind: type) -> str:
    return "an" if kind.__name__[0] in "AEIOU" else "a"


def _validated(expected: str, fits: Callable[[object], bool]) -> Any:
    from pydantic import BeforeValidator
    from pydantic_core import PydanticCustomError

    def validate(value: object) -> object:
        if not fits(value):
            raise PydanticCustomError("kind", "Input should be {expected}", {"expected": expected})
        return value

    return Annotated[Any, BeforeValidator(validate)]


_members = cache(lambda protocol: [name for name in dir(protocol) if name[0] != "_"])


def _has_members(protocol: type, value: object) -> bool:
    """Return True for a value that implements an interface of the CDK, which `isinstance` cannot check."""
    # A class of the CDK may lack optional members of an interface that it declares, as eks_v2.Cluster does.
    declared: Sequence[type] = getattr(type(value), "__jsii_ifaces__", ())
    return not isinstance(value, (*_PLAIN, type)) and (
        any(protocol in each.__mro__ for each in declared) or all(_has(value, name) for name in _members(protocol))
    )


def _has(value: object, member: str) -> bool:
    # The CDK's interfaces come as a proxy of several classes, and reading a property of it is a call to Node.
    if any(hasattr(type(part), member) for part in (value, *getattr(value, "_delegates", ()))):
        return True
    try:
        return hasattr(value, member)
    except RuntimeError:  # Node raises for a property that an imported resource does not have.
        return True
