"""Job files for Slurm: one for each workload and queue, with the numbers of the cluster file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from ultracluster.boot import scripts
from ultracluster.catalogue.ec2 import NCCL_FIGURES
from ultracluster.clusterfile import ClusterFile
from ultracluster.workloads._images import IMAGES, NCCL_TESTS, PYTORCH, VLLM, ContainerImage
from ultracluster.workloads._queue_shape import QueueShape, queue_shapes

# Of these, Slurm requests a checkpoint five minutes before a job has to stop.
_RESUMES = ("--requeue", "--open-mode=append", "--signal=B:USR1@300")
# Of these, tasks run in a container.
_CONTAINER = ("image.sh", "metrics.sh", "common.sh")
# Python modules that report the progress of a job, below the directory of the job files.
_PYTHON = "python"
_HELPERS = {
    "ultracluster_job.py": "Python module that reports the progress of a job",
    "ultracluster_run.py": "Python program that runs a training program and reports its progress",
}
_VERL_IMAGE = (
    "https://github.com/awslabs/awsome-distributed-ai/tree/95b939cdc5b24ded03a70da21533964f9354b731/"
    "3.test_cases/pytorch/verl/hyperpod-eks/rlvr"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFile:
    """A job file.

    Args:
        path: Relative path: `QUEUE/JOB.sbatch`.
        text: Content.
        what: Short description.
    """

    path: str
    text: str
    what: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    name: str
    title: str
    usage: Sequence[str]
    #: Number of nodes. Scripts read it from Slurm, so that `sbatch --nodes` changes it.
    nodes: int
    #: Shell files of the job.
    bodies: Sequence[str]
    tasks_per_node: int = 1
    options: Sequence[str] = ()
    #: None: no image can be pinned, for the reason `no_image`, and is built from `no_image_source`.
    image: ContainerImage | None = None
    no_image: str = ""
    no_image_source: str = ""
    #: Further lines that set variables.
    sets: Sequence[str] = ()


def slurm_jobs(cluster: ClusterFile) -> tuple[JobFile, ...]:
    """Return the job files of a cluster: one for each workload and queue with GPU nodes.

    Args:
        cluster: Cluster file.
    """
    return tuple(
        JobFile(path=f"{queue.name}/{job.name}.sbatch", text=_render(job, queue), what=job.title)
        for queue in queue_shapes(cluster)
        for job in _jobs(queue)
    )


def job_helpers() -> tuple[JobFile, ...]:
    """Return the Python files that report the progress of a training program."""
    return tuple(
        JobFile(path=f"{_PYTHON}/{name}", text=scripts.text(name), what=what) for name, what in _HELPERS.items()
    )


def _jobs(queue: QueueShape) -> tuple[_Job, ...]:
    few = min(queue.nodes, queue.segment or _nccl_nodes(queue))
    train = (*_CONTAINER, "on-nodes.sh", "resume.sh", "torchrun.sh")
    cache = f'export HF_HOME="${{HF_HOME:-{_of_user(queue)}/huggingface}}"'
    return (
        _Job(
            name="pretrain",
            title=f"pre-training on {_amount(queue, queue.nodes)}",
            usage=("sbatch pretrain.sbatch train.py [ARGUMENTS]   torchrun starts it once for each GPU",),
            nodes=queue.nodes,
            bodies=train,
            options=_RESUMES,
            image=PYTORCH,
        ),
        _Job(
            name="finetune",
            title=f"fine-tuning on {_amount(queue, 1)}",
            usage=(
                "sbatch finetune.sbatch train.py [ARGUMENTS]            such as a script of TRL or Accelerate",
                "sbatch --nodes=4 finetune.sbatch train.py [ARGUMENTS]  the same on four nodes",
            ),
            nodes=1,
            bodies=train,
            options=_RESUMES,
            image=PYTORCH,
            sets=(cache,),
        ),
        _Job(
            name="rl",
            title=f"reinforcement learning with veRL on {_amount(queue, few)}",
            usage=("sbatch rl.sbatch data.train_files=... actor_rollout_ref.model.path=...   settings of veRL",),
            nodes=few,
            bodies=(*_CONTAINER, "on-nodes.sh", "resume.sh", "verl.sh"),
            options=_RESUMES,
            no_image="veRL with EFA is in no published image",
            no_image_source=_VERL_IMAGE,
            sets=(cache,),
        ),
        _Job(
            name="inference",
            title=f"inference with vLLM on {_amount(queue, 1)}",
            usage=("sbatch inference.sbatch MODEL [ARGUMENTS]   of vllm serve; MODEL: a directory or a name",),
            nodes=1,
            bodies=(*_CONTAINER, "on-nodes.sh", "vllm.sh"),
            options=_RESUMES[:2],
            image=VLLM,
            sets=(cache,),
        ),
        _Job(
            name="nccl",
            title=f"NCCL all-reduce test on {_amount(queue, few)}",
            usage=(
                "sbatch nccl.sbatch                          exit code 1: below a known floor, or not over EFA",
                "LARGEST=64G sbatch --nodes=4 nccl.sbatch    on four nodes, with messages up to that size",
            ),
            nodes=few,
            bodies=(*_CONTAINER, "nccl.sh"),
            tasks_per_node=queue.instance_type.gpus,
            image=NCCL_TESTS,
        ),
        _Job(
            name="health",
            title=f"health check of {_amount(queue, queue.nodes)}",
            usage=(
                "sbatch health.sbatch            DCGM's diagnostics at level 2 on every node: minutes",
                "LEVEL=4 sbatch health.sbatch    up to two hours",
            ),
            nodes=queue.nodes,
            bodies=("health.sh",),
        ),
        _Job(
            name="import",
            title=f"import of container images to {queue.shared}, on 1 node of {queue.instance_type.name}",
            usage=(
                "sbatch import.sbatch [IMAGE ...]       for your jobs; without IMAGE, the pinned ones. Else, the first",
                "                                       job that takes an image imports it, while its nodes wait",
                "sudo bash import.sbatch [IMAGE ...]    on a node with Enroot: for the jobs of all users",
            ),
            nodes=1,
            bodies=("image.sh", "import.sh"),
        ),
    )[: None if queue.shared else -1]


def _render(job: _Job, queue: QueueShape) -> str:
    record = queue.instance_type
    image = job.image if job.image and queue.internet and record.architecture in job.image.architectures else None
    body = "\n".join(_body(name) for name in job.bodies)
    if queue.resume_options and "resume.sh" in job.bodies:
        body = body.replace(" srun ", f" srun {' '.join(queue.resume_options)} ")
    lines = [
        "#!/usr/bin/env bash",
        f"# {job.title[0].upper()}{job.title[1:]}; {queue.efa_devices} EFA devices each.",
        f"# Queue {queue.name} of {queue.cluster}.",
        *(f"#   {line}" for line in job.usage),
        "#",
        "# Submit it from a directory that all nodes have: the log is written there.",
        *_about_variables(job, queue, image),
        "#",
        f"#SBATCH --job-name={job.name}",
        f"#SBATCH --partition={queue.name}",
        f"#SBATCH --nodes={job.nodes}",
        f"#SBATCH --gpus-per-node={record.gpus}",
        f"#SBATCH --ntasks-per-node={job.tasks_per_node}",
        # Every CPU of the node, however Slurm counts them: --cpus-per-task would need the number.
        "#SBATCH --exclusive",
        "#SBATCH --mem=0",
        # Else the script starts when its own node is ready, and others may boot or run their prologs still.
        "#SBATCH --wait-all-nodes=1",
        *_segment(job, queue),
        *([f"#SBATCH --exclude={','.join(queue.others)}"] if queue.others else []),
        *(f"#SBATCH {option}" for option in job.options),
        "#SBATCH --output=%x-%j.out",
        "set -euo pipefail",
        "",
        *_numbers(queue, body),
        *_sets_image(job, image),
        *([f'RUN="${{RUN:-{_of_user(queue)}/{job.name}}}"'] if "resume.sh" in job.bodies else []),
        *job.sets,
    ]
    return "\n".join(lines) + "\n\n" + body


def _about_variables(job: _Job, queue: QueueShape, image: ContainerImage | None) -> list[str]:
    lines = []
    if image:
        lines += [
            "# IMAGE    container image, or a .sqsh file that Enroot imported; empty: what the nodes have.",
            f"#          Default: {image.holds}",
        ]
    elif _runs_containers(job):
        lines.append(f"# IMAGE    must be set: {_why_no_image(job, queue)}; empty: what the nodes have.")
        lines += [f"#          To build one: {job.no_image_source}"] if job.no_image_source else []
    if "resume.sh" in job.bodies:
        where = "" if queue.shared else "; on the node's own disk, for the cluster has no shared file system: set it"
        lines.append(f"# RUN      directory of the run's checkpoints{where}.")
    if _runs_containers(job):
        lines.append("# INSPECTOR  path of NCCL's libnccl-profiler-inspector.so: report collectives; many series.")
    if "resume.sh" in job.bodies:
        lines.append("# REPORT   no: start the program itself, not the one that reports its steps and checkpoints.")
    if job.name != "import":
        lines.append("# PAYLOAD  a shell command that every task runs instead, to try the job: 'sleep 60'.")
    return lines


def _runs_containers(job: _Job) -> bool:
    return "common.sh" in job.bodies


def _why_no_image(job: _Job, queue: QueueShape) -> str:
    if not queue.internet:
        return "nodes reach no public registry. A .sqsh file, or an image in Amazon ECR of the region"
    return job.no_image or f"no image is pinned for {queue.instance_type.architecture}"


def _sets_image(job: _Job, image: ContainerImage | None) -> list[str]:
    if not _runs_containers(job):
        return []
    if image:
        return [f'IMAGE="${{IMAGE-{image.enroot}}}"']
    return ['if [ -n "${PAYLOAD:-}" ]; then IMAGE=""; fi', ': "${IMAGE?must be set; see the top of this file}"']


def _numbers(queue: QueueShape, body: str) -> list[str]:
    """Return the values of the cluster file for the shell files."""
    known = {
        "instance_type": queue.instance_type.name,
        "gpus_per_node": queue.instance_type.gpus,
        "efa_devices": queue.efa_devices,
        "mounts": f'"{" ".join(queue.mounts)}"',
        "shared": queue.shared or '""',
        "images": f"({' '.join(_pinned(queue))})",
        "gpu_flops": f"{queue.instance_type.gpu.bf16_pflops * 1e15:.0f}" if queue.instance_type.gpu else '""',
        "helper": f"{queue.shared}/jobs/current/{_PYTHON}" if queue.shared else '""',
    }
    return [f"{name}={value}" for name, value in known.items() if re.search(rf"\${{?{name}\b", body)]


def _pinned(queue: QueueShape) -> list[str]:
    """Return the container images of the queue's job files."""
    architecture = queue.instance_type.architecture
    return [image.enroot for image in IMAGES.values() if queue.internet and architecture in image.architectures]


def _segment(job: _Job, queue: QueueShape) -> list[str]:
    """Return the segment size of a job on UltraServers; other jobs fit into one domain."""
    return [f"#SBATCH --segment={queue.segment}"] if queue.segment and job.nodes >= queue.segment else []


def _amount(queue: QueueShape, nodes: int) -> str:
    record = queue.instance_type
    gpus = f"{nodes * record.gpus:,} {record.gpu_model or 'GPUs'}"
    return f"{gpus}, {nodes} {'node' if nodes == 1 else 'nodes'} of {record.name}"


def _of_user(queue: QueueShape) -> str:
    """Return the submitting user's directory, on the shared mount or else on the node's volume."""
    return f"{queue.shared or (queue.mounts[0] if queue.mounts else '/var/tmp')}/$USER"


def _nccl_nodes(queue: QueueShape) -> int:
    """Return the number of nodes with a known floor, or else two, the fewest that use the network."""
    known = [figure.nodes for figure in NCCL_FIGURES if figure.instance_type == queue.instance_type.name]
    return known[0] if known else 2


def _body(name: str) -> str:
    text = resources.files(__package__).joinpath("slurm", name).read_text(encoding="utf-8")
    return text.removeprefix("# shellcheck shell=bash\n")
