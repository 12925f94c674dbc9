"""Errors of pydantic in the words of this library."""

import types
from collections.abc import Iterable, Iterator
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from ultracluster.catalogue.schedulers import eks
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._problems import FieldProblems, Path, Problem, shown
from ultracluster.clusterfile.rules._reading import MISSING, UNKNOWN_KEY, VALUE
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._section import Section
from ultracluster.clusterfile.sections._word import Word
from ultracluster.rules import nearest


def problems(errors: list[Any]) -> list[Problem]:
    """Return the errors of pydantic as errors of the file."""
    # A misspelt key is reported once, and not as a missing one as well.
    unknown = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
    suggestions = {(*path[:-1], near) for path in unknown if (near := _near(path))}
    kept = [error for error in errors if error["type"] != "missing" or error["loc"] not in suggestions]
    # A wrong entry is reported where it is, and not as a list that lacks it as well.
    below = {error["loc"][:depth] for error in errors for depth in range(len(error["loc"]))}
    kept = [error for error in kept if error["type"] != "too_short" or error["loc"] not in below]
    return list(dict.fromkeys(problem for error in kept for problem in _problems(error)))


def no_value(path: Path) -> str:
    """Return the error of a key without a value."""
    field = _field(path)
    example = _example(path)
    if field is None or not example:
        return "has no value; write one, or remove the key"
    return f"has no value; write for example {example}" + ("" if field.is_required() else ", or remove the key")


def _near(path: Path) -> str:
    return nearest(str(path[-1]).replace("_", "-"), _known_keys(path[:-1]))


def _problems(error: dict[str, Any]) -> list[Problem]:
    path: Path = error["loc"]
    at_key = path[-1:] == ("[key]",)
    path = path[:-1] if at_key else path
    match error["type"]:
        case "missing":
            return [MISSING(path, f"is missing; write for example {_example(path) or f'{path[-1]}: ...'}")]
        case "extra_forbidden":
            return [UNKNOWN_KEY(path, _unknown_key(path, error["input"]), at_key=True)]
        case "too_short":
            what, field, example = "node group" if path == ("nodes",) else "entry", _field(path), _example(path)
            remove = "" if field is None or field.is_required() else ", or remove it"
            return [VALUE(path, f"needs at least one {what}; write for example {example}{remove}")]
        case "too_long":
            context = error["ctx"]
            message = f"has at most {context['max_length']} entries, got {len(error['input'])}; remove some"
            return [VALUE(path, message)]
        case "string_unicode":
            return [VALUE(path, "holds half a character, such as \\ud800; remove it", at_key=True)]
        case "tuple_type" | "list_type":
            example = f"; write for example {_example(path)}" if _example(path) else ""
            return [VALUE(path, f"must be a list, got {shown(error['input'])}{example}")]
        case "model_type" | "dict_type" | "model_attributes_type":
            if path[0] == "nodes" and path[1:] and path[1] in _known_keys(("nodes", "")):
                return [VALUE(("nodes",), f"a node group needs a name; write for example {_example(('nodes',))}")]
            return [VALUE(path, f"must be a mapping, got {shown(error['input'])}{_keys(path)}")]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, FieldProblems):
        return [
            Problem(path=path + part.path, message=part.message, at_key=part.at_key, rule=part.rule)
            for part in cause.problems
        ]
    return [VALUE(path, str(cause or error["msg"]), at_key=at_key)]


def _unknown_key(path: Path, value: object) -> str:
    if path == ("kubernetes", "auto-mode"):
        return f"EKS Auto Mode is not for training nodes: {'; '.join(eks.AUTO_MODE_LIMITS)}; remove it"
    if path == ("hyperpod", "restricted-groups"):
        return "restricted groups are created in Python only, by hyperpod.HyperPodRestrictedGroup; remove it"
    near = _near(path)
    if len(path) == 1 and isinstance(value, dict) and "type" in value:
        hint = "a node group belongs below nodes: indent it; "
    else:
        # `count` beside `account` is a key of a node group that is not indented.
        same = near == str(path[-1]).replace("_", "-")
        hint = _elsewhere(path) if not near or (len(path) == 1 and not same) else ""
        hint = hint or (f"did you mean {near}? " if near else "")
    return f"unknown key; {hint}allowed are {', '.join(_known_keys(path[:-1]))}"


