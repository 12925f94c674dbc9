"""Search for the fastest layout that fits the memory of the GPUs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._layout import Layout, memory_per_gpu, usable_memory
from ultracluster.planning.workload._machine import Machine, Precision
from ultracluster.planning.workload._model import Model
from ultracluster.planning.workload._step import Step, step_time

# Tensor parallelism runs in one node of eight: published runs do not go beyond it.
_MOST_TENSOR = 8
_PIPELINES = (1, 2, 4, 8, 12, 16, 24, 32, 64)
_EXPERTS = (1, 8, 16, 32, 64)
# Above this many tokens of a sequence on a GPU, its activations are shared by several.
_TOKENS_PER_GPU = 16_384
# Ours: runs of tests/support/published_runs.py share weights between 256 replicas at most.
_MOST_SHARDED = 512
_GIB = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A training job without its layout.

    Args:
        model: The model.
        machine: GPUs and network.
        precision: Precision of matrix multiplications.
        sequence: Tokens of a sequence.
        batch: Sequences of a step.
        assumptions: Assumptions.
        fsdp: Whether replicas may share weights and gradients.
    """

    model: Model
    machine: Machine
    precision: Precision
    sequence: int
    batch: int
    assumptions: Assumptions
    fsdp: bool = True

    def step(self, layout: Layout) -> Step:
        """Return the time of a step with a layout."""
        return step_time(
            self.model,
            self.machine,
            layout,
            precision=self.precision,
            sequence=self.sequence,
            batch=self.batch,
            assumptions=self.assumptions,
        )

    def memory(self, layout: Layout) -> float:
        """Return the bytes of a GPU that a layout needs."""
        return memory_per_gpu(self.model, layout, self.sequence)


def fastest(job: Job, gpus: int) -> tuple[Layout, Step]:
    """Return the fastest layout on at most this many GPUs, and its step.

    Raises:
        ValueError: If no layout fits, with the memory that is missing.
    """
    ranked = ranking(job, gpus)
    if not ranked:
        raise ValueError(too_small(job, gpus))
    return ranked[0]


def ranking(job: Job, gpus: int, most: int = 1) -> list[tuple[Layout, Step]]:
    """Return the fastest layouts that fit, the fastest first.

    Throughput of all GPUs counts, those that a layout leaves idle included.
    """
    room = usable_memory(job.machine, job.assumptions)
    fitting = [(layout, job.step(layout)) for layout in _layouts(job, gpus) if job.memory(layout) <= room]
    fitting.sort(key=lambda pair: -pair[1].tokens_per_second * pair[0].gpus)
    return fitting[:most]


def _layouts(job: Job, gpus: int) -> Iterator[Layout]:
    """Yield the candidates: a micro-batch of one, and larger ones where the batch has them."""
    model, machine = job.model, job.machine
    least_context = max(1, -(-job.sequence // _TOKENS_PER_GPU))
    contexts = [context for context in (1, 2, 4, 8, 16, 32, 64) if context >= least_context][:2]
    tensors = [tensor for tensor in (1, 2, 4, 8) if tensor <= min(_MOST_TENSOR, machine.domain, gpus)]
    pipelines = [pipeline for pipeline in _PIPELINES if layers_of_stage(model, pipeline)]
    for tensor in tensors:
        if model.heads % tensor:
            continue
        for context in contexts:
            # Without a number of stages that divides the layers, such as for 61 layers, stages are uneven.
            for pipeline in pipelines if len(pipelines) > 1 else _PIPELINES:
                if tensor * context * pipeline > gpus or pipeline > model.layers:
                    break
                yield from _variants(job, Layout(tensor=tensor, pipeline=pipeline, context=context), gpus)


def layers_of_stage(model: Model, pipeline: int) -> int | None:
    """Return the layers of each stage, or None if stages are uneven. Embedding and output layer can count as layers."""
    return next((layers // pipeline for layers in (model.layers, model.layers + 2) if layers % pipeline == 0), None)


def _variants(job: Job, degrees: Layout, gpus: int) -> Iterator[Layout]:
    model = job.model
    layers = layers_of_stage(model, degrees.pipeline) or 1
    parts = [part for part in range(1, 9) if layers % part == 0 and part <= max(1, layers // 2)]
    virtual = parts[-1] if degrees.pipeline > 1 else 1
    for expert in [e for e in _EXPERTS if e <= model.experts and model.experts % e == 0] or [1]:
        layout = replace(degrees, expert=expert, virtual=virtual).with_data(gpus, job.batch)
        if layout is None:
            continue
        each = job.batch // layout.data
        for micro in (1, 2, 4) if layout.pipeline == 1 else (1,):
            if micro > max(1, each):
                break
            for recompute in (False, True):
                variant = replace(layout, micro_batch=micro, recompute=recompute)
                yield variant
                if job.fsdp and layout.pipeline == 1 and 1 < layout.data * layout.context <= _MOST_SHARDED:
                    yield replace(variant, sharded=True)


def too_small(job: Job, gpus: int) -> str:
    """Return the sentence of a job that does not fit: the smallest need, and how much is missing."""
    room = usable_memory(job.machine, job.assumptions)
    needs = [(job.memory(layout), layout) for layout in _layouts(job, gpus)]
    if not needs:
        return f"{gpus:,} GPUs are fewer than the {_TOKENS_PER_GPU:,} tokens per GPU of a sequence allow"
    need, layout = min(needs, key=lambda pair: pair[0])
    reserve = job.assumptions.memory_reserve
    return (
        f"the model does not fit: on {gpus:,} GPUs of {job.machine.name} the smallest layout ({layout}) needs "
        f"{need / _GIB:,.0f} GiB of each GPU, and {room / _GIB:,.0f} GiB are usable ({job.machine.memory / _GIB:,.0f} "
        f"GiB without a reserve of {reserve:.0%}): {(need - room) / _GIB:,.0f} GiB are missing; use more nodes, GPUs "
        "with more memory, or a shorter sequence"
    )
