"""Admission policies of members of teams: their expressions, in CEL, on Services and network policies."""

from functools import cache
from typing import Any

import cel
import pytest

from support.kubernetes_data import PLATFORMS
from ultracluster.kubernetes import Object, platform
from ultracluster.workloads._kubernetes_jobs import job_objects

OWN = {"podSelector": {"matchLabels": {"app": "x"}}}
ADMINISTRATORS = ["system:authenticated", "system:masters"]


@cache
def policy(name: str) -> Any:
    objects = platform(PLATFORMS["teams"]).objects
    (spec,) = (
        item["spec"]
        for item in objects
        if (item["kind"], item["metadata"]["name"]) == ("ValidatingAdmissionPolicy", name)
    )
    return spec


@cache
def program(expression: str) -> Any:
    return cel.compile(expression)


def denied(
    name: str, new: Object | None, old: Object | None = None, *, groups: list[str] | None = None, operation: str = ""
) -> list[str]:
    item: Object = new or old or {}
    request = {
        "operation": operation or ("DELETE" if new is None else "UPDATE" if old else "CREATE"),
        "name": item["metadata"]["name"],
        "userInfo": {"groups": groups or ["system:authenticated", "ultracluster-research"]},
    }
    names = {"object": new, "oldObject": old, "request": request}
    spec = policy(name)
    if not all(program(each["expression"]).execute(names) is True for each in spec["matchConditions"]):
        return []
    return [each["message"] for each in spec["validations"] if program(each["expression"]).execute(names) is not True]


def service(**spec: Any) -> Object:
    return {"kind": "Service", "metadata": {"name": "x"}, "spec": spec}


def network(name: str = "job-x", **spec: Any) -> Object:
    return {"kind": "NetworkPolicy", "metadata": {"name": name}, "spec": {"podSelector": {}, **spec}}


@pytest.mark.parametrize("name", PLATFORMS)
def test_members_apply_all_job_files_of_their_team(name: str) -> None:
    teams = {team.name for team in PLATFORMS[name].teams}
    jobs = [job for _, _, objects in job_objects(PLATFORMS[name]) for job in objects]
    of_teams = [job for job in jobs if job["metadata"].get("namespace") in teams]
    kinds = {"Service": "team-services", "NetworkPolicy": "team-networks"}
    checked = [job for job in of_teams if job["kind"] in kinds]
    assert checked
    for job in checked:
        assert not denied(kinds[job["kind"]], job)
        assert not denied(kinds[job["kind"]], job, job)


def test_members_expose_nothing_to_other_networks() -> None:
    message = "an administrator creates a Service of a team with type LoadBalancer or NodePort"
    for type in ("LoadBalancer", "NodePort"):
        exposed = service(type=type)
        assert denied("team-services", exposed) == [message]
        assert denied("team-services", exposed, service(type="ClusterIP")) == [message]
        # Labels of one that an administrator created.
        assert not denied("team-services", exposed, exposed)
        assert not denied("team-services", exposed, groups=ADMINISTRATORS)
    assert not denied("team-services", service(type="ClusterIP", clusterIP="None"))
    assert not denied("team-services", service())
    assert denied("team-services", service(externalIPs=["10.0.0.1"])) == ["a Service of a team has no externalIPs"]
    ingress = {"kind": "Ingress", "metadata": {"name": "x"}, "spec": {}}
    assert denied("team-services", ingress) == ["an administrator creates an Ingress of a team"]


def test_members_do_not_leave_their_namespace() -> None:
    message = "egress of a network policy of a team is to podSelector alone, in its namespace"
    everywhere = {"ipBlock": {"cidr": "0.0.0.0/0"}}
    rules: list[Object] = [
        *({}, {"ports": [{"port": 22}]}, {"to": []}, {"to": [everywhere]}, {"to": [OWN, everywhere]}),
        {"to": [{"namespaceSelector": {}}]},
        {"to": [{**OWN, "namespaceSelector": {}}]},
    ]
    for rule in rules:
        assert denied("team-networks", network(egress=[{"to": [OWN]}, rule])) == [message]
        assert denied("team-networks", network(egress=[rule]), network()) == [message]
        assert not denied("team-networks", network(egress=[rule]), groups=ADMINISTRATORS)
    assert not denied("team-networks", network(egress=[{"to": [OWN]}], ingress=[{}]))
    assert not denied("team-networks", None, network(egress=[{}]))


def test_members_keep_the_policies_of_the_platform() -> None:
    objects = platform(PLATFORMS["teams"]).objects
    names = {
        item["metadata"]["name"]
        for item in objects
        if item["kind"] == "NetworkPolicy" and item["metadata"]["namespace"] == "research"
    }
    assert "default-deny" in names
    for name in names:
        (message,) = denied("team-networks", None, network(name))
        assert message.startswith("members of a team do not change default-deny, allow-dns")
        assert denied("team-networks", network(name, ingress=[{}]), network(name)) == [message]
        assert not denied("team-networks", None, network(name), groups=ADMINISTRATORS)


def test_the_policies_are_for_the_namespaces_of_teams() -> None:
    matched = {}
    for name in ("team-services", "team-networks"):
        constraints = policy(name)["matchConstraints"]
        (expression,) = constraints["namespaceSelector"]["matchExpressions"]
        assert expression["values"] == [team.name for team in PLATFORMS["teams"].teams]
        matched[name] = {
            (*rule["operations"], *rule["apiGroups"], *rule["resources"]) for rule in constraints["resourceRules"]
        }
    api = "networking.k8s.io"
    assert matched["team-services"] == {
        *(("CREATE", "", "services"), ("UPDATE", "", "services"), ("CREATE", api, "ingresses")),
    }
    assert matched["team-networks"] == {(name, api, "networkpolicies") for name in ("CREATE", "UPDATE", "DELETE")}
