"""Reinforcement learning as a gang: veRL on a Ray cluster of the pods."""

from importlib import resources

from ultracluster.kubernetes import REPORTER, Object, Platform, PlatformNodes, Team, job_name
from ultracluster.workloads._containers import layer_of
from ultracluster.workloads._frameworks import VERL_TRAINER
from ultracluster.workloads._images import VERL
from ultracluster.workloads._kubernetes_gang import first_pod, image_for, job_set, nodes_of
from ultracluster.workloads._workload import Gate, Settings

# The index that Kubernetes gives every pod of an Indexed Job.
_START = 'node_rank=$JOB_COMPLETION_INDEX node "$@"\n'


def rl_job(
    platform: Platform,
    group: PlatformNodes,
    team: Team,
    *,
    name: str | None = None,
    nodes: int,
    data: str = "",
    model: str = "",
    image: str = "",
    rollout: int | None = None,
    gate: Gate = "nodes",
    checkpoint_steps: int | None = None,
    sequence: int | None = None,
) -> list[Object]:
    """Return veRL as a JobSet: its first pod is the head of Ray, and starts the training.

    Args:
        platform: The cluster.
        group: Node group.
        team: Team of the job.
        name: Name of the job. By default, `rl-` and the group.
        nodes: Number of nodes.
        data: Directory of `train.parquet` and `test.parquet`. By default, `data` of the first file system.
        model: Directory or name of the model. By default, `model` of the first file system.
        image: Image of every pod. By default, the pinned one, to which each pod adds what it lacks when it starts.
        rollout: Nodes that generate while the others train. By default, all nodes do both in turn.
        gate: Test of the nodes before the program starts.
        checkpoint_steps: Steps between two checkpoints. By default, 10.
        sequence: Tokens of the longest answer. By default, veRL's.

    Raises:
        Refusal: If the group has too few nodes.
    """
    name = job_name("rl", group.name) if name is None else name
    requested = nodes_of(group, nodes)
    first = next(iter(platform.volumes), "/workspace")
    given = Settings(
        data=data or f"{first}/data",
        model=model or f"{first}/model",
        checkpoint_steps=checkpoint_steps,
        sequence=sequence,
    )
    text = resources.files(__package__).joinpath("loads", "verl.sh").read_text(encoding="utf-8")
    if not image:
        text = f"{layer_of(VERL)}{text}"
    arguments = VERL_TRAINER.options(given, "$(RUN)")
    env = {
        "nodes": str(requested),
        "gpus_per_node": str(group.instance_type.gpus),
        "head": first_pod(name),
        "reporter": REPORTER,
        "rollout_nodes": str(rollout or 0),
    }
    image = image or image_for(group, VERL)
    command = ["bash", "-c", text + _START, "node", *arguments]
    return job_set(platform, group, team, name=name, nodes=requested, command=command, image=image, env=env, gate=gate)
