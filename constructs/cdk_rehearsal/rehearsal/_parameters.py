"""Parameters of a template: given values, defaults, and SSM parameters looked up or stood in for."""

import hashlib
import re
from collections.abc import Callable
from typing import Any

from moto.ssm.models import ssm_backends

from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._errors import TemplateError
from cdk_rehearsal.rehearsal._journal import Journal, StandIn
from cdk_rehearsal.rehearsal._template import Template

_SSM = re.compile(r"AWS::SSM::Parameter::Value<(.+)>")
_IMAGE = "AWS::EC2::Image::Id"
_LIST = re.compile(r"List<.+>|CommaDelimitedList")
# Public parameters that AWS keeps in every account: https://docs.aws.amazon.com/systems-manager/latest/userguide/
# parameter-store-finding-public-parameters.html, read 2026-11-21.
PUBLIC = "/aws/service/"


def resolve(
    template: Template, given: dict[str, str], look_up: Callable[[str], str], journal: Journal
) -> dict[str, Any]:
    """Return the value of every parameter, or raise TemplateError for all missing, unknown and forbidden ones."""
    problems = [
        f"Parameters: [{name}] do not exist in the template" for name in given if name not in template.parameters
    ]
    resolved: dict[str, Any] = {}
    for name, definition in template.parameters.items():
        value = given.get(name, definition.get("Default"))
        if value is None:
            problems.append(f"Parameters: [{name}] must have values")
            continue
        try:
            resolved[name] = _value(name, definition, value, look_up, journal)
        except TemplateError as error:
            problems.append(str(error))
    if problems:
        raise TemplateError("; ".join(problems))
    return resolved


def look_up(name: str, environment: Environment) -> str:
    """Return the value of an SSM parameter, or raise LookupError."""
    parameter = ssm_backends[environment.account][environment.region].get_parameter(name)
    if parameter is None:
        raise LookupError(name)
    return str(parameter.value)


def stand_in(name: str, journal: Journal, kind: str = "String") -> str:
    """Make up the value of a public SSM parameter, from its name and kind, and record it."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    last = name.rsplit("/", 1)[-1].lower()
    if kind == _IMAGE:
        value = f"ami-{digest[:17]}"
    elif "release" in last or "version" in last:
        value = "1.0.0-20260101"
    elif any(word in name.lower() for word in ("ami", "image")):
        value = f"ami-{digest[:17]}"
    else:
        value = f"stand-in-{digest[:8]}"
    journal.stand_in(StandIn(kind="parameter", name=name, value=value))
    return value


def _value(
    name: str, definition: dict[str, Any], value: Any, look_up: Callable[[str], str], journal: Journal
) -> str | list[str]:
    kind = str(definition.get("Type", "String"))
    text = str(value)
    if match := _SSM.fullmatch(kind):
        kind = match[1]
        try:
            text = look_up(text)
        except LookupError:
            # As an image that a template names by its id, that of a parameter is assumed to exist.
            if not text.startswith(PUBLIC) and kind != _IMAGE:
                raise TemplateError(
                    f"Unable to fetch parameters [{text}] from parameter store for this account (parameter {name})"
                ) from None
            text = stand_in(text, journal, kind)
    _check(name, definition, text, listed=bool(_LIST.fullmatch(kind)))
    if kind == "Number" and not re.fullmatch(r"[+-]?\d+(\.\d+)?", text):
        raise TemplateError(f"Parameter '{name}' must be a number, got {text}")
    if _LIST.fullmatch(kind):
        return [part.strip() for part in text.split(",")] if text else []
    return text


def _check(name: str, definition: dict[str, Any], text: str, *, listed: bool) -> None:
    allowed = [str(value) for value in definition.get("AllowedValues", [])]
    constraint = definition.get("ConstraintDescription", "")
    for value in text.split(",") if listed else [text]:
        if allowed and value not in allowed:
            raise TemplateError(f"Parameter '{name}' must be one of AllowedValues {allowed}, got {value}. {constraint}")
        if "AllowedPattern" in definition and not re.fullmatch(definition["AllowedPattern"], value):
            raise TemplateError(f"Parameter '{name}' must match pattern {definition['AllowedPattern']}, got {value}")
    if not int(definition.get("MinLength", 0)) <= len(text) <= int(definition.get("MaxLength", 10**9)):
        raise TemplateError(f"Parameter '{name}' is {len(text)} characters long. {constraint}")
    for bound, wrong in (("MinValue", float.__lt__), ("MaxValue", float.__gt__)):
        if bound in definition and wrong(float(text), float(definition[bound])):
            raise TemplateError(f"Parameter '{name}' is {text}, its {bound} is {definition[bound]}")
