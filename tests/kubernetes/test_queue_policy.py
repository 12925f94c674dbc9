"""Admission policies of queues of Volcano and KAI Scheduler: their expressions, in CEL, on pods past their quota."""

from functools import cache
from typing import Any

import cel
import pytest

from support.kubernetes_data import PLATFORMS
from ultracluster.kubernetes import Object, platform
from ultracluster.workloads._kubernetes_jobs import job_objects

NAMES = {"kai": "kai-scheduler", "volcano": "volcano"}
KEYS = {"kai": ("labels", "kai.scheduler/queue"), "volcano": ("annotations", "scheduling.volcano.sh/queue-name")}
GROUPS = {"kai": "scheduling.run.ai", "volcano": "scheduling.volcano.sh"}
MEMBER = "arn:aws:sts::123456789012:assumed-role/research/ada"
GROUPER = "system:serviceaccount:kai-system:pod-grouper"


@cache
def policies(scheduler: str) -> dict[str, Any]:
    of = platform(PLATFORMS[scheduler])
    return {
        item["metadata"]["name"]: item["spec"] for item in of.objects if item["kind"] == "ValidatingAdmissionPolicy"
    }


@cache
def program(expression: str) -> Any:
    return cel.compile(expression)


def denied(
    scheduler: str,
    new: Object,
    old: Object | None = None,
    *,
    user: str = MEMBER,
    policy: str = "team-schedulers",
    namespace: str = "a",
) -> list[str]:
    request = {"operation": "UPDATE" if old else "CREATE", "namespace": namespace, "userInfo": {"username": user}}
    names = {"object": new, "oldObject": old, "request": request}
    rules = policies(scheduler)[policy]["validations"]
    return [rule["message"] for rule in rules if program(rule["expression"]).execute(names) is not True]


def pod(scheduler: str | None, resource: str | None = "nvidia.com/gpu", **more: Any) -> Object:
    container: Object = {"name": "main"}
    if resource:
        container["resources"] = {"limits": {"memory": "1Gi", resource: 1}}
    named = {"schedulerName": NAMES[scheduler]} if scheduler else {"schedulerName": "default-scheduler"}
    return {"metadata": {}, "spec": {"containers": [{"name": "first"}, container], **named, **more}}


def group(queue: str | None) -> Object:
    return {"metadata": {}, "spec": {"minMember": 1, **({"queue": queue} if queue else {})}}


def templates(value: Any) -> list[Object]:
    if isinstance(value, list):
        return [pod for part in value for pod in templates(part)]
    if not isinstance(value, dict):
        return []
    inner = [pod for part in value.values() for pod in templates(part)]
    spec = value.get("spec")
    is_pod = isinstance(spec, dict) and isinstance(spec.get("containers"), list)
    return [{"metadata": value.get("metadata", {}), "spec": spec}, *inner] if is_pod else inner


@pytest.mark.parametrize("scheduler", NAMES)
def test_pods_and_groups_of_all_job_files_of_teams_are_allowed(scheduler: str) -> None:
    of = PLATFORMS[scheduler]
    teams = [team.name for team in of.teams]
    runtimes = [item for item in platform(of).objects if item["kind"] == "ClusterTrainingRuntime"]
    jobs = [job for _, _, objects in job_objects(of) for job in objects]
    pods = 0
    for job in [*jobs, *runtimes]:
        namespace = job["metadata"].get("namespace", "a")
        if namespace in teams:
            for item in templates(job):
                pods += 1
                assert not denied(scheduler, item, namespace=namespace)
            if job["kind"] == "PodGroup":
                assert not denied(scheduler, job, policy="team-queues", namespace=namespace)
    assert pods > 2


