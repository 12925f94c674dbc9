"""Home directories with every check on, in the local cloud, and before the guard."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rehearsal_tools import Stacks, local_stacks
from strict_process import StrictProcess
from template_lint import problems

from ultracluster import guard
from ultracluster.guard import Fate

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
    with local_stacks() as found:
        yield found


@pytest.mark.slow
def test_homes_pass_every_check(outdir: Path) -> None:
    assert problems((outdir / "Homes.template.json").read_text()) == []


def deployable(template: Template) -> Template:
    """Leave out what only the CDK's bootstrap brings: the local cloud gets the template alone."""
    found = copy.deepcopy(template)
    del found["Parameters"], found["Rules"]
    return {"resources": found.pop("Resources"), **found}


@pytest.mark.slow
def test_the_local_cloud_makes_and_removes_them_and_keeps_the_files(stacks: Stacks, template: Template) -> None:
    name = stacks.create(**deployable(template))
    assert stacks.status(name) == "CREATE_COMPLETE", stacks.reasons(name)
    kept = {
        one
        for one, resource in template["Resources"].items()
        if resource.get("DeletionPolicy", "").startswith("Retain")
    }
    stacks.delete(name)
    happened = stacks.happened(name)
    assert {one for action, one in happened if action == "retain"} == kept
    kinds = {template["Resources"][one]["Type"] for one in kept}
    assert {"AWS::FSx::FileSystem", "AWS::FSx::Volume", "AWS::EFS::FileSystem", "AWS::S3Files::FileSystem"} <= kinds


def logical(template: Template, kind: str, prefix: str) -> str:
    resources: dict[str, Template] = template["Resources"]
    (found,) = (name for name, one in resources.items() if one["Type"] == kind and name.startswith(prefix))
    return found


ZFS = ("AWS::FSx::FileSystem", "Zfs")
VOLUME = ("AWS::FSx::Volume", "Zfs")
EFS = ("AWS::EFS::FileSystem", "Efs")
FILES = ("AWS::S3Files::FileSystem", "Files")
GROUP = ("AWS::EC2::SecurityGroup", "ZfsGroup")
EFS_GROUP = ("AWS::EC2::SecurityGroup", "EfsGroup")
OTHER = "arn:aws:kms:us-east-2:123456789012:key/00000000-0000-0000-0000-000000000000"
EXPORTS = [{"ClientConfigurations": [{"Clients": "10.2.0.0/16", "Options": ["rw"]}]}]


@pytest.mark.slow
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
    for one in parents:
        node = node[one]
    if value is None:
        del node[last]
    else:
        node[last] = value
    report = guard.compare(template, new)
    expected = {logical(template, *one): fate for one, fate in fates.items()}
    assert {one.logical_id: one.fate for one in report.findings} == expected
    assert report.ok == (not {Fate.REPLACED, Fate.REFUSED, Fate.UNKNOWN} & set(fates.values()))