def _elsewhere(path: Path) -> str:
    """Return where the file has such a key, if it is at one or two places of the same section, or in a node group."""
    key = str(path[-1]).replace("_", "-")
    places = sorted({place for place in _places(key, ClusterFile, ()) if place != ".".join(map(str, path[:-1]))})
    if len(path) > 2:
        # A key two levels down is seldom one of another section: `gpus` of a team is no key of an instance type.
        places = [place for place in places if place.partition(".")[0] == path[0]]
    if len(places) > 2 and len(path) == 1:
        places = [place for place in places if place == "nodes.NAME"]
    return f"it belongs below {' or '.join(places)}; " if 1 <= len(places) <= 2 else ""


def _places(key: str, kind: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the path of each section that has a key; sections that the file names have the name NAME."""
    if section := _section_in(kind):
        for known, field in _fields(section).items():
            if known == key and path:
                yield ".".join(path)
            here = next((item.section for item in field.metadata if isinstance(item, Either)), field.annotation)
            yield from _places(key, here, (*path, str(known)))
        return
    for option in _options(kind):
        if get_origin(option) is dict:
            yield from _places(key, get_args(option)[1], (*path, "NAME"))
        elif get_origin(option) is tuple:
            yield from _places(key, get_args(option)[0], path)


def _keys(path: Path) -> str:
    if known := _known_keys(path):
        return f"; its keys are {', '.join(known)}"
    return f"; write for example {_example(path)}" if _example(path) else ""


def _known_keys(path: Path) -> list[str]:
    return [str(key) for key in _fields(_section_at(path))]


def _field(path: Path) -> FieldInfo | None:
    return _fields(_section_at(path[:-1])).get(path[-1])


def _fields(section: type[Section] | None) -> dict[str | int, FieldInfo]:
    """Return the fields of a section by key."""
    return {field.alias or name: field for name, field in section.model_fields.items()} if section else {}


def _example(path: Path) -> str:
    """Return `key: example` for a key that is wrong, or nothing if it has no example."""
    field = _field(path)
    if field is None:
        return ""
    example = field.examples[0] if field.examples else _example_of(field.annotation, field.metadata)
    return "" if example is None else f"{path[-1]}: {_flow(example)}"


def _example_of(kind: Any, metadata: Iterable[Any] = ()) -> Any:
    """Return the example of a type: its word's, or one made of those of its entries; None if there is none."""
    words = [item.example for item in metadata if isinstance(item, Word)]
    if words:
        return words[0]
    if hasattr(kind, "__metadata__"):
        return _example_of(get_args(kind)[0], kind.__metadata__)
    parts = [_example_of(part) for part in get_args(kind) if part is not Ellipsis]
    if get_origin(kind) is dict:
        return {parts[0]: parts[1]} if None not in parts else None
    first = next((part for part in parts if part is not None), None)
    return [first] if get_origin(kind) is tuple and first is not None else first


def _flow(value: object) -> str:
    """Return a value as YAML writes it on one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow(item)}' for key, item in value.items())}}}"
    return f"[{', '.join(map(_flow, value))}]" if isinstance(value, list) else str(value)


def _section_at(path: Path) -> type[Section] | None:
    """Return the section at a path, or None."""
    here: Any = ClusterFile
    for step in path:
        if section := _section_in(here):
            field = _fields(section).get(step, FieldInfo())
            here = next((item.section for item in field.metadata if isinstance(item, Either)), field.annotation)
        else:
            here = next((item for item in _options(here) if get_origin(item) in (dict, tuple)), None)
            here = get_args(here)[1 if get_origin(here) is dict else 0] if here else None
    return _section_in(here)


def _section_in(kind: Any) -> type[Section] | None:
    options = [option for option in _options(kind) if isinstance(option, type) and not get_origin(option)]
    return next((option for option in options if issubclass(option, Section)), None)


def _options(kind: Any) -> list[Any]:
    """Return the types that a type is one of, without annotations."""
    if hasattr(kind, "__metadata__"):
        either = next((item.section for item in kind.__metadata__ if isinstance(item, Either)), None)
        return [either] if either else _options(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return [option for part in get_args(kind) for option in _options(part)]
    return [kind]
