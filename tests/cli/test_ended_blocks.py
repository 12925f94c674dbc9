"""Updates of node groups whose Capacity Block has ended, and blocks that nobody can have."""

import json
from datetime import date
from pathlib import Path

import pytest

from support import ROOT
from support.diff_runs import Diff, differ
from ultracluster import clusterfile
from ultracluster.cli import _deploy
from ultracluster.cli._ended_blocks import not_yet_sold

FILE = (ROOT / "examples" / "slurm-capacity-block.yaml").read_text()
ENDED = FILE.replace("2026-12-24", "2025-12-24")
IMAGE = ("    capacity:\n      reservations", "    image: ami-0123456789abcdef1\n    capacity:\n      reservations")


@pytest.fixture
def diff(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Diff:
    monkeypatch.setattr(_deploy, "_not_active", lambda *_: [])
    return differ(monkeypatch, tmp_path)


def test_an_update_of_a_group_is_refused_after_its_block_has_ended(diff: Diff) -> None:
    refused = diff(ENDED, ENDED.replace(*IMAGE), "--json")
    assert refused.exit_code == 1, refused.output
    broken = json.loads(refused.stdout)["guard"]["broken"]
    assert [line.split(":")[0] for line in broken] == ["capacity-ended"] * 2
    assert "the Capacity Block of train-bcdef0 ended at 2025-12-24 11:30 UTC" in broken[0]
    assert "--allow block-Compute/" in broken[0]
    # To allow the end of its nodes does not make AWS PCS accept it.
    names = [finding["name"] for finding in json.loads(refused.stdout)["guard"]["nodes"] if finding["refused"]]
    allowed = [argument for name in names for argument in ("--allow", name)]
    again = diff(ENDED, ENDED.replace(*IMAGE), *allowed)
    assert again.exit_code == 1
    assert "If you extended the block, write its new `ends`. Else first remove train-bcdef0 from" in " ".join(
        again.output.split()
    )
    assert diff(FILE, FILE.replace(*IMAGE), *allowed).exit_code == 0


def test_a_group_whose_block_has_ended_may_stay_and_leave(diff: Diff) -> None:
    other = diff(ENDED, ENDED.replace("scale-down-idle-time: 30 min", "scale-down-idle-time: 20 min"))
    assert other.exit_code == 0, other.output
    begin, end = ENDED.index("  train:"), ENDED.index("  data:")
    left = diff(ENDED, ENDED[:begin] + ENDED[end:], "--json")
    report = json.loads(left.stdout)["guard"]
    assert report["broken"] == []
    assert {finding["fate"] for finding in report["nodes"] if "train" in finding["name"]} == {"deleted"}


def test_tags_of_a_group_whose_block_has_ended_change(diff: Diff) -> None:
    tagged = diff(ENDED, ENDED.replace("tags:\n", "tags:\n  more: tags\n"), "--json")
    assert json.loads(tagged.stdout)["guard"]["broken"] == [], tagged.output


def test_a_block_that_nobody_can_have_is_not_deployed(diff: Diff) -> None:
    late = FILE.replace("2026-12-24", "2099-12-24")
    refused = diff(FILE, late)
    assert refused.exit_code == 1
    assert "ends is 2099-12-24, and no Capacity Block that is sold today ends after" in " ".join(refused.output.split())
    cluster, today = clusterfile.loads(late, "c.yaml"), date(2026, 11, 27)
    assert [line.split(":")[0] for line in not_yet_sold(cluster, today)] == ["train-bcdef0", "train-bcdef1"]
    accepted = clusterfile.loads(late + "accept: {block-not-yet-sold: AWS sells longer ones}\n", "c.yaml")
    assert not_yet_sold(accepted, today) == []
