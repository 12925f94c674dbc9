"""Figures of a training plan."""

from dataclasses import dataclass

from ultracluster.catalogue.training import CHINCHILLA, FAILURES_PER_1000_NODE_DAYS, KAPLAN, RECOVERY_SECONDS
from ultracluster.planning import Kind
from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._failures import interruptions
from ultracluster.planning.workload._layout import usable_memory
from ultracluster.planning.workload._model import Model
from ultracluster.planning.workload._requirements import add_cost, add_file_system, add_resources, add_spares
from ultracluster.planning.workload._resolve import Resolved
from ultracluster.planning.workload._search import layers_of_stage
from ultracluster.planning.workload._sheet import STEP, ZERO, Sheet

_DALY = "Daly 2006, https://doi.org/10.1016/j.future.2004.11.016, equation 37; its first term: Young 1974"
_LAW = "Kaplan et al. 2020, https://arxiv.org/abs/2001.08361, section 2.1"
_DAY = 86_400


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """Inputs of the figures besides the resolved job."""

    kind: Kind
    model: Model
    tokens: float
    price: float | None
    assumptions: Assumptions


def fill(sheet: Sheet, result: Resolved, inputs: Inputs) -> None:
    """Add all figures of a training plan."""
    goodputs = goodput_range(result.nodes, inputs.assumptions)
    _work(sheet, result, inputs, goodputs)
    _layout(sheet, result)
    _communication(sheet, result)
    _failures(sheet, result, inputs, goodputs)
    spares = add_spares(sheet, result.record, result.nodes, inputs.assumptions)
    size = inputs.assumptions.checkpoint_bytes(inputs.model.parameters)
    dataset = inputs.tokens * inputs.assumptions.dataset_bytes_per_token
    add_file_system(sheet, result.record, result.nodes, size, dataset, inputs.assumptions)
    add_resources(sheet, result.record, result.nodes, spares, result.days)
    add_cost(sheet, inputs.price, result.nodes + spares, result.days)
    _compute_optimal(sheet, inputs)


def goodput_range(nodes: int, assumptions: Assumptions) -> tuple[float, float]:
    """Return the goodput at the worst and at the best published rates, or at an assumed one outside of them."""
    rate, recovery = FAILURES_PER_1000_NODE_DAYS, RECOVERY_SECONDS
    assumed, took = assumptions.failures_per_1000_node_days, assumptions.recovery_seconds
    worst = interruptions(nodes, assumptions, failures=max(rate.high, assumed), recovery=max(recovery.high, took))
    best = interruptions(nodes, assumptions, failures=min(rate.low, assumed), recovery=min(recovery.low, took))
    return worst.goodput, best.goodput


