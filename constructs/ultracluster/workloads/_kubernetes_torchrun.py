"""Gangs of torchrun with a framework of others."""

from collections.abc import Sequence

from ultracluster.kubernetes import REPORTER, Object, Platform, PlatformNodes, Team
from ultracluster.workloads._images import ContainerImage
from ultracluster.workloads._kubernetes_gang import image_for, job_set, layered, nodes_of, torchrun, train_job
from ultracluster.workloads._workload import Gate, Settings


def has_train_jobs(platform: Platform) -> bool:
    """Return False for the Kueue of task governance, which does not manage the kind TrainJob.

    See `hyperpod_kubernetes.TASK_GOVERNANCE`.
    """
    return platform.scheduler != "task-governance"


def has_job_sets_alone(platform: Platform) -> bool:
    """Return True if gangs of torchrun must be JobSets."""
    return not has_train_jobs(platform)


def torchrun_job(
    platform: Platform,
    group: PlatformNodes,
    team: Team,
    given: Settings,
    *,
    name: str,
    program: Sequence[str],
    image: ContainerImage,
    nodes: int | None = None,
    gate: Gate | None = None,
    launcher: Sequence[str] = (),
) -> list[Object]:
    """Return a gang as a TrainJob, or as a JobSet if the queue of the team manages no TrainJobs.

    Args:
        platform: The cluster.
        group: Node group.
        team: Team of the job.
        given: Settings.
        name: Name of the job.
        program: Program that torchrun starts, with its arguments.
        image: Image by default; its layer is added to it.
        nodes: Number of nodes by default. By default, all that are not spare.
        gate: Test of the nodes by default. By default, that with NCCL.
        launcher: Beginning of the command.
    """
    requested = nodes_of(group, given.nodes or nodes)
    create = train_job if has_train_jobs(platform) else job_set
    started = ["torchrun", REPORTER, *program] if create is train_job else torchrun(group, name, requested, program)
    command = [*launcher, *started]
    return create(
        platform,
        group,
        team,
        name=name,
        nodes=requested,
        command=layered(group, image, command) if image.layer and not given.image else command,
        image=given.image or image_for(group, image),
        interval=given.checkpoint_seconds,
        data=given.data,
        gate=given.gate or gate,
    )
