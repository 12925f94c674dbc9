"""Effects of an update of a Slurm cluster on running nodes, of two states of the library."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from typer.testing import CliRunner

from cdk_rehearsal.guard import Fate, Report, compare
from support import ROOT
from support.templates import FLAGS, templates
from ultracluster import clusterfile
from ultracluster.boot import scripts
from ultracluster.cli import app as command
from ultracluster.stacks import ClusterStacks
from ultracluster.testing import IN_PLACE, UPDATE_RULES

Templates = dict[str, dict[str, Any]]
TEXT = (ROOT / "examples" / "slurm-fine-tuning.yaml").read_text()
GROUPS = ["login", "tune", "cheap"]


@pytest.fixture(scope="module")
def before() -> Templates:
    return templates(clusterfile.loads(TEXT, "c.yaml"))


def after(text: str = TEXT) -> Templates:
    # Not the templates of other tests: the library itself is another one.
    app = cdk.App(context=FLAGS, analytics_reporting=False)
    ClusterStacks(app, cluster=clusterfile.loads(text, "c.yaml"), account="123456789012")
    return {stack.stack_name: stack.template for stack in app.synth().stacks}


def report(tmp_path: Path, old: Templates, new: Templates) -> Report:
    for side, stacks in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        for name, template in stacks.items():
            (tmp_path / side / f"{name}.json").write_text(json.dumps(template))
    return compare(str(tmp_path / "old"), str(tmp_path / "new"), update_rules=UPDATE_RULES, in_place=IN_PLACE)


def changed_types(old: Templates, new: Templates) -> set[str]:
    return {
        resource["Type"]
        for stack, template in new.items()
        for id, resource in template["Resources"].items()
        if old[stack]["Resources"].get(id) != resource
    }


def release(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[str], str]) -> Templates:
    """Templates of a release in which a script is another one."""
    old = scripts.text

    def text(script: str) -> str:
        return change(old(script)) if script == name else old(script)

    monkeypatch.setattr(scripts, "text", text)
    return after()


def replaced(result: Report) -> set[str]:
    """Names of the node groups whose nodes end."""
    ids = [finding.logical_id for finding in result.nodes if finding.fate.ends_nodes]
    return {name for name in GROUPS if any(id.lower().startswith(name) for id in ids)}


IN_PLACE_SCRIPTS = [
    *("node-metrics.sh", "metrics-agent.sh", "dcgm-exporter.sh", "health-check.sh", "prolog.sh", "epilog.sh"),
    *("replace.sh", "users.sh", "containers.sh", "deep-check.sh", "job-gate.sh"),
]


def test_a_changed_metric_changes_no_node_group_and_no_launch_template(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: Templates
) -> None:
    new = release(
        monkeypatch, "node-metrics.sh", lambda text: text.replace("main() {", "main() {\n    : another metric")
    )
    assert changed_types(before, new) == {"AWS::SSM::Parameter", "AWS::IAM::Policy"}
    result = report(tmp_path, before, new)
    assert replaced(result) == set()
    (finding,) = result.in_place
    assert finding.causes[0].reason == "all nodes have its checks and collectors within 15 minutes; none is replaced"
    assert result.ok


def test_the_scripts_that_change_in_place_are_no_part_of_a_boot_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """One synthesis for all of them: each is changed, and none changes a node group."""
    old = scripts.text
    seen: set[str] = set()

    def text(script: str) -> str:
        if script in IN_PLACE_SCRIPTS:
            seen.add(script)
            return old(script) + ": another release\n"
        return old(script)

    groups = node_groups(after())
    monkeypatch.setattr(scripts, "text", text)
    assert node_groups(after()) == groups
    assert seen == set(IN_PLACE_SCRIPTS)


def node_groups(stacks: Templates) -> dict[str, Any]:
    kinds = ("AWS::PCS::ComputeNodeGroup", "AWS::EC2::LaunchTemplate")
    resources = [item for template in stacks.values() for item in template["Resources"].items()]
    return {id: resource["Properties"] for id, resource in resources if resource["Type"] in kinds}


def test_a_changed_mount_check_replaces_the_nodes_of_all_groups_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: Templates
) -> None:
    new = release(monkeypatch, "mount-check.sh", lambda text: text.replace("main() {", "main() {\n    : more"))
    result = report(tmp_path, before, new)
    assert replaced(result) == set(GROUPS)
    assert result.in_place == ()
    reasons = {cause.reason for finding in result.nodes for cause in finding.causes if cause.fate is Fate.DRAINED}
    assert any("AWS PCS drains each node and replaces it when its job has ended" in reason for reason in reasons)


def test_a_changed_mount_of_the_file_replaces_nodes(tmp_path: Path, before: Templates) -> None:
    result = report(tmp_path, before, after(TEXT.replace("home: {}", "home: {mount: /people}")))
    assert replaced(result) == set(GROUPS)


def test_guard_prints_an_update_in_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: Templates) -> None:
    report(tmp_path, before, release(monkeypatch, "users.sh", lambda text: f"{text}# another release\n: more\n"))
    done = CliRunner().invoke(command, ["guard", str(tmp_path / "old"), str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    assert "updated in place" in done.output
    assert "all nodes have its checks and collectors" in " ".join(done.output.split())
