"""Run a plan or a sweep from the options of `ultracluster plan`."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from ultracluster.catalogue.ec2 import instance_type as look_up
from ultracluster.cli import _plan_inputs as inputs
from ultracluster.cli._output import fail, misuse, print_json, print_table, table
from ultracluster.cli._plan_request import Request
from ultracluster.cli._plan_text import explained_lines, plan_lines
from ultracluster.cli._price_file import Prices, price_file, prices_text
from ultracluster.planning import Plan
from ultracluster.planning.workload import (
    Assumptions,
    Candidate,
    Layout,
    Model,
    budget_flops,
    compute_optimal,
    pareto,
    plan_inference,
    plan_rl,
    plan_training,
    sweep,
)

_TOKENS_PER_PARAMETER = 20


def run(request: Request) -> None:
    """Print a plan or a sweep, and write the files that are requested."""
    try:
        assumptions = Assumptions.of(inputs.assignments(request.set_ or []))
        file = price_file(request.prices)
        prices = dict(file.node_hours) if file else {}
        if request.price is not None and request.type_:
            prices |= dict.fromkeys(request.type_.split(","), request.price)
        model, tokens, notes = _model(request)
        if request.sweep:
            _sweep(request, model, tokens, assumptions, prices, file)
            return
        plan = _plan(request, model, tokens, assumptions, prices)
        if file and request.price is None and "dollars_per_node_hour" in plan:
            notes.append(prices_text(file))
        plan = Plan(kind=plan.kind, figures=plan.figures, notes=(*notes, *plan.notes))
        text = None if request.write is None else _cluster_file(request, plan)
    except ValueError as error:
        fail(str(error))
    if request.json_:
        print_json(plan.to_dict())
    else:
        for line in explained_lines(plan) if request.explain else plan_lines(plan):
            typer.echo(line)
    if text is not None and request.write is not None:
        _save(request.write, text)


def _model(request: Request) -> tuple[Model, float, list[str]]:
    """Return the model and its tokens; what is missing follows from a budget by Chinchilla."""
    parameters = inputs.count("--parameters", request.parameters)
    tokens = inputs.count("--tokens", request.tokens)
    flops = inputs.count("--flops", request.flops)
    active = inputs.count("--active", request.active)
    notes = []
    if request.for_ in ("rl", "inference"):
        if parameters is None:
            misuse("--parameters is missing")
        tokens = 0.0
    elif parameters is not None and tokens is not None and flops is not None:
        raise ValueError(
            f"{parameters:.3g} parameters and {tokens:.3g} tokens are {6 * (active or parameters) * tokens:.3g} FLOPs, "
            f"and --flops {flops:.3g} is given; leave one of the three out"
        )
    elif parameters is not None and tokens is None:
        tokens = flops / 6 / (active or parameters) if flops else _TOKENS_PER_PARAMETER * parameters
        notes.append(f"{tokens:.4g} tokens, of the budget or 20 for each parameter (Chinchilla)")
    elif parameters is None:
        if flops is None and tokens is not None:
            misuse("--parameters is missing; with --flops or --type, --nodes and --days both follow")
        days = inputs.days(request.days)
        if flops is None:
            if request.type_ is None or request.nodes is None or days is None:
                misuse("give --parameters, --flops, or --type, --nodes and --days of a budget")
            flops = budget_flops(request.type_, request.nodes, days, mfu=request.mfu_fraction, precision=request.dtype)
        parameters, optimal = compute_optimal(flops)
        if tokens is not None:
            parameters = flops / 6 / tokens
        tokens = tokens or optimal
        notes.append(f"{flops:.3g} FLOPs: {parameters:.4g} parameters and {tokens:.4g} tokens by Chinchilla")
    model = Model.of(
        parameters or 0,
        active=active,
        layers=request.layers,
        hidden=request.hidden,
        heads=request.heads,
        kv_heads=request.kv_heads,
        vocabulary=request.vocabulary,
        experts=request.experts,
        experts_per_token=request.experts_per_token,
    )
    return model, tokens or 0.0, notes


def _plan(request: Request, model: Model, tokens: float, assumptions: Assumptions, prices: Mapping[str, float]) -> Plan:
    price = prices.get(request.type_ or "")
    if request.for_ == "inference":
        return plan_inference(
            model,
            instance_type=request.type_ or misuse("--type is missing"),
            prompt_tokens=request.prompt,
            output_tokens=request.output,
            reasoning_tokens=request.reasoning,
            requests_per_second=inputs.count("--requests", request.requests),
            seconds_per_token=inputs.seconds("--token-time", request.token_time),
            precision=request.dtype,
            dollars_per_node_hour=price,
            assumptions=assumptions,
        )
    if request.for_ == "rl":
        return plan_rl(
            model,
            instance_type=request.type_ or misuse("--type is missing"),
            nodes=request.nodes or misuse("--nodes is missing"),
            steps=request.steps,
            prompts=request.prompts,
            samples=request.samples,
            prompt_tokens=request.prompt,
            response_tokens=request.output + request.reasoning,
            shared=request.shared,
            precision=request.dtype,
            dollars_per_node_hour=price,
            assumptions=assumptions,
        )
    batch = inputs.count("--batch", request.batch)
    days = None if request.parameters is None and request.flops is None else inputs.days(request.days)
    return plan_training(
        model,
        tokens=tokens,
        kind=request.for_,
        instance_type=request.type_,
        nodes=request.nodes,
        days=days,
        mfu=request.mfu_fraction,
        precision=request.dtype,
        sequence=request.sequence_tokens,
        batch_tokens=None if batch is None else int(batch),
        layout=_layout(request),
        dollars_per_node_hour=price,
        assumptions=assumptions,
    )


def _layout(request: Request) -> Layout | None:
    """Return the layout that options set, or None."""
    degrees = {
        "tensor": request.tp,
        "pipeline": request.pp,
        "context": request.cp,
        "expert": request.ep,
        "micro_batch": request.micro_batch,
        "virtual": request.virtual,
    }
    given = {name: degree for name, degree in degrees.items() if degree is not None}
    if not given and not request.recompute and not request.fsdp:
        return None
    return Layout(**given, recompute=request.recompute, sharded=request.fsdp)


def _cluster_file(request: Request, plan: Plan) -> str:
    """Return the cluster file, which `check` accepts."""
    from ultracluster import clusterfile
    from ultracluster.cli._plan_file import cluster_text, zone_for

    zone = zone_for(str(plan["instance_type"].value), request.zone)
    command = shlex.join(["ultracluster", *sys.argv[1:]])
    text = cluster_text(plan, name=request.name, zone=zone, command=command, file=str(request.write))
    try:
        clusterfile.loads(text, str(request.write))
    except clusterfile.ClusterFileError as error:
        raise ValueError(f"no cluster file holds this plan; nothing was written:\n{error}") from error
    return text


def _save(path: Path, text: str) -> None:
    if path.exists() and path.read_text(encoding="utf-8") != text:
        fail(f"{path} exists with other content; nothing was written: name another file, or move it away")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}")


def _sweep(
    request: Request,
    model: Model,
    tokens: float,
    assumptions: Assumptions,
    prices: Mapping[str, float],
    file: Prices | None,
) -> None:
    batch, days = inputs.count("--batch", request.batch), inputs.days(request.days)
    results = sweep(
        model,
        tokens=tokens,
        instance_types=[look_up(name.strip()) for name in request.type_.split(",")] if request.type_ else (),
        node_counts=inputs.node_counts(request.counts),
        precision=request.dtype,
        sequence=request.sequence_tokens,
        batch_tokens=None if batch is None else int(batch),
        dollars_per_node_hour=prices,
        assumptions=assumptions,
    )
    in_time = [candidate for candidate in results if days is None or candidate.days <= days]
    if not in_time:
        least = min(candidate.days for candidate in results)
        raise ValueError(
            f"no candidate ends in {days:g} days; the fastest takes {least:,.1f}, {least / (days or 1):,.1f} "
            "times as long"
        )
    from ultracluster.cli import _plan_report as report

    front = pareto(in_time)
    if request.csv is not None:
        _save(request.csv, report.csv_text(in_time))
    if request.html is not None:
        given = [
            ("model", f"{model.parameters:.4g} parameters, {model.active:.4g} active, {tokens:.4g} tokens"),
            ("precision", f"{request.precision}, sequences of {request.sequence_tokens:,} tokens"),
            ("days", "from start to end at the expected failure rate; MFU is predicted"),
            ("price", prices_text(file) if file else "as given" if prices else "none given"),
        ]
        _save(request.html, report.report(f"{model.parameters / 1e9:,.4g} B parameters", given, in_time, front))
    if request.json_:
        dated = {"as_of": file.as_of, "source": file.source} if file else {}
        print_json({"candidates": len(in_time), **dated, "pareto": report.rows(front)})
        return
    _print_table(front)
    figures = report.figures(front)
    typer.echo(f"{len(in_time):,} candidates, of which {len(front):,} are not beaten in {figures}.")
    if file:
        typer.echo(f"note: {prices_text(file)}")


def _print_table(front: Sequence[Candidate]) -> None:
    rows = table(
        None, "type", *(f">{name}" for name in ("nodes", "GPUs", "days", "GPU-hours", "USD", "MFU", "goodput"))
    )
    rows.show_edge, rows.padding = False, 0
    for c in front:
        cost = "-" if c.dollars is None else f"{c.dollars:,.0f}"
        rows.add_row(
            c.instance_type,
            *(f"{c.nodes:,}", f"{c.gpus:,}", f"{c.days:,.1f}", f"{c.gpu_hours:,.0f}", cost),
            *(f"{c.mfu:.1%}", f"{c.goodput:.1%}"),
        )
    print_table(rows)
