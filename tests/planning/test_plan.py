"""Plans: figures, ranges, and the sentences for what cannot be planned."""

import json
import re
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultracluster.catalogue.ec2 import instance_type
from ultracluster.planning import Plan
from ultracluster.planning.workload import (
    Assumptions,
    Layout,
    Model,
    pareto,
    plan_inference,
    plan_rl,
    plan_training,
    sweep,
)
from ultracluster.planning.workload._budget import budget_flops, compute_optimal
from ultracluster.planning.workload._failures import checkpoint_interval, interruptions, spare_nodes
from ultracluster.planning.workload._step import step_time

LLAMA = Model.of(405e9)
SMALL = Model.of(8e9)


def llama() -> Plan:
    return plan_training(LLAMA, tokens=15.6e12, instance_type="p5.48xlarge", nodes=2048, mfu=0.4)


def test_the_main_figures_are_arithmetic_on_the_inputs() -> None:
    plan = llama()
    assert plan.flops == 6 * 405e9 * 15.6e12
    assert plan.gpus == 8 * plan.nodes == 16_384
    seconds = plan.flops / (16_384 * 0.9895e15 * 0.4)
    assert plan.number("compute_days") == pytest.approx(seconds / 86_400)
    assert plan.days == pytest.approx(plan.number("compute_days") / plan.goodput)
    assert plan.gpu_hours == pytest.approx(plan.days * 24 * plan.gpus)
    assert plan.checkpoint_bytes == 14 * 405e9
    assert plan.interruptions == pytest.approx(2048 * plan.days * 6.5 / 1000)
    assert plan.gpu_hours == pytest.approx(30.84e6, rel=0.1)


def test_a_plan_has_stable_names() -> None:
    assert {
        *(
            "flops",
            "days",
            "gpu_hours",
            "mfu",
            "predicted_mfu",
            "nodes",
            "gpus",
            "goodput",
            "interruptions",
            "spare_nodes",
        ),
        *("checkpoint_bytes", "checkpoint_interval_seconds", "checkpoint_stall_seconds", "memory_per_gpu_bytes"),
        *("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel", "data_parallel", "layout"),
        *("nvlink_bytes_per_step", "efa_bytes_per_step", "bottleneck", "lustre_capacity_gib", "lustre_mb_per_s"),
        *("addresses", "network_interfaces", "vcpus", "vcpu_quota", "metric_series"),
        *("chinchilla_parameters", "chinchilla_tokens", "kaplan_parameters", "kaplan_tokens"),
    } <= {figure.name for figure in llama().figures}


def test_every_figure_has_formula_source_and_a_range_around_its_value() -> None:
    plans = [
        llama(),
        plan_training(SMALL, tokens=1e11, kind="fine-tuning", instance_type="p5en.48xlarge", nodes=2),
        plan_rl(SMALL, instance_type="p5en.48xlarge", nodes=4),
        plan_inference(SMALL, instance_type="p5en.48xlarge", requests_per_second=500),
    ]
    for plan in plans:
        names = [figure.name for figure in plan.figures]
        assert len(names) == len(set(names))
        for figure in plan.figures:
            assert figure.formula, figure.name
            assert figure.source, figure.name
            if figure.low is not None and figure.high is not None and not isinstance(figure.value, str):
                assert figure.low <= figure.value <= figure.high, figure.name


def test_a_plan_is_frozen_and_survives_json() -> None:
    plan = llama()
    with pytest.raises(FrozenInstanceError):
        plan.kind = "rl"  # type: ignore[misc]
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    with pytest.raises(KeyError, match="no figure 'day'"):
        plan["day"]


