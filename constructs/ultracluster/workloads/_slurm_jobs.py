"""Job files for Slurm: one for each workload and queue, with the numbers of the cluster file."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ultracluster.boot import scripts
from ultracluster.catalogue.ec2 import Architecture, nccl_nodes, oldest_software
from ultracluster.clusterfile import ClusterFile
from ultracluster.workloads._images import IMAGES, ContainerImage, image_on
from ultracluster.workloads._model_fit import checkpoint_seconds
from ultracluster.workloads._queue_shape import QueueShape, queue_shapes
from ultracluster.workloads._shell_files import shell_file, variables
from ultracluster.workloads._slurm_arguments import arguments, downloads, overrides, requires
from ultracluster.workloads._slurm_form import SlurmForm
from ultracluster.workloads._table import WORKLOADS
from ultracluster.workloads._workload import Settings, Workload, software_versions

# Python modules that report the progress of a job, below the directory of the job files.
_PYTHON = "python"
# Path, and the size so far: a job that was requeued appends.
_NAMES_OUTPUT = (
    "(readlink /proc/$$/fd/1 && stat -L -c %s /proc/$$/fd/1) "
    '2>/dev/null >"/var/lib/ultracluster/job-metrics/${SLURM_JOB_ID:-none}/output" || true'
)
# USR1 ends a script that has no trap, and Slurm does not requeue the job. It may come while the job imports its image
# or tests its nodes.
_REQUESTED = ("requested=no", "trap 'requested=yes' USR1", "")
_HELPERS = {
    "ultracluster_job.py": "Python module that reports the progress of a job",
    "ultracluster_run.py": "Python program that runs a training program and reports its progress",
    "ultracluster_train.py": "Python program that trains a small language model with FSDP2 or DDP",
    "ultracluster_model.py": "its model",
    "ultracluster_data.py": "its data, synthetic or from files",
    "ultracluster_checkpoint.py": "its checkpoints",
    "ultracluster_titan.py": "Python program that runs torchtitan with that data",
    "ultracluster_finetune.py": "Python program that fine-tunes with the Trainer of Hugging Face",
}


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
    """A form with its settings. Scripts read the number of nodes from Slurm, so that `sbatch --nodes` changes it."""

    form: SlurmForm
    given: Settings
    nodes: int


def slurm_jobs(cluster: ClusterFile) -> tuple[JobFile, ...]:
    """Return the job files of a cluster: one for each workload and queue with GPU nodes.

    Args:
        cluster: Cluster file.
    """
    return tuple(
        slurm_job(form, queue, Settings())
        for queue in queue_shapes(cluster)
        for workload in WORKLOADS.values()
        for form in slurm_forms(workload)
        if workload.runs_on(queue.instance_type.gpus)
        if (queue.shared or not form.on_shared) and slurm_nodes(form, queue) <= queue.nodes
    )


def slurm_forms(workload: Workload) -> tuple[SlurmForm, ...]:
    """Return the sbatch files of a workload."""
    return tuple(form for form in workload.forms if isinstance(form, SlurmForm))


def slurm_nodes(form: SlurmForm, queue: QueueShape) -> int:
    """Return the nodes of a job by default."""
    few = min(queue.nodes, queue.segment or nccl_nodes(queue.instance_type.name))
    return {"all": queue.nodes, "few": few, "pair": 2, "one": 1}[form.nodes]


def slurm_job(form: SlurmForm, queue: QueueShape, given: Settings) -> JobFile:
    """Return the job file of a workload for one queue."""
    job = _Job(form=form, given=given, nodes=given.nodes or slurm_nodes(form, queue))
    amount = _amount(queue, job.nodes)
    title = form.title.format(amount=amount, shared=queue.shared, type=queue.instance_type.name)
    return JobFile(path=f"{queue.name}/{form.file}", text=_render(job, queue, title), what=title)


def job_images(cluster: ClusterFile) -> dict[Architecture, tuple[str, ...]]:
    """Return the pinned images of the job files of a cluster, by architecture; none without internet access."""
    return {queue.instance_type.architecture: tuple(_pinned(queue)) for queue in queue_shapes(cluster)}


def job_helpers() -> tuple[JobFile, ...]:
    """Return the Python files that job files run: the reporting of a training program, and one such program."""
    return tuple(
        JobFile(path=f"{_PYTHON}/{name}", text=scripts.text(name), what=about) for name, about in _HELPERS.items()
    )


def _render(job: _Job, queue: QueueShape, title: str) -> str:
    record, form = queue.instance_type, job.form
    image = image_on(form.container, record.architecture) if form.container and queue.internet else None
    body = "\n".join(shell_file(name) for name in form.bodies)
    if queue.resume_options and "resume.sh" in form.bodies:
        body = body.replace(" srun ", f" srun {' '.join(queue.resume_options)} ")
    lines = [
        "#!/usr/bin/env bash",
        f"# {title[0].upper()}{title[1:]}; {queue.efa_devices} EFA devices each.",
        f"# Queue {queue.name} of {queue.cluster}.",
        # Without a shared file system, nodes have none of the programs of the job files.
        *(f"#   {line}" for line in form.usage if queue.shared or "ultracluster_" not in line),
        "#",
        "# Submit it from a directory that all nodes have: the log is written there.",
        *_about_variables(job, queue, image),
        "#",
        f"#SBATCH --job-name={form.job}",
        f"#SBATCH --partition={queue.name}",
        f"#SBATCH --nodes={job.nodes}",
        f"#SBATCH --gpus-per-node={record.gpus}",
        f"#SBATCH --ntasks-per-node={record.gpus if form.task_per_gpu else 1}",
        # Every CPU of the node, however Slurm counts them: --cpus-per-task would need the number.
        "#SBATCH --exclusive",
        "#SBATCH --mem=0",
        # The limits of the node. Those of a Session Manager shell are too low for EFA, which locks memory:
        # https://slurm.schedmd.com/faq.html#memlock (read 2026-11-27).
        "#SBATCH --propagate=NONE",
        # Else the script starts when its own node is ready, and others may boot or run their prologs still.
        "#SBATCH --wait-all-nodes=1",
        *_segment(job, queue),
        *([f"#SBATCH --exclude={','.join(queue.others)}"] if queue.others else []),
        *(f"#SBATCH {option}" for option in form.options),
        *([f"#SBATCH --signal=B:USR1@{job.given.request_seconds}"] if "resume.sh" in form.bodies else []),
        "#SBATCH --output=%x-%j.out",
        "set -euo pipefail",
        "",
        *(_REQUESTED if "resume.sh" in form.bodies else ()),
        "# Name the output, which the node sends to CloudWatch.",
        _NAMES_OUTPUT,
        "",
        *_numbers(queue, body, job, image),
        *(f"export {name}={value}" for name, value in record.variables),
        *_sets_image(job, image),
        *(_names_run(queue, form) if "resume.sh" in form.bodies else []),
        *(downloads(form, f"{_of_user(queue)}/huggingface", internet=queue.internet) if form.cache else []),
        *requires(job.given),
        *([overrides(form, job.given)] if form.framework else []),
        *([f"[ $# -gt 0 ] || set -- {shlex.join(words)}"] if (words := arguments(form, job.given)) else []),
    ]
    return "\n".join(lines) + "\n\n" + body


def _about_variables(job: _Job, queue: QueueShape, image: ContainerImage | None) -> list[str]:
    lines, form = [], job.form
    if job.given.image:
        lines.append("# IMAGE    container image, or a .sqsh file that Enroot imported; empty: what the nodes have.")
    elif image:
        lines += [
            "# IMAGE    container image, or a .sqsh file that Enroot imported; empty: what the nodes have.",
            f"#          Default: {image.contents}",
        ]
    elif _runs_containers(form):
        lines.append(f"# IMAGE    must be set: {_why_no_image(queue)}; empty: what the nodes have.")
    if "resume.sh" in form.bodies:
        where = "" if queue.shared else "; on several nodes it must be set, for the cluster has no shared file system"
        lines.append(f"# RUN      directory of the run's checkpoints{where}; that of an earlier job continues it.")
        lines.append("# CHECKPOINT_SECONDS  time between two checkpoints, for a program that reads")
        lines.append(
            "#          ULTRACLUSTER_CHECKPOINT_SECONDS. Default: that of the plan, which loses the least time."
        )
    if "gate.sh" in form.bodies:
        lines.append(
            "# GATE     test of the nodes before the job starts, which leaves bad ones out: nccl, nodes or no."
        )
        lines.append(f"#          Default: {job.given.gate or _gate(form)}.")
    if "torchrun.sh" in form.bodies:
        lines.append("# RESTARTS  restarts of failed processes on the same nodes. Default: 3.")
    if _runs_containers(form):
        lines.append("# INSPECTOR  path of NCCL's libnccl-profiler-inspector.so: report collectives; many series.")
    if "resume.sh" in form.bodies:
        lines.append("# REPORT   no: start the program itself, not the one that reports its steps and checkpoints.")
    if "import.sh" not in form.bodies:
        lines.append("# PAYLOAD  a shell command that every task runs instead, to try the job: 'sleep 60'.")
    return lines


def _runs_containers(form: SlurmForm) -> bool:
    return "common.sh" in form.bodies


def _why_no_image(queue: QueueShape) -> str:
    if not queue.internet:
        return "nodes reach no public registry. A .sqsh file, or an image in Amazon ECR of the region"
    return f"no image is pinned for {queue.instance_type.architecture}"


def _sets_image(job: _Job, image: ContainerImage | None) -> list[str]:
    if not _runs_containers(job.form):
        return []
    if reference := job.given.image or (image.enroot if image else ""):
        return [f'IMAGE="${{IMAGE-{reference}}}"']
    return ['if [ -n "${PAYLOAD:-}" ]; then IMAGE=""; fi', ': "${IMAGE?must be set; see the top of this file}"']


def _numbers(queue: QueueShape, body: str, job: _Job, image: ContainerImage | None) -> list[str]:
    """Return the values of the cluster file for the shell files."""
    given = job.given
    values: dict[str, Callable[[], object]] = {
        "instance_type": lambda: queue.instance_type.name,
        "gpus_per_node": lambda: queue.instance_type.gpus,
        "tensor_parallel": lambda: given.tensor_parallel or queue.instance_type.gpus,
        "gate": lambda: given.gate or _gate(job.form),
        "checkpoint_seconds": lambda: given.checkpoint_seconds or checkpoint_seconds(job.nodes),
        "request_seconds": lambda: given.request_seconds,
        "prefill_nodes": lambda: given.prefill or max(1, job.nodes // 2),
        "rollout": lambda: given.rollout or 0,
        "parts": lambda: _array(image.packages) if image else "()",
        "pinned": lambda: image.enroot if image and image.layer else '""',
        "oldest_of_node": lambda: f"({shlex.join(_oldest(queue, 'node', given.software))})",
        "oldest_of_image": lambda: f"({shlex.join(_oldest(queue, 'container', given.software))})",
        "efa_devices": lambda: queue.efa_devices,
        "mounts": lambda: f'"{" ".join(queue.mounts)}"',
        "shared": lambda: queue.shared or '""',
        "images": lambda: f"({' '.join(_pinned(queue))})",
        "gpu_flops": lambda: f"{queue.instance_type.gpu.bf16_pflops * 1e15:.0f}" if queue.instance_type.gpu else '""',
        "helper": lambda: f"{queue.shared}/jobs/current/{_PYTHON}" if queue.shared else '""',
    }
    used = variables(body)
    return [f"{name}={value()}" for name, value in values.items() if name in used]


def _gate(form: SlurmForm) -> str:
    """Return the test of the nodes by default: jobs on all nodes are long, and pairs of nodes take minutes."""
    return "nccl" if form.nodes == "all" else "nodes"


def _oldest(queue: QueueShape, place: Literal["node", "container"], given: str) -> list[str]:
    """Return the oldest software that the type needs; versions of the file, and given ones, replace them."""
    replaced = {**queue.software, **software_versions(given)}
    return [f"{name}={version}" for name, version in oldest_software(queue.instance_type, place, replaced).items()]


def _array(words: tuple[str, ...]) -> str:
    """Return an array of the shell, a word on each line."""
    return "(\n" + "".join(f"    {shlex.quote(word)}\n" for word in words) + ")"


def _pinned(queue: QueueShape) -> list[str]:
    """Return the container images of the queue's job files."""
    architecture = queue.instance_type.architecture
    images = [image for image in IMAGES.values() if image.imported and architecture in image.architectures]
    return [image.enroot for image in images if queue.internet]


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


def _names_run(queue: QueueShape, form: SlurmForm) -> list[str]:
    """Return the directory of the run: by default, one for each job."""
    # On nodes without a shared file system, each would keep its part of a checkpoint.
    why = "must be set: the cluster file has no storage.lustre or storage.home, so nodes share no directory"
    local = f'[ "$SLURM_JOB_NUM_NODES" -eq 1 ] || [ -n "${{PAYLOAD:-}}" ] || : "${{RUN:?{why}}}"'
    run = f'RUN="${{RUN:-{_of_user(queue)}/{form.job}/$SLURM_JOB_ID}}"'
    return [*([] if queue.shared else [local]), "run_is_given=${RUN:+yes}", run]
