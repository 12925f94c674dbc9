"""Forms of workloads for Kubernetes: the objects of a manifest."""

from collections.abc import Callable
from dataclasses import dataclass

from ultracluster.kubernetes import Object, Platform, PlatformNodes, Team
from ultracluster.workloads._kubernetes_gang import job_set, train_job
from ultracluster.workloads._kubernetes_health import dcgm_check, nccl_check, nccl_figure_for, nccl_nodes
from ultracluster.workloads._kubernetes_inference import leader_worker_set
from ultracluster.workloads._workload import Family, Form, Settings

_GANG = ("nodes", "gpus", "image")


@dataclass(frozen=True, kw_only=True, slots=True)
class KubernetesForm(Form):
    """A manifest of a workload.

    Args:
        title: Returns the first line of the file, for a group and a number of nodes.
        objects: Returns its objects.
        nodes: Returns the nodes by default.
    """

    family: Family = "kubernetes"
    title: Callable[[PlatformNodes, int], str]
    objects: Callable[[Platform, PlatformNodes, Team, Settings], list[Object]]
    nodes: Callable[[PlatformNodes], int] = lambda group: group.working


def _nccl_title(group: PlatformNodes, nodes: int) -> str:
    figure = nccl_figure_for(group)
    floor = f"a floor of {figure.floor_gb_per_s:g} GB/s" if figure and figure.nodes == nodes else "no floor, for none"
    return f"NCCL's all-reduce on nodes of {group.name}, with {floor}{'' if 'GB' in floor else ' is published'}"


def _gpus(group: PlatformNodes, nodes: int) -> str:
    return f"{nodes * group.instance_type.gpus:,} GPUs of {group.name}"


TRAIN_JOB = KubernetesForm(
    file="train-job.yaml",
    kind="TrainJob",
    title=lambda group, nodes: f"pre-training on {_gpus(group, nodes)}, as a TrainJob",
    objects=lambda platform, group, team, given: train_job(platform, group, team, nodes=given.nodes, image=given.image),
    settings=_GANG,
)
JOB_SET = KubernetesForm(
    file="job-set.yaml",
    kind="JobSet",
    title=lambda group, nodes: f"the same as a JobSet, on {_gpus(group, nodes)}",
    objects=lambda platform, group, team, given: job_set(platform, group, team, nodes=given.nodes, image=given.image),
    settings=_GANG,
)
LEADER_WORKER_SET = KubernetesForm(
    file="vllm.yaml",
    kind="LeaderWorkerSet",
    title=lambda group, nodes: f"inference with vLLM over {nodes} of the nodes of {group.name}",
    objects=lambda platform, group, team, given: leader_worker_set(
        platform,
        group,
        team,
        size=_inference_nodes(group) if given.nodes is None else given.nodes,
        replicas=given.replicas,
        model=given.model,
        tensor_parallel=given.tensor_parallel,
        image=given.image,
    ),
    nodes=lambda group: _inference_nodes(group),
    settings=(*_GANG, "tensor_parallel", "replicas", "model"),
)
DCGM = KubernetesForm(
    file="dcgm.yaml",
    kind="Job",
    title=lambda group, nodes: (
        f"DCGM's diagnostics on {'all' if nodes == group.working else nodes} nodes of {group.name}"
    ),
    objects=lambda platform, group, _, given: dcgm_check(platform, group, nodes=given.nodes),
)
NCCL = KubernetesForm(
    file="nccl.yaml",
    kind="MPIJob",
    title=_nccl_title,
    objects=lambda platform, group, _, given: nccl_check(platform, group, nodes=given.nodes),
    nodes=nccl_nodes,
)


def _inference_nodes(group: PlatformNodes) -> int:
    return min(2, group.working)
