"""Refusals of workloads that a group cannot run, with the arithmetic."""

import re
from collections.abc import Mapping, Sequence

from ultracluster.catalogue.ec2 import REPORTED
from ultracluster.rules import Message, Refusal, error
from ultracluster.workloads._model_fit import fitted, late_server
from ultracluster.workloads._room import (
    PARALLEL,
    Room,
    of_degrees,
    of_node,
    of_roles,
    of_segments,
    of_size,
    of_tensor,
    of_whole_nodes,
)
from ultracluster.workloads._workload import CHOICES, SETTINGS, Form, Settings, Workload

_UNKNOWN = error("workload", "A workload, its group and its settings must exist, and values must be valid.")
_PATH = error("job-path", "A path of a job must be on a file system that its nodes mount.")
_EFA = error("job-efa", "A job whose nodes exchange data needs EFA on each of them.")

# A shell and YAML read these as they are.
_TEXTS = (
    "recipe",
    "model",
    "image",
    "program",
    "data",
    "precision",
    "recompute",
    "sharding",
    "gate",
    "software",
    "name",
)
_SIZES = ("parameters", "active_parameters")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:[eE]\+?[0-9]{1,2})?)([KMBT]?)")
_VERSION = re.compile(r"[0-9][0-9a-z.-]*")
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
# The size in the name of a recipe, and how much of it the size of its model may be: llama2-7b has 6.7B.
_SIZE_IN_NAME = re.compile(r"(?<![a-z0-9.])([0-9]+(?:\.[0-9]+)?)b(?![a-z0-9])")
_ALIKE = 1.3
_PLAIN = re.compile(r"[A-Za-z0-9./:@#+=_-]+")


def unknown(kind: str, given: str, known: Sequence[str]) -> Refusal:
    """Return the refusal of a name that does not exist."""
    if not known:
        return Refusal("", _UNKNOWN(f"{kind} does not exist, got {given!r}"))
    return Refusal("", _UNKNOWN(f"{kind} must be one of {', '.join(known)}, got {given!r}"))


def refused(text: str) -> Refusal:
    """Return the refusal of a workload that does not apply to a cluster."""
    return Refusal("", _UNKNOWN(text))


