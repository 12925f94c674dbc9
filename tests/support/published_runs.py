"""Published training runs: what was published, where, and what of it is an input of the planner.

Inputs of a prediction are model, GPUs, network, layout, precision, sequence and batch. The prediction is the
throughput, and with it MFU and time; the published throughput, MFU or time is only compared. Parts of a layout that a
publication does not name (micro-batch, virtual stages) are those of its framework's recipes, or one. The layout of
Llama 65B is not published; it is ours.

Left out: Llama 3.1 405B at 131,072 tokens, for its paper does not define the FLOPs of attention in its MFU; gpt-oss,
whose layers alternate between two kinds of attention. `OUTSIDE` holds runs that the planner misses by more than 10 %.
"""

from dataclasses import dataclass, replace

from ultracluster.planning.workload import Assumptions, Layout, Model
from ultracluster.planning.workload._machine import Machine, Precision
from ultracluster.planning.workload._step import step_time

MEGATRON = (
    "https://github.com/NVIDIA/Megatron-LM, README, images/model_table.png (Megatron-Core 0.8, sequence 4096, "
    "vocabulary 131,072; read 2026-11-22)"
)
LLAMA3 = "https://arxiv.org/abs/2407.21783, table 4 (read in excerpts, 2026-11-22)"
KORTHIKANTI = "https://arxiv.org/abs/2205.05198, tables 3 and 5, section 6.3 (read 2026-11-22)"
BLOOM = (
    "https://arxiv.org/abs/2211.05100; 150 TFLOP/s and failures: https://huggingface.co/blog/bloom-megatron-deepspeed "
    "(read 2026-11-22)"
)
OPT = "https://arxiv.org/abs/2205.01068, sections 2.4 and 2.5 (read in excerpts, 2026-11-22)"
LLAMA1 = "https://arxiv.org/abs/2302.13971, section 2.4 and table 15 (read in excerpts, 2026-11-22)"
NEMOTRON = "https://arxiv.org/abs/2406.11704, table 2 (read in excerpts, 2026-11-22)"
DEEPSEEK = "https://arxiv.org/abs/2412.19437, sections 1, 3 and 4.2 (read in excerpts, 2026-11-22)"
BRIDGE = (
    "https://github.com/NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md, container 25.11 (DeepSeek-V3 on "
    "H100: 25.09); read 2026-11-22"
)


def machine(
    name: str, *, memory: float, bandwidth: float, peak: float, fp8: float, rates: tuple[float, float],
    nvlink: float, gbps: float, domain: int = 8, gpus: int = 8,
) -> Machine:  # fmt: skip
    return Machine(
        name=name, gpus=gpus, domain=domain, memory=memory * 2**30, memory_bandwidth=bandwidth * 1e12, bf16=peak * 1e12,
        fp8=fp8 * 1e12, bf16_matmul=rates[0], fp8_matmul=rates[1], nvlink=nvlink * 1e9 / 2, network=gbps * 1e9 / 8,
    )  # fmt: skip


# Peaks and memory as in the catalogue; networks as published: Gbit/s of a GPU.
A100 = machine("A100", memory=80, bandwidth=2.0, peak=312, fp8=0, rates=(0.859, 0), nvlink=600, gbps=200)
JEAN_ZAY = replace(A100, name="A100, 4 links of 100 Gbit/s for 8 GPUs", network=50e9 / 8)
H100 = machine("H100", memory=80, bandwidth=3.35, peak=989.5, fp8=1979, rates=(0.803, 0.734), nvlink=900, gbps=400)
H800 = replace(H100, name="H800", nvlink=200e9)
B200 = machine("B200", memory=179, bandwidth=8, peak=2250, fp8=4500, rates=(0.776, 0.763), nvlink=1800, gbps=400)
GB200 = machine(
    "GB200",
    memory=185,
    bandwidth=8,
    peak=2500,
    fp8=5000,
    rates=(0.776, 0.763),
    nvlink=1800,
    gbps=400,
    domain=72,
    gpus=4,
)


