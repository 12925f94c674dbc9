"""Options of `ultracluster plan`, as the command received them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from ultracluster.cli import _plan_inputs as inputs

if TYPE_CHECKING:
    from ultracluster.planning import Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """Options of the command, by their names."""

    for_: "Kind"
    parameters: str | None
    active: str | None
    tokens: str | None
    flops: str | None
    type_: str | None
    nodes: int | None
    days: str | None
    mfu: str | None
    precision: str
    sequence: str
    batch: str | None
    layers: int | None
    hidden: int | None
    heads: int | None
    kv_heads: int | None
    vocabulary: int
    experts: int | None
    experts_per_token: int | None
    tp: int | None
    pp: int | None
    cp: int | None
    ep: int | None
    micro_batch: int | None
    virtual: int | None
    recompute: bool
    fsdp: bool
    prompt: int
    output: int
    reasoning: int
    requests: str | None
    token_time: str | None
    steps: int
    prompts: int
    samples: int
    shared: bool
    price: float | None
    prices: Path | None
    set_: list[str] | None
    explain: bool
    sweep: bool
    counts: str
    csv: Path | None
    html: Path | None
    write: Path | None
    name: str
    zone: str | None
    json_: bool

    @property
    def mfu_fraction(self) -> float | None:
        return inputs.fraction("--mfu", self.mfu)

    @property
    def sequence_tokens(self) -> int:
        return inputs.whole("--sequence", self.sequence)

    @property
    def dtype(self) -> Literal["bf16", "fp8"]:
        """The precision; the planner refuses an unknown one."""
        return cast(Literal["bf16", "fp8"], self.precision)
