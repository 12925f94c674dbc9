"""Job files for Kubernetes: one for each workload and group with GPUs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ultracluster.kubernetes import Object, Platform, PlatformNodes, Team, objects_in_registry, shares, to_yaml
from ultracluster.workloads._kubernetes_form import KubernetesForm
from ultracluster.workloads._kubernetes_gang import patched_runtime
from ultracluster.workloads._slurm_jobs import JobFile
from ultracluster.workloads._table import WORKLOADS
from ultracluster.workloads._workload import Settings, Workload

# "If the Pods don't leave the node within 15 minutes", an update fails and is rolled back:
# https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html (read 2026-11-27)
_EVICTION_SECONDS = 900


def kubernetes_jobs(platform: Platform) -> tuple[JobFile, ...]:
    """Return the job files of a platform, by group: `GROUP/JOB.yaml`, for `kubectl apply --filename`."""
    return tuple(kubernetes_job(platform, form, group, Settings()) for form, group in _fitting(platform))


def job_objects(platform: Platform) -> Iterator[tuple[str, str, list[Object]]]:
    """Yield path, contents and objects of each job file, with the images that their projects publish."""
    for form, group in _fitting(platform):
        yield _objects(platform, form, group, Settings())


def _fitting(platform: Platform) -> Iterator[tuple[KubernetesForm, PlatformNodes]]:
    for group in groups_of(platform):
        for workload in WORKLOADS.values():
            for form in kubernetes_forms(workload, platform):
                if workload.runs_on(group.instance_type.gpus) and form.fits(platform, group):
                    yield form, group


def groups_of(platform: Platform) -> list[PlatformNodes]:
    """Return the groups with GPUs in which a team has nodes, or may borrow some."""
    return [
        group
        for group in platform.gpu_groups
        if any(team.borrow or shares(platform.teams, group)[team.name] for team in platform.teams)
    ]


def platform_of_team(platform: Platform, team: Team) -> Platform:
    """Return the platform for jobs of one team: the nodes that it cannot borrow count as spare ones."""
    share = {group.name: shares(platform.teams, group)[team.name] for group in platform.nodes}
    nodes = platform.nodes
    if not team.borrow:
        nodes = tuple(replace(group, spare=group.count - (share[group.name] or group.working)) for group in nodes)
    return replace(platform, teams=(replace(team, nodes=share),), nodes=nodes)


def kubernetes_forms(workload: Workload, platform: Platform) -> tuple[KubernetesForm, ...]:
    """Return the manifests of a workload that a platform runs."""
    return tuple(form for form in workload.forms if isinstance(form, KubernetesForm) and form.applies(platform))


def kubernetes_job(platform: Platform, form: KubernetesForm, group: PlatformNodes, given: Settings) -> JobFile:
    """Return the job file of a workload for one group."""
    path, what, objects = _objects(platform, form, group, given)
    notes = [f"{what[0].upper()}{what[1:]}"]
    if form.built(platform, group) and not given.image:
        notes.append(f"Its image is built once: ultracluster image build-container FILE {form.container} --push")
    if form.writes and platform.shared is None:
        notes.append(
            "Without storage.lustre or storage.home, checkpoints end with their pod, and a restart begins again"
        )
    if form.unconnected and not platform.internet:
        notes.append(form.unconnected)
    managed = not (group.elastic or platform.late)
    if given.parameters and given.request_seconds > _EVICTION_SECONDS and managed:
        notes.append(
            f"Its pods take up to {given.request_seconds // 60} minutes to write a checkpoint and end. An update of "
            f"nodes fails after {_EVICTION_SECONDS // 60}: deploy it with --hold drain"
        )
    if managed and any(item["spec"].get("minAvailable") for item in objects if item["kind"] == "PodDisruptionBudget"):
        notes.append(
            f"A drain ends its replicas one after another. An update of nodes fails if one takes more than "
            f"{_EVICTION_SECONDS // 60} minutes to start: deploy it with --hold drain"
        )
    text = to_yaml(objects_in_registry(objects, platform.registry, platform.region))
    return JobFile(path=path, text="".join(f"# {note}.\n" for note in notes) + text, what=what)


def _objects(
    platform: Platform, form: KubernetesForm, group: PlatformNodes, given: Settings
) -> tuple[str, str, list[Object]]:
    title = form.title(group, given.nodes or form.nodes(group))
    given = replace(given, image=given.image or form.built(platform, group))
    objects = form.objects(platform, group, _owner(platform, group), given)
    if given.parameters:
        _set_grace_period(objects, given.request_seconds)
    return f"{group.name}/{form.file}", title, objects


def _set_grace_period(objects: Sequence[Object], seconds: int) -> None:
    """Set the time that pods of gangs have for the checkpoint of their plan before Kubernetes ends them."""
    for item in objects:
        spec = item["spec"]
        if item["kind"] == "TrainJob":
            spec = patched_runtime(spec)
        if item["kind"] in ("TrainJob", "JobSet"):
            pod = spec["replicatedJobs"][0]["template"]["spec"]["template"]
            pod.setdefault("spec", {})["terminationGracePeriodSeconds"] = seconds


def _owner(platform: Platform, group: PlatformNodes) -> Team:
    """Return the team with the largest share of the group."""
    nodes = shares(platform.teams, group)
    return max(platform.teams, key=lambda team: nodes[team.name])
