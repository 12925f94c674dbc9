"""`ultracluster plan`: GPUs, time, memory, storage and failures of a workload. Figures come with formula and source."""

from dataclasses import fields

import typer

from ultracluster.cli import _plan_options as o
from ultracluster.cli._output import JsonOption, misuse

_KINDS = ("pretraining", "fine-tuning", "rl", "inference")
# Options that only some kinds have.
_ONLY = {
    "requests": ("inference",),
    "token_time": ("inference",),
    "steps": ("rl",),
    "prompts": ("rl",),
    "samples": ("rl",),
    "shared": ("rl",),
    "prompt": ("rl", "inference"),
    "output": ("rl", "inference"),
    "reasoning": ("rl", "inference"),
    **dict.fromkeys(("tokens", "flops", "days", "mfu", "batch", "tp", "pp", "cp", "ep", "micro_batch", "virtual",
                     "recompute", "fsdp", "sweep", "sequence"), ("pretraining", "fine-tuning")),
}  # fmt: skip


def plan(
    context: typer.Context,
    for_: o.For = "pretraining",
    parameters: o.Parameters = None,
    active: o.Active = None,
    tokens: o.Tokens = None,
    flops: o.Flops = None,
    type_: o.Type = None,
    nodes: o.Nodes = None,
    days: o.Days = None,
    mfu: o.Mfu = None,
    precision: o.Precision = "bf16",
    sequence: o.Sequence = "8192",
    batch: o.Batch = None,
    layers: o.Layers = None,
    hidden: o.Hidden = None,
    heads: o.Heads = None,
    kv_heads: o.KvHeads = None,
    vocabulary: o.Vocabulary = 128_256,
    experts: o.Experts = None,
    experts_per_token: o.PerToken = None,
    tp: o.Tensor = None,
    pp: o.Pipeline = None,
    cp: o.Context = None,
    ep: o.Expert = None,
    micro_batch: o.MicroBatch = None,
    virtual: o.Virtual = None,
    recompute: o.Recompute = False,
    fsdp: o.Sharded = False,
    prompt: o.Prompt = 1024,
    output: o.Output = 1024,
    reasoning: o.Reasoning = 0,
    requests: o.Requests = None,
    token_time: o.PerTokenTime = None,
    steps: o.Steps = 1000,
    prompts: o.Prompts = 512,
    samples: o.Samples = 16,
    shared: o.Shared = False,
    price: o.Price = None,
    prices: o.Prices = None,
    set_: o.Set = None,
    explain: o.Explain = False,
    sweep: o.Sweep = False,
    counts: o.Counts = "1..1024*1.1",
    csv: o.Csv = None,
    html: o.Html = None,
    write: o.Write = None,
    name: o.Name = "planned",
    zone: o.Zone = None,
    json_: JsonOption = False,
) -> None:
    """Plan pre-training, fine-tuning, reinforcement learning or inference: GPUs, time, memory, storage, failures, cost.

    Training takes two or more of --type, --nodes, --days and --mfu; the others follow.
    """
    if for_ not in _KINDS:
        misuse(f"--for must be one of {', '.join(_KINDS)}, got {for_!r}")
    _check_options(context, for_, sweep=sweep)
    # Here and not at the top: the other commands need none of it.
    from ultracluster.cli._plan_request import Request
    from ultracluster.cli._plan_run import run

    values = context.params
    run(Request(**{field.name: values[field.name] for field in fields(Request)}))


def _check_options(context: typer.Context, kind: str, *, sweep: bool) -> None:
    """Refuse options that the kind of workload does not have, and those of a sweep without one."""
    given = {name for name in context.params if str(context.get_parameter_source(name)).endswith("COMMANDLINE")}
    for name in sorted(given):
        if kind not in _ONLY.get(name, _KINDS):
            misuse(f"{_flag(context, name)} is for --for {' and '.join(_ONLY[name])}, not {kind}")
    of_sweep = {"counts", "csv", "html"}
    if not sweep and given & of_sweep:
        misuse(f"{_flag(context, min(given & of_sweep))} is for --sweep")
    alone = given & {"explain", "write", "nodes", "mfu"}
    if sweep and alone:
        misuse(f"{_flag(context, min(alone))} is not for --sweep; --type, --counts and --days limit it")


def _flag(context: typer.Context, name: str) -> str:
    return next(parameter.opts[0] for parameter in context.command.params if parameter.name == name)
