"""Forms of workloads for Slurm: the parts of an sbatch file."""

from dataclasses import dataclass, field
from typing import Literal

from ultracluster.workloads._frameworks import Framework
from ultracluster.workloads._images import ContainerImage
from ultracluster.workloads._workload import Family, Form

# Of jobs that start again.
RESUMES = ("--requeue", "--open-mode=append")
# Files of `boot`, of the same names in pods of gangs.
_PROGRESS, _EFA = "ultracluster_progress.sh", "ultracluster_efa.sh"
OF_BOOT = (_PROGRESS, _EFA)
#: A task on each node.
ON_NODES = (_EFA, "on-nodes.sh")
# Of jobs that test their nodes first, and start again where they were. The directory of the run comes before the test.
RESUMED = (*ON_NODES, _PROGRESS, "resume.sh", "requeue.sh", "gate.sh")
# Of these, tasks run in a container.
CONTAINER = ("image.sh", "metrics.sh", "common.sh")
# The same, with packages that the image lacks.
LAYERED = ("image.sh", "loads/layer-packages.sh", "layer.sh", *CONTAINER[1:])


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmForm(Form):
    """An sbatch file of a workload.

    Args:
        title: First line of the file, with `{amount}`, `{shared}` and `{type}`.
        usage: Further lines that show how it is submitted.
        nodes: Nodes by default: all that are not spare, two, one, or as few as a test with a known result has.
        bodies: Shell files of the job.
        task_per_gpu: Whether a node has a task for each GPU.
        options: Options of sbatch.
        container: Image, or None without one.
        framework: Options of its framework for settings, or None.
        server: Options of its server for settings, or None.
        recipe: Configuration by default, for a framework.
        program: Program of the job files that starts if none is named, or an empty text.
        cache: Whether it downloads models and data from Hugging Face.
        on_shared: Whether it needs a file system that all nodes share.
    """

    family: Family = "slurm"
    kind: str = "sbatch"
    title: str
    usage: tuple[str, ...]
    nodes: Literal["all", "few", "pair", "one"]
    bodies: tuple[str, ...] = field(repr=False)
    task_per_gpu: bool = False
    options: tuple[str, ...] = ()
    container: ContainerImage | None = None
    framework: Framework | None = None
    server: Framework | None = None
    recipe: str = ""
    program: str = ""
    cache: bool = False
    on_shared: bool = False

    @property
    def job(self) -> str:
        """Name of the job."""
        return self.file.removesuffix(".sbatch")
