"""Golden templates: what the examples become. After a change that means to change them: `make golden`, read it."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from conftest import EXAMPLES, ROOT

from stacks.cluster_stage import ClusterStage
from ultracluster import clusterfile
from ultracluster.testing import assert_matches_snapshot

GOLDEN = Path(__file__).parent / "golden"
FLAGS = json.loads((ROOT / "cdk.json").read_text())["context"]
MAIN_JOB = ROOT / "examples" / "slurm-512-gpus.yaml"


def assembly(file: Path) -> dict[str, dict[str, Any]]:
    app = cdk.App(context=FLAGS, analytics_reporting=False)
    cluster = clusterfile.load(file)
    stage = ClusterStage(
        app, cluster.name, cluster=cluster, env=cdk.Environment(account="123456789012", region=cluster.region)
    )
    return {stack.stack_name: stack.template for stack in stage.synth().stacks}


def test_the_templates_of_the_main_job_are_the_reviewed_ones() -> None:
    for name, template in assembly(MAIN_JOB).items():
        assert_matches_snapshot(template, GOLDEN / f"{name}.json")


def test_no_logical_id_moved() -> None:
    """A changed id replaces the resource; here it shows alone."""
    ids = {
        file.stem: {
            stack: {id: resource["Type"] for id, resource in sorted(template["Resources"].items())}
            for stack, template in assembly(file).items()
        }
        for file in EXAMPLES
    }
    assert_matches_snapshot(ids, GOLDEN / "logical-ids.json")


def test_adding_a_node_group_leaves_everything_else_alone() -> None:
    before = assembly(MAIN_JOB)
    text = MAIN_JOB.read_text() + ""
    more = text.replace("\nnodes:\n", "\nnodes:\n  extra: {type: p5en.48xlarge, count: 2}\n")
    assert more != text
    app = cdk.App(context=FLAGS, analytics_reporting=False)
    cluster = clusterfile.loads(more, "more.yaml")
    stage = ClusterStage(
        app, cluster.name, cluster=cluster, env=cdk.Environment(account="123456789012", region=cluster.region)
    )
    after = {stack.stack_name: stack.template for stack in stage.synth().stacks}
    for name, template in before.items():
        kept = {id: after[name]["Resources"][id] for id in template["Resources"]}
        assert kept == template["Resources"]
        added = {r["Type"] for id, r in after[name]["Resources"].items() if id not in template["Resources"]}
        if not name.endswith("-Compute"):
            assert added == set()


@pytest.mark.parametrize("flags", [FLAGS, {}], ids=["flags-on", "flags-off"])
def test_the_library_serves_whatever_flags_the_app_sets(flags: dict[str, Any]) -> None:
    app = cdk.App(context=flags, analytics_reporting=False)
    cluster = clusterfile.load(MAIN_JOB)
    stage = ClusterStage(
        app, cluster.name, cluster=cluster, env=cdk.Environment(account="123456789012", region=cluster.region)
    )
    types = [r["Type"] for s in stage.synth().stacks for r in s.template["Resources"].values()]
    assert types.count("AWS::PCS::ComputeNodeGroup") == 2
    assert types.count("AWS::FSx::FileSystem") == 1
