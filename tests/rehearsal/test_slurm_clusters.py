"""Whole Slurm clusters on the local cloud: deployed, and edited on a later day; the guard names the nodes before."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_rehearsal.guard import compare
from cdk_rehearsal.rehearsal import Entry
from support import ROOT
from support.clusterfile_data import bent, private_with_directory
from support.rehearsal_tools import Stacks, Template, local_stacks
from support.slurm_edits import BASE
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.testing import IN_PLACE, UPDATE_RULES

BUILT = (ROOT / "examples" / "slurm-built-image.yaml").read_text()
PRIVATE = (ROOT / "examples" / "slurm-private.yaml").read_text()
GROUP = "AWS::PCS::ComputeNodeGroup"


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as local:
        version = {"Name": "/cdk-bootstrap/hnb659fds/version", "Value": "30", "Type": "String"}
        local.client("ssm").put_parameter(**version)
        yield local


def deploy(stacks: Stacks, text: str) -> dict[str, Template]:
    """Deploy a cluster in the order of its stacks, without those that are deployed, and return its templates."""
    assembled = templates(clusterfile.loads(text, "c.yaml"))
    for name, template in assembled.items():
        deployed = stacks.template(name)
        if deployed is None:
            stacks.create(template["Resources"], name, **sections(template))
        elif template != deployed:
            stacks.update(name, template["Resources"], **sections(template))
        assert stacks.status(name) in ("CREATE_COMPLETE", "UPDATE_COMPLETE"), stacks.reasons(name)
    return assembled


def sections(template: Template) -> Template:
    return {key: value for key, value in template.items() if key != "Resources"}


def edited(stacks: Stacks, directory: Path, before: str, after: str) -> tuple[set[str], set[str], list[Entry]]:
    """Deploy a cluster and an edit of it.

    Returns:
        Node groups whose nodes the guard says are replaced, node groups that the update changed, and its journal.
    """
    old = deploy(stacks, before)
    count = len(stacks.cloud.journal.entries())
    new = deploy(stacks, after)
    sides = [written(directory / side, assembled) for side, assembled in (("old", old), ("new", new))]
    report = compare(*sides, update_rules=UPDATE_RULES, in_place=IN_PLACE)
    assert report.ok, report.lines()
    happened = stacks.cloud.journal.entries()[count:]
    groups = [entry for entry in happened if entry.type == GROUP]
    assert {entry.action.value for entry in groups} == {"update"}
    replaced = {finding.logical_id for finding in report.nodes if str(finding.fate) == "replaces nodes"}
    return replaced, {entry.logical_id for entry in groups}, happened


def written(folder: Path, assembled: dict[str, Template]) -> Path:
    folder.mkdir()
    for name, template in assembled.items():
        (folder / f"{name}.template.json").write_text(json.dumps(template))
    return folder


def group(name: str, ids: set[str]) -> bool:
    return any(id.startswith(f"{name}NodeGroup") for id in ids)


def test_another_parent_builds_one_image_more_and_replaces_the_nodes_of_its_architecture(
    stacks: Stacks, tmp_path: Path
) -> None:
    build = "image: {build: {parent: ami-0123456789abcdef0}}"
    after = bent("type: p5en.48xlarge", f"type: p5en.48xlarge\n    {build}", BUILT)
    after += f"slurm: {{login: {{{build}}}}}\n"
    replaced, changed, happened = edited(stacks, tmp_path, BUILT, after)
    images = [entry for entry in happened if entry.type == "AWS::ImageBuilder::Image"]
    assert [entry.action.value for entry in images] == ["create", "retain"], "the old one stays"
    assert replaced == changed
    assert [group(name, changed) for name in ("train", "Login", "prepare")] == [True, True, False]
    updates = [happened.index(entry) for entry in happened if entry.logical_id in changed]
    assert happened.index(images[0]) < min(updates), "nodes change when their image is there"


def test_a_directory_in_a_private_cluster_replaces_the_nodes_that_the_guard_names(
    stacks: Stacks, tmp_path: Path
) -> None:
    replaced, changed, happened = edited(stacks, tmp_path, PRIVATE, private_with_directory())
    assert replaced == changed
    assert [group(name, changed) for name in ("train", "Login")] == [True, True]
    created = {entry.type for entry in happened if entry.action.value == "create"}
    assert {"AWS::EC2::VPCEndpoint", "AWS::FSx::FileSystem"} <= created
    outputs = stacks.outputs("keep-Observability")
    id = outputs["PrometheusWorkspaceId"]
    url = f"https://aps-workspaces.us-east-2.amazonaws.com/workspaces/{id}/api/v1/remote_write"
    parameter = stacks.client("ssm").get_parameter(Name="/ultracluster/keep/remote-write-url")["Parameter"]["Value"]
    assert {outputs["RemoteWriteUrl"], parameter} == {url}, "nodes write metrics to their workspace"
    everything = {entry.type for entry in stacks.cloud.journal if entry.stack.startswith("keep-")}
    assert not everything & {"AWS::EC2::NatGateway", "AWS::EC2::InternetGateway", "AWS::EC2::EIP"}


IMAGES = """\
name: images
region: us-east-2
zone: use2-az1
orchestrator: slurm
image: build
nodes:
  train: {type: p5en.48xlarge, count: 1}
