"""Training with frameworks of others: torchtitan, Megatron Bridge and MaxText."""

from ultracluster.workloads._frameworks import COMMON, LAYOUT, MAX_TEXT, MEGATRON_BRIDGE, TITAN, UNCONNECTED
from ultracluster.workloads._images import MAXTEXT, MEGATRON, TORCHTITAN
from ultracluster.workloads._kubernetes_training import MAX_TEXT_SET, MEGATRON_JOB, MEGATRON_SET, TITAN_JOB, TITAN_SET
from ultracluster.workloads._slurm_form import CONTAINER, LAYERED, RESUMED, RESUMES, SlurmForm
from ultracluster.workloads._workload import Workload

#: Rows of the table of workloads.
TRAINING = (
    Workload(
        name="torchtitan",
        summary="pre-training with torchtitan: FSDP2, tensor, pipeline, context and expert parallel",
        needs="all nodes that are not spare; synthetic tokens, or data in token files",
        holds="layout",
        by_time=True,
        fp8=False,
        forms=(
            SlurmForm(
                file="torchtitan.sbatch",
                title="pre-training with torchtitan on {amount}",
                usage=(
                    "sbatch torchtitan.sbatch                             Llama 3.1 8B, synthetic tokens",
                    "sbatch torchtitan.sbatch CONFIGURATION [OPTIONS]     another one of torchtitan's",
                ),
                nodes="all",
                bodies=(*LAYERED, *RESUMED, "torchtitan.sh", "torchrun.sh"),
                options=RESUMES,
                container=TORCHTITAN,
                on_shared=True,
                framework=TITAN,
                recipe="llama3_8b",
                settings=COMMON,
            ),
            TITAN_JOB,
            TITAN_SET,
        ),
    ),
    Workload(
        name="megatron",
        summary="pre-training or fine-tuning by a recipe of Megatron Bridge, on Megatron Core",
        needs="all nodes that are not spare; the recipe's model from Hugging Face; synthetic tokens, or data",
        holds="layout",
        tensor=4,
        # https://github.com/NVIDIA-NeMo/Megatron-Bridge (tag v0.4.2), src/megatron/bridge/recipes (read 2026-11-26)
        own_stages=("deepseek_v3", "kimi_k2", "glm_45v"),
        forms=(
            SlurmForm(
                file="megatron.sbatch",
                title="a recipe of Megatron Bridge on {amount}",
                usage=(
                    "sbatch megatron.sbatch                            pre-training of Qwen3 8B, synthetic tokens",
                    "sbatch megatron.sbatch RECIPE [KEY=VALUE ...]     another recipe, with overrides",
                ),
                nodes="all",
                bodies=(*CONTAINER, *RESUMED, "loads/recipe.sh", "megatron.sh", "torchrun.sh"),
                options=RESUMES,
                container=MEGATRON,
                framework=MEGATRON_BRIDGE,
                recipe="qwen3_8b_pretrain_config",
                cache=True,
                settings=(*COMMON, *LAYOUT),
                unconnected=UNCONNECTED,
            ),
            MEGATRON_JOB,
            MEGATRON_SET,
        ),
    ),
    Workload(
        name="maxtext",
        summary="pre-training with JAX and MaxText, a process for each node",
        needs="all nodes that are not spare; synthetic tokens, or data in files of Grain",
        holds="sharded",
        inside=("tensor_parallel", "context_parallel", "expert_parallel"),
        forms=(
            SlurmForm(
                file="maxtext.sbatch",
                title="pre-training with MaxText on {amount}",
                usage=(
                    "sbatch maxtext.sbatch                         Llama 2 7B, synthetic tokens",
                    "sbatch maxtext.sbatch MODEL [KEY=VALUE ...]   another model, with overrides",
                ),
                nodes="all",
                bodies=(*CONTAINER, *RESUMED, "loads/maxtext.sh", "maxtext.sh"),
                options=RESUMES,
                container=MAXTEXT,
                framework=MAX_TEXT,
                recipe="llama2-7b",
                settings=COMMON,
            ),
            MAX_TEXT_SET,
        ),
    ),
)
