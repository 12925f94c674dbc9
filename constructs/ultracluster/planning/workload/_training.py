"""Plans of pre-training and of supervised fine-tuning."""

from functools import partial
from math import isnan

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.ec2 import instance_type as look_up
from ultracluster.planning import Kind, Plan
from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._layout import Layout
from ultracluster.planning.workload._machine import Precision, machine_of, precision_problems
from ultracluster.planning.workload._model import Model
from ultracluster.planning.workload._resolve import MOST_NODES, Wanted, resolve
from ultracluster.planning.workload._search import Job
from ultracluster.planning.workload._sheet import Sheet, checked
from ultracluster.planning.workload._training_sheet import Inputs, fill

_DEFAULTS = Assumptions()
# Tokens of a step by parameters: GPT-3 175B 3.2 M, OLMo 2 32B 8 M, Llama 3 405B 16 M. https://arxiv.org/abs/2005.14165,
# 2501.00656, 2407.21783 (read in excerpts, 2026-11-22). Fine-tuning: an estimate.
_BATCHES = ((30e9, 4_194_304), (200e9, 8_388_608), (float("inf"), 16_777_216))
_BATCH_OF_FINE_TUNING = 1_048_576
_MOST_TOKENS, MOST_SEQUENCE, _MOST_DAYS = 1e17, 16_777_216, 3650


def plan_training(
    model: Model,
    *,
    tokens: float,
    kind: Kind = "pretraining",
    instance_type: InstanceType | str | None = None,
    nodes: int | None = None,
    days: float | None = None,
    mfu: float | None = None,
    precision: Precision = "bf16",
    sequence: int = 8192,
    batch_tokens: int | None = None,
    layout: Layout | None = None,
    fsdp: bool = True,
    dollars_per_node_hour: float | None = None,
    assumptions: Assumptions = _DEFAULTS,
) -> Plan:
    """Plan pre-training or fine-tuning of all parameters from two or more of type, nodes, days and MFU.

    Args:
        model: The model.
        tokens: Tokens of training, all epochs.
        kind: `pretraining` or `fine-tuning`; they differ in the default batch.
        instance_type: A name of the catalogue, or a record. Default: the type that needs the fewest nodes, ends first,
            or has the lowest peak.
        nodes: Instances. Default: the fewest that hold the model and end in time.
        days: Days from start to end, lost time included.
        mfu: Model FLOPs utilization, of the dense peak in `precision`. Default: predicted.
        precision: `bf16` or `fp8`, of matrix multiplications.
        sequence: Tokens of a sequence.
        batch_tokens: Tokens of a step. Default: 4 to 16 million by parameters, 1 million for fine-tuning.
        layout: Parallel layout; its `data` follows from the nodes. Default: the fastest that fits the memory.
        fsdp: Whether the fastest layout may share weights between replicas (FSDP).
        dollars_per_node_hour: Price of an instance. Default: no cost.
        assumptions: Assumptions.

    Raises:
        ValueError: If figures are absurd or contradictory, or the model does not fit, with the constraint that binds.
    """
    # A step holds at least one sequence; an absurd sequence is one error, not two.
    longest = min(sequence, MOST_SEQUENCE)
    usual = default_batch(model.parameters) if kind == "pretraining" else _BATCH_OF_FINE_TUNING
    batch_tokens = batch_tokens or max(usual, longest)
    checked(
        [
            *absurd("tokens", tokens, 1, _MOST_TOKENS),
            *absurd("nodes", nodes, 1, MOST_NODES),
            *absurd("days", days, 1e-3, _MOST_DAYS),
            *absurd("an MFU", mfu, 1e-4, 1),
            *absurd("the sequence", sequence, 1, MOST_SEQUENCE),
            *absurd("tokens of a step", batch_tokens, longest, 1e10),
            *absurd("the price", dollars_per_node_hour, 0, 1e5),
            *precision_problems(precision),
            *assumptions.problems(),
        ]
    )
    record = look_up(instance_type) if isinstance(instance_type, str) else instance_type
    # The trailing part of a batch that fills no sequence is dropped.
    batch = int(batch_tokens) // sequence
    requested = Wanted(
        flops=6 * model.active * tokens,
        flops_per_token=6 * model.active,
        precision=precision,
        job_of=partial(
            job_on,
            model=model,
            precision=precision,
            sequence=sequence,
            batch=batch,
            fsdp=fsdp,
            assumptions=assumptions,
        ),
        assumptions=assumptions,
        record=record,
        nodes=nodes,
        days=days,
        mfu=mfu,
        layout=layout,
    )
    # Without nodes, the days are a limit: the fewest nodes that keep it end earlier.
    kept = days if nodes else None
    given = {"instance_type": record, "nodes": nodes, "days": kept, "mfu": mfu, "layout": layout}
    sheet = Sheet(frozenset({name for name, value in given.items() if value is not None} | {"tokens", "precision"}))
    inputs = Inputs(kind=kind, model=model, tokens=tokens, price=dollars_per_node_hour, assumptions=assumptions)
    fill(sheet, resolve(requested), inputs)
    return Plan(kind=kind, figures=tuple(sheet.figures), notes=tuple(sheet.notes))


def absurd(what: str, value: float | None, least: float, most: float) -> list[str]:
    """Return the error of a figure out of its range, if it is known."""
    if value is None or least <= value <= most:
        return []
    if isnan(value):
        return [f"{what} must be a number from {least:g} to {most:g}, got nan"]
    bound = f"below {least:g}, the least" if value < least else f"above {most:g}, the most"
    return [f"{what} must be from {least:g} to {most:g}, got {value:g}: {bound} that a plan accepts"]


def default_batch(parameters: float) -> int:
    """Return the tokens of a step of pre-training by the parameters of the model."""
    return next(tokens for most, tokens in _BATCHES if parameters < most)


def job_on(
    record: InstanceType,
    *,
    model: Model,
    precision: Precision,
    sequence: int,
    batch: int,
    assumptions: Assumptions,
    fsdp: bool = True,
) -> Job:
    """Return the job on an instance type."""
    return Job(
        model=model,
        machine=machine_of(record, precision),
        precision=precision,
        sequence=sequence,
        batch=batch,
        assumptions=assumptions,
        fsdp=fsdp,
    )
