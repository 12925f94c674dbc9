"""Forms of workloads for Kubernetes: the objects of a manifest."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from ultracluster.catalogue.ec2 import nccl_figure, nccl_nodes
from ultracluster.kubernetes import PYTHON, Object, Platform, PlatformNodes, Team
from ultracluster.workloads._checkpointless import checkpointless_job, checkpointless_nodes, runs_checkpointless
from ultracluster.workloads._containers import CONTAINERS, container_tag
from ultracluster.workloads._frameworks import CHECKPOINTS
from ultracluster.workloads._images import FINETUNE, VERL, ContainerImage, image_on
from ultracluster.workloads._kubernetes_gang import job_set, train_job
from ultracluster.workloads._kubernetes_health import dcgm_check, nccl_check
from ultracluster.workloads._kubernetes_inference import SGLANG_SERVER, VLLM_SERVER, Server, leader_worker_set
from ultracluster.workloads._kubernetes_rl import rl_job, rl_nodes
from ultracluster.workloads._kubernetes_torchrun import has_job_sets_alone, has_train_jobs, torchrun_job
from ultracluster.workloads._training_operator import pytorch_job
from ultracluster.workloads._workload import Family, Form, Settings, software_versions

Objects = Callable[[Platform, PlatformNodes, Team, Settings], list[Object]]
_GANG = ("nodes", "gpus", "image")
_TRAINING = (*_GANG, "program", "data")
_GATED = (*_TRAINING, "gate", "name")


@dataclass(frozen=True, kw_only=True, slots=True)
class KubernetesForm(Form):
    """A manifest of a workload.

    Args:
        title: Returns the first line of the file, for a group and a number of nodes.
        objects: Returns its objects.
        nodes: Returns the nodes by default.
        applies: Returns True for a platform that runs it.
        for_group: Returns True for a group that runs it as it is.
        image: Its image, or None if it chooses one for any nodes.
        on_shared: Whether it needs a file system that all nodes share.
        container: Name of its image with a layer, of `CONTAINERS`, or empty.
        writes: Whether its pods write checkpoints.
    """

    family: Family = "kubernetes"
    title: Callable[[PlatformNodes, int], str]
    objects: Objects
    nodes: Callable[[PlatformNodes], int] = lambda group: group.working
    applies: Callable[[Platform], bool] = lambda platform: True
    for_group: Callable[[PlatformNodes], bool] = lambda group: True
    image: ContainerImage | None = None
    on_shared: bool = False
    container: str = ""
    writes: bool = False

    def built(self, platform: Platform, group: PlatformNodes) -> str:
        """Return the image of `image build-container` for nodes that do not reach packages, or an empty text."""
        needed = self.container and group.instance_type.architecture in CONTAINERS[self.container].architectures
        if platform.internet or platform.registry is None or not needed:
            return ""
        return f"{platform.registry}/{self.container}:{container_tag(self.container)}"

    def fits(self, platform: Platform, group: PlatformNodes) -> bool:
        """Return whether a group can run it as it is: a test over more nodes than the group has is left out."""
        has_image = self.image is None or image_on(self.image, group.instance_type.architecture) is not None
        runs = has_image and self.for_group(group) and self.nodes(group) <= group.working
        return runs and (platform.shared is not None or not self.on_shared)


def _nccl_title(group: PlatformNodes, nodes: int) -> str:
    figure = nccl_figure(group.instance_type.name)
    floor = f"a floor of {figure.floor_gb_per_s:g} GB/s" if figure and figure.nodes == nodes else "no floor, for none"
    return f"NCCL's all-reduce on nodes of {group.name}, with {floor}{'' if 'GB' in floor else ' is published'}"


def _without_tiered_checkpoints(platform: Platform) -> bool:
    """Return True for a platform with the training operator alone.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-checkpointless-considerations.html and
    sagemaker-eks-elastic-training.html (read 2026-11-27)
    """
    return platform.training_operator and not platform.tiered_checkpoints


def gpus_of(group: PlatformNodes, nodes: int) -> str:
    """Return the GPUs of a job, for the first line of its file."""
    return f"{nodes * group.instance_type.gpus:,} GPUs of {group.name}"


def _server(file: str, server: Server, what: str) -> KubernetesForm:
    return KubernetesForm(
        file=file,
        kind="LeaderWorkerSet",
        title=lambda group, nodes: f"inference with {what} on {_nodes(nodes)} of {group.name}",
        objects=partial(leader_worker_set, server),
        nodes=lambda group: 1,
        settings=(*_GANG, "tensor_parallel", "replicas", "model", "name"),
    )


def _fine_tune(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    program = [given.program or f"{PYTHON}/ultracluster_finetune.py"]
    program += [*(["--model", given.model] if given.model else []), *(["--data", given.data] if given.data else [])]
    given = replace(given, nodes=given.nodes or 1, gate=given.gate or "nodes")
    return torchrun_job(platform, group, team, given, kind="finetune", program=program, image=FINETUNE)


def _nodes(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"


TRAIN_JOB = KubernetesForm(
    file="train-job.yaml",
    kind="TrainJob",
    applies=has_train_jobs,
    title=lambda group, nodes: f"pre-training on {gpus_of(group, nodes)}, as a TrainJob",
    objects=train_job,
    settings=_GATED,
    writes=True,
)
JOB_SET = KubernetesForm(
    file="job-set.yaml",
    kind="JobSet",
    title=lambda group, nodes: f"the same as a JobSet, on {gpus_of(group, nodes)}",
    objects=job_set,
    settings=_GATED,
    writes=True,
)
PYTORCH_JOB = KubernetesForm(
    file="hyperpod-pytorch-job.yaml",
    kind="HyperPodPyTorchJob",
    title=lambda group, nodes: f"the same as a HyperPodPyTorchJob, on {gpus_of(group, nodes)}",
    objects=pytorch_job,
    applies=lambda platform: platform.training_operator,
    settings=(*_TRAINING, "name"),
    container="hyperpod-agent",
    writes=True,
)
ELASTIC_JOB = KubernetesForm(
    file="elastic.yaml",
    kind="HyperPodPyTorchJob",
    title=lambda group, nodes: f"elastic pre-training on at most {gpus_of(group, nodes)}",
    objects=partial(pytorch_job, elastic=True),
    applies=_without_tiered_checkpoints,
    settings=(*_TRAINING, "min_nodes", "name"),
    container="hyperpod-agent",
    writes=True,
)
CHECKPOINTLESS_JOB = KubernetesForm(
    file="checkpointless.yaml",
    kind="HyperPodPyTorchJob",
    title=lambda group, nodes: f"checkpointless training on {gpus_of(group, nodes)}",
    objects=checkpointless_job,
    nodes=checkpointless_nodes,
    applies=_without_tiered_checkpoints,
    for_group=runs_checkpointless,
    settings=(*_TRAINING, "name"),
    on_shared=True,
)
FINE_TUNE = KubernetesForm(
    file="finetune.yaml",
    kind="TrainJob",
    applies=has_train_jobs,
    title=lambda group, nodes: f"fine-tuning on {gpus_of(group, nodes)}",
    objects=_fine_tune,
    nodes=lambda group: 1,
    settings=(*_GATED, "model"),
    container="finetune",
    writes=True,
)
FINE_TUNE_SET = replace(FINE_TUNE, kind="JobSet", applies=has_job_sets_alone)
RL = KubernetesForm(
    file="rl.yaml",
    kind="JobSet",
    title=lambda group, nodes: f"reinforcement learning with veRL on {gpus_of(group, nodes)}",
    objects=rl_job,
    nodes=rl_nodes,
    settings=(*_GANG, "rollout", "data", "model", *CHECKPOINTS, "gate", "name"),
    image=VERL,
    container="verl",
    writes=True,
)
LEADER_WORKER_SET = _server("vllm.yaml", VLLM_SERVER, "vLLM")
SGLANG_SET = _server("sglang.yaml", SGLANG_SERVER, "SGLang")
DCGM = KubernetesForm(
    file="dcgm.yaml",
    kind="Job",
    title=lambda group, nodes: (
        f"DCGM's diagnostics on {'all' if nodes == group.working else nodes} nodes of {group.name}"
    ),
    objects=lambda platform, group, _, given: dcgm_check(
        platform, group, nodes=given.nodes, software=software_versions(given.software), image=given.image
    ),
    settings=("nodes", "gpus", "software", "image"),
)
NCCL = KubernetesForm(
    file="nccl.yaml",
    kind="MPIJob",
    title=_nccl_title,
    objects=lambda platform, group, _, given: nccl_check(platform, group, nodes=given.nodes),
    nodes=lambda group: nccl_nodes(group.instance_type.name),
)
ALL_TO_ALL = KubernetesForm(
    file="nccl-alltoall.yaml",
    kind="MPIJob",
    title=lambda group, nodes: f"NCCL's all-to-all on nodes of {group.name}, with no floor, for none is published",
    objects=lambda platform, group, _, given: nccl_check(platform, group, nodes=given.nodes, operation="alltoall"),
    nodes=lambda group: nccl_nodes(group.instance_type.name),
)