def _work(sheet: Sheet, result: Resolved, inputs: Inputs, goodputs: tuple[float, float]) -> None:
    model, job, record = inputs.model, result.job, result.record
    gpus = result.nodes * record.gpus
    peak = job.machine.peak(job.precision)
    error = inputs.assumptions.mfu_error
    is_predicted = result.mfu == result.predicted
    spread = (1 - error, 1 + error) if is_predicted else (1.0, 1.0)
    flops = 6 * model.active * inputs.tokens
    sheet.add("flops", flops, "FLOP", "6 * active_parameters * tokens", _LAW)
    scores = 6 * model.layers * job.sequence * model.heads * model.head_size
    sheet.add("attention_flops", scores * inputs.tokens, "FLOP",
              "6 * layers * sequence * heads * head_size * tokens, causal; not in flops and mfu",
              "https://arxiv.org/abs/2205.05198, appendix A, half of it")  # fmt: skip
    sheet.add("parameters", model.parameters, "parameters", "given", "the caller")
    sheet.add("active_parameters", model.active, "parameters", "those that a token uses", "the caller")
    sheet.add("layers", model.layers, "layers", "given, or by the shape of Llama 3", "https://arxiv.org/abs/2407.21783")
    sheet.add("hidden", model.hidden, "units", "given, or by the shape of Llama 3", "https://arxiv.org/abs/2407.21783")
    sheet.add("tokens", inputs.tokens, "tokens", "given")
    sheet.add("instance_type", record.name, "", "fewest nodes, earliest end or lowest peak", record.source)
    sheet.add("nodes", result.nodes, "nodes", "fewest that hold the model and end in time")
    sheet.add("gpus", gpus, "GPUs", "nodes * GPUs of a node", record.source)
    sheet.add("precision", job.precision, "", "given")
    sheet.add("peak_flops_per_gpu", peak, "FLOP/s", "dense peak", record.gpu.source if record.gpu else "")
    predicted = (result.predicted * (1 - error), result.predicted * (1 + error))
    sheet.add("predicted_mfu", result.predicted, "", "flops of a step / (step time * gpus * peak_flops_per_gpu)", STEP,
              predicted)  # fmt: skip
    method = "predicted_mfu" if is_predicted else "flops / (compute_days * 86400 * gpus * peak_flops_per_gpu)"
    sheet.add("mfu", result.mfu, "", method, STEP, predicted if is_predicted else None)  # fmt: skip
    shortest, longest = result.compute_days / spread[1], result.compute_days / spread[0]
    sheet.add("compute_days", result.compute_days, "days", "flops / (gpus * peak_flops_per_gpu * mfu) / 86400",
              range_=(shortest, longest) if is_predicted else None)  # fmt: skip
    days = (shortest / goodputs[1], longest / goodputs[0])
    sheet.add("days", result.days, "days", "compute_days / goodput", range_=days)
    sheet.add("gpu_hours", result.days * 24 * gpus, "GPU-hours", "days * 24 * gpus",
              range_=(days[0] * 24 * gpus, days[1] * 24 * gpus))  # fmt: skip
    rate = inputs.tokens / result.compute_days / _DAY
    layout = result.layout
    batch = layout.micro_batches(job.batch) * layout.data * layout.micro_batch * job.sequence
    sheet.add("tokens_per_second", rate, "tokens/s", "tokens / (compute_days * 86400)")
    sheet.add("sequence", job.sequence, "tokens", "tokens of a sequence", "the caller")
    sheet.add("batch_tokens", batch, "tokens", "given, or by parameters, in full micro-batches",
              "https://arxiv.org/abs/2407.21783, section 3.4.1")  # fmt: skip
    sheet.add("steps", max(1, round(inputs.tokens / batch)), "steps", "tokens / batch_tokens")
    sheet.add("step_seconds", batch / rate, "s", "batch_tokens / tokens_per_second")
    if not is_predicted and result.mfu > result.predicted * (1 + error):
        sheet.notes.append(
            f"an MFU of {result.mfu:.3g} is {result.mfu / result.predicted:.2f} times the predicted "
            f"{result.predicted:.3g}: published runs on this type are below it"
        )
    if model.experts:
        sheet.notes.append(
            "MFU of mixtures of experts varies with software: "
            "published figures on B200, B300 and GB200 are 25 % below to 51 % above the prediction"
        )
    stages = result.layout.pipeline
    if layers_of_stage(model, stages) is None:
        sheet.notes.append(
            f"{model.layers} layers are not a multiple of {stages} stages: stages are uneven, and a step takes up to "
            f"{-(-model.layers // stages) * stages / model.layers - 1:.1%} longer"
        )
    idle = gpus - result.layout.gpus
    if idle:
        sheet.notes.append(f"the layout leaves {idle:,} of {gpus:,} GPUs idle")


def _layout(sheet: Sheet, result: Resolved) -> None:
    layout = result.layout
    sheet.add("layout", str(layout), "", "fastest of the layouts that fit", STEP)
    for name in ("tensor", "pipeline", "context", "expert", "data"):
        sheet.add(f"{name}_parallel", getattr(layout, name), "GPUs", "fastest of the layouts that fit", STEP)
    sheet.add("micro_batch", layout.micro_batch, "sequences", "fastest of the layouts that fit", STEP)
    sheet.add("virtual_stages", layout.virtual, "parts", "largest divisor of the layers of a stage, up to 8", STEP)
    sheet.add("memory_per_gpu_bytes", result.job.memory(layout), "bytes",
              "18 bytes a parameter, as far as the layout shares them, + 24 bytes * hidden * layers a token + logits",
              ZERO)  # fmt: skip
    sheet.add("usable_memory_per_gpu_bytes", usable_memory(result.job.machine, result.job.assumptions), "bytes",
              "GPU memory * (1 - memory_reserve)", result.record.source)  # fmt: skip


