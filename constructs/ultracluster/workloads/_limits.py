"""Refusals of workloads that a group cannot run, with the arithmetic."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm, prod

from ultracluster.catalogue.ec2 import REPORTED, InstanceType
from ultracluster.planning.lustre import LustreSpec
from ultracluster.rules import Message, Refusal, error
from ultracluster.workloads._frameworks import DEGREES
from ultracluster.workloads._model_fit import fitted, late_server
from ultracluster.workloads._workload import CHOICES, SETTINGS, Form, Settings, Workload

#: Rule of jobs that are too large.
JOB_NODES = error("job-nodes", "A job must fit into the nodes of its group that are not spare.")
#: Rule of jobs without an image.
JOB_IMAGE = error("job-image", "A published image of the workload must have the CPU architecture of the nodes.")
_UNKNOWN = error("workload", "A workload, its group and its settings must exist, and values must be valid.")
_TENSOR = error("job-tensor-parallel", "Tensor parallelism must divide the GPUs of an NVLink domain and of the job.")
_PARALLEL = error("job-parallel", "Degrees of parallelism must divide the GPUs of the job, and nodes their roles.")
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """A group as a workload uses it.

    Args:
        name: Name of the group.
        record: Its instance type.
        nodes: Nodes without spare ones.
        efa: Whether nodes have EFA devices.
        domain: Nodes of an NVLink domain.
        mounts: Directories of file systems that the nodes mount.
        lustre: File system on which jobs keep their checkpoints, or None.
        internet: Whether nodes reach the internet.
        ready_seconds: Time that a scheduler gives pods to become ready, or None without such a time.
    """

    name: str
    record: InstanceType
    nodes: int
    efa: bool
    domain: int = 1
    mounts: tuple[str, ...] = ()
    lustre: LustreSpec | None = None
    internet: bool = True
    ready_seconds: int | None = None

    @property
    def gpus(self) -> int:
        """GPUs of a node."""
        return self.record.gpus

    @property
    def type(self) -> str:
        """Name of the instance type."""
        return self.record.name


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
    errors = [
        message for key in ("model", "program", "data") for message in _not_mounted(key, given.get(key, ""), room)
    ]
    if gpus := numbers.pop("gpus", 0):
        errors += _whole_nodes(int(gpus), room)
        numbers["nodes"] = -(-int(gpus) // room.gpus)
    settings = Settings(**numbers, **texts)  # type: ignore[arg-type]  # numbers and texts by their names
    requested = nodes if settings.nodes is None else settings.nodes
    errors += _too_large(room, requested, settings.replicas)
    if settings.nodes is not None:
        errors += _segments(room, requested)
    if requested > 1 and workload.across_nodes and not room.efa:
        text = f"{workload.name} on {requested} nodes needs EFA on each, and {room.type} in {room.name} has 0 devices"
        errors.append(_EFA(f"{text}: set nodes=1, or use a group with EFA"))
    if settings.tensor_parallel is not None:
        errors += _tensor(room, requested, settings.tensor_parallel)
    elif not settings.recipe and not settings.parameters and not workload.runs_on(room.gpus):
        errors += _tensor(room, requested, workload.tensor, f" of the default recipe of {workload.name}")
    if settings.pipeline_parallel and workload.own_stages and settings.recipe.startswith(workload.own_stages):
        text = f"recipe={settings.recipe} has stages of its own, because its layers do not divide by their number"
        errors.append(_PARALLEL(f"{text}: leave pipeline_parallel out"))
    errors += _degrees(room, requested, settings) or _inside(workload, room, settings)
    errors += [] if errors else _roles(requested, form, settings)
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
    if not match:
        raise refused(f"{key} must be a number such as 70B or 70e9, got {text!r}")
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


def _whole_nodes(gpus: int, room: Room) -> list[Message]:
    if gpus % room.gpus == 0:
        return []
    below, above = gpus // room.gpus * room.gpus, -(-gpus // room.gpus) * room.gpus
    nearest = f"{below:,} or {above:,}" if below else f"{above:,}"
    text = f"gpus={gpus:,} is {gpus / room.gpus:g} nodes of {room.gpus} GPUs, and a job has whole nodes: use {nearest}"
    return [JOB_NODES(text)]


def _too_large(room: Room, nodes: int, replicas: int) -> list[Message]:
    total = nodes * replicas
    if total <= room.nodes:
        return []
    times = f"{replicas} replicas x " if replicas > 1 else ""
    return [
        JOB_NODES(
            f"{times}{_count(nodes)} x {room.gpus} GPUs = {total * room.gpus:,} GPUs, and {room.name} has "
            f"{_count(room.nodes)} x {room.gpus} = {room.nodes * room.gpus:,} without spare ones"
        )
    ]


def _segments(room: Room, nodes: int) -> list[Message]:
    if nodes <= room.domain or nodes % room.domain == 0:
        return []
    below = nodes // room.domain * room.domain
    text = f"{nodes} nodes are {nodes / room.domain:g} segments of {room.domain} nodes, each in one NVLink domain"
    return [JOB_NODES(f"{text}: use {below} or {below + room.domain}")]


def _tensor(room: Room, nodes: int, size: int, origin: str = "") -> list[Message]:
    domain, total = room.domain * room.gpus, nodes * room.gpus
    if domain % size:
        sizes = ", ".join(str(number) for number in range(1, domain + 1) if domain % number == 0)
        text = f"tensor_parallel={size}{origin} does not divide the {domain} GPUs of an NVLink domain"
        return [_TENSOR(f"{text} ({room.domain} x {room.gpus} of {room.type}): use one of {sizes}")]
    if total % size:
        text = f"{_count(nodes)} x {room.gpus} GPUs = {total} is not a multiple of tensor_parallel={size}"
        return [_TENSOR(f"{text}: use at least {-(-size // room.gpus)} nodes")]
    return []


def _degrees(room: Room, nodes: int, settings: Settings) -> list[Message]:
    degrees = {name: getattr(settings, name) or 1 for name in DEGREES[:-1]}
    replica, total = prod(degrees.values()), nodes * room.gpus
    if total % replica and replica != degrees["tensor_parallel"]:
        shown = " x ".join(f"{name}={value}" for name, value in degrees.items() if value > 1)
        text = f"{shown} = {replica} GPUs, and {_count(nodes)} x {room.gpus} GPUs = {total} is not a multiple of it"
        return [_PARALLEL(f"{text}: use a multiple of {lcm(replica, room.gpus) // room.gpus} nodes")]
    experts, stage = settings.expert_parallel or 1, total // degrees["pipeline_parallel"]
    if stage % experts:
        text = f"expert_parallel={experts} does not divide the {stage} GPUs of a stage"
        return [_PARALLEL(f"{text} ({_count(nodes)} x {room.gpus} GPUs / {degrees['pipeline_parallel']})")]
    return []


def _inside(workload: Workload, room: Room, settings: Settings) -> list[Message]:
    degrees = {name: value for name in workload.inside if (value := getattr(settings, name) or 1) > 1}
    if room.gpus % (product := prod(degrees.values())) == 0:
        return []
    shown = " x ".join(f"{name}={value}" for name, value in degrees.items())
    text = f"{shown} = {product} GPUs, which {workload.name} keeps in one node, and {room.type} has {room.gpus}"
    return [_PARALLEL(f"{text}: use degrees whose product divides {room.gpus}")]


def _roles(nodes: int, form: Form, settings: Settings) -> list[Message]:
    for name, others in (("prefill", "computes tokens"), ("rollout", "trains")):
        # Dynamo always has both; veRL only if it is set.
        some = getattr(settings, name) or (1 if name == "prefill" else 0)
        if name in form.settings and some and some >= nodes:
            text = f"{name}={some} of {_count(nodes)} leaves none that {others}"
            return [_PARALLEL(f"{text}: use at least {some + 1} nodes")]
    return []


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


def _count(nodes: int) -> str:
    return f"{nodes:,} node{'' if nodes == 1 else 's'}"
