"""Reinforcement learning as a gang: veRL on a Ray cluster of the pods."""

from dataclasses import replace
from importlib import resources

from ultracluster.kubernetes import REPORTER, Object, Platform, PlatformNodes, Team
from ultracluster.planning.capacity import segment
from ultracluster.workloads._containers import layer_of
from ultracluster.workloads._frameworks import VERL_TRAINER
from ultracluster.workloads._images import VERL
from ultracluster.workloads._kubernetes_gang import START, first_pod, job_set, name_of, nodes_of
from ultracluster.workloads._workload import Settings

_KIND = "rl"


def rl_nodes(group: PlatformNodes) -> int:
    """Return the nodes of one NVLink domain, otherwise two, as on Slurm."""
    return min(group.working, segment(group.ultraserver.instances) if group.ultraserver else 2)


def rl_job(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    """Return veRL as a JobSet: its first pod is the head of Ray, and starts the training.

    Data and model are by default the directories of these names on the first file system.

    Raises:
        Refusal: If the group has too few nodes.
    """
    nodes = nodes_of(group, given.nodes or rl_nodes(group))
    first = next(iter(platform.volumes), "/workspace")
    text = resources.files(__package__).joinpath("loads", "verl.sh").read_text(encoding="utf-8")
    paths = replace(given, data=given.data or f"{first}/data", model=given.model or f"{first}/model")
    env = {
        "nodes": str(nodes),
        "gpus_per_node": str(group.instance_type.gpus),
        "head": first_pod(name_of(_KIND, group, given)),
        "reporter": REPORTER,
        "request_seconds": str(given.request_seconds),
        "rollout_nodes": str(given.rollout or 0),
    }
    if not given.image:
        text = f"{layer_of(VERL)}{text}"
        env["NCCL_NET_PLUGIN"] = "ofi"
    command = ["bash", "-c", f"{text}{START}", "node", *VERL_TRAINER.options(paths, "$(RUN)")]
    # veRL has its data and its steps in its options.
    gang = replace(given, nodes=nodes, gate=given.gate or "nodes", data="", checkpoint_seconds=None)
    return job_set(platform, group, team, gang, kind=_KIND, command=command, image=VERL, env=env)