@pytest.mark.parametrize(
    "given_",
    [
        {"instance_type": "p5.48xlarge", "nodes": 64},
        {"instance_type": "p5.48xlarge", "days": 30},
        {"instance_type": "p5.48xlarge", "mfu": 0.4},
        {"nodes": 64, "days": 60},
        {"nodes": 64, "mfu": 0.4},
        {"days": 30, "mfu": 0.4},
    ],
    ids=lambda value: "-".join(value),
)
def test_any_two_of_type_nodes_days_and_mfu_give_the_others(given_: dict[str, object]) -> None:
    plan = plan_training(Model.of(13e9), tokens=1e12, **given_)  # type: ignore[arg-type]
    for name, value in given_.items():
        result = plan[name].value
        if name == "days" and "nodes" not in given_:
            assert plan.days <= value  # type: ignore[operator] # the fewest nodes that end in time
        else:
            assert result == (pytest.approx(value, rel=1e-6) if not isinstance(value, str) else value)
    assert plan.days * plan.mfu * plan.gpus * plan.goodput * 86_400 * plan.number(
        "peak_flops_per_gpu"
    ) == pytest.approx(plan.flops)


def test_the_fewest_nodes_for_a_number_of_days_are_found() -> None:
    plan = plan_training(Model.of(13e9), tokens=1e12, instance_type="p5.48xlarge", days=30)
    assert not next(figure.given for figure in plan.figures if figure.name == "days")
    fewer = plan_training(Model.of(13e9), tokens=1e12, instance_type="p5.48xlarge", nodes=plan.nodes - 1)
    assert plan.days <= 30 < fewer.days


def test_a_plan_that_is_longer_than_a_capacity_block_has_a_note() -> None:
    """Days of a block with its extensions: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html."""
    note = "days are more than the 182 that one Capacity Block lasts, with all its extensions"
    machines = {"instance_type": "p6-b300.48xlarge", "nodes": 48}
    long = plan_training(Model.of(405e9), tokens=15e12, **machines)  # type: ignore[arg-type]  # of several types
    assert f"{long.days:,.0f} {note}" in long.notes
    assert not any(note in each for each in plan_training(Model.of(8e9), tokens=1e12, **machines).notes)  # type: ignore[arg-type]


def test_a_layout_fits_memory_and_nvlink_domain_and_a_given_one_is_used() -> None:
    plan = llama()
    assert plan.number("memory_per_gpu_bytes") <= plan.number("usable_memory_per_gpu_bytes") < 80 * 2**30
    assert plan.number("tensor_parallel") <= 8
    layout = Layout(tensor=8, pipeline=16, virtual=8)
    chosen = plan_training(LLAMA, tokens=15.6e12, instance_type="p5.48xlarge", nodes=2048, layout=layout)
    assert [chosen.number(f"{level}_parallel") for level in ("tensor", "pipeline", "data")] == [8, 16, 128]
    assert chosen.mfu == pytest.approx(0.41, rel=0.1)


@pytest.mark.parametrize(
    ("parameters", "active"),
    [(8e9, None), (70e9, None), (200e9, None), (405e9, None), (671e9, 37e9), (1e12, 32e9)],
)
@pytest.mark.parametrize(
    ("instance_type", "nodes"), [("p5.48xlarge", 250), ("p5.48xlarge", 2048), ("p4d.24xlarge", 384)]
)
def test_a_chosen_layout_divides_heads_layers_and_experts(
    parameters: float, active: float | None, instance_type: str, nodes: int
) -> None:
    model = Model.of(parameters, active=active)
    plan = plan_training(model, tokens=1e12, instance_type=instance_type, nodes=nodes)
    tensor, pipeline, expert, context, data = (
        int(plan.number(f"{level}_parallel")) for level in ("tensor", "pipeline", "expert", "context", "data")
    )
    assert model.heads % tensor == 0
    assert model.heads % model.kv_heads == 0
    parts = pipeline * int(plan.number("virtual_stages"))
    assert 0 in (model.layers % parts, (model.layers + 2) % parts)
    assert model.experts % expert == 0
    assert tensor * context * data % expert == 0


def test_layers_that_no_number_of_stages_divides_have_uneven_stages() -> None:
    model = Model.of(405e9, layers=127)
    plan = plan_training(model, tokens=1e12, instance_type="p5.48xlarge", nodes=2048)
    assert (plan.number("pipeline_parallel"), plan.number("virtual_stages")) == (8, 1)
    assert "127 layers are not a multiple of 8 stages" in plan.notes[0]