def validated(workload: Workload, form: Form, room: Room, given: Mapping[str, str], *, nodes: int) -> Settings:
    """Return the settings of a workload on a group.

    Args:
        workload: The workload.
        form: Form of its file.
        room: The group.
        given: Settings as texts.
        nodes: Nodes by default.

    Raises:
        Refusal: With all errors.
    """
    known = workload.settings(form)
    for key in given:
        if key not in known:
            raise unknown(f"a setting of {workload.name} for {form.family}", key, known)
    if {"nodes", "gpus"} <= given.keys():
        raise refused(f"{workload.name}: set nodes or gpus, not both, got {given['nodes']} and {given['gpus']}")
    numbers = {
        key: _size(key, text) if key in _SIZES else _number(key, text)
        for key, text in given.items()
        if key not in _TEXTS
    }
    texts = {key: given[key] for key in _TEXTS if key in given}
    for key, text in texts.items():
        if key == "software":
            _check_software(text)
        elif not _PLAIN.fullmatch(text) or text.startswith("-") or ".." in text.split("/"):
            rule = "has letters, digits and ./:@#+=_-, without a dash at its beginning or .. in a path"
            raise refused(f"{key}, the {SETTINGS[key]}, {rule}, got {text!r}")
    for key, allowed in CHOICES.items():
        if key in texts and texts[key] not in allowed:
            raise refused(f"{key} must be {', '.join(allowed[:-1])} or {allowed[-1]}, got {texts[key]!r}")
    if numbers.get("checkpoints_kept", 2) < 2:
        # torchtitan refuses 1; others would delete the last complete one while a new one is incomplete.
        raise refused(f"checkpoints_kept, the {SETTINGS['checkpoints_kept']}, got {given['checkpoints_kept']}")
    errors = [
        message for key in ("model", "program", "data") for message in _not_mounted(key, given.get(key, ""), room)
    ]
    if gpus := numbers.pop("gpus", 0):
        errors += of_whole_nodes(int(gpus), room)
        numbers["nodes"] = -(-int(gpus) // room.gpus)
    settings = Settings(**numbers, **texts)  # type: ignore[arg-type]  # numbers and texts by their names
    requested = nodes if settings.nodes is None else settings.nodes
    errors += of_size(room, requested, settings.replicas)
    if settings.nodes is not None:
        errors += of_segments(room, requested)
    if requested > 1 and workload.across_nodes and not room.efa:
        text = f"{workload.name} on {requested} nodes needs EFA on each, and {room.type} in {room.name} has 0 devices"
        errors.append(_EFA(f"{text}: set nodes=1, or use a group with EFA"))
    if settings.tensor_parallel is not None:
        errors += of_tensor(room, requested, settings.tensor_parallel)
    elif not settings.recipe and not settings.parameters and not workload.runs_on(room.gpus):
        errors += of_tensor(room, requested, workload.tensor, f" of the default recipe of {workload.name}")
    if settings.pipeline_parallel and workload.own_stages and settings.recipe.startswith(workload.own_stages):
        text = f"recipe={settings.recipe} has stages of its own, because its layers do not divide by their number"
        errors.append(PARALLEL(f"{text}: leave pipeline_parallel out"))
    errors += of_degrees(room, requested, settings) or of_node(workload, room, settings)
    errors += [] if errors else of_roles(requested, form, settings)
    if not errors and workload.holds:
        settings, errors = fitted(workload, form, room.record, requested, settings, room.lustre)
        if workload.holds == "serving" and room.lustre and room.ready_seconds:
            errors = errors or late_server(room.lustre, room.mounts[0], settings, seconds=room.ready_seconds)
    errors = errors or _of_another_model(workload, form, settings)
    if errors:
        raise Refusal("", errors)
    return settings


def _check_software(text: str) -> None:
    for item in text.split(","):
        name, _, version = item.partition("=")
        if name not in REPORTED or not _VERSION.fullmatch(version):
            known = ", ".join(REPORTED)
            raise refused(f"software is NAME=VERSION,... with names of {known}, got {item!r}")


def _size(key: str, text: str) -> float:
    match = _SIZE.fullmatch(text)
    if not match or not float(match[1]):
        raise refused(f"{key} must be a number above 0, such as 70B or 70e9, got {text!r}")
    return float(match[1]) * _UNITS[match[2]]


def _number(key: str, text: str) -> int:
    if not text.isdecimal() or not text.isascii() or int(text) < 1:
        raise refused(f"{key}, the {SETTINGS[key]}, must be a whole number of at least 1, got {text!r}")
    return int(text)


def _not_mounted(key: str, path: str, room: Room) -> list[Message]:
    if key == "model" and path and not path.startswith("/") and not room.internet:
        text = f"model={path} is the name of a download, and nodes of {room.name} do not reach the internet"
        return [_PATH(f"{text}: name a directory")]
    if not path.startswith("/") or any(f"{path}/".startswith(f"{mount}/") for mount in room.mounts):
        return [] if path.startswith("/") or key != "data" or not path else [_PATH(f"{key}={path} must begin with /")]
    if not room.mounts:
        return []
    where = ", ".join(room.mounts)
    return [_PATH(f"{key}={path} is on none of the file systems that nodes of {room.name} mount: {where}")]


def _of_another_model(workload: Workload, form: Form, settings: Settings) -> list[Message]:
    """Return the errors of settings that describe another model than the one that the job trains."""
    errors = []
    for name in ("active_parameters", "layers", "batch_tokens"):
        if getattr(settings, name) and not settings.parameters:
            errors.append(_UNKNOWN(f"{name}, the {SETTINGS[name]}, need the size of the model: set parameters too"))
    if settings.parameters and "recipe" in form.settings and not settings.recipe:
        text = f"parameters={settings.parameters / 1e9:g}B is the size of a model, and {workload.name} would train that"
        errors.append(_UNKNOWN(f"{text} of its default recipe: name the model's with recipe="))
    of_recipe = _SIZE_IN_NAME.search(settings.recipe.lower())
    if of_recipe and settings.parameters:
        billions = float(of_recipe[1])
        sizes = (settings.parameters / 1e9, (settings.active_parameters or 0) / 1e9)
        if not any(billions / _ALIKE <= size <= billions * _ALIKE for size in sizes):
            text = f"recipe={settings.recipe} has {billions:g}B parameters by its name, and parameters={sizes[0]:g}B"
            errors.append(_UNKNOWN(f"{text} are those of another model: change one of them"))
    if settings.precision == "fp8" and not workload.fp8:
        errors.append(_UNKNOWN(f"{workload.name} has no option for precision=fp8: leave it out"))
    elif settings.precision == "fp8" and "program" in form.settings and not settings.program:
        errors.append(
            _UNKNOWN("the program of the job files trains in BF16: precision=fp8 needs program=, or leave it out")
        )
    return errors
