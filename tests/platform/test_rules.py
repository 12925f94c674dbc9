"""Rules of the projects' definitions, in CEL: what an update may change, and jobs of two groups of one team."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support.kubernetes_double import Cluster, Object, node
from support.platform_runs import FILE, Run, edit
from ultracluster import clusterfile
from ultracluster.kubernetes import platform_of
from ultracluster.platform import ToolError
from ultracluster.workloads import kubernetes_jobs

TWO_GROUPS = ("storage: {", "  tune: {type: p5en.48xlarge, count: 4}\nstorage: {")


def submit(cluster: Cluster, items: list[Object]) -> None:
    cluster.run(
        *("kubectl", "apply", "--server-side", "--filename=-"),
        stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}),
    )


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """A cluster with two groups, one team of which has both."""
    run = Run(*(node(index, "train") for index in range(64)), *(node(100 + index, "tune") for index in range(4)))
    assert run.apply(edit(*TWO_GROUPS)), run.lines
    return run.cluster


@cache
def jobs() -> dict[str, list[Object]]:
    """The job files of both groups."""
    platform = platform_of(clusterfile.loads(FILE.replace(*TWO_GROUPS), "c.yaml"))
    return {file.path: [*yaml.safe_load_all(file.text)] for file in kubernetes_jobs(platform)}


def test_two_groups_of_one_team_have_jobs_of_two_names(cluster: Cluster) -> None:
    for path in ("train/train-job.yaml", "train/job-set.yaml", "tune/train-job.yaml", "tune/job-set.yaml") * 2:
        submit(cluster, jobs()[path])
    assert cluster.names("TrainJob") == {"pretrain-train", "pretrain-tune"}
    assert len(cluster.names("JobSet")) == 2


def change(kind: str, edit: Callable[[Any], object]) -> Callable[[Cluster], list[Object]]:
    def changed(cluster: Cluster) -> list[Object]:
        item = next(item for (known, _, _), item in cluster.objects.items() if known == kind)
        copy = json.loads(json.dumps(item))
        copy.pop("status", None)
        edit(copy["spec"])
        return [copy]

    return changed


def renamed(cluster: Cluster) -> list[Object]:
    """The job of the second group, under the name of the first one."""
    first, second = (jobs()[f"{group}/train-job.yaml"][0] for group in ("train", "tune"))
    submit(cluster, [first])
    return [{**second, "metadata": first["metadata"]}]


# The messages of the definitions, in the form of the API server.
@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (change("Topology", lambda spec: spec["levels"].pop(0)), "spec.levels: Invalid value: field is immutable"),
        (
            change("ResourceFlavor", lambda spec: spec["tolerations"].append({"key": "a", "operator": "Exists"})),
            "spec: Invalid value: tolerations are immutable when topologyName is set",
        ),
        (
            change("ResourceFlavor", lambda spec: spec["nodeLabels"].update({"a": "b"})),
            "spec: Invalid value: nodeLabels are immutable when topologyName is set",
        ),
        (
            change("LocalQueue", lambda spec: spec.update(clusterQueue="other")),
            "spec.clusterQueue: Invalid value: field is immutable",
        ),
        (
            change("ClusterQueue", lambda spec: spec["resourceGroups"][0]["flavors"][0]["resources"].pop()),
            "flavors must have the same number of resources as the coveredResources",
        ),
        (
            change(
                "ClusterTrainingRuntime",
                lambda spec: spec["template"]["spec"]["failurePolicy"].update(maxRestarts=9),
            ),
            "spec.template.spec.failurePolicy: Invalid value: Value is immutable",
        ),
        (renamed, "spec.trainer: Invalid value: field is immutable"),
    ],
)
def test_an_update_that_a_definition_refuses(
    cluster: Cluster, items: Callable[[Cluster], list[Object]], reason: str
) -> None:
    with pytest.raises(ToolError) as error:
        submit(cluster, items(cluster))
    assert reason in error.value.message