@pytest.mark.parametrize(
    ("parameters", "nodes", "sequence"),
    [(8e9, 200, 4096), (8e9, 200, 8192), (8e9, 256, 4096), (405e9, 100, 4096), (405e9, 250, 8192)],
)
def test_an_interleaved_schedule_has_a_micro_batch_for_each_stage_in_each_round(
    parameters: float, nodes: int, sequence: int
) -> None:
    """Megatron ends with an error otherwise: forward_backward_pipelining_with_interleaving, core_v0.17.1."""
    plan = plan_training(
        Model.of(parameters), tokens=1e12, instance_type="p6-b200.48xlarge", nodes=nodes, sequence=sequence
    )
    names = ("pipeline_parallel", "virtual_stages", "data_parallel", "micro_batch", "batch_tokens")
    stages, virtual, data, micro, tokens = (int(plan.number(name)) for name in names)
    assert tokens % (data * micro * sequence) == 0
    assert virtual == 1 or tokens // (data * micro * sequence) % stages == 0


def test_degrees_and_precisions_that_no_job_has_are_refused() -> None:
    sparse = Model.of(671e9, active=37e9)
    for layout, problem in (
        (Layout(tensor=0, expert=-1), "tensor must be at least 1, got 0; expert must be at least 1, got -1"),
        (Layout(tensor=2, pipeline=8, expert=48), "expert parallelism of 48 does not divide the 256 experts"),
    ):
        with pytest.raises(ValueError, match=problem):
            plan_training(sparse, tokens=1e12, instance_type="p5en.48xlarge", nodes=96, layout=layout)
    with pytest.raises(ValueError, match=r"at least one number of nodes; precision must be bf16 or fp8, got 'fp4'"):
        sweep(sparse, tokens=1e12, node_counts=[], precision="fp4")  # type: ignore[arg-type]  # of no plan


def test_an_interleaved_schedule_for_too_few_micro_batches_is_refused() -> None:
    layout = Layout(tensor=8, pipeline=16, virtual=8)
    few = {"batch_tokens": 2**20, "layout": layout, "instance_type": "p5.48xlarge", "nodes": 2048}
    with pytest.raises(ValueError, match=r"128 sequences has fewer micro-batches than the 16 stages .* 128 replicas"):
        plan_training(LLAMA, tokens=1e12, **few)  # type: ignore[arg-type]  # of several types


def test_a_mixture_of_experts_uses_expert_parallelism() -> None:
    plan = plan_training(Model.of(671e9, active=37e9), tokens=14.8e12, instance_type="p5.48xlarge", nodes=256)
    assert plan.flops == 6 * 37e9 * 14.8e12
    assert plan.number("expert_parallel") > 1
    assert plan.checkpoint_bytes == 14 * 671e9


