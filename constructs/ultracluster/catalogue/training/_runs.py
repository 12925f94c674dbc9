"""Published throughput of workloads."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkloadFigure:
    """Published figure of a run of a workload.

    Args:
        workload: Name of the workload.
        run: Model, GPUs and precision.
        result: Figure, with its unit.
        source: Source of the figure.
        read_on: Date on which the source was read.
    """

    workload: str
    run: str
    result: str
    source: str
    read_on: str


_BRIDGE = "https://github.com/NVIDIA-NeMo/Megatron-Bridge (tag v0.4.2), docs/performance-summary.md"
_TITAN = "https://github.com/pytorch/torchtitan (commit b5bcd76), benchmarks/llama3_h100_202412_torchtitan.md"
_READ = "2026-11-24"


def _megatron(run: str, tokens: str, tflops: int) -> WorkloadFigure:
    result = f"{tokens} tokens/s and {tflops:,} model TFLOP/s for each GPU"
    return WorkloadFigure(workload="megatron", run=f"{run}, DGX systems", result=result, source=_BRIDGE, read_on=_READ)


def _titan(workload: str, run: str, tokens: str) -> WorkloadFigure:
    result = f"{tokens} tokens/s for each GPU"
    return WorkloadFigure(workload=workload, run=run, result=result, source=_TITAN, read_on="2026-11-25")


def _verl(run: str, step: int, total: str) -> WorkloadFigure:
    return WorkloadFigure(
        workload="rl",
        run=f"DAPO, Qwen2.5-Math-7B, 16 H20, FSDP2, vLLM, answers of at most 20,480 tokens, {run}",
        result=f"{step} s for a step, {total} in all",
        source="https://github.com/verl-project/verl (commit a74fc52), docs/advance/one_step_off.md",
        read_on="2026-11-26",
    )


def _server(workload: str, tokens: str) -> WorkloadFigure:
    run = "Llama 3.1 8B Instruct, 1 H100, BF16, 1,000 prompts of ShareGPT at once"
    source = "https://research.aimultiple.com/inference-engines"
    result = f"{tokens} output tokens/s"
    return WorkloadFigure(workload=workload, run=run, result=result, source=source, read_on="2026-11-25")


#: Runs on NVIDIA's systems and on EC2, not on clusters of this library.
WORKLOAD_FIGURES: tuple[WorkloadFigure, ...] = (
    _titan("pretrain", "torchtitan, Llama 3.1 8B, 8 H100, BF16, FSDP2, 2 sequences for each GPU", "5,762"),
    _titan("pretrain", "torchtitan, Llama 3.1 8B, 128 H100, BF16, FSDP2, 2 sequences for each GPU", "5,605"),
    _titan("torchtitan", "Llama 3.1 8B, 128 H100, BF16, FSDP, torch.compile", "6,514"),
    _titan("torchtitan", "Llama 3.1 70B, 256 H100, FP8, FSDP 32, TP 8, torch.compile", "829"),
    _titan("torchtitan", "Llama 3.1 405B, 512 H100, FP8, FSDP 8, TP 8, PP 8, interleaved 1F1B", "128"),
    _megatron("Llama 3 70B, 64 H100, FP8, TP 4, PP 8", "1,664", 731),
    _megatron("Llama 3 70B, 64 GB200, FP8, FSDP", "4,224", 1_892),
    _megatron("Llama 3.1 405B, 1,024 H100, FP8, TP 8, PP 8, CP 2", "328", 827),
    WorkloadFigure(
        workload="maxtext",
        run="Llama 2 7B, 8 H100, BF16, FSDP 8, sequences of 4,096 tokens",
        result="0.721 s for a step, 22.19 sequences/s",
        source="https://github.com/NVIDIA/JAX-Toolbox (commit bcbbfa5), docs/frameworks/maxtext/README.md",
        read_on=_READ,
    ),
    WorkloadFigure(
        workload="finetune",
        run="IBM Granite 7B (Llama 2), 4 A100, BF16, Accelerate with ZeRO 3 of DeepSpeed, batches of 8",
        result="3,094.5 tokens/s for each GPU, 10.6 s for a step, 40 % MFU",
        source="https://github.com/huggingface/blog (commit 09e9aa2), deepspeed-to-fsdp-and-back.md",
        read_on="2026-11-26",
    ),
    _verl("all GPUs generate and train in turn", 749, "19 h 18 min"),
    _verl("4 of them generate (`rollout`)", 520, "15 h 34 min"),
    WorkloadFigure(
        workload="checkpointless",
        run="recovery from a failure, of AWS's own trainings on thousands of accelerators",
        result="less than 2 min instead of 15 to 30 min; up to 95 % goodput",
        source="AWS's article, in a copy of 2025-12-16: "
        "https://aihub.hkuspace.hku.hk/2025/12/16/checkpointless-training-on-amazon-sagemaker-hyperpod-production-scale-"
        "training-with-faster-fault-recovery",
        read_on="2026-11-26",
    ),
    _server("inference", "12,553"),
    _server("sglang", "16,215"),
    WorkloadFigure(
        workload="dynamo",
        run="Llama 3.1 8B, prompts of 8,000 tokens",
        result="first token after about 1 s over EFA, after about 98 s over TCP",
        source="https://github.com/ai-dynamo/dynamo (commit 0c21bf2), docs/kubernetes/cloud-providers/eks/efa.md",
        read_on=_READ,
    ),
)