"""


def test_a_private_cluster_has_the_image_that_two_stacks_of_another_file_build(stacks: Stacks) -> None:
    assembled = templates(clusterfile.loads(IMAGES, "images.yaml"))
    for name in ("images-Network", "images-Images"):
        stacks.create(assembled[name]["Resources"], name, **sections(assembled[name]))
        assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    parameter = "/ultracluster/images/images/x86_64"
    built = stacks.client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
    text = bent("ami-0123456789abcdef0", parameter, bent("ami-0fedcba9876543210", parameter, PRIVATE))
    private = deploy(stacks, bent("name: keep", "name: private", text))["private-Compute"]
    groups = [item["Properties"] for item in private["Resources"].values() if item["Type"] == GROUP]
    assert len(groups) == 2
    (described,) = (
        item for item in stacks.describe("private-Compute")["Parameters"] if item["ParameterValue"] == parameter
    )
    assert {json.dumps(group["AmiId"]) for group in groups} == {json.dumps({"Ref": described["ParameterKey"]})}
    assert described["ResolvedValue"] == built
    # Nothing is installed at the boot of a node.
    names = {
        script["Name"] for group in groups for script in group["NodeLifecycleActions"]["Stages"]["NodeBootstrapped"]
    }
    assert names == {"ultracluster-logs", "ultracluster-boot"}


# A month of one cluster, several edits at a time. First a file system, a second group and more nodes. Then another name
# of the first group, a larger file system and no second group. Then another image, and a group that cannot be created.
GROWN = bent("count: 8,", "count: 16,", BASE)
GROWN = bent("slurm:\n", "  prepare: {type: m8g.4xlarge, count: 2, image: ami-0aaaaaaaaaaaaaaaa}\nslurm:\n", GROWN)
GROWN += "  lustre: {throughput: 40 GB/s}\n"
RENAMED = bent("  train:", "  tuning:", bent("40 GB/s", "60 GB/s", GROWN))
RENAMED = "".join(line for line in RENAMED.splitlines(True) if "  prepare:" not in line)
FAILED = bent("slurm:\n", "  data: {type: c8i.4xlarge, count: 2, image: ami-0bbbbbbbbbbbbbbbb}\nslurm:\n", RENAMED)
FAILED = bent("ami-0123456789abcdef0", "ami-0cccccccccccccccc", FAILED)
DATA = ("AWS::FSx::FileSystem", "AWS::FSx::Volume", "AWS::S3::Bucket", "AWS::KMS::Key")


def month(stacks: Stacks, directory: Path, before: str, after: str) -> tuple[set[str], list[tuple[str, str]]]:
    """Deploy an edit that the guard allows, and return fates of node groups and what the update did with them."""
    old, new = (templates(clusterfile.loads(text, "c.yaml")) for text in (before, after))
    directory.mkdir()
    sides = [written(directory / side, assembled) for side, assembled in (("old", old), ("new", new))]
    report = compare(*sides, update_rules=UPDATE_RULES, in_place=IN_PLACE)
    assert report.ok, report.lines()
    count = len(stacks.cloud.journal.entries())
    deploy(stacks, after)
    happened = stacks.cloud.journal.entries()[count:]
    lost = [entry for entry in happened if entry.type in DATA and entry.action.value not in ("create", "update")]
    assert not lost, "data stays"
    fates = {
        f"{finding.logical_id.partition('NodeGroup')[0].lower()}: {finding.fate}"
        for finding in report.nodes
        if finding.type != "AWS::PCS::Queue"
    }
    groups = (
        (entry.action.value, entry.logical_id.partition("NodeGroup")[0].lower())
        for entry in happened
        if entry.type == GROUP
    )
    return fates, sorted(groups)


def test_a_month_of_edits_keeps_the_data_and_changes_the_nodes_that_the_guard_names(
    stacks: Stacks, tmp_path: Path
) -> None:
    deploy(stacks, BASE)
    assert month(stacks, tmp_path / "grown", BASE, GROWN) == (
        {"train: replaces nodes", "login: replaces nodes"},  # they mount the file system
        [("create", "prepare"), ("update", "login"), ("update", "train")],
    )
    assert month(stacks, tmp_path / "renamed", GROWN, RENAMED) == (
        {"train: deleted", "prepare: deleted"},
        [("create", "tuning"), ("delete", "prepare"), ("delete", "train")],
    )
    before = {name: stacks.ids(name) for name in templates(clusterfile.loads(RENAMED, "c.yaml"))}
    stacks.cloud.faults.add("create", GROUP)
    with pytest.raises(AssertionError, match="failed on demand"):
        month(stacks, tmp_path / "failed", RENAMED, FAILED)
    assert stacks.status("llama-Compute") == "UPDATE_ROLLBACK_COMPLETE"
    assert {name: stacks.ids(name) for name in before} == before
    # The same deployment once more, and then the group and the image are taken back.
    tuning = {"tuning: replaces nodes"}
    assert month(stacks, tmp_path / "again", RENAMED, FAILED) == (tuning, [("create", "data"), ("update", "tuning")])
    assert month(stacks, tmp_path / "back", FAILED, RENAMED) == (
        {*tuning, "data: deleted"},
        [("delete", "data"), ("update", "tuning")],
    )
