"""Job files for Kubernetes: one for each workload and group with GPUs."""

from collections.abc import Iterator, Sequence

from ultracluster.kubernetes import Object, Platform, PlatformNodes, Team, objects_in_registry, shares, to_yaml
from ultracluster.workloads._kubernetes_gang import NO_IMAGE, job_set, train_job
from ultracluster.workloads._kubernetes_health import dcgm_check, nccl_check, nccl_figure_for
from ultracluster.workloads._kubernetes_inference import leader_worker_set
from ultracluster.workloads._slurm_jobs import JobFile


def kubernetes_jobs(platform: Platform) -> tuple[JobFile, ...]:
    """Return the job files of a platform, by group: `GROUP/JOB.yaml`, for `kubectl apply --filename`."""
    return tuple(
        JobFile(
            path=path, text=_text(what, objects_in_registry(objects, platform.registry, platform.region)), what=what
        )
        for path, what, objects in job_objects(platform)
    )


def job_objects(platform: Platform) -> Iterator[tuple[str, str, list[Object]]]:
    """Yield path, contents and objects of each job file, with the images that their projects publish."""
    for group in platform.gpu_groups:
        for name, what, objects in _jobs(platform, group, _owner(platform, group)):
            yield f"{group.name}/{name}.yaml", what, objects


def _jobs(platform: Platform, group: PlatformNodes, team: Team) -> Iterator[tuple[str, str, list[Object]]]:
    gpus = f"{group.working * group.instance_type.gpus:,} GPUs of {group.name}"
    yield "train-job", f"pre-training on {gpus}, as a TrainJob", train_job(platform, group, team)
    yield "job-set", f"the same as a JobSet, on {gpus}", job_set(platform, group, team)
    size = min(2, group.working)
    served = leader_worker_set(platform, group, team, size=size)
    yield "vllm", f"inference with vLLM over {size} of the nodes of {group.name}", served
    yield "dcgm", f"DCGM's diagnostics on all nodes of {group.name}", dcgm_check(platform, group)
    figure = nccl_figure_for(group)
    floor = f"a floor of {figure.floor_gb_per_s:g} GB/s" if figure else "no floor, for none is published"
    if group.working >= (figure.nodes if figure else 2):
        yield "nccl", f"NCCL's all-reduce on nodes of {group.name}, with {floor}", nccl_check(platform, group)


def _owner(platform: Platform, group: PlatformNodes) -> Team:
    """Return the team with the largest share of the group."""
    nodes = shares(platform.teams, group)
    return max(platform.teams, key=lambda team: nodes[team.name])


def _text(what: str, objects: Sequence[Object]) -> str:
    text = to_yaml(objects)
    lines = [f"# {what[0].upper()}{what[1:]}."]
    if NO_IMAGE in text:
        lines.append("# Replace the image: none is pinned for the CPUs of these nodes.")
    return "\n".join(lines) + "\n" + text
