"""Plans of reinforcement learning: rollouts, updates, the split of nodes that balances them, weight sync."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.ec2 import instance_type as look_up
from ultracluster.planning import Plan
from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._failures import interruptions
from ultracluster.planning.workload._layout import Layout
from ultracluster.planning.workload._machine import Precision, precision_problems
from ultracluster.planning.workload._model import Model
from ultracluster.planning.workload._requirements import add_cost, add_file_system, add_resources, add_spares
from ultracluster.planning.workload._resolve import check_whole
from ultracluster.planning.workload._search import fastest
from ultracluster.planning.workload._serving import Replica, Serving
from ultracluster.planning.workload._sheet import STEP, Sheet, checked
from ultracluster.planning.workload._training import absurd, job_on
from ultracluster.planning.workload._training_sheet import goodput_range

_DEFAULTS = Assumptions()
_GRPO = "https://arxiv.org/abs/2402.03300, section 4.1; overlap: https://arxiv.org/abs/2409.19256"
# FLOPs of an update for each active parameter and token: 6, and a forward pass of the old and of the reference policy.
_UPDATE = 6 + 2 + 2
_DAY = 86_400
_LEAST_SEQUENCE = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class _Split:
    """Nodes for training and for rollouts, and the seconds of a step."""

    training: int
    rollout: int
    rollout_seconds: float
    update_seconds: float
    sync_seconds: float
    step_seconds: float
    layout: Layout
    replica: Replica


def plan_rl(
    model: Model,
    *,
    instance_type: InstanceType | str,
    nodes: int,
    steps: int = 1000,
    prompts: int = 512,
    samples: int = 16,
    prompt_tokens: int = 1024,
    response_tokens: int = 8192,
    shared: bool = False,
    precision: Precision = "bf16",
    dollars_per_node_hour: float | None = None,
    assumptions: Assumptions = _DEFAULTS,
) -> Plan:
    """Plan reinforcement learning with a group of responses for each prompt (GRPO).

    Args:
        model: The policy.
        instance_type: A name of the catalogue, or a record.
        nodes: Instances for rollouts and training together.
        steps: Updates of the policy.
        prompts: Prompts of a step.
        samples: Responses for each prompt.
        prompt_tokens: Tokens of a prompt.
        response_tokens: Mean tokens of a response, reasoning included.
        shared: Whether rollouts and training take turns on all GPUs. Default: separate GPUs, which overlap.
        precision: Of weights in rollouts, and of matrix multiplications in training.
        dollars_per_node_hour: Price of an instance. Default: no cost.
        assumptions: Assumptions.

    Raises:
        ValueError: If figures are absurd or the model does not fit, with the constraint that binds.
    """
    checked(
        [
            *absurd("nodes", nodes, 1 if shared else 2, 65_536),
            *absurd("steps", steps, 1, 1e9),
            *absurd("prompts", prompts, 1, 1e7),
            *absurd("samples", samples, 1, 1e5),
            *absurd("tokens of a prompt", prompt_tokens, 1, 1e7),
            *absurd("tokens of a response", response_tokens, 1, 1e7),
            *precision_problems(precision),
            *assumptions.problems(),
        ]
    )
    record = look_up(instance_type) if isinstance(instance_type, str) else instance_type
    check_whole(record, nodes)
    responses = prompts * samples
    sequence = max(_LEAST_SEQUENCE, prompt_tokens + response_tokens)
    job = job_on(record, model=model, precision=precision, sequence=sequence, batch=responses, assumptions=assumptions)
    serving = Serving(
        model=model, machine=job.machine, precision=precision, prompt=prompt_tokens, generated=response_tokens,
        slowest=None, assumptions=assumptions,
    )  # fmt: skip
    replica = serving.replica()

    @cache
    def update(training: int) -> tuple[Layout, float]:
        layout, step = fastest(job, training * record.gpus)
        return layout, step.seconds * _UPDATE / 6

    def rollout(count: int) -> float:
        replicas = count * record.gpus // replica.gpus
        if replicas < 1:
            return float("inf")
        # A replica decodes its responses in full batches; the last one is as slow as the others.
        each = -(-responses // replicas)
        batch = min(each, replica.batch)
        rounds = -(-each // batch)
        token = serving.token_seconds(replica.gpus, batch)
        return rounds * response_tokens * token + each * replica.prefill_seconds / samples

    # Every rollout replica receives the weights; the fewer GPUs of the two sides send or receive them.
    def split(training: int, count: int) -> _Split:
        layout, seconds = update(training)
        generated = rollout(count)
        gpus = min(training, count) * record.gpus
        rate = job.machine.network * assumptions.network_efficiency * gpus or 1e9
        sync = serving.weights / (job.machine.nvlink * replica.gpus) if shared else serving.weights / rate
        total = generated + seconds + sync if shared else max(generated, seconds) + sync
        return _Split(
            training=training, rollout=count, rollout_seconds=generated, update_seconds=seconds, sync_seconds=sync,
            step_seconds=total, layout=layout, replica=replica,
        )  # fmt: skip

    best = split(nodes, nodes) if shared else _balanced(split, nodes)
    if best.rollout_seconds == float("inf"):
        raise ValueError(
            f"a replica of {replica.gpus} GPUs does not fit into {best.rollout} nodes of {record.gpus} for rollouts; "
            f"use {-(-replica.gpus // record.gpus) - best.rollout} more"
        )
    sheet = Sheet(frozenset({"instance_type", "nodes", "precision"}))
    _figures(sheet, best, model, record, nodes, shared)
    tokens = responses * response_tokens
    sheet.add("rollout_tokens_per_second", tokens / best.rollout_seconds, "tokens/s",
              "prompts * samples * response_tokens / rollout_seconds")  # fmt: skip
    sheet.add("flops", _UPDATE * model.active * responses * sequence * steps, "FLOP",
              "10 * active_parameters * tokens of a step * steps", _GRPO)  # fmt: skip
    goodput = interruptions(nodes, assumptions)
    days = steps * best.step_seconds / _DAY / goodput.goodput
    worst, good = goodput_range(nodes, assumptions)
    sheet.add("goodput", goodput.goodput, "", "as in training", "https://arxiv.org/abs/2410.21680", (worst, good))
    pure = days * goodput.goodput
    sheet.add("days", days, "days", "steps * step_seconds / goodput / 86400", range_=(pure / good, pure / worst))
    sheet.add("gpu_hours", days * 24 * nodes * record.gpus, "GPU-hours", "days * 24 * gpus")
    size = assumptions.checkpoint_bytes(model.parameters)
    sheet.add("checkpoint_bytes", size, "bytes", "parameters * checkpoint_bytes_per_parameter")
    sheet.add("checkpoint_interval_seconds", goodput.interval, "s", "Young and Daly, as in training")
    spares = add_spares(sheet, record, nodes, assumptions)
    add_file_system(sheet, record, nodes, size, 0, assumptions)
    add_resources(sheet, record, nodes, spares, days)
    add_cost(sheet, dollars_per_node_hour, nodes + spares, days)
    return Plan(kind="rl", figures=tuple(sheet.figures), notes=tuple(sheet.notes))


def _balanced(split: Callable[[int, int], _Split], nodes: int) -> _Split:
    """Return the split with the shortest step.

    Raises:
        ValueError: If the model fits into no number of nodes for training.
    """
    best, reason = None, ""
    # 24 sizes in geometric steps, then the neighbors of the best.
    sizes = sorted({max(1, min(nodes - 1, round((nodes - 1) ** (step / 24)))) for step in range(25)})
    for training in sizes:
        try:
            candidate = split(training, nodes - training)
        except ValueError as error:
            reason = str(error)
            continue
        if best is None or candidate.step_seconds < best.step_seconds:
            best = candidate
    if best is None:
        raise ValueError(f"no split of {nodes} nodes fits: training: {reason}")
    for training in range(max(1, best.training - 8), min(nodes - 1, best.training + 8) + 1):
        try:
            candidate = split(training, nodes - training)
        except ValueError:
            continue
        best = min(best, candidate, key=lambda each: each.step_seconds)
    return best


def _figures(sheet: Sheet, best: _Split, model: Model, record: InstanceType, nodes: int, shared: bool) -> None:
    sheet.add("parameters", model.parameters, "parameters", "given", "the caller")
    sheet.add("active_parameters", model.active, "parameters", "those that a token uses", "the caller")
    sheet.add("instance_type", record.name, "", "given")
    sheet.add("nodes", nodes, "nodes", "given")
    sheet.add("gpus", nodes * record.gpus, "GPUs", "nodes * GPUs of a node", record.source)
    method = "all nodes, in turns" if shared else "shortest step of all splits"
    sheet.add("training_nodes", best.training, "nodes", method)
    sheet.add("rollout_nodes", best.rollout, "nodes", method)
    sheet.add("layout", str(best.layout), "", "fastest of the layouts that fit", STEP)
    sheet.add(
        "gpus_per_replica",
        best.replica.gpus,
        "GPUs",
        "most responses per GPU of the powers of two that fit",
        record.source,
    )
    sheet.add("rollout_seconds", best.rollout_seconds, "s", "batches of a replica * response_tokens * time of a token",
              "roofline: https://arxiv.org/abs/2211.05102")  # fmt: skip
    sheet.add("update_seconds", best.update_seconds, "s",
              "step of training * 10 / 6, for two further forward passes", _GRPO)  # fmt: skip
    sheet.add("weight_sync_seconds", best.sync_seconds, "s",
              "weights / NVLink of a replica" if shared else "weights / EFA of the smaller side")  # fmt: skip
    sheet.add("step_seconds", best.step_seconds, "s",
              "rollout + update + weight sync" if shared else "larger of rollout and update, + weight sync",
              _GRPO)  # fmt: skip
    slower = "rollouts" if best.rollout_seconds > best.update_seconds else "updates"
    sheet.add("bottleneck", slower, "", "larger of rollout_seconds and update_seconds")
