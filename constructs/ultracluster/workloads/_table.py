"""Every workload, described once for Slurm and Kubernetes."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.workloads._frameworks import CHECKPOINTS, SGLANG_OPTIONS, VERL_TRAINER, VLLM_OPTIONS
from ultracluster.workloads._images import DYNAMO, FINETUNE, NCCL_TESTS, PYTORCH, SGLANG, VERL, VLLM
from ultracluster.workloads._kubernetes_disaggregated import DISAGGREGATED
from ultracluster.workloads._kubernetes_form import (
    ALL_TO_ALL,
    CHECKPOINTLESS_JOB,
    DCGM,
    ELASTIC_JOB,
    FINE_TUNE,
    FINE_TUNE_SET,
    JOB_SET,
    LEADER_WORKER_SET,
    NCCL,
    PYTORCH_JOB,
    RL,
    SGLANG_SET,
    TRAIN_JOB,
)
from ultracluster.workloads._slurm_form import CONTAINER, LAYERED, ON_NODES, RESUMED, RESUMES, SlurmForm
from ultracluster.workloads._training_rows import TRAINING
from ultracluster.workloads._workload import Workload

_TRAIN = (*CONTAINER, *RESUMED, "torchrun.sh")
_SCALED = ("nodes", "gpus", "image")
_PROGRAM = (*_SCALED, "program", "data")

_ROWS = (
    Workload(
        name="pretrain",
        summary="pre-training with torchrun, a process for each GPU, with checkpoints and requeue",
        needs="all nodes that are not spare; the training program of the job files, or yours",
        holds="sharded",
        forms=(
            SlurmForm(
                file="pretrain.sbatch",
                title="pre-training on {amount}",
                usage=(
                    "sbatch pretrain.sbatch train.py [ARGUMENTS]         torchrun starts it once for each GPU",
                    "sbatch pretrain.sbatch ultracluster_train.py        a small model and synthetic tokens: --help",
                ),
                nodes="all",
                bodies=_TRAIN,
                options=RESUMES,
                container=PYTORCH,
                settings=(*_PROGRAM, "gate"),
            ),
            TRAIN_JOB,
            JOB_SET,
            PYTORCH_JOB,
        ),
    ),
    *TRAINING,
    Workload(
        name="elastic",
        summary="pre-training that grows on idle nodes, and shrinks when they fail or others need them",
        needs="HyperPod's training operator 1.2; no Spot instances and no managed tiered checkpoints; a program "
        "that continues on any number of nodes",
        holds="sharded",
        forms=(ELASTIC_JOB,),
    ),
    Workload(
        name="checkpointless",
        summary="pre-training of Llama 3 70B in which failed processes recover from the memory of others",
        needs="HyperPod's training operator 1.2; no managed tiered checkpoints; P5 or P5e nodes, a multiple of 8; a "
        "shared file system with the data; another program needs AWS's package hyperpod_checkpointless_training",
        forms=(CHECKPOINTLESS_JOB,),
    ),
    Workload(
        name="finetune",
        summary="fine-tuning with the Trainer of Hugging Face, Accelerate and DeepSpeed",
        needs="1 node; a model and samples, or neither to try it; or your training program",
        holds="sharded",
        forms=(
            SlurmForm(
                file="finetune.sbatch",
                title="fine-tuning on {amount}",
                usage=(
                    "sbatch finetune.sbatch                                a small model, DeepSpeed's ZeRO 3: --help",
                    "sbatch finetune.sbatch ultracluster_finetune.py --model /fsx/model --data /fsx/samples",
                    "sbatch --nodes=4 finetune.sbatch train.py [ARGUMENTS]  your program, on four nodes",
                ),
                nodes="one",
                bodies=(*LAYERED, *_TRAIN[len(CONTAINER) :]),
                options=RESUMES,
                container=FINETUNE,
                on_shared=True,
                program="ultracluster_finetune.py",
                cache=True,
                settings=(*_PROGRAM, "model", "gate"),
            ),
            FINE_TUNE,
            FINE_TUNE_SET,
        ),
    ),
    Workload(
        name="rl",
        summary="reinforcement learning with veRL on a Ray cluster of its nodes",
        needs="2 nodes, or one segment of an UltraServer; data and model",
        holds="sharded",
        fp8=False,
        answers=False,
        forms=(
            SlurmForm(
                file="rl.sbatch",
                title="reinforcement learning with veRL on {amount}",
                usage=(
                    "sbatch rl.sbatch data.train_files=... data.val_files=... actor_rollout_ref.model.path=...",
                    "                                            GRPO, with any settings of veRL",
                    "ROLLOUT=2 sbatch --nodes=4 rl.sbatch ...    two of four nodes generate, the others train",
                ),
                nodes="few",
                bodies=(
                    *("image.sh", "loads/layer-verl.sh", "layer.sh", "metrics.sh", "common.sh"),
                    *RESUMED,
                    *("loads/verl.sh", "verl.sh"),
                ),
                options=RESUMES,
                container=VERL,
                on_shared=True,
                framework=VERL_TRAINER,
                cache=True,
                settings=(*_SCALED, "rollout", "data", "model", *CHECKPOINTS, "gate"),
            ),
            RL,
        ),
    ),
    Workload(
        name="inference",
        summary="inference with vLLM: tensor parallel in an NVLink domain, pipeline parallel between them",
        needs="1 node, or as many as the model needs; a model",
        holds="serving",
        forms=(
            SlurmForm(
                file="inference.sbatch",
                title="inference with vLLM on {amount}",
                usage=("sbatch inference.sbatch MODEL [ARGUMENTS]   of vllm serve; MODEL: a directory or a name",),
                nodes="one",
                bodies=(*CONTAINER, *ON_NODES, "serving.sh", "parallel.sh", "vllm.sh"),
                options=RESUMES,
                container=VLLM,
                server=VLLM_OPTIONS,
                cache=True,
                settings=(*_SCALED, "tensor_parallel", "model"),
            ),
            LEADER_WORKER_SET,
        ),
    ),
    Workload(
        name="sglang",
        summary="inference with SGLang: tensor parallel in an NVLink domain, pipeline parallel between them",
        needs="1 node, or as many as the model needs; a model",
        holds="serving",
        forms=(
            SlurmForm(
                file="sglang.sbatch",
                title="inference with SGLang on {amount}",
                usage=(
                    "sbatch sglang.sbatch MODEL [ARGUMENTS]   of sglang.launch_server; MODEL: a directory or a name",
                ),
                nodes="one",
                bodies=(*CONTAINER, *ON_NODES, "serving.sh", "parallel.sh", "sglang.sh"),
                options=RESUMES,
                container=SGLANG,
                server=SGLANG_OPTIONS,
                cache=True,
                settings=(*_SCALED, "tensor_parallel", "model"),
            ),
            SGLANG_SET,
        ),
    ),
    Workload(
        name="dynamo",
        summary="inference with Dynamo: prompts and tokens on separate nodes, NIXL between them over EFA",
        needs="2 nodes or more; Lustre or shared home directories; a model that fits into a node",
        holds="serving",
        forms=(
            SlurmForm(
                file="dynamo.sbatch",
                title="inference with Dynamo on {amount}, prompts and tokens apart",
                usage=(
                    "sbatch dynamo.sbatch MODEL [ARGUMENTS]   of vllm serve; MODEL: a directory or a name",
                    "PREFILL=3 sbatch --nodes=8 dynamo.sbatch MODEL     three of eight nodes compute prompts",
                ),
                nodes="pair",
                bodies=(
                    "image.sh",
                    "loads/layer-etcd.sh",
                    "layer.sh",
                    *CONTAINER[1:],
                    *ON_NODES,
                    "serving.sh",
                    "loads/dynamo.sh",
                    "dynamo.sh",
                ),
                options=RESUMES,
                container=DYNAMO,
                server=VLLM_OPTIONS,
                cache=True,
                on_shared=True,
                settings=(*_SCALED, "prefill", "model"),
            ),
            DISAGGREGATED,
        ),
    ),
    Workload(
        name="nccl",
        summary="NCCL test: all-reduce, compared with the published result of the type, or all-to-all",
        needs="as many nodes as a published result has, otherwise 2; on Kubernetes no fewer",
        forms=(
            SlurmForm(
                file="nccl.sbatch",
                title="NCCL test on {amount}",
                usage=(
                    "sbatch nccl.sbatch                          exit code 1: below a known floor, or not over EFA",
                    "OPERATION=alltoall sbatch nccl.sbatch       another of nccl-tests, without a known floor",
                    "LARGEST=64G sbatch --nodes=4 nccl.sbatch    on four nodes, with messages up to that size",
                ),
                nodes="few",
                bodies=(*CONTAINER, "nccl.sh"),
                task_per_gpu=True,
                container=NCCL_TESTS,
                settings=_SCALED,
            ),
            NCCL,
            ALL_TO_ALL,
        ),
    ),
    Workload(
        name="health",
        summary="DCGM diagnostics of each node, and its software below the oldest that its type needs",
        needs="all nodes that are not spare",
        across_nodes=False,
        forms=(
            SlurmForm(
                file="health.sbatch",
                title="health check of {amount}",
                usage=(
                    "sbatch health.sbatch            DCGM's diagnostics at level 2 on every node: minutes",
                    "LEVEL=4 sbatch health.sbatch    up to two hours",
                    "IMAGE=... sbatch health.sbatch  also the software of a container image",
                ),
                nodes="all",
                bodies=("health.sh",),
                settings=("nodes", "gpus", "software"),
            ),
            DCGM,
        ),
    ),
    Workload(
        name="import",
        summary="import of container images with Enroot, once for all nodes",
        needs="1 node; Lustre or shared home directories",
        across_nodes=False,
        forms=(
            SlurmForm(
                file="import.sbatch",
                title="import of container images to {shared}, on 1 node of {type}",
                usage=(
                    "sbatch import.sbatch [IMAGE ...]       "
                    "for your jobs; without IMAGE, the pinned ones. Else, the first",
                    "                                       job that takes an image imports it, while its nodes wait",
                    "sudo bash import.sbatch [IMAGE ...]    on a node with Enroot: for the jobs of all users",
                ),
                nodes="one",
                bodies=("image.sh", "import.sh"),
                on_shared=True,
                settings=(),
            ),
        ),
    ),
)
#: All workloads by name, in the order in which they are listed.
WORKLOADS: Mapping[str, Workload] = MappingProxyType({row.name: row for row in _ROWS})
