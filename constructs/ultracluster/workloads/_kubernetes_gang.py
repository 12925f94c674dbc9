"""Gangs: pods that start together, each with a whole node."""

from collections.abc import Mapping, Sequence

from ultracluster.catalogue.schedulers import hyperpod_kubernetes
from ultracluster.kubernetes import (
    GANG_FAILURES,
    GANG_JOB,
    HEALTH,
    PYTHON,
    QUEUE,
    REPORTER,
    Object,
    Platform,
    PlatformNodes,
    Team,
    check_job,
    domain_label,
    gang_command,
    gate_variables,
    hugging_face,
    job_name,
    job_policy,
    make,
    metrics_port,
    near,
    node_pod,
    runtime_name,
    with_gate,
    with_reporting,
    with_resuming,
)
from ultracluster.planning.capacity import segment
from ultracluster.rules import Refusal
from ultracluster.workloads._containers import layer_of
from ultracluster.workloads._images import PYTORCH, ContainerImage, image_on
from ultracluster.workloads._model_fit import checkpoint_seconds
from ultracluster.workloads._room import JOB_IMAGE, JOB_NODES
from ultracluster.workloads._workload import Settings

#: Training program that the pods of gangs have.
TRAINING = f"{PYTHON}/ultracluster_train.py"
#: End of the shell of a gang without torchrun; the index that Kubernetes gives every pod of an Indexed Job.
START = 'node_rank=$JOB_COMPLETION_INDEX node "$@"\n'
_PORT = 29_500


def train_job(
    platform: Platform,
    group: PlatformNodes,
    team: Team,
    given: Settings,
    *,
    kind: str = "pretrain",
    command: Sequence[str] = (),
    image: ContainerImage = PYTORCH,
) -> list[Object]:
    """Return a gang as a TrainJob of Kubeflow Trainer, and the network policy for its pods.

    Args:
        platform: The cluster.
        group: Node group.
        team: Team of the job.
        given: Settings.
        kind: Beginning of the name by default, which ends in the group: two groups of a team have two jobs.
        command: Command of every pod. By default, torchrun with the program of the settings.
        image: Image of every pod by default.

    Raises:
        Refusal: If the group has too few nodes, or the name is not valid for a job.

    See: https://www.kubeflow.org/docs/components/trainer (2.3, read 2026-11-21)
    """
    name, nodes = name_of(kind, group, given), nodes_of(group, given.nodes)
    # Resources and claims are those of the runtime: with `resourcesPerNode`, Trainer drops the claims.
    # https://github.com/kubeflow/trainer, pkg/runtime/core/trainingruntime.go (tag v2.3.0, read 2026-11-26)
    trainer: Object = {
        "command": gang_command(*(command or ["torchrun", REPORTER, *program_of(given)])),
        "env": [*({"name": key, "value": value} for key, value in _planned(nodes, given).items()), hugging_face()],
        "image": given.image or image_for(group, image),
        "numNodes": nodes,
        "numProcPerNode": group.instance_type.gpus,
    }
    spec: Object = {"runtimeRef": {"name": runtime_name(group)}, "trainer": trainer}
    if pieces := slices(platform, group, nodes):
        job = patched_runtime(spec)["replicatedJobs"][0]
        job["template"]["spec"]["template"]["metadata"] = {"annotations": pieces}
    return [
        make("trainer.kubeflow.org/v1alpha1", "TrainJob", name, **queue_metadata(platform, team), spec=spec),
        job_policy(name, team.name, _jobset_pods(name)),
    ]


def job_set(
    platform: Platform,
    group: PlatformNodes,
    team: Team,
    given: Settings,
    *,
    kind: str = "pretrain-jobset",
    command: Sequence[str] = (),
    image: ContainerImage = PYTORCH,
    env: Mapping[str, str] | None = None,
) -> list[Object]:
    """Return a gang as a JobSet, for jobs without PyTorch or with several kinds of pods.

    Args and errors are those of `train_job`, and the environment of every pod.

    See: https://jobset.sigs.k8s.io/docs (0.12, read 2026-11-21)
    """
    name, requested = name_of(kind, group, given), nodes_of(group, given.nodes)
    pod = node_pod(
        platform,
        group,
        container="node",
        image=given.image or image_for(group, image),
        command=gang_command(*(command or torchrun(group, name, requested, program_of(given)))),
        env={**_planned(requested, given), **(env or {})},
    )
    pod["containers"][0]["env"].append(hugging_face())
    pod = with_gate(group, with_resuming(platform, group, with_reporting(pod, group)))
    queued = queue_metadata(platform, team)
    annotations = {**near(platform, group), **slices(platform, group, requested), **metrics_port()}
    if platform.scheduler == "volcano":
        annotations["scheduling.k8s.io/group-name"] = name
    head: Object = {"annotations": annotations}
    if platform.scheduler == "kai":
        head["labels"] = queued["labels"]
    job = {
        **GANG_JOB,
        "completionMode": "Indexed",
        "completions": requested,
        "parallelism": requested,
        "template": {"metadata": head, "spec": {**pod, "restartPolicy": "Never"}},
    }
    spec = {
        "failurePolicy": GANG_FAILURES,
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "replicatedJobs": [{"name": "node", "replicas": 1, "template": {"spec": job}}],
    }
    objects = [
        make("jobset.x-k8s.io/v1alpha2", "JobSet", name, **queued, spec=spec),
        job_policy(name, team.name, _jobset_pods(name)),
    ]
    if platform.scheduler == "volcano":
        gang = {"minMember": requested, "queue": team.name}
        objects.insert(0, make("scheduling.volcano.sh/v1beta1", "PodGroup", name, namespace=team.name, spec=gang))
    return objects


