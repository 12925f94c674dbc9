"""Parallel layout of a job, and the memory that it needs on each GPU."""

from dataclasses import dataclass
from math import gcd

from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._machine import Machine
from ultracluster.planning.workload._model import Model

# Bytes for each parameter in mixed precision with Adam: weights 2, gradients in fp32 4, fp32 weights and two moments
# 12. ZeRO, section 3.1, https://arxiv.org/abs/1910.02054; gradients: Megatron-LM's default (read 2026-11-22)
WEIGHTS, GRADIENTS, OPTIMIZER = 2, 4, 12
# Bytes of activations for each token, hidden unit and layer, without and with recomputation of everything. The first is
# 34 in https://arxiv.org/abs/2205.05198, equation 6 (read 2026-11-22), less 2 for dropout and 8 for the activation
# function, which is computed again: Llama 3 405B fits 80 GB so in the layout of its paper.
_ACTIVATIONS, _INPUTS = 24, 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Parallel layout of a training job.

    Args:
        tensor: GPUs that share each layer.
        pipeline: Stages of layers.
        context: GPUs that share each sequence.
        expert: GPUs that share the experts of a layer.
        data: Replicas; `tensor * pipeline * context * data` GPUs in all.
        micro_batch: Sequences that a replica computes at once.
        virtual: Parts of a stage in the interleaved schedule, whose micro-batches are a multiple of the stages.
        recompute: Whether the backward pass computes all activations again.
        sharded: Whether replicas share weights and gradients too (FSDP, ZeRO-3), and not the optimizer alone.
    """

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    data: int = 1
    micro_batch: int = 1
    virtual: int = 1
    recompute: bool = False
    sharded: bool = False

    @property
    def gpus(self) -> int:
        """GPUs of the job."""
        return self.tensor * self.pipeline * self.context * self.data

    def with_data(self, gpus: int, batch: int) -> "Layout | None":
        """Return the layout with as many replicas as GPUs and batch have room for, or None if there is none.

        The experts divide the GPUs of a stage, so GPUs can be left idle.

        Args:
            gpus: GPUs at most.
            batch: Sequences of a step.
        """
        replica = self.tensor * self.pipeline * self.context
        step = self.expert // gcd(self.expert, self.tensor * self.context)
        data = min(gpus // replica, max(1, batch // self.micro_batch)) // step * step
        if not data:
            return None
        virtual = self.virtual if round(batch / (data * self.micro_batch)) >= self.pipeline else 1
        # Written out: `replace` takes half of the time of a sweep.
        return Layout(
            tensor=self.tensor, pipeline=self.pipeline, context=self.context, expert=self.expert, data=data,
            micro_batch=self.micro_batch, virtual=virtual, recompute=self.recompute, sharded=self.sharded,
        )  # fmt: skip

    def micro_batches(self, batch: int) -> int:
        """Return the micro-batches of a replica in a step of about this many sequences.

        See: https://github.com/NVIDIA/Megatron-LM, megatron/core/pipeline_parallel/schedules.py (core_v0.17.1, read
        2026-11-28), which refuses a rest of a round.
        """
        whole = self.pipeline if self.virtual > 1 else 1
        return max(1, round(batch / (self.data * self.micro_batch * whole))) * whole

    def __str__(self) -> str:
        """Return the degrees in one line."""
        degrees = f"TP {self.tensor}, PP {self.pipeline}, CP {self.context}, EP {self.expert}, DP {self.data}"
        extras = [f"micro-batch {self.micro_batch}"]
        extras += [f"{self.virtual} virtual stages"] if self.virtual > 1 else []
        extras += ["full recomputation"] if self.recompute else []
        extras += ["FSDP" if self.sharded else "distributed optimizer"]
        return f"{degrees}; {', '.join(extras)}"


def memory_per_gpu(model: Model, layout: Layout, sequence: int) -> float:
    """Return the bytes that a job needs on each GPU, without the reserve.

    Args:
        model: The model.
        layout: The layout.
        sequence: Tokens of a sequence.
    """
    shards = layout.tensor * layout.pipeline
    replicas = layout.data * layout.context
    routed = model.routed
    dense = (model.parameters - routed) / shards
    # The first or last stage has an embedding more than the average.
    dense += model.embedding / layout.tensor * (1 - 1 / layout.pipeline)
    experts = routed / (layout.expert * layout.pipeline)
    copies = max(1, shards * replicas // (layout.expert * layout.pipeline))
    state = 0.0
    for parameters, sharing in ((dense, replicas), (experts, copies)):
        held = WEIGHTS + GRADIENTS
        state += parameters * (OPTIMIZER / sharing + (held / sharing if layout.sharded else held))
    if layout.sharded:  # two layers are gathered at a time
        state += 2 * WEIGHTS * (dense + experts) / max(1, model.layers // layout.pipeline)
    tokens = layout.micro_batch * sequence / layout.context
    # The interleaved schedule alone holds more: https://arxiv.org/abs/2205.05198, section 4.2.3 (read 2026-11-28)
    more = (layout.pipeline - 1) / (layout.pipeline * layout.virtual) if layout.virtual > 1 else 0
    in_flight = model.layers * (1 + more)
    routing = 1 + model.experts_per_token * model.feed_forward / (4 * model.hidden) if model.experts else 1
    of_layer = tokens * model.hidden / layout.tensor
    if layout.recompute:
        activations = of_layer * (_INPUTS * in_flight + _ACTIVATIONS * routing)
    else:
        activations = of_layer * _ACTIVATIONS * routing * in_flight
    logits = 6 * tokens * model.vocabulary / layout.tensor
    return state + activations + logits


def usable_memory(machine: Machine, assumptions: Assumptions) -> float:
    """Return the bytes of a GPU that a job can use."""
    return machine.memory * (1 - assumptions.memory_reserve)
