"""Time of a training step: a model of computation, memory and communication.

The constants below and the defaults of `Assumptions` were fitted once, to all runs of tests/support/published_runs.py
together and to none alone. docs/reference/predictions.md shows each run with its error.
"""

from math import log2
from typing import NamedTuple

from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._layout import Layout
from ultracluster.planning.workload._machine import Machine, Precision
from ultracluster.planning.workload._model import Model

# A matrix multiplication of this width takes twice the time of its FLOPs at peak; more on GPUs faster than an H100.
_HALF_WIDTH, _HALF_WIDTH_EXPONENT, _HALF_WIDTH_AT = 755.0, 0.62, 794e12
# Bytes that element-wise kernels move for each token, hidden unit and layer, forward and backward; and for each expert.
_ELEMENTWISE, _ROUTING = 357.0, 110.0
# Seconds of kernel launches for each layer and micro-batch, forward and backward.
_LAUNCH = 0.0005
# Bytes that the optimizer reads and writes for each parameter.
_OPTIMIZER_TRAFFIC = 32
# Flash attention computes 3.5 times its forward pass, other matrix multiplications 3 times.
_ATTENTION_BACKWARD = 3.5 / 3


class Step(NamedTuple):
    """A training step of one GPU, in seconds, and bytes that it sends.

    Args:
        seconds: The step.
        compute: Matrix multiplications, attention and element-wise kernels.
        nvlink: Communication inside NVLink domains, hidden or not.
        network: Communication over EFA, hidden or not.
        exposed: Communication that computation does not hide.
        bubble: Waiting for other stages of the pipeline.
        nvlink_bytes: Sent inside NVLink domains.
        network_bytes: Sent over EFA.
        tokens_per_second: Of one GPU.
    """

    seconds: float
    compute: float
    nvlink: float
    network: float
    exposed: float
    bubble: float
    nvlink_bytes: float
    network_bytes: float
    tokens_per_second: float