def patched_runtime(spec: Object) -> Object:
    """Return the part of the spec of a TrainJob that replaces values of its runtime: the spec of a JobSet."""
    if "runtimePatches" not in spec:
        jobs: list[Object] = [{"name": "node", "template": {"spec": {"template": {}}}}]
        runtime = {"template": {"spec": {"replicatedJobs": jobs}}}
        spec["runtimePatches"] = [{"manager": "ultracluster.io/render", "trainingRuntimeSpec": runtime}]
    patched: Object = spec["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]
    return patched


def image_for(group: PlatformNodes, image: ContainerImage) -> str:
    """Return the image for the CPU architecture of the nodes.

    Raises:
        Refusal: If none is published.
    """
    architecture = group.instance_type.architecture
    if published := image_on(image, architecture):
        return published.address
    text = f"{image.address} has {', '.join(image.architectures)}, and nodes of {group.name} have {architecture}"
    raise Refusal("", JOB_IMAGE(f"{text}: name one with image="))


def between_checkpoints(nodes: int, seconds: int | None) -> dict[str, str]:
    """Return the environment variable with the seconds between two checkpoints: by default, those of a plan."""
    return {"ULTRACLUSTER_CHECKPOINT_SECONDS": str(seconds or checkpoint_seconds(nodes))}


def _planned(nodes: int, given: Settings) -> dict[str, str]:
    named = {"ULTRACLUSTER_DATA": given.data} if given.data else {}
    return {
        **between_checkpoints(nodes, given.checkpoint_seconds),
        **named,
        **gate_variables(given.gate or "nccl", nodes),
    }


def name_of(kind: str, group: PlatformNodes, given: Settings) -> str:
    """Return the name of a job: by default, its kind and its group.

    Raises:
        Refusal: If it is not valid for a job.
    """
    name = given.name or job_name(kind, group.name)
    check_job(name)
    return name


def program_of(given: Settings) -> list[str]:
    """Return the training program that torchrun starts, with its arguments."""
    length = ["--length", str(given.sequence)] if given.sequence and not given.program else []
    return [given.program or TRAINING, *(["--data", given.data] if given.data else []), *length]


def layered(group: PlatformNodes, image: ContainerImage, command: Sequence[str]) -> list[str]:
    """Return a command that first adds to the pinned image of a pod what it lacks.

    Args:
        group: Node group.
        image: Image with a layer. For CPUs that have another image, there is none.
        command: Command of the pod.
    """
    if image_on(image, group.instance_type.architecture) is not image:
        return list(command)
    return ["bash", "-c", f'{layer_of(image)}exec "$@"\n', "node", *command]


def first_pod(name: str) -> str:
    """Return the name of the first pod of a JobSet, which JobSet makes."""
    return f"{name}-node-0-0.{name}"


def queue_labels(platform: Platform, owner: str) -> dict[str, str]:
    """Return the labels that put an object into the queue of a team or a namespace; none for Volcano."""
    labels = {"kueue": {"kueue.x-k8s.io/queue-name": QUEUE}, "kai": {"kai.scheduler/queue": owner}}
    if owner != HEALTH:
        # The checks of nodes have no quota there, and run where nodes are idle.
        labels["task-governance"] = {"kueue.x-k8s.io/queue-name": hyperpod_kubernetes.TEAM_QUEUE.format(owner)}
    return labels.get(platform.scheduler, {})


def nodes_of(group: PlatformNodes, nodes: int | None) -> int:
    """Return the nodes of a job: by default, all that are not spare."""
    requested = group.working if nodes is None else nodes
    if not 1 <= requested <= group.working:
        text = f"nodes is 1 to {group.working}, which {group.name} has without its spare ones, got {requested}"
        raise Refusal("", JOB_NODES(text))
    return requested


def queue_metadata(platform: Platform, team: Team) -> Object:
    """Return the metadata that puts a job or a server into the queue of its team.

    Both have the priority class `research`. Without a class, a server has the priority zero, and each job of the team
    pushes it out. With a higher one, a server that never becomes ready would push jobs out, again and again.
    """
    if platform.scheduler == "volcano":
        return {"namespace": team.name, "annotations": {"scheduling.volcano.sh/queue-name": team.name}}
    classes = {"kueue": "research", "task-governance": hyperpod_kubernetes.TEAM_PRIORITY.format("research")}
    priority = {"kueue.x-k8s.io/priority-class": classes[platform.scheduler]} if platform.kueue else {}
    return {"namespace": team.name, "labels": {**queue_labels(platform, team.name), **priority}}


def slices(platform: Platform, group: PlatformNodes, nodes: int) -> dict[str, str]:
    """Return the slices of a gang that must each stay in one NVLink domain; empty if there is only one or none."""
    if not platform.kueue or group.ultraserver is None:
        return {}
    size = segment(group.ultraserver.instances)
    if nodes <= size or nodes % size:
        return {}
    return {
        "kueue.x-k8s.io/podset-slice-required-topology": domain_label(platform),
        "kueue.x-k8s.io/podset-slice-size": str(size),
    }


def torchrun(group: PlatformNodes, name: str, nodes: int, program: Sequence[str]) -> list[str]:
    """Return the command of torchrun in each pod of a JobSet."""
    # The index that Kubernetes gives every pod of an Indexed Job.
    return [
        "torchrun",
        f"--nnodes={nodes}",
        f"--nproc-per-node={group.instance_type.gpus}",
        "--node-rank=$(JOB_COMPLETION_INDEX)",
        f"--master-addr={first_pod(name)}",
        f"--master-port={_PORT}",
        REPORTER,
        *program,
    ]


def _jobset_pods(name: str) -> dict[str, str]:
    return {"jobset.sigs.k8s.io/jobset-name": name}