def test_only_other_schedulers_and_only_namespaces_of_teams() -> None:
    assert not {"team-schedulers", "team-queues"} & set(policies("512 GPUs"))
    for scheduler in NAMES:
        for name, kind, api in (("team-schedulers", "pods", ""), ("team-queues", "podgroups", GROUPS[scheduler])):
            spec = policies(scheduler)[name]["matchConstraints"]
            (expression,) = spec["namespaceSelector"]["matchExpressions"]
            assert expression["values"] == ["a", "b"]
            assert {(*rule["apiGroups"], *rule["resources"]) for rule in spec["resourceRules"]} == {(api, kind)}
        operations = [
            rule["operations"] for rule in policies(scheduler)["team-queues"]["matchConstraints"]["resourceRules"]
        ]
        assert operations == [["CREATE"], ["UPDATE"]]


@pytest.mark.parametrize("scheduler", NAMES)
@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "nvidia.com/mig-1g.12gb", "vpc.amazonaws.com/efa", None])
def test_pods_with_devices_are_placed_by_the_scheduler_that_has_the_quotas(
    scheduler: str, resource: str | None
) -> None:
    message = f"a pod of a team with GPUs or EFA has schedulerName {NAMES[scheduler]}, and no nodeName"
    more: Object = {} if resource else {"resourceClaims": [{"name": "node"}]}
    assert not denied(scheduler, pod(scheduler, resource, **more))
    assert denied(scheduler, pod(None, resource, **more)) == [message]
    assert denied(scheduler, pod(scheduler, resource, nodeName="ip-10-0-0-1", **more)) == [message]
    # Pods that run have a node, and those of an earlier release may have another scheduler.
    running = pod(None, resource, nodeName="ip-10-0-0-1", **more)
    assert not denied(scheduler, running, running)


@pytest.mark.parametrize("scheduler", NAMES)
def test_pods_without_devices_may_have_another_scheduler(scheduler: str) -> None:
    assert not denied(scheduler, pod(None, None))
    assert not denied(scheduler, pod(None, "vpc.amazonaws.com/pod-eni"))
    plugin = pod(None)
    plugin["spec"]["initContainers"] = plugin["spec"].pop("containers")
    assert denied(scheduler, plugin)


@pytest.mark.parametrize("scheduler", NAMES)
def test_no_pod_or_group_names_the_queue_of_another_team(scheduler: str) -> None:
    field, key = KEYS[scheduler]
    message = f"{key} in the {field} of a pod of a team is its namespace"
    for value, expected in (("a", []), ("b", [message]), ("all", [message]), ("node-health", [message])):
        item = {**pod(scheduler), "metadata": {field: {"app": "x", key: value}}}
        assert denied(scheduler, item) == expected
    (other,) = denied(scheduler, group("b"), policy="team-queues")
    assert other == f"the queue of a PodGroup of a team is its namespace: {key} in the {field} of its owner or pods"
    for queue in ("default", "default-queue", None):
        assert denied(scheduler, group(queue), policy="team-queues") == [other]
    assert not denied(scheduler, group("a"), policy="team-queues")


@pytest.mark.parametrize("scheduler", NAMES)
def test_groups_keep_their_queue_and_get_no_other(scheduler: str) -> None:
    """A controller of Volcano 1.15 takes the queue from a group without one at each event of its ReplicaSet."""
    assert not denied(scheduler, group("default"), group("default"), policy="team-queues")
    assert not denied(scheduler, group("a"), group("default"), policy="team-queues")
    assert denied(scheduler, group("b"), group("a"), policy="team-queues")
    assert denied(scheduler, group("default"), group("a"), policy="team-queues")


def test_no_pod_joins_a_group_of_another_team() -> None:
    """KAI Scheduler looks for the pods of a group in all namespaces."""
    message = "KAI Scheduler alone sets the annotation pod-group-name of a pod of a team"
    joined = {**pod("kai"), "metadata": {"annotations": {"pod-group-name": "pg-of-b"}}}
    assert denied("kai", joined) == [message]
    assert denied("kai", joined, pod("kai")) == [message]
    assert not denied("kai", joined, pod("kai"), user=GROUPER)
    assert not denied("kai", joined, joined)
    assert not denied("kai", pod("kai"), joined)
