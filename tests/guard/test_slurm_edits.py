"""Edits of a deployed Slurm cluster: each is kept, replaces nodes, or is refused with the reason."""

import json
from pathlib import Path

import pytest

from cdk_rehearsal.guard import Report, compare
from support.slurm_edits import BASE, EDITS
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.cli._version_settings import version_settings
from ultracluster.testing import IN_PLACE, UPDATE_RULES


def report(tmp_path: Path, old: str, new: str) -> Report:
    for side, text in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        for name, template in templates(clusterfile.loads(text, "c.yaml")).items():
            (tmp_path / side / f"{name}.json").write_text(json.dumps(template))
    return compare(str(tmp_path / "old"), str(tmp_path / "new"), update_rules=UPDATE_RULES, in_place=IN_PLACE)


def described(result: Report) -> tuple[set[str], set[str], bool]:
    """Return types of data that is lost, fates of node groups, and whether nodes take something over in place."""
    groups = {
        f"{finding.logical_id.partition('NodeGroup')[0].lower()}: {finding.fate}"
        for finding in result.nodes
        if finding.type != "AWS::PCS::Queue"
    }
    return {finding.type for finding in result.refused}, groups, bool(result.in_place)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("back", [False, True], ids=["made", "taken-back"])
def test_an_edit_is_kept_replaces_nodes_or_is_refused(tmp_path: Path, edit: str, back: bool) -> None:
    old, new, refused, groups, in_place = EDITS[edit]
    before, after = BASE, BASE.replace(old, new)
    assert before != after
    result = report(tmp_path, *((after, before) if back else (before, after)))
    assert described(result) == (refused[back], groups[back], in_place)
    for finding in result.refused:
        assert all(cause.reason for cause in finding.causes)


@pytest.mark.parametrize(
    ("more", "refused"), [("", True), (", metrics: false", False), (", settings: {PrivateData: jobs}", False)]
)
def test_an_update_of_slurm_adds_no_settings_of_the_new_version(tmp_path: Path, more: str, refused: bool) -> None:
    """AWS PCS: not while a node has the previous version. From 25.11 on, metrics are on by default."""
    old, new = (
        BASE.replace("health: {replace: 2}", f"version: '{version}'{more.replace(', ', chr(10) + '  ')}")
        for version in ("25.05", "25.11")
    )
    result = report(tmp_path, old, new)
    deployed, assembled = (
        {file.stem: json.loads(file.read_text()) for file in (tmp_path / side).iterdir()} for side in ("old", "new")
    )
    lines = list(version_settings(result, deployed, assembled))
    assert [line.partition(":")[0] for line in lines] == ["slurm-version-settings"] * refused
    assert all("MetricsType" in line and "write slurm: {metrics: false}" in line for line in lines)


def test_a_shared_home_that_is_removed_is_refused(tmp_path: Path) -> None:
    result = report(tmp_path, BASE, BASE.replace("storage:\n  home: {}\n", ""))
    assert {finding.type for finding in result.refused} >= {"AWS::FSx::FileSystem"}