NO_FIT = {"instance_type": "p5.48xlarge", "nodes": 1}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"nodes": 8}, "give two of type, nodes, days and MFU"),
        (NO_FIT, r"does not fit: on 8 GPUs .* needs [\d,]+ GiB of each GPU, and 72 GiB are usable .* GiB are missing"),
        (
            {"instance_type": "p5.48xlarge", "nodes": 512, "days": 30},
            r"need an MFU of [\d.]+ to end in 30 days, and [\d.]+ is predicted.* nodes or .* days would do",
        ),
        (
            {"instance_type": "p5.48xlarge", "nodes": 2048, "mfu": 0.4, "days": 30},
            r"take 8\d\.\d days, and 30 are given, 64% less",
        ),
        ({"instance_type": "p5.48xlarge", "days": 0.5}, "no number of nodes of p5.48xlarge ends in 0.5 days"),
        ({"instance_type": "p5.48xlarge", "nodes": 10**6}, "nodes must be from 1 to 65536, got 1e[+]06"),
        ({"instance_type": "p5.48xlarge", "nodes": 64, "mfu": 1.5}, r"an MFU must be from 0\.0001 to 1, got 1\.5"),
        ({"instance_type": "p5.48xlarge", "nodes": 64, "tokens": -1}, "tokens must be from 1"),
        (
            {"instance_type": "p5.48xlarge", "nodes": 64, "sequence": 10**12},
            r"^the sequence must be from 1 to [^;]*, got 1e[+]12: above [^;]*, the most that a plan accepts$",
        ),
        ({"instance_type": "p4d.24xlarge", "nodes": 512, "precision": "fp8"}, "has A100, which has no FP8"),
        ({"instance_type": "p5.48xlarge", "nodes": 64, "precision": "int4"}, "precision must be bf16 or fp8"),
        ({"instance_type": "m7i.xlarge", "nodes": 64}, "has no GPU with known peaks"),
        ({"instance_type": "p9.48xlarge", "nodes": 64}, "unknown instance type"),
        (
            {"instance_type": "p5.48xlarge", "nodes": 64, "layout": Layout(tensor=16, pipeline=64)},
            "needs 1,024 GPUs, 512 more than 512; tensor parallelism of 16 leaves the NVLink domain of 8 GPUs",
        ),
        (
            {"instance_type": "p5.48xlarge", "nodes": 2048, "layout": Layout(tensor=3, pipeline=16)},
            "tensor parallelism of 3 does not divide the 128 attention heads, 2 of which remain",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_what_cannot_be_planned_names_the_constraint_and_by_how_much(
    arguments: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        plan_training(LLAMA, **{"tokens": 15.6e12, **arguments})  # type: ignore[arg-type]


def test_absurd_models_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a model has 1e[+]06 to 1e[+]15 parameters, got 1e[+]20"):
        Model.of(1e20)
    with pytest.raises(ValueError, match=r"more than all 8e[+]09, by 1e[+]09"):
        Model.of(8e9, active=9e9)
    for shape, sentence in (
        ({"active": 1e9, "experts": 2, "experts_per_token": 9}, "9 experts of a token are more than all 2, by 7"),
        ({"experts": 8}, "name the active ones"),
        ({"heads": 7, "hidden": 4}, "7 heads are more than the 4 hidden units, by 3"),
        ({"heads": 12, "kv_heads": 8}, "8 kv heads do not divide the 12 heads: 4 remain"),
        ({"hidden": 16}, r"would be [\d,]+ times as wide, at most 32 times is planned"),
    ):
        with pytest.raises(ValueError, match=sentence):
            Model.of(8e9, **shape)
    with pytest.raises(ValueError, match=r"an MFU must be a number from 0\.0001 to 1, got nan"):
        plan_training(SMALL, tokens=1e12, instance_type="p5.48xlarge", nodes=8, mfu=float("nan"))
    with pytest.raises(ValueError, match=r"^the sequence must be from 1 to [^;]* got 1e[+]12: [^;]*$"):
        sweep(SMALL, tokens=1e12, node_counts=[8], sequence=10**12)
    with pytest.raises(ValueError, match=r"fits on no candidate; on the largest, .* GiB are missing"):
        sweep(Model.of(100e12), tokens=15e12, node_counts=[1, 8])
    with pytest.raises(ValueError, match=r"a replica does not fit: weights of .* GiB more than 72 GPUs"):
        plan_inference(Model.of(100e12), instance_type="p5.48xlarge")
    with pytest.raises(ValueError, match=r"times the 0.1 ms that are allowed: reading the weights from memory binds"):
        plan_inference(LLAMA, instance_type="p5.48xlarge", seconds_per_token=1e-4)
    with pytest.raises(ValueError, match="a budget has 1e"):
        compute_optimal(1)


def test_assumptions_can_be_replaced_and_wrong_ones_are_named() -> None:
    calm = Assumptions.of({"failures_per_1000_node_days": "3.8", "flash_attention": "no"})
    assert calm.failures_per_1000_node_days == 3.8
    assert calm.flash_attention is False
    assert Assumptions.of({"recovery_seconds": "9e2"}).recovery_seconds == 900
    with pytest.raises(ValueError, match=r"unknown assumption 'mtbf'.*; recovery_seconds must be a number, got 'soon'"):
        Assumptions.of({"mtbf": "1", "recovery_seconds": "soon"})
    with pytest.raises(ValueError, match="jitter must be 0 to 1, got 7"):
        Assumptions.of({"jitter": "7"})
    for name, text, allowed in (
        ("flash_attention", "maybe", "true or false"),
        ("checkpoints_kept", "2.5", "a whole number"),
        ("checkpoints_kept", "1", "2 to 1e+12"),
    ):
        with pytest.raises(ValueError, match=rf"{name} must be {re.escape(allowed)}, got '?{re.escape(text)}"):
            Assumptions.of({name: text})


def test_the_shape_of_a_model_is_near_the_published_one() -> None:
    for parameters, layers, hidden in ((8.03e9, 32, 4096), (70.6e9, 80, 8192), (405.9e9, 126, 16_384)):
        model = Model.of(parameters)
        assert model.layers == pytest.approx(layers, rel=0.15)
        assert model.hidden == pytest.approx(hidden, rel=0.15)
    assert Model.of(8e9, heads=12).kv_heads == 6
    sparse = Model.of(671e9, active=37e9)
    assert sparse.layers == pytest.approx(61, rel=0.1)
    assert sparse.experts == pytest.approx(256, rel=0.1)
    assert sparse.feed_forward == pytest.approx(2048, rel=0.2)
    assert Model.of(70e9).kv_bytes_per_token == 4 * Model.of(70e9).layers * 8 * 128


def test_a_budget_becomes_a_model_by_chinchilla() -> None:
    parameters, tokens = compute_optimal(5.76e23)
    assert parameters == pytest.approx(69.3e9, rel=0.01)
    assert tokens == pytest.approx(20 * parameters)
    budget = budget_flops("p5.48xlarge", 64, 30, mfu=None, precision="bf16")
    assert budget == pytest.approx(512 * 0.9895e15 * 0.4 * 30 * 86_400)


def test_reinforcement_learning_balances_rollouts_and_updates() -> None:
    separate = plan_rl(Model.of(70e9), instance_type="p5en.48xlarge", nodes=32)
    shared = plan_rl(Model.of(70e9), instance_type="p5en.48xlarge", nodes=32, shared=True)
    assert separate.number("training_nodes") + separate.number("rollout_nodes") == 32
    assert shared.number("training_nodes") == shared.number("rollout_nodes") == 32
    rollout, update = separate.number("rollout_seconds"), separate.number("update_seconds")
    assert max(rollout, update) < 1.5 * min(rollout, update)
    assert separate.number("step_seconds") == pytest.approx(
        max(rollout, update) + separate.number("weight_sync_seconds")
    )
    parts = ("rollout_seconds", "update_seconds", "weight_sync_seconds")
    assert shared.number("step_seconds") == pytest.approx(sum(map(shared.number, parts)))
    with pytest.raises(ValueError, match="nodes must be from 2"):
        plan_rl(SMALL, instance_type="p5en.48xlarge", nodes=1)


def test_inference_is_bound_by_memory_time_or_arithmetic() -> None:
    bound = {
        plan_inference(Model.of(70e9), instance_type="p5.48xlarge", prompt_tokens=100_000)["batch_bound"].value,
        plan_inference(SMALL, instance_type="p5en.48xlarge", seconds_per_token=0.01)["batch_bound"].value,
        plan_inference(SMALL, instance_type="p5en.48xlarge", prompt_tokens=64, output_tokens=64)["batch_bound"].value,
    }
    assert bound == {"memory", "time of a token", "arithmetic"}


def test_reasoning_tokens_take_time_and_memory() -> None:
    short = plan_inference(Model.of(70e9), instance_type="p5en.48xlarge", requests_per_second=10)
    long = plan_inference(Model.of(70e9), instance_type="p5en.48xlarge", requests_per_second=10, reasoning_tokens=8192)
    assert long.number("replicas") > short.number("replicas")
    assert long.number("kv_cache_bytes_per_request") > short.number("kv_cache_bytes_per_request")
    assert long.number("prefill_share") < short.number("prefill_share")
    assert long.number("prefill_replicas") + long.number("decode_replicas") == long.number("replicas")
    assert 0 < short.number("staging_seconds_lustre") < short.number("staging_seconds_s3")


COUNTS = st.integers(min_value=1, max_value=4096)


@given(nodes=COUNTS, more=COUNTS)
def test_more_nodes_fail_more_often_and_make_less_progress(nodes: int, more: int) -> None:
    few, many = interruptions(nodes, Assumptions()), interruptions(nodes + more, Assumptions())
    assert few.days_between > many.days_between
    assert 0 < many.goodput <= few.goodput < 1
    assert spare_nodes(nodes, Assumptions()) <= spare_nodes(nodes + more, Assumptions())


@given(stall=st.floats(0.1, 600), between=st.floats(3600, 1e7))
def test_the_interval_of_checkpoints_is_the_best(stall: float, between: float) -> None:
    def lost(interval: float) -> float:
        return stall / interval + interval / 2 / between

    best = checkpoint_interval(stall, between)
    assert lost(best) <= 1.08 * min(lost(best * factor) for factor in (0.5, 0.8, 1.25, 2))


@settings(deadline=None, max_examples=25)
@given(nodes=st.integers(16, 2000), factor=st.floats(1.1, 20))
def test_training_is_linear_in_tokens_and_shorter_on_more_nodes(nodes: int, factor: float) -> None:
    def of(nodes: int, tokens: float) -> Plan:
        return plan_training(Model.of(70e9), tokens=tokens, instance_type="p5.48xlarge", nodes=nodes, mfu=0.4)

    base, longer, larger = of(nodes, 1e12), of(nodes, factor * 1e12), of(nodes * 2, 1e12)
    assert longer.flops == pytest.approx(factor * base.flops)
    assert longer.days == pytest.approx(factor * base.days)
    assert larger.days < base.days
    assert larger.gpu_hours >= base.gpu_hours
    assert base.days >= base.number("compute_days")


def test_a_sweep_computes_each_candidate_with_few_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is counted, not the time: 10,000 candidates have a second."""
    evaluated = 0
    real = step_time

    def counted(*arguments: object, **named: object) -> object:
        nonlocal evaluated
        evaluated += 1
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("ultracluster.planning.workload._search.step_time", counted)
    results = sweep(Model.of(70e9), tokens=15e12, node_counts=range(8, 8 + 1250))
    # Seven types with all numbers of nodes, and UltraServers with 8 to 16, 32, 48, ..., 1,248.
    assert len(results) == 7 * 1250 + 9 + 77
    assert evaluated < 5 * len(results)


def test_no_candidate_beats_one_of_the_front() -> None:
    prices = {"p5.48xlarge": 50.0, "p5en.48xlarge": 60.0, "p6-b200.48xlarge": 110.0}
    results = sweep(
        Model.of(70e9),
        tokens=15e12,
        instance_types=[instance_type(name) for name in prices],
        node_counts=range(8, 200, 8),
        dollars_per_node_hour=prices,
    )
    front = pareto(results)
    assert {candidate.instance_type for candidate in results} == set(prices)
    for candidate in front:
        for other in results:
            better = (other.days, other.gpu_hours, other.dollars or 0)
            own_figures = (candidate.days, candidate.gpu_hours, candidate.dollars or 0)
            assert better == own_figures or any(b > m for b, m in zip(better, own_figures, strict=True))
    for candidate in results:
        assert candidate in front or any(
            other.days <= candidate.days and other.gpu_hours <= candidate.gpu_hours for other in front
        )


def test_a_sweep_agrees_with_a_plan() -> None:
    (candidate,) = sweep(
        Model.of(70e9),
        tokens=15e12,
        instance_types=[instance_type("p5.48xlarge")],
        node_counts=[64],
    )
    plan = plan_training(Model.of(70e9), tokens=15e12, instance_type="p5.48xlarge", nodes=64)
    assert candidate.days == pytest.approx(plan.days)
    assert candidate.gpu_hours == pytest.approx(plan.gpu_hours)
