"""Job files of a cluster file."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracluster.catalogue.schedulers import hyperpod_kubernetes
from ultracluster.clusterfile import ClusterFile
from ultracluster.kubernetes import Platform, PlatformNodes, platform_of
from ultracluster.planning.capacity import segment
from ultracluster.workloads._frameworks import DEGREES
from ultracluster.workloads._kubernetes_jobs import (
    groups_of,
    kubernetes_forms,
    kubernetes_job,
    kubernetes_jobs,
    platform_of_team,
)
from ultracluster.workloads._limits import refused, unknown, validated
from ultracluster.workloads._model_fit import plan_settings as settings_of
from ultracluster.workloads._queue_shape import QueueShape, queue_shapes
from ultracluster.workloads._room import Room
from ultracluster.workloads._slurm_jobs import JobFile, slurm_forms, slurm_job, slurm_jobs, slurm_nodes
from ultracluster.workloads._table import WORKLOADS
from ultracluster.workloads._workload import Workload

if TYPE_CHECKING:
    from ultracluster.planning import Plan

_Given = Mapping[str, str]
_OPERATOR = (
    f"orchestrator: hyperpod-kubernetes, kubernetes: {{add-ons: {{{hyperpod_kubernetes.TRAINING_OPERATOR}: default}}}}"
)


def workload_files(
    cluster: ClusterFile,
    workload: str,
    *,
    group: str | None = None,
    settings: _Given | None = None,
    team: str | None = None,
) -> tuple[JobFile, ...]:
    """Return the files of one workload for one group.

    Args:
        cluster: Cluster file.
        workload: Name of the workload, of `WORKLOADS`.
        group: Queue on Slurm, node group on Kubernetes. By default, the only one with GPUs.
        settings: Values by name, as texts: `{"nodes": "4"}`.
        team: Team of the job on Kubernetes. By default, that with the largest share of the group.

    Raises:
        Refusal: If a name does not exist, or the group cannot run the workload; with the arithmetic.
    """
    if workload not in WORKLOADS:
        raise unknown("workload", workload, list(WORKLOADS))
    return _WORKLOAD[cluster.orchestrator](cluster, WORKLOADS[workload], group, settings or {}, team)


def plan_settings(plan: "Plan", workload: str) -> dict[str, str]:
    """Return the settings of a workload that a plan has, for `workload_files`.

    Raises:
        Refusal: If the workload does not exist, or takes no plan.
    """
    if workload not in WORKLOADS:
        raise unknown("workload", workload, list(WORKLOADS))
    row = WORKLOADS[workload]
    if not row.holds or (row.holds == "serving") != (plan.kind == "inference"):
        raise refused(f"{workload} does not accept a plan of {plan.kind}")
    names = dict.fromkeys(name for form in row.forms for name in row.settings(form))
    if row.holds == "layout" and "sharding" not in names and "FSDP" in str(plan["layout"].value):
        # The planner shares the optimizer alone for it: its layout and its steps follow from the size of the model.
        names = {name: None for name in names if name not in (*DEGREES, "checkpoint_steps")}
    if row.by_time:
        names.pop("checkpoint_steps", None)
    return settings_of(plan, list(names))


def job_files(cluster: ClusterFile, *, team: str | None = None) -> tuple[JobFile, ...]:
    """Return the job files for the orchestrator of a cluster file.

    Args:
        cluster: Cluster file.
        team: Team of the jobs on Kubernetes. By default, that with the largest share of each group.

    Raises:
        Refusal: If the file has no such team.
    """
    if cluster.traits.has_platform:
        return kubernetes_jobs(_platform(cluster, team))
    _check_no_team(team)
    return slurm_jobs(cluster)


def _check_no_team(team: str | None) -> None:
    if team is not None:
        raise refused("Slurm has accounts in place of teams: submit with sbatch --account=NAME")


def _platform(cluster: ClusterFile, team: str | None) -> Platform:
    """Return the platform, for one team if there is a name."""
    platform = platform_of(cluster)
    if team is None:
        return platform
    # Task governance has other names of namespaces than the file has of teams.
    teams = dict(zip(cluster.kubernetes.teams or ("research",), platform.teams, strict=True))
    if team not in teams:
        raise unknown("team", team, list(teams))
    of_team = platform_of_team(platform, teams[team])
    if not groups_of(of_team):
        raise refused(f"team {team} has no nodes with GPUs, and borrow: false")
    return of_team


def _slurm(
    cluster: ClusterFile, workload: Workload, group: str | None, given: _Given, team: str | None
) -> tuple[JobFile, ...]:
    _check_no_team(team)
    queues = {queue.name: queue for queue in queue_shapes(cluster)}
    forms = slurm_forms(workload)
    if not forms:
        known = ", ".join(name for name, row in WORKLOADS.items() if slurm_forms(row))
        raise refused(f"{workload.name} has no form for Slurm; {known} have one")
    queue = queues[_group("queue", group, list(queues))]
    files = []
    for form in forms:
        if form.on_shared and not queue.shared:
            raise refused(f"{workload.name} needs a file system that all nodes share: storage.lustre or storage.home")
        settings = validated(workload, form, _room_of_queue(cluster, queue), given, nodes=slurm_nodes(form, queue))
        files.append(slurm_job(form, queue, settings))
    return tuple(files)


def _kubernetes(
    cluster: ClusterFile, workload: Workload, group: str | None, given: _Given, team: str | None
) -> tuple[JobFile, ...]:
    platform = _platform(cluster, team)
    groups = {item.name: item for item in groups_of(platform)}
    forms = kubernetes_forms(workload, platform)
    if not forms:
        known = ", ".join(name for name, row in WORKLOADS.items() if kubernetes_forms(row, platform))
        needs, operated = "", replace(platform, training_operator=True)
        plain = replace(operated, nodes=tuple(replace(group, checkpoint_percent=0) for group in platform.nodes))
        if kubernetes_forms(workload, operated):
            needs = f" without the training operator of HyperPod: write {_OPERATOR}"
        elif platform.tiered_checkpoints and kubernetes_forms(workload, plain):
            needs = " with managed tiered checkpoints, which AWS excludes: remove hyperpod: {checkpoint-memory}"
        raise refused(f"{workload.name} has no form for Kubernetes{needs}; {known} have one")
    nodes = groups[_group("group", group, list(groups))]
    room = _room_of_nodes(cluster, platform, nodes)
    if platform.shared is None and any(form.on_shared for form in forms):
        raise refused(f"{workload.name} needs a file system that all nodes share: storage.lustre or storage.home")
    return tuple(
        kubernetes_job(platform, form, nodes, validated(workload, form, room, given, nodes=form.nodes(nodes)))
        for form in forms
    )


def _group(kind: str, given: str | None, known: list[str]) -> str:
    if not known:
        raise refused("the cluster file has no nodes with GPUs")
    if given is None and len(known) > 1:
        raise refused(f"name a {kind} of {', '.join(known)}: --group")
    if given is not None and given not in known:
        raise unknown(f"a {kind} with GPUs", given, known)
    return given or known[0]


def _room_of_queue(cluster: ClusterFile, queue: QueueShape) -> Room:
    return Room(
        name=queue.name,
        record=queue.instance_type,
        nodes=queue.nodes,
        efa=queue.efa_devices > 0,
        domain=queue.segment or 1,
        mounts=queue.mounts,
        lustre=cluster.lustre_spec,
        internet=queue.internet,
    )


def _room_of_nodes(cluster: ClusterFile, platform: Platform, group: PlatformNodes) -> Room:
    return Room(
        name=group.name,
        record=group.instance_type,
        nodes=group.working,
        efa=platform.efa_way(group) is not None,
        domain=segment(group.ultraserver.instances) if group.ultraserver else 1,
        mounts=tuple(platform.volumes),
        lustre=cluster.lustre_spec,
        internet=platform.internet,
        ready_seconds=platform.ready_seconds if platform.scheduler == "kueue" else None,
    )


_WORKLOAD: Mapping[str, Callable[[ClusterFile, Workload, str | None, _Given, str | None], tuple[JobFile, ...]]] = {
    "slurm": _slurm,
    "hyperpod-slurm": _slurm,
    "kubernetes": _kubernetes,
    "hyperpod-kubernetes": _kubernetes,
}
