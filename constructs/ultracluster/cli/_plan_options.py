"""Options of `ultracluster plan`."""

from pathlib import Path
from typing import Annotated

import typer


def _text(flag: str, metavar: str, help_: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(flag, metavar=metavar, help=help_)
    return option


def _number(flag: str, help_: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(flag, metavar="N", help=help_)
    return option


For = Annotated[str, _text("--for", "KIND", "pretraining, fine-tuning, rl or inference.")]
Parameters = Annotated[
    str | None, _text("--parameters", "N", "Parameters, such as 405e9 or 405B. Default: by Chinchilla from a budget.")
]
Active = Annotated[str | None, _text("--active", "N", "Parameters that a token uses, of a mixture of experts.")]
Tokens = Annotated[str | None, _text("--tokens", "N", "Tokens of training, such as 15.6T. Default: by Chinchilla.")]
Flops = Annotated[str | None, _text("--flops", "N", "Budget in FLOPs, instead of --parameters and --tokens.")]
Type = Annotated[str | None, _text("--type", "TYPE", "Instance type. With --sweep, several with commas.")]
Nodes = Annotated[int | None, _number("--nodes", "Instances.")]
Days = Annotated[str | None, _text("--days", "N", "Days from start to end, such as 30 or 12h. With --sweep: at most.")]
Mfu = Annotated[str | None, _text("--mfu", "N", "Model FLOPs utilization, such as 0.4 or 40%. Default: predicted.")]
Precision = Annotated[str, _text("--precision", "P", "bf16 or fp8.")]
Sequence = Annotated[str, _text("--sequence", "N", "Tokens of a sequence, such as 8192 or 1M.")]
Batch = Annotated[str | None, _text("--batch", "N", "Tokens of a step, such as 16M. Default: by parameters.")]
Layers = Annotated[int | None, _number("--layers", "Layers. Default: by parameters, as Llama 3.")]
Hidden = Annotated[int | None, _number("--hidden", "Width of the residual stream. Default: by parameters.")]
Heads = Annotated[int | None, _number("--heads", "Attention heads. Default: of 128 units each.")]
KvHeads = Annotated[int | None, _number("--kv-heads", "Key-value heads. Default: 8.")]
Vocabulary = Annotated[int, _number("--vocabulary", "Tokens of the vocabulary.")]
Experts = Annotated[int | None, _number("--experts", "Routed experts of a layer. Default: by --active.")]
PerToken = Annotated[int | None, _number("--experts-per-token", "Routed experts that a token uses. Default: 8.")]
Tensor = Annotated[int | None, _number("--tp", "Tensor parallelism. --tp, --pp, --cp, --ep set the layout.")]
Pipeline = Annotated[int | None, _number("--pp", "Pipeline parallelism.")]
Context = Annotated[int | None, _number("--cp", "Context parallelism.")]
Expert = Annotated[int | None, _number("--ep", "Expert parallelism.")]
MicroBatch = Annotated[int | None, _number("--micro-batch", "Sequences of a micro-batch.")]
Virtual = Annotated[int | None, _number("--virtual", "Virtual pipeline stages.")]
Recompute = Annotated[bool, typer.Option("--recompute", help="Layout: the backward pass computes activations again.")]
Sharded = Annotated[bool, typer.Option("--fsdp", help="Layout: replicas share weights and gradients.")]
Prompt = Annotated[int, _number("--prompt", "rl, inference: tokens of a prompt.")]
Output = Annotated[int, _number("--output", "rl, inference: tokens of an answer, without reasoning.")]
Reasoning = Annotated[int, _number("--reasoning", "rl, inference: tokens of reasoning before an answer.")]
Requests = Annotated[str | None, _text("--requests", "N", "inference: requests per second. Default: of one replica.")]
PerTokenTime = Annotated[
    str | None, _text("--token-time", "TIME", "inference: time between two tokens at most, such as 50ms.")
]
Steps = Annotated[int, _number("--steps", "rl: updates of the policy.")]
Prompts = Annotated[int, _number("--prompts", "rl: prompts of a step.")]
Samples = Annotated[int, _number("--samples", "rl: responses for each prompt.")]
Shared = Annotated[bool, typer.Option("--shared", help="rl: rollouts and training take turns on all GPUs.")]
Price = Annotated[float | None, _number("--price", "Dollars per node and hour of --type.")]
Prices = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="Price file: JSON with as_of, source and dollars_per_node_hour."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Replace an assumption, such as failures_per_1000_node_days=3.8."),
]
Explain = Annotated[bool, typer.Option("--explain", help="Print formula and source of each figure.")]
Sweep = Annotated[bool, typer.Option("--sweep", help="Compare types and numbers of nodes.")]
Counts = Annotated[
    str, _text("--counts", "LIST", "With --sweep: numbers of nodes, 8,16,32 or 1..1250 or 8..1024*2, which doubles.")
]
Csv = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="With --sweep: write all candidates.")]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="With --sweep: write a report with plots; it opens offline."),
]
Write = Annotated[Path | None, typer.Option("--write", metavar="FILE", help="Write a cluster file for the plan.")]
Name = Annotated[str, _text("--name", "NAME", "With --write: name of the cluster.")]
Zone = Annotated[str | None, _text("--zone", "ZONE", "With --write: zone id. Default: one that offers the type.")]
