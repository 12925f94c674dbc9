"""Jobs for Kubernetes: the arithmetic of a gang, and the requests of its pods."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.kubernetes_data import GPU_TYPES, cluster, gb200, nodes
from ultracluster.catalogue.ec2 import interfaces, nccl_figure
from ultracluster.kubernetes import Object, Platform, platform
from ultracluster.workloads import IMAGES
from ultracluster.workloads._kubernetes_gang import job_set, train_job
from ultracluster.workloads._kubernetes_health import dcgm_check, nccl_check
from ultracluster.workloads._kubernetes_inference import VLLM_SERVER, leader_worker_set
from ultracluster.workloads._workload import Settings

# What AWS's guide and AWS's samples request on each type: pods of 512 GPUs, GPUs and EFA devices of a pod.
GANGS = {
    "p4d.24xlarge": (64, 8, 4),
    "p4de.24xlarge": (64, 8, 4),
    "p5.48xlarge": (64, 8, 32),
    "p5e.48xlarge": (64, 8, 32),
    "p5en.48xlarge": (64, 8, 16),
    "p6-b200.48xlarge": (64, 8, 8),
    "p6-b300.48xlarge": (64, 8, 16),
    "p6e-gb200.36xlarge": (128, 4, 4),
}


def gang_of(item: Platform) -> tuple[Object, Object, Object]:
    """The TrainJob, the JobSet, and the spec of the JobSet's pods."""
    group, team = item.nodes[0], item.teams[0]
    train, jobs = train_job(item, group, team, Settings())[0], job_set(item, group, team, Settings())
    created = next(result for result in jobs if result["kind"] == "JobSet")
    return train, created, created["spec"]["replicatedJobs"][0]["template"]["spec"]


