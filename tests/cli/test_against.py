"""`check --against`: what an edit does to nodes and data. `test_deploy.py` runs the synthesis by the real CDK CLI."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from typer.testing import CliRunner

from cdk_rehearsal.guard import Cause, Fate, Finding, compare
from support import ROOT
from support.clusterfile_data import private_with_directory
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.cli import _against, app
from ultracluster.cli._moved_mounts import with_moved_mounts
from ultracluster.cli._remedies import with_remedies

OLD = ROOT / "examples" / "slurm-private.yaml"
PCS = "AWS::PCS::ComputeNodeGroup"
Check = Callable[..., Any]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Check:
    def synthesise(_: Any, file: Path, output: Path) -> None:
        output.mkdir()
        for name, template in templates(clusterfile.load(str(file))).items():
            (output / f"{name}.template.json").write_text(json.dumps(template))
            (output / f"{name}.metadata.json").write_text("{}")

    monkeypatch.setattr(_against, "synthesise", synthesise)
    (tmp_path / "new.yaml").write_text(private_with_directory())
    synthesise(None, OLD, tmp_path / "cdk.out")

    def run(file: Path, *arguments: str) -> Any:
        return CliRunner().invoke(app, ["check", str(file), "--against", *arguments])

    return run


@pytest.mark.parametrize("deployed", ["file", "templates"])
def test_the_nodes_that_an_edit_replaces_are_named(check: Check, deployed: str, tmp_path: Path) -> None:
    result = check(tmp_path / "new.yaml", str(OLD if deployed == "file" else tmp_path / "cdk.out"))
    assert result.exit_code == 0, result.output
    assert "replaces nodes" in result.output
    (line,) = (line for line in result.output.splitlines() if line.startswith("jobs: "))
    assert "keep-Compute/trainNodeGroup" in line
    assert "are replaced when their jobs have ended" in line
    assert "skipped" not in result.output


def test_an_edit_that_loses_data_is_refused(check: Check, tmp_path: Path) -> None:
    result = check(OLD, str(tmp_path / "new.yaml"), "--json")
    edit = json.loads(result.stdout)["edit"]
    assert (result.exit_code, edit["ok"]) == (1, False)
    assert "AWS::FSx::FileSystem" in {finding["type"] for finding in edit["findings"] if finding["refused"]}
    result = check(OLD, str(tmp_path / "new.yaml"))
    assert result.exit_code == 1
    assert "ultracluster deploy refuses this edit" in result.output


def test_the_block_that_a_group_leaves_has_begun_and_not_ended(check: Check, tmp_path: Path) -> None:
    text = SLURM.replace(
        "on-demand}", "{kind: capacity-block, reservation: cr-0123456789abcde%s, starts: %s, ends: %s}}"
    )
    text += "accept: {block-length: a test, block-not-yet-sold: a test}\n"
    new = tmp_path / "next.yaml"
    new.write_text(text % ("f9", "2098-12-25", "2099-01-12"))
    for starts, ends, refused in (
        ("2025-12-01", "2026-01-01", ["capacity-ended"]),
        ("2025-12-01", "2098-12-24", ["capacity-not-begun"]),
        ("2098-12-01", "2098-12-24", []),
    ):
        (old := tmp_path / "old.yaml").write_text(text % ("f0", starts, ends))
        edit = json.loads(check(new, str(old), "--json").stdout)["edit"]
        assert [line.split(":")[0] for line in edit["broken"]] == refused


def test_a_file_that_is_not_there_is_wrong_usage(check: Check, tmp_path: Path) -> None:
    result = check(OLD, str(tmp_path / "missing"))
    assert result.exit_code == 2
    assert "name the cluster file that is deployed, or its cdk.out" in result.output


SLURM = """name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5en.48xlarge, count: 4, capacity: on-demand}
storage: {lustre: {throughput: 4 GB/s}, home: {}}
observability: {profile: none}
"""
HYPERPOD = SLURM.replace("slurm", "hyperpod-slurm")
KUBERNETES = SLURM.replace("slurm", "kubernetes")
MOVED = ("home: {}", "home: {mount: /users}")
NO_HOME = (", home: {}", "")
NO_SERVER = (", home: {type: nfs, existing: {server: nas.example.com, path: /homes}}", "")
SERVER = SLURM.replace(", home: {}", NO_SERVER[0])
NO_LUSTRE = ("lustre: {throughput: 4 GB/s}, ", "")


@pytest.mark.parametrize(
    ("old", "new", "resource", "words"),
    [
        (SLURM, SLURM.replace(*MOVED), "HomeDirectory", "nodes mount it at /users, and no more at /home: the files"),
        (SLURM, SLURM.replace(*MOVED), "HomeDirectory", "Nodes with jobs keep theirs until they are replaced"),
        (HYPERPOD, HYPERPOD.replace(*MOVED), "HomeDirectory", "replace all nodes but the controller"),
        (SLURM.replace(*NO_HOME), SLURM, "HomeDirectory", "each node had them on its own disks, which leave with it"),
        (SLURM, SLURM.replace("4 GB/s", "4 GB/s, mount: /shared"), "MountCommand", "mount it at /shared, and no more"),
        (SLURM, SLURM.replace(*NO_HOME), "HomeDirectory", "mount it at /home, and what has /home in it does not find"),
        (SERVER, SERVER.replace(*NO_SERVER), "HomeDirectory", "Homes are on the disks of each node from now on"),
        (SLURM, SLURM.replace(*NO_LUSTRE), "MountCommand", "nodes no longer mount it at /fsx, and what has /fsx"),
    ],
)
def test_a_path_that_moves_is_named(
    check: Check, tmp_path: Path, old: str, new: str, resource: str, words: str
) -> None:
    (tmp_path / "old.yaml").write_text(old)
    (tmp_path / "edit.yaml").write_text(new)
    edit = json.loads(check(tmp_path / "edit.yaml", str(tmp_path / "old.yaml"), "--json").stdout)["edit"]
    causes = {row["logical_id"]: row["causes"][0]["reason"] for row in edit["in_place"]}
    assert words in causes[resource]


def test_a_cluster_without_nodes_has_no_homes_on_their_disks() -> None:
    """After a first deployment that stopped early, only some stacks are deployed."""
    report = compare({"Resources": {}}, {"Resources": {}})
    output = {"HomeDirectory": {"Value": "/home"}, "HomeFileSystemId": {"Value": {"Ref": "Home"}}}
    old: dict[str, Any] = {"llama-Network": {"Resources": {}}}
    new: dict[str, Any] = {"llama-Storage": {"Outputs": output}}
    cluster = clusterfile.loads(SLURM, "llama.yaml")
    assert not with_moved_mounts(report, cluster, old, new).in_place
    group = {"Type": "AWS::PCS::ComputeNodeGroup"}
    (finding,) = with_moved_mounts(report, cluster, {"llama-Compute": {"Resources": {"G": group}}}, new).in_place
    assert "on its own disks" in finding.causes[0].reason


@pytest.mark.parametrize(("old", "new"), [(SLURM, SLURM), (KUBERNETES, KUBERNETES.replace(*MOVED))])
def test_no_path_moves_in_another_edit(check: Check, tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "old.yaml").write_text(old)
    (tmp_path / "edit.yaml").write_text(new)
    edit = json.loads(check(tmp_path / "edit.yaml", str(tmp_path / "old.yaml"), "--json").stdout)["edit"]
    assert edit["in_place"] == []


def test_running_nodes_of_hyperpod_keep_their_scripts(check: Check, tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(HYPERPOD)
    (tmp_path / "edit.yaml").write_text(HYPERPOD.replace(*MOVED))
    edit = json.loads(check(tmp_path / "edit.yaml", str(tmp_path / "old.yaml"), "--json").stdout)["edit"]
    reasons = [row["causes"][0]["reason"] for row in edit["in_place"] if row["type"] == "AWS::SSM::Parameter"]
    assert len(reasons) == 3
    assert all("running nodes keep what they have, mounts included" in reason for reason in reasons)
    assert sum("batch-replace-cluster-nodes" in reason for reason in reasons) == 2


def test_a_removed_group_moves_no_other_once_the_keys_are_written(check: Check, tmp_path: Path) -> None:
    """The first stack has room for the first group of the second one when one of its own leaves."""
    data = yaml.safe_load(KUBERNETES)
    group = {"type": "p5en.48xlarge", "count": 1, "capacity": "on-demand"}
    data["nodes"] = {f"g{number:03d}": dict(group) for number in range(44)}
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    first, second = clusterfile.load(str(tmp_path / "old.yaml")).compute_stacks
    del data["nodes"]["g000"]
    (tmp_path / "edit.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    result = check(tmp_path / "edit.yaml", str(tmp_path / "old.yaml"))
    assert result.exit_code == 1
    line = "compute-stack-moved: the edit moves node groups or queues to another stack, which cannot be allowed: "
    line += "their names are taken until the old ones are deleted. Write under `nodes` `stack: 2` into "
    assert f"{line}{', '.join(second.groups)}\n" in result.output
    for name in second.groups:
        data["nodes"][name]["stack"] = 2
    cluster = clusterfile.build(**data)
    assert [stack.groups for stack in cluster.compute_stacks] == [first.groups[1:], second.groups]


def test_the_keys_that_keep_controller_and_interfaces_are_named(check: Check, tmp_path: Path) -> None:
    for name, count in (("old", 600), ("edit", 400)):
        (tmp_path / f"{name}.yaml").write_text(
            SLURM.replace("count: 4", f"count: {count}").replace("4 GB/s", "40 GB/s")
        )
    fewer = SLURM.replace("count: 4", "count: 64").replace("4 GB/s", "40 GB/s")
    lines = [line for part in clusterfile.describe(clusterfile.loads(fewer, "c.yaml")) for line in part.lines]
    assert any("up to 128 nodes fit" in line for line in lines)
    edit = json.loads(check(tmp_path / "edit.yaml", str(tmp_path / "old.yaml"), "--json").stdout)["edit"]
    (cluster,) = (it for it in edit["findings"] if it["type"] == "AWS::PCS::Cluster")
    (reason,) = (cause["reason"] for cause in cluster["causes"] if cause["property"] == "Size")
    assert reason.endswith("to keep the cluster, write slurm: {size: LARGE}")
    reasons = {row["causes"][0]["property"]: row["causes"][0]["reason"] for row in edit["in_place"]}
    assert "uses 2 EFA interfaces for Lustre in place of 1" in reasons["efa-interfaces"]
    assert reasons["efa-interfaces"].endswith("write storage.lustre: {client: {efa-interfaces: 1}}")


@pytest.mark.parametrize(("deployed", "named"), [(100, False), (130, True)])
def test_types_with_other_interfaces_are_counted_as_they_are(deployed: int, named: bool) -> None:
    """100 nodes with 8 interfaces and 10 with 16 open 960 connections of 1,024, so that no node has fewer."""
    text = SLURM.replace("count: 4", "count: 100").replace("4 GB/s", "40 GB/s")
    text = text.replace("nodes:\n", "nodes:\n  more: {type: p6-b300.48xlarge, count: 10, capacity: on-demand}\n")
    cluster = clusterfile.loads(text.replace("us-east-2", "us-west-2").replace("use2", "usw2"), "c.yaml")
    assert {kind.lustre_efa_interfaces for kind, _ in cluster.efa_clients} == {8, 16, None}
    resources = {
        name: {
            "Type": PCS,
            "Properties": {"Name": name, "ScalingConfiguration": {"MaxInstanceCount": count}},
        }
        for name, count in (("train", deployed), ("more", 10), ("login", 1))
    }
    cause = Cause(fate=Fate.DRAINED, property="CustomLaunchTemplate", reason="another boot script")
    group = Finding(stack="llama-Compute", logical_id="train", type=PCS, holds="its nodes run jobs", causes=(cause,))
    report = replace(compare({"Resources": {}}, {"Resources": {}}), nodes=(group,))
    after = with_remedies(report, cluster, {"llama-Compute": {"Resources": resources}})
    assert bool(after.in_place) is named


def test_a_renamed_group_of_eks_waits_for_the_instances_of_its_reservation(check: Check, tmp_path: Path) -> None:
    text = KUBERNETES.replace("on-demand", "{reservation: cr-0123456789abcdef0, kind: odcr, instances: 4}")
    (tmp_path / "old.yaml").write_text(text)
    (tmp_path / "edit.yaml").write_text(text.replace("train:", "next:"))
    (line,) = json.loads(check(tmp_path / "edit.yaml", str(tmp_path / "old.yaml"), "--json").stdout)["edit"]["broken"]
    assert line.startswith("eks-reservation-taken: next is new in the reservation of llama-Compute/trainNodeGroup")
    (tmp_path / "edit.yaml").write_text(text.replace("train:", "next:").replace("instances: 4", "instances: 8"))
    assert not json.loads(check(tmp_path / "edit.yaml", str(tmp_path / "old.yaml"), "--json").stdout)["edit"]["broken"]


def test_the_type_of_login_nodes_has_its_own_reason(check: Check, tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(SLURM)
    (tmp_path / "edit.yaml").write_text(f"{SLURM}slurm: {{login: {{type: c7i.4xlarge}}}}\n")
    edit = json.loads(check(tmp_path / "edit.yaml", str(tmp_path / "old.yaml"), "--json").stdout)["edit"]
    (login,) = (row for row in edit["findings"] if row["logical_id"].lower().startswith("login"))
    assert "keep slurm.login.type" in login["causes"][0]["reason"]
