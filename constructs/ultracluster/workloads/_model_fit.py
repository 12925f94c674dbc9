"""Fit of the model of a job: memory of its GPUs, and the layout and the checkpoints that the planner computes."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, prod
from typing import TYPE_CHECKING, Any

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.planning.lustre import LustreSpec, checkpoint_bytes
from ultracluster.rules import Message, error
from ultracluster.workloads._frameworks import DEGREES
from ultracluster.workloads._workload import Form, Holds, Settings, Workload

if TYPE_CHECKING:
    from ultracluster.planning import Plan
    from ultracluster.planning.workload import Model

_MEMORY = error("job-memory", "The model of a job must fit into the memory of its GPUs.")
_CHECKPOINTS = error("job-checkpoints", "The checkpoints of a job must fit on its file system.")
_READY = error("job-ready", "A server must load its model before Kueue evicts it.")
# Seconds between two checkpoints of a program that loses the steps since its last one at each planned end. It is more,
# if checkpoints would take more than this share of the time.
_OFTEN, _SHARE = 1800, 0.05
# A full file system truncates a checkpoint.
_ROOM = 1.2
_GIB = 1 << 30
# Figures of a plan that this does not read depend on the tokens.
_TOKENS_PER_PARAMETER = 20
_LEAST_STALL = 1.0
_SEQUENCE = 8192
_WEIGHT_BYTES = {"bf16": 2, "fp8": 1}


class _DoesNotFitError(ValueError):
    """No layout of the model fits into the memory of the GPUs."""


def checkpoint_seconds(nodes: int, stall: float | None = None) -> int:
    """Return the seconds between two checkpoints that lose the least time.

    Args:
        nodes: Nodes of the job.
        stall: Seconds that the job waits for a checkpoint. By default, the planner's assumption.
    """
    from ultracluster.planning.workload import checkpoint_seconds as planned

    return round(planned(nodes, stall))


def fitted(
    workload: Workload, form: Form, record: InstanceType, nodes: int, given: Settings, lustre: LustreSpec | None
) -> tuple[Settings, list[Message]]:
    """Return the settings with what follows from the model, and the errors of a model that does not fit.

    Without a size of the model nothing is known of its memory.

    Args:
        workload: The workload.
        form: Form of the file.
        record: Type of the nodes.
        nodes: Nodes of the job.
        given: Settings.
        lustre: File system of the checkpoints, or None without Lustre.
    """
    if given.parameters is None:
        return given, []
    from ultracluster.planning.workload import Model

    holds = workload.holds
    try:
        model = Model.of(given.parameters, active=given.active_parameters, layers=given.layers)
        if holds == "serving":
            gpus = record.gpus * (1 if "prefill" in form.settings else nodes)
            return given, _serving(model, record, gpus, given)
        trains = min(nodes, given.min_nodes) if "min_nodes" in form.settings else nodes - (given.rollout or 0)
        size = checkpoint_bytes(given.parameters)
        rate = float(lustre.disk_write_mb_per_s) * 1e6 if lustre else None
        stall = max(_LEAST_STALL, size / rate) if rate else None
        plan = _training(model, record, trains, given, holds, stall)
    except ValueError as refusal:
        return given, [_MEMORY(str(refusal))]
    errors = _too_full(size, lustre, given.checkpoints_kept)
    return _with_plan(workload, form, given, plan), errors


def late_server(lustre: LustreSpec, mount: str, given: Settings, *, seconds: int) -> list[Message]:
    """Return the error of weights that the file system cannot read in time; of a model elsewhere, no rate is known.

    Args:
        lustre: File system.
        mount: Its path on the nodes.
        given: Settings.
        seconds: Time that Kueue gives a server to become ready.
    """
    if not given.parameters or not (given.model or mount).startswith(mount):
        return []
    weights, rate = given.parameters * _WEIGHT_BYTES[given.precision], float(lustre.disk_read_mb_per_s) * 1e6
    minutes = weights / rate / 60
    if minutes * 60 < seconds:
        return []
    text = (
        f"weights of {weights / 1e9:,.0f} GB at the {rate / 1e6:,.0f} MB/s of the file system take {minutes:,.0f} min"
    )
    text += f", and Kueue evicts a server that is not ready within {seconds / 60:g} min"
    return [_READY(f"{text}: set kubernetes.ready-timeout to {2 * ceil(minutes)} min, or more throughput")]


def plan_settings(plan: "Plan", names: Sequence[str]) -> dict[str, str]:
    """Return the settings that a plan has, as texts.

    Args:
        plan: A plan of training, RL or inference.
        names: Names of the settings of a workload.
    """
    # Nodes of a plan of inference are those of all replicas, and nodes imply the GPUs.
    left_out = {"gpus", *(["nodes", "replicas"] if plan.kind == "inference" else [])}
    figures = [name for name in names if name in plan and name not in left_out]
    settings = {name: _text(plan[name].value) for name in figures}
    if plan.kind == "inference" and "tensor_parallel" in names:
        settings["nodes"] = str(ceil(plan.number("gpus_per_replica") * plan.nodes / plan.gpus))
    for name, mark, value in (("sharding", "FSDP", "all"), ("recompute", "full recomputation", "full")):
        if name in names and mark in str(plan["layout"].value):
            settings[name] = value
    if "checkpoint_interval_seconds" in plan:
        seconds = plan.checkpoint_interval_seconds
        steps = max(1, round(seconds / plan.number("step_seconds"))) if "step_seconds" in plan else 0
        more = {"checkpoint_seconds": round(seconds), "checkpoint_steps": steps}
        settings |= {name: str(value) for name, value in more.items() if name in names and value}
    return settings


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def _serving(model: "Model", record: InstanceType, gpus: int, given: Settings) -> list[Message]:
    from ultracluster.planning.workload import replica_fits

    problem = replica_fits(model, record, gpus, precision=given.precision, tokens=given.sequence or _SEQUENCE)
    return [_MEMORY(problem)] if problem else []


def _training(
    model: "Model", record: InstanceType, nodes: int, given: Settings, holds: Holds, stall: float | None
) -> "Plan":
    from ultracluster.planning.workload import Assumptions, Layout, plan_training

    assumptions = Assumptions()
    if stall:
        assumptions = replace(assumptions, checkpoint_stall_seconds=stall)
    sharded = holds == "sharded" or given.sharding == "all"
    named = {name.removesuffix("_parallel"): value for name in DEGREES if (value := getattr(given, name))}
    layouts: Sequence[Layout | None] = [None]
    if named or sharded:
        named |= {"micro_batch": given.micro_batch or 1, "virtual": given.virtual_stages or 1}
        recomputed = (True,) if given.recompute == "full" else (False, True)
        layouts = [Layout(sharded=sharded, recompute=again, **named) for again in recomputed]
    for number, layout in enumerate(layouts, start=1):
        try:
            return plan_training(
                model,
                tokens=_TOKENS_PER_PARAMETER * model.parameters,
                instance_type=record,
                nodes=nodes,
                precision=given.precision,
                sequence=given.sequence or _SEQUENCE,
                batch_tokens=given.batch_tokens,
                layout=layout,
                fsdp=sharded,
                assumptions=assumptions,
            )
        except ValueError as refusal:
            # The one that needs the least memory decides.
            if number == len(layouts):
                more = f"{refusal}: use more nodes, or degrees that share the model among more GPUs"
                raise _DoesNotFitError(str(refusal) if layout is None else more) from None
    raise AssertionError("there is a layout")


def _with_plan(workload: Workload, form: Form, given: Settings, plan: "Plan") -> Settings:
    """Return the settings with the interval of the plan, and with its degrees if none is given."""
    interval, stall = plan.checkpoint_interval_seconds, plan.number("checkpoint_stall_seconds")
    if not workload.answers:
        interval = min(interval, max(_OFTEN, stall / _SHARE))
    seconds = given.checkpoint_seconds or round(interval)
    more: dict[str, Any] = {"checkpoint_seconds": seconds}
    more |= {"recompute": "full"} if "full recomputation" in str(plan["layout"].value) else {}
    # A step, and a checkpoint, with room; in whole minutes.
    needed = plan.number("step_seconds") + _ROOM * stall
    more["request_seconds"] = max(given.request_seconds, 60 * ceil(needed / 60))
    if "checkpoint_steps" in form.settings:
        steps = max(1, round(seconds / plan.number("step_seconds")))
        more["checkpoint_steps"] = given.checkpoint_steps or (0 if workload.by_time else steps)
        more["sequence"] = given.sequence or _SEQUENCE
    has_stages = workload.own_stages and given.recipe.startswith(workload.own_stages)
    if not has_stages and set(DEGREES) <= set(form.settings) and not any(getattr(given, name) for name in DEGREES):
        taken = (*DEGREES, *({"micro_batch"} & set(form.settings) if not given.micro_batch else ()))
        more |= {name: int(plan.number(name)) for name in taken if name in plan}
    result = replace(given, **more)
    return replace(result, batch=_batch(result, plan)) if "checkpoint_steps" in form.settings else result


def _batch(given: Settings, plan: "Plan") -> Fraction:
    """Return the sequences of a step of the plan for each GPU: whole micro-batches for each replica."""
    replica, micro = prod(getattr(given, name) or 1 for name in DEGREES[:-1]), given.micro_batch or 1
    sequences = plan.number("batch_tokens") / (given.sequence or _SEQUENCE) * replica / plan.number("gpus")
    return Fraction(micro * max(1, round(sequences / micro)), replica)


def _too_full(size: int, lustre: LustreSpec | None, kept: int) -> list[Message]:
    # Frameworks delete an old checkpoint once the new one is complete.
    most = kept + 1
    needed, has = round(most * size * _ROOM), (lustre.capacity_gib or 0) * _GIB if lustre else 0
    if not has or needed <= has:
        return []
    text = f"{kept} checkpoints and a new one, {most} x {size / _GIB:,.0f} GiB x {_ROOM} = {needed / _GIB:,.0f} GiB"
    text += f", and the file system has {has / _GIB:,.0f} GiB: set storage.lustre.capacity to at least"
    fits = f"kept of storage.lustre.checkpoint to {ceil(most * _ROOM)} if its size is this"
    return [_CHECKPOINTS(f"{text} {-(-needed // (1 << 40))} TiB, or {fits}")]