def gpt(parameters: float, layers: int, hidden: int, heads: int, vocabulary: int) -> Model:
    return Model(
        parameters=parameters, active=parameters, layers=layers, hidden=hidden, heads=heads, kv_heads=heads,
        head_size=hidden // heads, vocabulary=vocabulary, feed_forward=4 * hidden,
    )  # fmt: skip


def llama(parameters: float, layers: int, hidden: int, heads: int, kv_heads: int, vocabulary: int, ff: int) -> Model:
    return Model(
        parameters=parameters, active=parameters, layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads,
        head_size=hidden // heads, vocabulary=vocabulary, feed_forward=ff,
    )  # fmt: skip


LLAMA_8B = llama(8.03e9, 32, 4096, 32, 8, 128_256, 14_336)
LLAMA_70B = llama(70.55e9, 80, 8192, 64, 8, 128_256, 28_672)
LLAMA_405B = llama(405.85e9, 126, 16_384, 128, 8, 128_256, 53_248)
LLAMA_65B = llama(65.2e9, 80, 8192, 64, 64, 32_000, 22_016)
NEMOTRON_340B = llama(341e9, 96, 18_432, 96, 8, 256_000, 73_728)
BLOOM_176B = replace(gpt(176.25e9, 70, 14_336, 112, 250_680), tied=True)
OPT_175B = gpt(175e9, 96, 12_288, 96, 50_272)
# Multi-head latent attention has 187 M parameters a layer.
DEEPSEEK_V3 = Model(
    parameters=671e9, active=37e9, layers=61, hidden=7168, heads=128, kv_heads=128, head_size=128, vocabulary=129_280,
    feed_forward=2048, experts=256, experts_per_token=8, attention_parameters=187e6,
)  # fmt: skip
QWEN3_235B = Model(
    parameters=235e9, active=22e9, layers=94, hidden=4096, heads=64, kv_heads=4, head_size=128, vocabulary=151_936,
    feed_forward=1536, experts=128, experts_per_token=8,
)  # fmt: skip


def megatron_flops(model: Model, sequence: int) -> float:
    """FLOPs of a token by equation 7 of https://arxiv.org/abs/2205.05198: the whole square of attention counts."""
    h, layers = model.hidden, model.layers
    return 72 * layers * h**2 * (1 + sequence / (6 * h) + model.vocabulary / (12 * h * layers))


@dataclass(frozen=True, kw_only=True)
class Run:
    """A published run.

    Args:
        name: Name.
        tokens_per_second: Published, of one GPU; or what follows from the published TFLOP/s, MFU or time of a step by
            the publication's own definition of FLOPs.
        balanced: Whether the last stage has fewer layers.
        old: Whether the software is older than flash attention and overlapped tensor parallelism.
    """

    name: str
    source: str
    model: Model
    machine: Machine
    layout: Layout
    sequence: int
    batch: int
    tokens_per_second: float
    precision: Precision = "bf16"
    balanced: bool = False
    old: bool = False


