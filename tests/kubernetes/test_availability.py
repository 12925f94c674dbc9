"""Controllers whose webhooks fail closed: replicas, budgets, priority and memory.

The keys are those of values.yaml of each chart at its pinned version, which `helm template` renders (2026-11-27).
"""

from typing import Any

import pytest

from support.kubernetes_data import cluster, nodes
from ultracluster.kubernetes import HelmRelease, Platform, platform


def values(of: Platform, name: str) -> Any:
    (release,) = (each for each in platform(of).releases if isinstance(each, HelmRelease) and each.name == name)
    return release.values


def test_every_controller_has_two_replicas_on_two_nodes() -> None:
    of = cluster()
    kueue, jobset = values(of, "kueue")["controllerManager"], values(of, "jobset")["controller"]
    trainer, lws = values(of, "kubeflow-trainer")["manager"], values(of, "lws")
    assert [kueue["replicas"], jobset["replicas"], trainer["replicas"], lws["replicaCount"]] == [2, 2, 2, 2]
    (constraint,) = kueue["topologySpreadConstraints"]
    assert constraint["labelSelector"] == {"matchLabels": {"app.kubernetes.io/name": "kueue"}}
    assert constraint["whenUnsatisfiable"] == "ScheduleAnyway"
    for name, section in (("jobset", jobset), ("kubeflow-trainer", trainer), ("lws", lws)):
        # Required, it would leave no node for the third pod of an update.
        ((term,),) = section["affinity"]["podAntiAffinity"].values()
        assert term["podAffinityTerm"]["labelSelector"] == {"matchLabels": {"app.kubernetes.io/name": name}}
    volcano = values(cluster(scheduler="volcano"), "volcano")["custom"]
    assert volcano["admission_replicas"] == 2
    ((term,),) = volcano["admission_affinity"]["podAntiAffinity"].values()
    assert term["podAffinityTerm"]["labelSelector"] == {"matchLabels": {"app": "volcano-admission"}}


def test_a_drain_leaves_a_replica_of_what_has_a_budget_and_pods_of_the_system_go_first() -> None:
    of = cluster()
    kueue = values(of, "kueue")["controllerManager"]
    assert (
        kueue["podDisruptionBudget"] == values(of, "jobset")["controller"]["podDisruptionBudget"] == {"enabled": True}
    )
    assert kueue["manager"]["priorityClassName"] == values(of, "lws")["priorityClassName"] == "system-cluster-critical"


@pytest.mark.parametrize(
    ("groups", "gib"),
    [
        ((nodes(count=2),), 1),
        ((nodes(count=341),), 1),
        ((nodes(count=342),), 2),
        ((nodes(count=1_024),), 2),
        ((nodes(count=1_000), nodes("m7i.8xlarge", 20, "data")), 4),
        ((nodes(count=5_000),), 8),
    ],
)
def test_the_memory_of_kueue_grows_with_the_nodes_in_powers_of_two(groups: Any, gib: int) -> None:
    resources = values(cluster(*groups), "kueue")["controllerManager"]["manager"]["resources"]
    assert resources == {"limits": {"memory": f"{gib}Gi"}, "requests": {"memory": f"{gib}Gi"}}