def _communication(sheet: Sheet, result: Resolved) -> None:
    step, machine = result.step, result.job.machine
    sheet.add("compute_seconds_per_step", step.compute, "s", "matrix multiplications, attention, memory traffic", STEP)
    sheet.add("bubble_seconds_per_step", step.bubble, "s", "(pipeline - 1) / virtual stages micro-batches",
              "https://arxiv.org/abs/2104.04473, section 2.2")  # fmt: skip
    sheet.add("nvlink_bytes_per_step", step.nvlink_bytes, "bytes", "tensor, expert and data parallelism of a GPU", STEP)
    sheet.add("efa_bytes_per_step", step.network_bytes, "bytes",
              "data, expert, context and pipeline parallelism of a GPU", STEP)  # fmt: skip
    sheet.add("nvlink_seconds_per_step", step.nvlink, "s",
              f"nvlink_bytes_per_step / ({machine.nvlink / 1e9:,.0f} GB/s * nvlink_efficiency), hidden or not",
              result.record.source)  # fmt: skip
    sheet.add("efa_seconds_per_step", step.network, "s",
              f"efa_bytes_per_step / ({machine.network / 1e9:,.1f} GB/s * network_efficiency), hidden or not",
              result.record.source)  # fmt: skip
    sheet.add("exposed_seconds_per_step", step.exposed, "s", "communication that computation does not hide", STEP)
    parts = {"computation": step.compute, "NVLink": step.nvlink, "EFA": step.network}
    sheet.add("bottleneck", max(parts, key=parts.__getitem__), "", "largest of computation, NVLink and EFA of a step")


def _failures(sheet: Sheet, result: Resolved, inputs: Inputs, goodputs: tuple[float, float]) -> None:
    assumptions, nodes = inputs.assumptions, result.nodes
    rate = FAILURES_PER_1000_NODE_DAYS
    assumed = assumptions.failures_per_1000_node_days
    low, high = min(rate.low, assumed), max(rate.high, assumed)
    of_job = interruptions(nodes, assumptions)
    sheet.add("failures_per_1000_node_days", assumed, "failures", rate.unit, rate.source, (low, high))
    sheet.add("interruptions", nodes * result.days * assumed / 1000, "interruptions",
              "nodes * days * failures_per_1000_node_days / 1000", rate.source,
              (nodes * result.days * low / 1000, nodes * result.days * high / 1000))  # fmt: skip
    sheet.add("days_between_interruptions", of_job.days_between, "days", "1000 / failures_per_1000_node_days / nodes",
              rate.source, (1000 / high / nodes, 1000 / low / nodes if low else float("inf")))  # fmt: skip
    sheet.add("recovery_seconds", assumptions.recovery_seconds, "s", RECOVERY_SECONDS.unit, RECOVERY_SECONDS.source,
              (RECOVERY_SECONDS.low, RECOVERY_SECONDS.high))  # fmt: skip
    sheet.add("checkpoint_bytes", assumptions.checkpoint_bytes(inputs.model.parameters), "bytes",
              "parameters * checkpoint_bytes_per_parameter", f"{ZERO}; AWS examples 12.1 to 14.7")  # fmt: skip
    sheet.add("checkpoint_stall_seconds", assumptions.checkpoint_stall_seconds, "s", "assumed")
    sheet.add("checkpoint_interval_seconds", of_job.interval, "s",
              "sqrt(2 * checkpoint_stall_seconds * seconds between interruptions), higher order", _DALY)  # fmt: skip
    sheet.add("goodput", result.goodput, "",
              "1 / (1 + stall / interval + (interval / 2 + recovery) / seconds between interruptions)",
              "https://arxiv.org/abs/2410.21680, effective training time ratio", goodputs)  # fmt: skip


def _compute_optimal(sheet: Sheet, inputs: Inputs) -> None:
    if inputs.kind != "pretraining":
        return
    flops = 6 * inputs.model.active * inputs.tokens
    for law in (CHINCHILLA, KAPLAN):
        parameters = law.parameters(flops)
        name = law.name.lower()
        sheet.add(f"{name}_parameters", parameters, "parameters", f"{law.coefficient:.3g} * flops ** {law.exponent}",
                  law.source)  # fmt: skip
        sheet.add(f"{name}_tokens", flops / 6 / parameters, "tokens", f"flops / 6 / {name}_parameters", law.source)
