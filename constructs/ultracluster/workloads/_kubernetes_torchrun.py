"""Gangs of torchrun with a framework of others."""

from collections.abc import Sequence

from ultracluster.kubernetes import REPORTER, Object, Platform, PlatformNodes, Team
from ultracluster.workloads._images import ContainerImage
from ultracluster.workloads._kubernetes_gang import job_set, layered, name_of, nodes_of, torchrun, train_job
from ultracluster.workloads._workload import Settings


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
    kind: str,
    program: Sequence[str],
    image: ContainerImage,
    launcher: Sequence[str] = (),
) -> list[Object]:
    """Return a gang as a TrainJob, or as a JobSet if the queue of the team manages no TrainJobs.

    Args:
        platform: The cluster.
        group: Node group.
        team: Team of the job.
        given: Settings.
        kind: Beginning of the name by default.
        program: Program that torchrun starts, with its arguments.
        image: Image by default; its layer is added to it.
        launcher: Beginning of the command.
    """
    name, nodes = name_of(kind, group, given), nodes_of(group, given.nodes)
    create = train_job if has_train_jobs(platform) else job_set
    started = ["torchrun", REPORTER, *program] if create is train_job else torchrun(group, name, nodes, program)
    command = [*launcher, *started]
    if image.layer and not given.image:
        command = layered(group, image, command)
    return create(platform, group, team, given, kind=kind, command=command, image=image)