def runtime_resources(item: Platform) -> Object:
    """The resources of the pods of a TrainJob."""
    runtime = next(result for result in platform(item).objects if result["kind"] == "ClusterTrainingRuntime")
    (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    resources: Object = job["template"]["spec"]["template"]["spec"]["containers"][0]["resources"]
    return resources


def named(type: str, count: int) -> Platform:
    return cluster(gb200(count) if type.startswith("p6e") else nodes(type, count))


@pytest.mark.parametrize(("type", "expected"), GANGS.items())
def test_512_gpus_are_so_many_pods_with_the_right_efa_devices(type: str, expected: tuple[int, int, int]) -> None:
    pods, gpus, efa = expected
    item = named(type, pods)
    train, _, job = gang_of(item)
    assert train["spec"]["trainer"]["numNodes"] == pods
    assert train["spec"]["trainer"]["numProcPerNode"] == gpus
    assert (job["parallelism"], job["completions"], job["completionMode"]) == (pods, pods, "Indexed")
    for requested in (
        runtime_resources(item)["limits"],
        job["template"]["spec"]["containers"][0]["resources"]["limits"],
    ):
        assert (requested["nvidia.com/gpu"], requested["vpc.amazonaws.com/efa"]) == (str(gpus), str(efa))
    assert pods * gpus == 512
    quotas = _quotas(item)
    assert (quotas["nvidia.com/gpu"], quotas["vpc.amazonaws.com/efa"]) == (512, pods * efa)


def test_a_train_job_leaves_resources_to_its_runtime_so_that_trainer_keeps_the_claims() -> None:
    item = cluster(gb200())
    train, _, job = gang_of(item)
    assert "resourcesPerNode" not in train["spec"]["trainer"]
    resources = runtime_resources(item)
    assert {"name": "domain"} in resources["claims"]
    assert resources == job["template"]["spec"]["containers"][0]["resources"]


def _quotas(item: Platform) -> dict[str, int]:
    queue = next(q for q in platform(item).objects if q["kind"] == "ClusterQueue")
    rows = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    return {row["name"]: int(row["nominalQuota"].removesuffix("Mi")) for row in rows}


@given(type=st.sampled_from(GPU_TYPES), count=st.integers(min_value=1, max_value=300))
@settings(max_examples=60, deadline=None)
def test_a_gang_on_all_nodes_fits_into_the_quota_of_the_nodes(type: str, count: int) -> None:
    item = cluster(nodes(type, count))
    _, _, job = gang_of(item)
    quotas = _quotas(item)
    for name, value in job["template"]["spec"]["containers"][0]["resources"]["requests"].items():
        assert int(value.removesuffix("Mi")) * count <= quotas[name], name


@given(type=st.sampled_from(GPU_TYPES), count=st.integers(min_value=4, max_value=99))
@settings(max_examples=40, deadline=None)
def test_a_check_of_all_nodes_fits_into_the_quota_beside_its_second_container(type: str, count: int) -> None:
    item = cluster(nodes(type, count))
    quotas = _quotas(item)
    spec = dcgm_check(item, item.nodes[0])[0]["spec"]
    assert spec["parallelism"] == count
    total = sum(_millis(c["resources"]["requests"]["cpu"]) for c in spec["template"]["spec"]["containers"])
    assert total * count <= quotas["cpu"] * 1000
    replicas = nccl_check(item, item.nodes[0])[0]["spec"]["mpiReplicaSpecs"]
    worker = replicas["Worker"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    launcher = sum(
        _millis(c["resources"]["requests"]["cpu"]) for c in replicas["Launcher"]["template"]["spec"]["containers"]
    )
    assert _millis(worker["cpu"]) * replicas["Worker"]["replicas"] + launcher <= quotas["cpu"] * 1000


def _millis(cpu: str) -> int:
    return int(cpu.removesuffix("m")) if cpu.endswith("m") else int(cpu) * 1000


def test_a_gang_leaves_the_spare_nodes_alone() -> None:
    item = cluster(nodes(count=66, spare=2))
    train, _, job = gang_of(item)
    assert (train["spec"]["trainer"]["numNodes"], job["parallelism"], _quotas(item)["nvidia.com/gpu"]) == (64, 64, 512)


def test_pods_of_a_gang_tolerate_the_taint_of_their_nodes_and_run_on_no_others() -> None:
    pod = gang_of(cluster())[2]["template"]["spec"]
    assert pod["nodeSelector"] == {"ultracluster.dev/group": "train"}
    assert pod["tolerations"] == [{"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"}]
    assert pod["automountServiceAccountToken"] is False


def test_pods_see_the_file_systems_the_scratch_and_their_own_shared_memory() -> None:
    pod = gang_of(cluster())[2]["template"]["spec"]
    assert [mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]] == [
        "/dev/shm",
        "/fsx",
        "/home",
        "/scratch",
        "/opt/ultracluster/python",
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "/run/ultracluster/health",
    ]
    scratch = next(volume for volume in pod["volumes"] if volume["name"] == "scratch")
    assert scratch["hostPath"] == {"path": "/scratch", "type": "Directory"}


def test_a_pod_claims_what_no_plugin_counts() -> None:
    item = cluster(efa="dranet", gpu="dra-driver")
    pod = gang_of(item)[2]["template"]["spec"]
    (template,) = {o["metadata"]["name"] for o in platform(item).objects if o["kind"] == "ResourceClaimTemplate"}
    assert pod["resourceClaims"] == [{"name": "node", "resourceClaimTemplateName": template}]
    resources = pod["containers"][0]["resources"]
    assert resources["claims"] == [{"name": "node"}]
    assert not {"nvidia.com/gpu", "vpc.amazonaws.com/efa"} & set(resources["limits"])


def test_a_gang_over_ultraservers_is_cut_so_that_each_piece_stays_in_one_domain() -> None:
    item = named("p6e-gb200.36xlarge", 128)
    train, _, job = gang_of(item)
    pieces = {
        "kueue.x-k8s.io/podset-slice-required-topology": "nvidia.com/gpu.clique",
        "kueue.x-k8s.io/podset-slice-size": "16",
    }
    assert pieces.items() <= job["template"]["metadata"]["annotations"].items()
    patch = train["spec"]["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"][0]
    assert patch["template"]["spec"]["template"]["metadata"]["annotations"] == pieces
    assert {"name": "domain", "resourceClaimTemplateName": "domain-train"} in job["template"]["spec"]["resourceClaims"]


def test_a_gang_within_one_domain_is_not_cut() -> None:
    train, _, job = gang_of(named("p6e-gb200.36xlarge", 16))
    assert "runtimePatches" not in train["spec"]
    assert set(job["template"]["metadata"]["annotations"]) == {
        "kueue.x-k8s.io/podset-preferred-topology",
        "ultracluster/metrics-port",
    }


def test_arm64_gets_no_image_that_is_made_for_x86() -> None:
    train, _, job = gang_of(named("p6e-gb200.36xlarge", 16))
    image = IMAGES["megatron"]
    assert train["spec"]["trainer"]["image"] == image.address
    assert job["template"]["spec"]["containers"][0]["image"] == image.address
    assert "arm64" in image.architectures


@pytest.mark.parametrize("nodes_wanted", [0, -1, 65])
def test_rejects_a_gang_of_more_nodes_than_there_are(nodes_wanted: int) -> None:
    item = cluster()
    for make in (train_job, job_set):
        with pytest.raises(ValueError, match=f"nodes is 1 to 64.*got {nodes_wanted}"):
            make(item, item.nodes[0], item.teams[0], Settings(nodes=nodes_wanted))


@pytest.mark.parametrize("name", ["A", "1st", "a_b", "a" * 46, "-a", "a."])
def test_rejects_a_job_whose_pods_could_not_be_called_after_it(name: str) -> None:
    item = cluster()
    for make in (train_job, job_set, partial(leader_worker_set, VLLM_SERVER)):
        with pytest.raises(ValueError, match="job: name"):
            make(item, item.nodes[0], item.teams[0], Settings(name=name))


QUEUED: dict[str, Any] = {
    "kueue": ({"kueue.x-k8s.io/queue-name": "default"}, {}),
    "volcano": ({}, {"scheduling.volcano.sh/queue-name": "research"}),
    "kai": ({"kai.scheduler/queue": "research"}, {}),
}


@pytest.mark.parametrize("scheduler", QUEUED)
def test_a_gang_goes_to_the_queue_of_its_team(scheduler: Any) -> None:
    labels, annotations = QUEUED[scheduler]
    train, jobs, job = gang_of(cluster(scheduler=scheduler))
    for created in (train, jobs):
        assert labels.items() <= created["metadata"]["labels"].items()
        assert created["metadata"].get("annotations", {}) == annotations
    names = {"kueue": None, "volcano": "volcano", "kai": "kai-scheduler"}
    assert job["template"]["spec"].get("schedulerName") == names[scheduler]


def test_the_pods_of_a_job_may_talk_to_each_other_and_to_no_other_job() -> None:
    item = cluster()
    policy = train_job(item, item.nodes[0], item.teams[0], Settings(name="mine"))[1]["spec"]
    pods = {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": "mine"}}
    assert policy["podSelector"] == pods
    assert policy["ingress"] == [{"from": [{"podSelector": pods}]}]
    assert policy["egress"] == [{"to": [{"podSelector": pods}]}]


@pytest.mark.parametrize(
    ("type", "floor", "workers"),
    [
        ("p5.48xlarge", "389.6", 2),
        ("p6-b200.48xlarge", "301.6", 4),
        ("p6-b300.48xlarge", "600.8", 2),
        ("p5en.48xlarge", "", 2),
    ],
)
def test_the_nccl_test_is_held_against_a_floor_only_where_one_is_published(type: str, floor: str, workers: int) -> None:
    item = cluster(nodes(type, 8))
    spec = nccl_check(item, item.nodes[0])[0]["spec"]["mpiReplicaSpecs"]
    env = {row["name"]: row.get("value") for row in spec["Launcher"]["template"]["spec"]["containers"][0]["env"]}
    assert (env["FLOOR"], spec["Worker"]["replicas"], env["RANKS"]) == (floor, workers, str(workers * 8))
    assert (nccl_figure(item.nodes[0].instance_type.name) is None) == (floor == "")


def test_rejects_an_nccl_test_on_one_node() -> None:
    item = cluster(nodes("p5.48xlarge", 1))
    with pytest.raises(ValueError, match="needs 2 nodes, and train has 1"):
        nccl_check(item, item.nodes[0])


def test_a_check_runs_where_its_account_is_and_teams_have_none() -> None:
    item = cluster()
    for created in (dcgm_check(item, item.nodes[0])[0], nccl_check(item, item.nodes[0])[0]):
        assert created["metadata"]["namespace"] == "node-health"
    assert "serviceAccountName" not in gang_of(item)[2]["template"]["spec"]


def test_leader_and_workers_share_one_model_and_restart_as_one() -> None:
    item = cluster(nodes(count=4))
    created = leader_worker_set(VLLM_SERVER, item, item.nodes[0], item.teams[0], Settings(nodes=2, replicas=2))
    template = created[0]["spec"]["leaderWorkerTemplate"]
    assert (created[0]["spec"]["replicas"], template["size"]) == (2, 2)
    assert template["restartPolicy"] == "RecreateGroupOnPodRestart"
    command = template["workerTemplate"]["spec"]["containers"][0]["command"]
    assert {"--tensor-parallel-size=8", "--pipeline-parallel-size=2", "--nnodes=2", "--headless"} <= set(command)
    assert "--headless" not in template["leaderTemplate"]["spec"]["containers"][0]["command"]


@pytest.mark.parametrize(("size", "replicas"), [(-1, 1), (1, 0), (5, 1), (2, 3)])
def test_rejects_inference_on_more_nodes_than_there_are(size: int, replicas: int) -> None:
    item = cluster(nodes(count=4))
    with pytest.raises(ValueError, match="size times replicas is 1 to 4"):
        leader_worker_set(VLLM_SERVER, item, item.nodes[0], item.teams[0], Settings(nodes=size, replicas=replicas))


def test_the_types_of_the_table_have_its_devices() -> None:
    for type, (_, _, efa) in GANGS.items():
        assert sum(row.kind != "interface" for row in interfaces(type, "one-ip")) == efa
