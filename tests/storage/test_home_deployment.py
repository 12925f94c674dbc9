"""Home directories with every check on, in the local cloud, and before the guard."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cdk_rehearsal import guard
from cdk_rehearsal.guard import Fate
from support.rehearsal_tools import Stacks, local_stacks
from support.strict_process import StrictProcess
from support.template_lint import problems

Template = dict[str, Any]
Edit = Callable[[Template], None]


@pytest.fixture(scope="module")
def outdir(tmp_path_factory: pytest.TempPathFactory, strict: StrictProcess) -> Path:
    """Synthesise the homes with CloudFormation Validate and cdk-nag; both are silent."""
    path = tmp_path_factory.mktemp("homes")
    assert strict.synthesise(path, ["homes"]) == ""
    return path


@pytest.fixture(scope="module")
def template(outdir: Path) -> Template:
    return dict(json.loads((outdir / "Homes.template.json").read_text()))


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as result:
        yield result


def test_homes_pass_every_check(outdir: Path) -> None:
    assert problems((outdir / "Homes.template.json").read_text()) == []


def deployable(template: Template) -> Template:
    """Leave out what only the CDK's bootstrap brings: the local cloud gets the template alone."""
    result = copy.deepcopy(template)
    del result["Parameters"], result["Rules"]
    return {"resources": result.pop("Resources"), **result}


def test_the_local_cloud_makes_and_removes_them_and_keeps_the_files(stacks: Stacks, template: Template) -> None:
    name = stacks.create(**deployable(template))
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    kept = {
        entry
        for entry, resource in template["Resources"].items()
        if resource.get("DeletionPolicy", "").startswith("Retain")
    }
    stacks.delete(name)
    happened = stacks.happened(name)
    assert {entry for action, entry in happened if action == "retain"} == kept
    kinds = {template["Resources"][entry]["Type"] for entry in kept}
    assert {"AWS::FSx::FileSystem", "AWS::FSx::Volume", "AWS::EFS::FileSystem", "AWS::S3Files::FileSystem"} <= kinds


def logical(template: Template, kind: str, prefix: str) -> str:
    resources: dict[str, Template] = template["Resources"]
    (result,) = (name for name, entry in resources.items() if entry["Type"] == kind and name.startswith(prefix))
    return result


ZFS = ("AWS::FSx::FileSystem", "Zfs")
VOLUME = ("AWS::FSx::Volume", "Zfs")
EFS = ("AWS::EFS::FileSystem", "Efs")
FILES = ("AWS::S3Files::FileSystem", "Files")
GROUP = ("AWS::EC2::SecurityGroup", "ZfsGroup")
EFS_GROUP = ("AWS::EC2::SecurityGroup", "EfsGroup")
OTHER = "arn:aws:kms:us-east-2:123456789012:key/00000000-0000-0000-0000-000000000000"
EXPORTS = [{"ClientConfigurations": [{"Clients": "10.2.0.0/16", "Options": ["rw"]}]}]


@pytest.mark.parametrize(
    ("of", "path", "value", "fates"),
    [
        (ZFS, "StorageCapacity", 512, {ZFS: Fate.UPDATED}),
        (ZFS, "StorageCapacity", 128, {ZFS: Fate.REFUSED}),
        (ZFS, "StorageCapacity", 260, {ZFS: Fate.REFUSED}),
        (ZFS, "StorageType", "INTELLIGENT_TIERING", {ZFS: Fate.REFUSED}),
        (ZFS, "KmsKeyId", None, {ZFS: Fate.REPLACED, VOLUME: Fate.REPLACED}),
        (ZFS, "OpenZFSConfiguration.ThroughputCapacity", 320, {ZFS: Fate.UPDATED}),
        (ZFS, "OpenZFSConfiguration.DeploymentType", "SINGLE_AZ_2", {ZFS: Fate.REPLACED, VOLUME: Fate.REPLACED}),
        (
            ZFS,
            "OpenZFSConfiguration.RootVolumeConfiguration.NfsExports",
            EXPORTS,
            {ZFS: Fate.REPLACED, VOLUME: Fate.REPLACED},
        ),
        (VOLUME, "OpenZFSConfiguration.NfsExports", EXPORTS, {VOLUME: Fate.UPDATED}),
        (
            GROUP,
            "GroupDescription",
            "x",
            {GROUP: Fate.REPLACED, ZFS: Fate.REPLACED, VOLUME: Fate.REPLACED},
        ),
        (EFS, "Encrypted", False, {EFS: Fate.REPLACED}),
        (EFS, "KmsKeyId", OTHER, {EFS: Fate.UNKNOWN}),
        (EFS, "PerformanceMode", "maxIO", {EFS: Fate.REPLACED}),
        (EFS, "ThroughputMode", "bursting", {EFS: Fate.UPDATED}),
        # Mount targets follow their group; the files do not.
        (EFS_GROUP, "GroupDescription", "x", {}),
        (FILES, "Prefix", "homes/", {FILES: Fate.REPLACED}),
        (FILES, "RoleArn", "arn:aws:iam::123456789012:role/other", {FILES: Fate.UNKNOWN}),
    ],
)
def test_the_guard_knows_what_an_edit_does_to_a_home(
    template: Template,
    of: tuple[str, str],
    path: str,
    value: Any,
    fates: dict[tuple[str, str], Fate],
) -> None:
    new = copy.deepcopy(template)
    *parents, last = path.split(".")
    node = new["Resources"][logical(template, *of)]["Properties"]
    for entry in parents:
        node = node[entry]
    if value is None:
        del node[last]
    else:
        node[last] = value
    report = guard.compare(template, new)
    expected = {logical(template, *entry): fate for entry, fate in fates.items()}
    assert {entry.logical_id: entry.fate for entry in report.findings} == expected
    assert report.ok == (not {Fate.REPLACED, Fate.REFUSED, Fate.UNKNOWN} & set(fates.values()))