def _megatron(
    name: str, heads: int, hidden: int, layers: int, tensor: int, pipeline: int, batch: int, tflops: float
) -> Run:
    model = gpt(float(name[:-1]) * 1e9, layers, hidden, heads, 131_072)
    layout = Layout(
        tensor=tensor, pipeline=pipeline, data=48, micro_batch=4 if pipeline == 1 else 1,
        virtual=max(1, layers // pipeline // 2) if pipeline > 1 else 1,
    )  # fmt: skip
    return Run(
        name=f"Megatron {name}, {layout.gpus:,} H100", source=MEGATRON, model=model, machine=H100, layout=layout,
        sequence=4096, batch=batch, tokens_per_second=tflops * 1e12 / megatron_flops(model, 4096),
    )  # fmt: skip


def _a100(name: str, model: Model, pipeline: int, batch: int, mfu: float, *, data: int = 1, micro: int = 1) -> Run:
    layout = Layout(tensor=8, pipeline=pipeline, data=data, micro_batch=micro, virtual=3 if pipeline in (8, 35) else 1)
    return Run(
        name=f"{name}, {layout.gpus:,} A100", source=KORTHIKANTI, model=model, machine=A100, layout=layout,
        sequence=2048, batch=batch, tokens_per_second=mfu * A100.bf16 / megatron_flops(model, 2048), old=True,
    )  # fmt: skip


def _llama3(gpus: int, tflops: float) -> Run:
    """FLOPs are 6 for each parameter and token, as in the paper's total of 3.8e25 for 15.6 T tokens."""
    layout = Layout(tensor=8, pipeline=16, data=gpus // 128, virtual=8)
    return Run(
        name=f"Llama 3.1 405B, {gpus:,} H100", source=LLAMA3, model=LLAMA_405B, machine=H100, layout=layout,
        sequence=8192, batch=2048, tokens_per_second=tflops * 1e12 / (6 * LLAMA_405B.parameters), balanced=True,
    )  # fmt: skip


def _nemotron(gpus: int, batch: int, seconds: float) -> Run:
    layout = Layout(tensor=8, pipeline=12, data=gpus // 96, virtual=8)
    return Run(
        name=f"Nemotron-4 340B, {gpus:,} H100", source=NEMOTRON, model=NEMOTRON_340B, machine=H100, layout=layout,
        sequence=4096, batch=batch, tokens_per_second=batch * 4096 / seconds / gpus,
    )  # fmt: skip


def _bridge(
    name: str, model: Model, where: Machine, layout: Layout, batch: int, rate: float, *, sequence: int = 8192
) -> Run:
    return Run(
        name=f"{name} in FP8, {layout.gpus:,} {where.name}", source=BRIDGE, model=model, machine=where, layout=layout,
        sequence=sequence, batch=batch, tokens_per_second=rate, precision="fp8",
    )  # fmt: skip


#: Predicted within 10 %.
RUNS = (
    _llama3(8192, 430),
    _llama3(16_384, 400),
    _megatron("1.7B", 16, 2048, 24, 1, 1, 192, 408.8),
    _megatron("7.1B", 32, 4096, 30, 2, 1, 192, 465.9),
    _megatron("16B", 48, 6144, 32, 4, 1, 192, 489.1),
    _megatron("32B", 56, 7168, 48, 8, 1, 192, 459.6),
    _megatron("70B", 64, 8192, 84, 8, 2, 384, 419.7),
    _megatron("119B", 80, 10_240, 92, 8, 4, 768, 420.5),
    _megatron("177B", 96, 12_288, 96, 8, 6, 1152, 432.8),
    _megatron("314B", 128, 16_384, 96, 8, 8, 1536, 474.4),
    _megatron("462B", 144, 18_432, 112, 8, 16, 3072, 459.9),
    _a100("GPT 22B", gpt(22e9, 48, 6144, 64, 51_200), 1, 4, 0.415, micro=4),
    _a100("GPT-3 175B", gpt(175e9, 96, 12_288, 96, 51_200), 8, 64, 0.514),
    _a100("MT-NLG 530B", gpt(530e9, 105, 20_480, 128, 51_200), 35, 280, 0.56),
    _a100("MT-NLG 530B", gpt(530e9, 105, 20_480, 128, 51_200), 35, 2240, 0.542, data=8),
    _a100("GPT 1T", gpt(1008e9, 128, 25_600, 160, 51_200), 64, 512, 0.563),
    # 150 TFLOP/s count the forward pass that is computed again: 96 instead of 72 in equation 7.
    Run(
        name="BLOOM-176B, 384 A100", source=BLOOM, model=BLOOM_176B, machine=JEAN_ZAY,
        layout=Layout(tensor=4, pipeline=12, data=8, micro_batch=2, recompute=True), sequence=2048, batch=2048,
        tokens_per_second=150e12 * 0.75 / megatron_flops(BLOOM_176B, 2048), old=True,
    ),
    # Up to 147 TFLOP/s, with the same factor on 6 FLOPs for each parameter.
    Run(
        name="OPT-175B, 992 A100", source=OPT, model=OPT_175B, machine=A100,
        layout=Layout(tensor=8, data=124, micro_batch=8, recompute=True, sharded=True), sequence=2048, batch=992,
        tokens_per_second=147e12 * 0.75 / (6 * OPT_175B.parameters), old=True,
    ),
    Run(
        name="Llama 65B, 2,048 A100", source=LLAMA1, model=LLAMA_65B, machine=A100,
        layout=Layout(tensor=8, data=256, micro_batch=8, sharded=True), sequence=2048, batch=2048,
        tokens_per_second=380,
    ),
    _nemotron(1536, 768, 10.3),
    _nemotron(3072, 1536, 10.3),
    _nemotron(6144, 2304, 8.0),
    _bridge("Llama 3 8B", LLAMA_8B, H100, Layout(data=8, sharded=True), 128, 14_451),
    _bridge("Llama 3 70B", LLAMA_70B, H100, Layout(tensor=4, pipeline=8, data=2, virtual=5), 128, 1602),
    _bridge("Llama 3.1 405B", LLAMA_405B, H100, Layout(tensor=8, pipeline=8, context=2, data=8, virtual=8), 512, 292),
    _bridge("Llama 3 8B", LLAMA_8B, B200, Layout(data=8, micro_batch=2), 128, 30_624),
    _bridge("Llama 3.1 405B", LLAMA_405B, B200, Layout(tensor=4, pipeline=8, context=2, data=2, virtual=8), 64, 661),
    _bridge("Llama 3 8B", LLAMA_8B, GB200, Layout(data=8, micro_batch=2), 128, 31_508),
    _bridge("Llama 3 70B", LLAMA_70B, GB200, Layout(data=64, micro_batch=2, sharded=True), 128, 4312),
    _bridge(
        "DeepSeek-V3", DEEPSEEK_V3, H100, Layout(tensor=2, pipeline=8, expert=64, data=64, virtual=4), 8192, 1297,
        sequence=4096,
    ),
    _bridge(
        "DeepSeek-V3", DEEPSEEK_V3, GB200, Layout(pipeline=4, expert=64, data=64, virtual=4), 2048, 3653, sequence=4096
    ),
    _bridge(
        "Qwen3 235B-A22B", QWEN3_235B, H100, Layout(tensor=2, pipeline=8, expert=32, data=16, virtual=4), 2048, 1575,
        sequence=4096,
    ),
    _bridge("Qwen3 235B-A22B", QWEN3_235B, GB200, Layout(tensor=2, expert=64, data=32), 1024, 4366, sequence=4096),
    # 180,000 GPU-hours for 1 T tokens. DualPipe hides expert-parallel communication.
    Run(
        name="DeepSeek-V3, 2,048 H800", source=DEEPSEEK, model=DEEPSEEK_V3, machine=H800,
        layout=Layout(pipeline=16, expert=64, data=128, virtual=2), sequence=4096, batch=15_360,
        tokens_per_second=1e12 / (180e3 * 3600), precision="fp8",
    ),
)  # fmt: skip

#: Published too, and predicted too high: MoE on B200 behind x86 hosts in 2025, and FSDP over two NVLink domains.
OUTSIDE = (
    _bridge(
        "DeepSeek-V3", DEEPSEEK_V3, B200, Layout(pipeline=16, expert=8, data=16), 2048, 2139, sequence=4096
    ),
    _bridge(
        "Qwen3 235B-A22B", QWEN3_235B, B200, Layout(pipeline=8, expert=8, data=8, virtual=2), 1024, 3269, sequence=4096
    ),
    _bridge("Llama 3.1 405B", LLAMA_405B, GB200, Layout(tensor=2, data=64, sharded=True), 64, 706),
)  # fmt: skip


def assumptions(run: Run) -> Assumptions:
    """Return what was published of the software: no overlap and no flash attention before 2023; DualPipe hides EP."""
    default = Assumptions()
    if run.old:
        return replace(default, flash_attention=False, exposed_tensor_parallel=1.0)
    return replace(default, exposed_expert_parallel=0.0) if run.machine == H800 else default


def predicted(run: Run) -> float:
    """Return the predicted tokens per second of a GPU."""
    return step_time(
        run.model,
        run.machine,
        run.layout,
        precision=run.precision,
        sequence=run.sequence,
        batch=run.batch,
        assumptions=assumptions(run),
        balanced=run.balanced,
    ).tokens_per_second