def step_time(
    model: Model,
    machine: Machine,
    layout: Layout,
    *,
    precision: Precision,
    sequence: int,
    batch: int,
    assumptions: Assumptions,
    balanced: bool = False,
) -> Step:
    """Return the time of a training step.

    Args:
        model: The model.
        machine: GPUs and network.
        layout: The parallel layout.
        precision: Of matrix multiplications; attention and the output layer are in BF16.
        sequence: Tokens of a sequence.
        batch: Sequences of a step, rounded to full micro-batches of all replicas.
        assumptions: Assumptions.
        balanced: Whether the last stage has fewer layers, to make up for the output layer.
    """
    tensor, pipeline, context, data = layout.tensor, layout.pipeline, layout.context, layout.data
    micro_batches = layout.micro_batches(batch)
    tokens = layout.micro_batch * sequence / context
    hidden = model.hidden
    fp8 = precision == "fp8"
    bf16_rate = machine.bf16 * machine.bf16_matmul * assumptions.kernel_efficiency
    rate = machine.fp8 * machine.fp8_matmul * assumptions.kernel_efficiency if fp8 else bf16_rate
    half = _HALF_WIDTH * (rate / (_HALF_WIDTH_AT * assumptions.kernel_efficiency)) ** _HALF_WIDTH_EXPONENT
    half_bf16 = _HALF_WIDTH * (bf16_rate / (_HALF_WIDTH_AT * assumptions.kernel_efficiency)) ** _HALF_WIDTH_EXPONENT

    # Computation of a layer, forward and backward, for a micro-batch.
    inner = model.heads * model.head_size
    per_layer = (model.active - (1 if model.tied else 2) * model.embedding) / model.layers
    per_layer = max(per_layer, 0.5 * model.active / model.layers)
    attention = model.attention_parameters or 2 * hidden * (inner + model.kv_heads * model.head_size)
    width = min(model.feed_forward if model.experts else model.feed_forward / tensor, hidden)
    each = 6 * tokens / tensor
    feed_forward = max(0.0, per_layer - attention)
    matmul = (attention * (1 + half * tensor / hidden) + feed_forward * (1 + half / width)) * each / rate
    scores = 6 * sequence * inner * tokens / tensor * _ATTENTION_BACKWARD
    attend = scores / (machine.bf16 * assumptions.attention_efficiency)
    if not assumptions.flash_attention:
        attend = 2 * attend + 18 * model.heads * sequence * tokens / tensor / machine.memory_bandwidth
    moved = (_ELEMENTWISE + _ROUTING * model.experts_per_token) * hidden * tokens / tensor
    compute = matmul + attend + moved / machine.memory_bandwidth

    # Communication of a layer.
    nvlink = machine.nvlink * assumptions.nvlink_efficiency
    network = machine.network * assumptions.network_efficiency or nvlink
    tensor_bytes = 16 * hidden * tokens * (tensor - 1) / tensor
    tensor_time = tensor_bytes / nvlink
    expert_bytes = far_bytes = expert_time = 0.0
    if model.experts and layout.expert > 1:
        expert_bytes = 8 * model.experts_per_token * hidden * tokens / tensor * (1 - 1 / layout.expert)
        # Routing sends a token to four nodes at most. https://arxiv.org/abs/2412.19437, section 3.2.2
        nodes = min(1.0, 4 / model.experts_per_token)
        far_bytes = expert_bytes * nodes * max(0.0, 1 - machine.domain / layout.expert)
        expert_time = max(expert_bytes / nvlink, far_bytes / network)
    shown = tensor_time * assumptions.exposed_tensor_parallel + expert_time * assumptions.exposed_expert_parallel
    again = 4 / 3 if layout.recompute else 1.0

    # A stage, and all micro-batches of the slowest one.
    layers = model.layers / pipeline
    output = model.embedding * each * (1 + half_bf16 * tensor / hidden) / bf16_rate
    stage_compute = (compute * again + _LAUNCH) * layers + (output / pipeline if balanced else output)
    stage = stage_compute + shown * again * layers
    bubble = stage * (pipeline - 1) / layout.virtual

    # Gradients and weights between replicas; what a stage does not hide is added.
    routed = model.routed
    dense = (model.parameters - routed) / (tensor * pipeline)
    near = max(1, machine.domain // (tensor * context))
    replicas = data * context
    times = micro_batches if layout.sharded else 1
    share = _shared(6 * dense, replicas, near * context)
    if routed and not layout.sharded:
        copies = tensor * pipeline * context * data // (layout.expert * pipeline)
        of_experts = _shared(6 * routed / (layout.expert * pipeline), copies, max(1, machine.domain // layout.expert))
        share = (share[0] + of_experts[0], share[1] + of_experts[1])
    elif routed:
        more = _shared(6 * routed / (layout.expert * pipeline), replicas, near * context)
        share = (share[0] + more[0], share[1] + more[1])
    data_time = max(share[0] / nvlink, share[1] / network)
    hides = stage if layout.sharded else stage * min(micro_batches, pipeline)
    late = max(0.0, data_time - hides) * times

    optimizer = model.parameters / (tensor * pipeline * context * data) * _OPTIMIZER_TRAFFIC / machine.memory_bandwidth
    gpus = tensor * pipeline * context * data
    slow = 1 + assumptions.jitter * max(0.0, log2(gpus / 8)) if gpus > 8 else 1.0
    seconds = (stage * micro_batches + bubble + late + optimizer) * slow
    # Activations between stages, and keys and values between the GPUs of a sequence.
    between = 4 * hidden * tokens / tensor * layout.virtual if pipeline > 1 else 0.0
    keys = 12 * model.kv_heads * model.head_size / tensor * tokens * (context - 1) * layers if context > 1 else 0.0
    near_keys = keys if tensor * context <= machine.domain else 0.0
    near_bytes = (tensor_bytes + expert_bytes - far_bytes) * again * layers + near_keys
    remote_bytes = far_bytes * again * layers + between + keys - near_keys
    nvlink_bytes = near_bytes * micro_batches + share[0] * times
    network_bytes = remote_bytes * micro_batches + share[1] * times
    return Step(
        seconds=seconds,
        compute=stage_compute * micro_batches + optimizer,
        nvlink=nvlink_bytes / nvlink,
        network=network_bytes / network,
        exposed=shown * again * layers * micro_batches + late,
        bubble=bubble,
        nvlink_bytes=nvlink_bytes,
        network_bytes=network_bytes,
        tokens_per_second=micro_batches * data * layout.micro_batch * sequence / seconds / gpus,
    )


def _shared(volume: float, members: int, near: int) -> tuple[float, float]:
    """Return the bytes that a member of a group sends inside its NVLink domain and over the network.

    Members of one domain share the network: each sends its part of the volume.
    """
    near = max(1, min(members, near))
    return volume * (near - 1) / near, volume * (1 - near / members) / near
