"""The training program in one process; two processes on a real Slurm: tests/integration/slurm/test_training.py."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.training import ENVIRONMENT, PYTHONPATH
from ultracluster.workloads import IMAGES


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, torch: Path) -> dict[str, Any]:
    """All runs, in one process."""
    directory = tmp_path_factory.mktemp("training")
    command = [str(torch), "-W", "ignore", str(ROOT / "tests/support/training_runs.py"), str(directory)]
    done = subprocess.run(
        command,
        env={**ENVIRONMENT, "PYTHONPATH": PYTHONPATH},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def curve(run: dict[str, Any]) -> dict[int, float]:
    return {int(step): loss for step, loss in run["losses"].items()}


def test_the_loss_falls_and_only_the_newest_checkpoints_are_kept(runs: dict[str, Any]) -> None:
    losses = curve(runs["whole"])
    assert list(losses) == list(range(1, 13))
    assert losses[12] < losses[1] / 1.2
    assert (runs["whole"]["code"], runs["whole"]["complete"], runs["whole"]["end"]) == (0, [12], [["end", 12]])


def test_a_run_that_a_signal_ends_continues_with_the_next_step_bit_for_bit(runs: dict[str, Any]) -> None:
    first, second = runs["interrupted"], runs["resumed"]
    ((event, last),) = first["end"]
    assert (event, first["code"], first["complete"]) == ("requested end", 0, [last])
    assert last in (4, 5)
    assert (second["start"], second["code"]) == ([last], 0)
    assert {**curve(first), **curve(second)} == curve(runs["whole"])
    assert len(first["losses"]) + len(second["losses"]) == 12


def test_an_incomplete_checkpoint_is_not_loaded_and_a_finished_run_ends_at_once(runs: dict[str, Any]) -> None:
    assert "step-99" in runs["interrupted"]["directories"]
    assert (runs["again"]["start"], runs["again"]["losses"], runs["again"]["code"]) == ([12], {}, 0)


def test_a_request_ends_the_run_with_a_checkpoint_and_is_removed(runs: dict[str, Any]) -> None:
    run = runs["requested"]
    assert (run["end"], run["complete"], run["code"], run["left"]) == ([["requested end", 1]], [1], 0, False)


def test_checkpoints_are_due_after_the_seconds_of_the_plan(runs: dict[str, Any]) -> None:
    assert runs["each"]["complete"] == [1, 2, 3]


def test_a_pass_over_token_files_has_each_sample_once_in_another_order(runs: dict[str, Any]) -> None:
    first, second = runs["files"]["passes"]
    assert sorted(first) == sorted(second) == [*range(7), 10]
    assert first != second
    assert runs["files"]["shifted"]
    assert (runs["files"]["run"]["code"], len(runs["files"]["run"]["losses"])) == (0, 2)


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("missing", 2, "/nowhere has no file *.bin"),
        ("short", "no file has the 33 tokens of a sample", ""),
        ("vocabulary", "is not below the vocabulary, 5", ""),
    ],
)
def test_rejects_data_that_it_cannot_read(runs: dict[str, Any], name: str, code: object, message: str) -> None:
    run = runs["files"][name]
    assert message in run["stderr"]
    assert run["code"] == code if isinstance(code, int) else str(code) in run["code"]
    assert run["complete"] == []


def test_rejects_a_model_that_does_not_fit_with_the_arithmetic(runs: dict[str, Any]) -> None:
    (text,) = runs["too_large"]
    assert " parameters x 16 bytes / 8 = " in text
    assert "GiB, and a rank has 80.0 GiB: use more ranks with --parallel fsdp, or a smaller model" in text
    assert runs["fits"] == []
    assert runs["odd"] == ["--width 12 / --heads 4 must be an even number"]
    assert len(set(runs["parameters"])) == 1


def test_the_version_of_pytorch_is_that_of_the_image(runs: dict[str, Any]) -> None:
    pinned = dict(
        line.split("==") for line in Path(ROOT / "scripts/training-requirements.txt").read_text().splitlines()[2:]
    )
    assert pinned["torch"] == runs["torch"] == IMAGES["pytorch"].tag.partition("-")[0]
