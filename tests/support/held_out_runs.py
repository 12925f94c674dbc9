"""Published training runs to which no constant of the planner was fitted: other software, and what job files run."""

from dataclasses import replace

from support.published_runs import (
    B200,
    DEEPSEEK_V3,
    GB200,
    H100,
    LLAMA_8B,
    LLAMA_70B,
    LLAMA_405B,
    QWEN3_235B,
    Run,
    gpt,
)
from ultracluster.planning.workload import Layout, Model
from ultracluster.planning.workload._machine import Machine, Precision

# The container of job files of Megatron Bridge.
BRIDGE = (
    "https://github.com/NVIDIA-NeMo/Megatron-Bridge (commit 067f987), docs/performance-summary-archive.md, container "
    "26.04.01; read 2026-11-28"
)
MOSAIC = "https://github.com/mosaicml/llm-foundry, scripts/train/benchmarking/README.md; read 2026-11-28"
TITAN = (
    "https://github.com/pytorch/torchtitan (commit b5bcd76), benchmarks/llama3_h100_202412_torchtitan.md and "
    "benchmarks/llama3-8b_h200_202506_trainy-whitefiber.md; read 2026-11-28"
)

B300 = replace(B200, name="B300", memory=268 * 2**30, network=100e9)
H200 = replace(H100, name="H200", memory=141 * 2**30, memory_bandwidth=4.8e12)
# At 500 W and with HBM2e, so that its peak is not known: that of 700 W.
H100_500W = replace(H100, name="H100 at 500 W", memory=96 * 2**30, memory_bandwidth=2.4e12)
QWEN3_30B = Model(
    parameters=30.5e9, active=3.3e9, layers=48, hidden=2048, heads=32, kv_heads=4, head_size=128, vocabulary=151_936,
    feed_forward=768, experts=128, experts_per_token=8,
)  # fmt: skip


def _run(
    name: str, model: Model, where: Machine, layout: Layout, batch: int, rate: float, *, source: str = BRIDGE,
    sequence: int = 4096, precision: Precision = "fp8",
) -> Run:  # fmt: skip
    title = f"{name}{' in FP8' if precision == 'fp8' else ''}, {layout.gpus:,} {where.name}"
    return Run(
        name=title, source=source, model=model, machine=where, layout=layout, sequence=sequence, batch=batch,
        tokens_per_second=rate, precision=precision,
    )  # fmt: skip


def _mosaic(name: str, parameters: float, layers: int, hidden: int, layout: Layout, batch: int, rate: float) -> Run:
    model = replace(gpt(parameters, layers, hidden, hidden // 128, 50_368), tied=True)
    return _run(
        name, model, H100, replace(layout, sharded=True), batch, rate, source=MOSAIC, sequence=2048, precision="bf16"
    )


def _titan(model: Model, where: Machine, layout: Layout, batch: int, rate: float, precision: Precision = "fp8") -> Run:
    name = f"torchtitan, Llama 3.1 {model.parameters / 1e9:.0f}B"
    return _run(name, model, where, layout, batch, rate, source=TITAN, sequence=8192, precision=precision)


_AGAIN = Layout(micro_batch=8, recompute=True)
HELD_OUT = (
    _mosaic("MPT 7B", 6.66e9, 32, 4096, Layout(data=128, micro_batch=6), 768, 10_475),
    _mosaic("MPT 13B", 12.85e9, 40, 5120, replace(_AGAIN, data=128, micro_batch=16), 2048, 5080),
    _mosaic("MPT 30B", 29.98e9, 48, 7168, replace(_AGAIN, data=256), 2048, 2148),
    _mosaic("MPT 70B", 64.86e9, 80, 8192, replace(_AGAIN, data=64), 2048, 1039),
    _mosaic("MPT 70B", 64.86e9, 80, 8192, replace(_AGAIN, data=512), 4096, 1007),
    _run("Llama 3 70B", LLAMA_70B, H100, Layout(tensor=4, pipeline=8, data=2, virtual=5), 256, 1664, sequence=8192),
    _run("Llama 3 70B", LLAMA_70B, GB200, Layout(data=64, micro_batch=2, sharded=True), 256, 4224, sequence=8192),
    _run(
        "Llama 3.1 405B", LLAMA_405B, H100, Layout(tensor=8, pipeline=8, context=2, data=8, virtual=8), 1536, 328,
        sequence=8192,
    ),
    _run(
        "Llama 3.1 405B", LLAMA_405B, GB200, Layout(tensor=4, pipeline=16, data=4, virtual=4), 1536, 864, sequence=8192
    ),
    _run("Qwen3 30B-A3B", QWEN3_30B, H100, Layout(expert=16, data=16), 1024, 8960),
    _run("Qwen3 30B-A3B", QWEN3_30B, B200, Layout(expert=8, data=8, micro_batch=4), 512, 27_136),
    _run("Qwen3 30B-A3B", QWEN3_30B, B300, Layout(expert=8, data=8, micro_batch=8), 512, 30_720),
    _run(
        "Qwen3 235B-A22B", QWEN3_235B, H100, Layout(tensor=2, pipeline=8, expert=32, data=16, virtual=4), 8192, 1712
    ),
    _run("Qwen3 235B-A22B", QWEN3_235B, B200, Layout(pipeline=8, expert=8, data=32), 8192, 3776),
    _run("Qwen3 235B-A22B", QWEN3_235B, B300, Layout(pipeline=8, expert=8, data=32, micro_batch=2), 8192, 5936),
    _run("Qwen3 235B-A22B", QWEN3_235B, GB200, Layout(pipeline=8, expert=32, data=32, virtual=3), 8192, 5680),
    _run("DeepSeek-V3", DEEPSEEK_V3, B200, Layout(pipeline=8, expert=32, data=32, virtual=2), 4096, 3328),
    _run("DeepSeek-V3", DEEPSEEK_V3, B300, Layout(pipeline=8, expert=8, data=32, micro_batch=2), 4096, 3456),
    _run("DeepSeek-V3", DEEPSEEK_V3, GB200, Layout(pipeline=4, expert=64, data=64, virtual=4), 4096, 4256),
    _titan(LLAMA_8B, H100_500W, Layout(data=128, micro_batch=2, sharded=True), 256, 6514, "bf16"),
    _titan(LLAMA_8B, H200, Layout(data=64, micro_batch=2, sharded=True), 128, 10_753),
    _titan(
        LLAMA_70B, H100_500W, Layout(tensor=8, data=32, micro_batch=16, sharded=True, recompute=True), 512, 829
    ),
)  # fmt: skip
