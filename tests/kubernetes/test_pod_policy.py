"""The admission policy of the pods of teams: its expressions, in CEL, on pods that would be root on a node."""

import json
import re
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import cel
import pytest

from support import ROOT
from support.kubernetes_data import PLATFORMS, cluster
from ultracluster.kubernetes import Object, platform
from ultracluster.workloads._kubernetes_jobs import job_objects

HOST_NETWORK = "a pod of a team has no hostNetwork, hostPID or hostIPC"
PRIVILEGED = "a pod of a team has no privileged container"
POD: Object = {
    "containers": [
        {
            "name": "main",
            "securityContext": {"capabilities": {"add": ["IPC_LOCK", "SYS_PTRACE"]}},
            "volumeMounts": [
                {"name": "scratch", "mountPath": "/scratch"},
                {"name": "node-health", "mountPath": "/health", "readOnly": True},
            ],
        }
    ],
    "volumes": [
        {"name": "scratch", "hostPath": {"path": "/scratch"}},
        {"name": "node-health", "hostPath": {"path": "/run/ultracluster/health"}},
        {"name": "memory", "emptyDir": {}},
    ],
}


@cache
def validations(scratch: str | None = "/scratch") -> list[tuple[Any, str]]:
    objects = platform(cluster(scratch=scratch)).objects
    (spec,) = (
        item["spec"]
        for item in objects
        if (item["kind"], item["metadata"]["name"]) == ("ValidatingAdmissionPolicy", "team-pods")
    )
    return [(cel.compile(rule["expression"]), rule["message"]) for rule in spec["validations"]]


def denied(pod: Object, scratch: str | None = "/scratch") -> list[str]:
    return [message for rule, message in validations(scratch) if rule.execute({"object": {"spec": pod}}) is not True]


def pods(value: Any) -> Iterator[Object]:
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield value
        for part in value.values():
            yield from pods(part)
    elif isinstance(value, list):
        for part in value:
            yield from pods(part)


@pytest.mark.parametrize("name", PLATFORMS)
def test_pods_of_all_job_files_of_teams_are_allowed(name: str) -> None:
    item = PLATFORMS[name]
    teams = {team.name for team in item.teams}
    jobs = [job for _, _, objects in job_objects(item) for job in objects]
    runtimes = [job for job in platform(item).objects if job["kind"] == "ClusterTrainingRuntime"]
    of_teams = [job for job in jobs if job["metadata"].get("namespace") in teams]
    seen = {json.dumps(pod) for pod in pods([*of_teams, *runtimes])}
    assert seen
    for pod in seen:
        assert not denied(json.loads(pod), item.scratch)


def test_the_policy_is_for_new_pods_of_teams_and_for_containers_that_are_added() -> None:
    objects = platform(PLATFORMS["teams"]).objects
    policy, binding = (item["spec"] for item in objects if item["metadata"]["name"] == "team-pods")
    assert binding == {"policyName": "team-pods", "validationActions": ["Deny"]}
    constraints = policy["matchConstraints"]
    (expression,) = constraints["namespaceSelector"]["matchExpressions"]
    assert expression["values"] == [team.name for team in PLATFORMS["teams"].teams]
    rules = [(rule["operations"], rule["resources"]) for rule in constraints["resourceRules"]]
    assert rules == [(["CREATE"], ["pods"]), (["UPDATE"], ["pods/ephemeralcontainers"])]


@pytest.mark.parametrize("field", ["hostNetwork", "hostPID", "hostIPC"])
def test_no_namespace_of_the_node(field: str) -> None:
    assert not denied({**POD, field: False})
    assert denied({**POD, field: True}) == [HOST_NETWORK]


@pytest.mark.parametrize("field", ["containers", "initContainers", "ephemeralContainers"])
def test_no_container_has_privileges(field: str) -> None:
    for context, message in (
        ({"privileged": True}, PRIVILEGED),
        ({"capabilities": {"add": ["IPC_LOCK", "SYS_ADMIN"]}}, "a pod of a team adds no capability but "),
        ({"capabilities": {"add": ["ALL"]}}, "a pod of a team adds no capability but "),
    ):
        (result,) = denied({**POD, field: [{"name": "one"}, {"name": "two", "securityContext": context}]})
        assert result.startswith(message)
    fine = {"privileged": False, "allowPrivilegeEscalation": True, "capabilities": {"drop": ["ALL"]}}
    assert not denied({**POD, field: [{"name": "one", "securityContext": fine}]})


@pytest.mark.parametrize(
    "path", ["/", "/etc", "/scratch/link-to-root", "/scratch/..", "/scratch2", "/run/ultracluster"]
)
def test_no_other_directory_of_the_node(path: str) -> None:
    """A pod may create a link in /scratch, which a hostPath below it follows."""
    (result,) = denied({**POD, "volumes": [*POD["volumes"], {"name": "host", "hostPath": {"path": path}}]})
    memory = "an emptyDir with medium Memory takes the place of /dev/shm"
    assert result == (
        f"a pod of a team has no hostPath but /scratch, /run/ultracluster/health; {memory}, and /scratch that of "
        "/mnt/k8s-disks/0"
    )
    assert denied(POD, None) == [f"a pod of a team has no hostPath but /run/ultracluster/health; {memory}"]


def test_the_command_of_the_page_lists_the_pods_that_would_be_denied() -> None:
    page = (ROOT / "docs" / "operations" / "changes.md").read_text()
    command, of_schedulers = re.findall(r"^kubectl get pods .* \| (jq -r '[^']+')$", page, re.MULTILINE)
    root = {"containers": [{"name": "main", "securityContext": {"privileged": True}}]}
    admin = {"containers": [{"name": "main", "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]}
    shm = {"volumes": [{"name": "memory", "hostPath": {"path": "/dev/shm"}}]}
    specs = {"fine": POD, "plain": {"containers": [{"name": "main"}]}, "shm": {**POD, **shm}, "root": root}
    specs |= {
        "admin": admin,
        "init": {**POD, "initContainers": root["containers"]},
        "network": {**POD, "hostNetwork": True},
    }
    items = [
        {"metadata": {"namespace": namespace, "name": name}, "spec": spec}
        for namespace in ("research", "tools")
        for name, spec in specs.items()
    ]
    expected = [f"research/{name}" for name, spec in specs.items() if denied(spec)]
    assert len(expected) == 5
    assert listed(command, items) == expected
    for item, scheduler in zip(items, ("kai-scheduler", "default-scheduler", "volcano"), strict=False):
        item["spec"] = {"schedulerName": scheduler}
    assert listed(of_schedulers, items[:3]) == ["research/plain"]


def listed(command: str, items: list[Object]) -> list[str]:
    text = json.dumps({"items": items})
    result = subprocess.run(["bash", "-c", command], input=text, capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_results_of_checks_are_read_only(field: str) -> None:
    pod = deepcopy(POD)
    pod[field] = [{"name": "writer", "volumeMounts": [{"name": "node-health", "mountPath": "/health"}]}]
    assert denied(pod) == ["a pod of a team mounts /run/ultracluster/health with readOnly"]
