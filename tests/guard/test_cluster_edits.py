"""Verdicts on realistic edits of deployed clusters, by the templates of both sides."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from cdk_rehearsal import guard
from support import ROOT
from support.cluster_edits import EDITS, OF_ORCHESTRATORS, ClusterEdit, joined, text_of
from support.deployed_edits import COMPLETE, DeployedCluster
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.cli._verdict import refusal
from ultracluster.testing import UPDATE_RULES

CASES = [(example, edit) for example, edits in EDITS.items() for edit in joined(edits)]
Templates = dict[str, dict[str, Any]]


def written(folder: Path, content: Templates) -> Path:
    folder.mkdir()
    for name, template in content.items():
        (folder / f"{name}.json").write_text(json.dumps(template))
    return folder


@pytest.fixture(scope="module")
def deployed() -> Iterator[Callable[[str], DeployedCluster]]:
    """The cluster of an example, deployed. As a fixture with a parameter it would be deployed again for each case."""
    # No cluster reads the 1,300 images of AWS that moto creates for each cloud.
    with ExitStack() as stack, mock.patch.dict(os.environ, MOTO_EC2_LOAD_DEFAULT_AMIS="false"):

        @lru_cache(maxsize=1)
        def cluster(example: str) -> DeployedCluster:
            stack.close()  # one local cloud at a time
            return stack.enter_context(DeployedCluster(text_of(example)))

        yield cluster


@pytest.fixture
def cluster(deployed: Callable[[str], DeployedCluster], example: str) -> DeployedCluster:
    """The same cluster for each edit: whatever the edit before it has left, it is restored.

    After the last edit of an example nothing is: half of these cannot be taken back.
    """
    result = deployed(example)
    result.restore()
    return result


@pytest.mark.parametrize(("example", "edit"), CASES, ids=[f"{example}-{edit.name}" for example, edit in CASES])
def test_each_edit_of_a_deployed_cluster_ends_clean_or_is_refused_before_it(
    cluster: DeployedCluster, edit: ClusterEdit
) -> None:
    document = yaml.safe_load(cluster.text)
    edit.change(document)
    try:
        edited = clusterfile.loads(yaml.safe_dump(document, sort_keys=False), "c.yaml")
    except clusterfile.ClusterFileError:
        assert edit.verdict == "file"
        return
    begin = len(cluster.journal())
    decision = cluster.decide(edited)
    assert len(cluster.journal()) == begin, "a comparison changes nothing"
    assert decision.verdict == edit.verdict, decision
    # The user allows that nodes end. What loses data is deployed by `cdk deploy`, which asks no guard.
    allow = tuple(f"{stack}/{id}" for stack, id in decision.nodes) if edit.verdict == "nodes" else ()
    statuses = cluster.deploy(edited, allow)
    *before, last = statuses.values()
    assert set(before) <= COMPLETE, statuses
    stopped = last == "UPDATE_ROLLBACK_COMPLETE" or "ValidationError" in last
    assert stopped if cluster.stopped(decision, edited) else last in COMPLETE, statuses
    # A group that may end is replaced at most; everything else stays, and so does what the edit does not touch.
    assert cluster.lost(begin) & cluster.protected() <= (decision.nodes if allow else set())
    now = cluster.current_ids()
    changed = {place for place, id in cluster.ids.items() if now.get(place) != id}
    assert not changed or changed <= cluster.replaced(edited)


def test_there_are_sixty_edits_of_each_orchestrator() -> None:
    for example, edits in OF_ORCHESTRATORS.items():
        assert len(edits) >= 60, example
        assert len({edit.name for edit in edits}) == len(edits)


@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1)], ids=["to-a-new-stack", "out-of-its-only-stack"])
def test_a_node_group_that_moves_to_another_stack_is_refused(
    orchestrator: str, before: int, after: int, tmp_path: Path
) -> None:
    def stacks(number: int) -> Templates:
        group = {"type": "p5.48xlarge", "count": 2, "capacity": "on-demand"}
        nodes = {"train": {**group, "stack": 1}, "tuning": {**group, "stack": number}}
        place: dict[str, Any] = {"region": "us-east-2", "zone": "use2-az1", "orchestrator": orchestrator}
        return templates(clusterfile.build(**{"name": "wide", "nodes": nodes, **place}))

    sides = written(tmp_path / "old", stacks(before)), written(tmp_path / "new", stacks(after))
    assert not guard.compare(*sides, update_rules=UPDATE_RULES, running=True).ok
    nodes = guard.compare(*sides, update_rules=UPDATE_RULES).nodes
    (moved,) = (finding for finding in nodes if finding.type != "AWS::PCS::Queue")
    assert moved.stack == ("wide-Compute" if before == 1 else "wide-Compute-2")
    assert moved.logical_id.startswith("tuning")
    assert moved.fate == (guard.Fate.DELETED if before == 1 else guard.Fate.ORPHANED)
    allowed = guard.compare(*sides, update_rules=UPDATE_RULES, running=True, allow=[moved.name])
    assert set(allowed.moved) >= {moved.name}
    assert "it moves to another stack" in allowed.unused[moved.name]
    assert moved.name not in {finding.name for finding in allowed.refused}
    assert not guard.compare(*sides, update_rules=UPDATE_RULES).ok
    assert f"--allow {moved.name}" not in refusal(guard.compare(*sides, update_rules=UPDATE_RULES, running=True))


def test_the_page_on_verification_has_the_counts() -> None:
    page = (ROOT / "docs/operations/verification.md").read_text()
    for verdict, text in (("data", ", all refused |"), ("nodes", ", all refused without"), ("clean", ", none refused")):
        count = sum(edit.verdict == verdict for edits in EDITS.values() for edit in edits)
        assert f" {count}{text}" in page
