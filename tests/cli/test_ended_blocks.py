"""Updates of node groups whose Capacity Block has ended, and blocks that nobody can have."""

import json
import shutil
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from botocore.session import Session
from botocore.stub import Stubber

from cdk_rehearsal.guard import compare
from support import ROOT
from support.diff_runs import Diff, differ
from support.templates import synth
from ultracluster import clusterfile
from ultracluster.cli import _deploy_states
from ultracluster.cli._active_queues import updated_clusters
from ultracluster.cli._deploy_check import read_templates
from ultracluster.cli._ended_blocks import (
    Left,
    Move,
    early_moves,
    ended_updates,
    left_in_account,
    left_in_file,
    moves,
    not_yet_sold,
)

FILE = (ROOT / "examples" / "slurm-capacity-block.yaml").read_text()
ENDED = FILE.replace("2026-12-24", "2025-12-24")
IMAGE = ("    capacity:\n      reservations", "    image: ami-0123456789abcdef1\n    capacity:\n      reservations")

_GROUP, RULE, TODAY = "AWS::PCS::ComputeNodeGroup", "capacity-ended", date(2026, 11, 27)


@pytest.fixture
def diff(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Diff:
    monkeypatch.setattr(_deploy_states, "updated_clusters", lambda *_: [])
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
    assert "If you extended the block, write its new `ends`. Else replace train-bcdef0 by" in " ".join(
        again.output.split()
    )
    assert diff(FILE, FILE.replace(*IMAGE), *allowed).exit_code == 0


BLOCK, LATER = (
    ["kind: capacity-block", f"reservation: cr-0123456789abcde{n}", f"starts: {start}", f"ends: {end}"]
    for n, start, end in (("f0", "2025-12-01", "2098-12-24"), ("f9", "2098-12-25", "2099-01-12"))
)


EDIT = """name: block
region: us-east-2
zone: use2-az1
orchestrator: %s
nodes:
  train: {type: p5en.48xlarge, count: 16, capacity: {%s}}
accept: {block-length: a test, block-not-yet-sold: a test}
"""


@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
def test_a_group_does_not_leave_its_block_for_one_that_begins_later(orchestrator: str) -> None:
    before, after = (clusterfile.loads(EDIT % (orchestrator, ", ".join(keys)), "c.yaml") for keys in (BLOCK, LATER))
    deployed, new = (read_templates(synth(cluster).directory) for cluster in (before, after))
    moved = moves(after, deployed, new)

    def lines(now: datetime, **empty: list[str]) -> list[str]:
        return [*early_moves(after, moved, now, left_in_file(before, moved, now), **empty)]

    now = datetime(2026, 11, 27, tzinfo=UTC)
    (line,) = lines(now)
    assert line.startswith("capacity-not-begun: block-Compute/train")
    assert "train would leave cr-0123456789abcdef0 for cr-0123456789abcdef9" in line
    assert "add cr-0123456789abcdef9 as a section of its own under nodes" in line
    assert [*early_moves(after, moved, now, {})] == [line]
    assert lines(now, empty=["train"]) == []
    # The old block has no nodes before it begins, and after its end.
    assert lines(datetime(2025, 11, 27, tzinfo=UTC)) == []
    assert lines(datetime(2098, 12, 24, 12, tzinfo=UTC)) == []
    assert lines(datetime(2098, 12, 26, tzinfo=UTC)) == []
    assert moves(before, deployed, deployed) == []


def test_the_reservation_that_a_group_leaves_is_read() -> None:
    ec2 = Session().create_client("ec2", "us-east-2", aws_access_key_id="test", aws_secret_access_key="test")
    moved = [Move("block-Compute", name, name, f"cr-{name}", None) for name in ("block", "reservation", "typo")]
    end = datetime(2025, 12, 24, 11, 30, tzinfo=UTC)
    row = {"State": "expired", "EndDate": end}
    with Stubber(ec2) as stub:
        for kind in ("capacity-block", "default"):
            stub.add_response(
                "describe_capacity_reservations", {"CapacityReservations": [{**row, "ReservationType": kind}]}
            )
        stub.add_client_error("describe_capacity_reservations", "InvalidCapacityReservationId.NotFound")
        stub.add_client_error("describe_capacity_reservations", "UnauthorizedOperation")
        assert left_in_account(moved, lambda *_: ec2, "us-east-2") == {
            "block": Left("expired", end),
            "reservation": Left("expired"),
            "typo": Left("not found"),
        }
        with pytest.raises(ClientError, match="UnauthorizedOperation"):
            left_in_account(moved, lambda *_: ec2, "us-east-2")


def test_the_state_of_the_block_that_a_group_leaves_decides(diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (EDIT % ("slurm", ", ".join(keys)) for keys in (BLOCK, LATER))
    names = ("capacity-ended", "capacity-not-begun")
    end = datetime(2025, 12, 24, 11, 30, tzinfo=UTC)
    for left, refused in (
        (Left("expired", end), ["capacity-ended"]),
        (Left("active", end), ["capacity-not-begun"]),
        (Left("scheduled", end), []),
        (Left("not found"), []),
    ):
        monkeypatch.setattr(_deploy_states, "left_in_account", lambda moved, *_, left=left: {moved[0].name: left})
        broken = json.loads(diff(old, new, "--json").stdout)["guard"]["broken"]
        assert [line.split(":")[0] for line in broken if line.startswith(names)] == refused


def test_a_group_whose_block_has_ended_may_stay_and_leave(diff: Diff) -> None:
    other = diff(ENDED, ENDED.replace("scale-down-idle-time: 30 min", "scale-down-idle-time: 20 min"))
    assert other.exit_code == 0, other.output
    begin, end = ENDED.index("  train:"), ENDED.index("  data:")
    left = diff(ENDED, ENDED[:begin] + ENDED[end:], "--json")
    report = json.loads(left.stdout)["guard"]
    assert report["broken"] == []
    assert {finding["fate"] for finding in report["nodes"] if "train" in finding["name"]} == {"deleted"}


def test_the_next_block_takes_the_queue_of_an_ended_one(diff: Diff) -> None:
    ids = ("cr-0123456789abcdef0, cr-0123456789abcdef1", "cr-0123456789abcdef8, cr-0123456789abcdef9")
    following = FILE.replace("  train:", "  next:").replace(*ids)
    kept = following.replace("slurm:\n", "slurm:\n  queues: {train: {nodes: [next]}}\n")
    for text, queues in ((following, ["deleted"]), (kept, [])):
        report = json.loads(diff(ENDED, text, "--json").stdout)["guard"]
        assert report["broken"] == []
        ends = [finding for finding in report["nodes"] if finding["fate"] == "deleted"]
        assert {finding["type"] for finding in ends if finding["type"] != "AWS::PCS::Queue"} == {_GROUP}
        assert [finding["fate"] for finding in ends if finding["type"] == "AWS::PCS::Queue"] == queues
    (message, _) = [
        row.message for row in clusterfile.warnings(clusterfile.loads(ENDED, "c"), TODAY) if row.rule == RULE
    ]
    assert "write slurm: {queues: {train: {nodes: [NEXT]}}}" in message


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


def app_of(folder: Path, *texts: str) -> Path:
    """The templates of an app with several clusters."""
    folder.mkdir()
    for text in texts:
        for template in synth(clusterfile.loads(text, "c.yaml")).directory.glob("*.template.json"):
            shutil.copy(template, folder)
    return folder


def test_the_end_of_a_block_and_the_states_of_queues_concern_one_cluster_of_an_app(tmp_path: Path) -> None:
    other = FILE.replace("name: block", "name: other").replace("/block", "/other")
    idle = ("scale-down-idle-time: 30 min", "scale-down-idle-time: 20 min")
    old = app_of(tmp_path / "old", ENDED, other)
    deployed, today = read_templates(old), datetime(2026, 11, 27, tzinfo=UTC)
    cluster = clusterfile.loads(ENDED, "c.yaml")
    of_other = compare(old, app_of(tmp_path / "other", ENDED, other.replace(*IMAGE).replace(*idle)), running=True)
    assert {finding.stack for finding in of_other.nodes} == {"other-Compute"}
    assert [*ended_updates(cluster, of_other, deployed, today, {})] == []
    assert updated_clusters(of_other, deployed) == ["other"]
    of_first = compare(old, app_of(tmp_path / "first", ENDED.replace(*IMAGE), other), running=True)
    assert len([*ended_updates(cluster, of_first, deployed, today, {})]) == 2
    assert updated_clusters(of_first, deployed) == []
