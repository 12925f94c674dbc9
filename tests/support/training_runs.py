"""Runs of the training program in one process, for `.venv-training`: prints what the tests compare, as JSON."""

import contextlib
import io
import json
import os
import signal
import sys
from array import array
from pathlib import Path
from typing import Any

import torch
import ultracluster_train as program  # type: ignore[import-not-found]
from ultracluster_data import Files  # type: ignore[import-not-found]
from ultracluster_model import Shape, Transformer  # type: ignore[import-not-found]

from support.training import SMALL

DIRECTORY = Path(sys.argv[1])


def run(name: str, *options: str) -> dict[str, Any]:
    """Run the program, and return its exit code, its log by kind of event, and its complete checkpoints."""
    out, err = io.StringIO(), io.StringIO()
    directory = DIRECTORY / name
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code: Any = program.main([*SMALL, f"--checkpoints={directory}", *options])
    except SystemExit as error:
        code = error.code
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    return {
        "code": code,
        "stderr": err.getvalue(),
        "losses": {event["step"]: event["loss"] for event in events if event["event"] == "step"},
        "start": [event["step"] for event in events if event["event"] == "start"],
        "end": [[event["event"], event["step"]] for event in events if "end" in event["event"]],
        "complete": sorted(int(path.parent.name[5:]) for path in directory.glob("step-*/.metadata")),
        "directories": sorted(path.name for path in directory.glob("*")),
    }


def interrupted(name: str, *options: str) -> dict[str, Any]:
    """Run the program with a signal in its fourth step."""
    train_step = program.Training.train_step

    def signalled(training: Any) -> Any:
        if training.step == 3:
            os.kill(os.getpid(), signal.SIGUSR1)
        return train_step(training)

    program.Training.train_step = signalled
    try:
        return run(name, *options)
    finally:
        program.Training.train_step = train_step


def token_files() -> dict[str, Any]:
    """Write two files of tokens, and train on them."""
    directory = DIRECTORY / "tokens"
    directory.mkdir()
    for number, count in enumerate((7 * 32 + 1, 33, 20)):
        tokens = array("H", [(place // 32 + 10 * number) % 64 for place in range(count)])
        (directory / f"{number}.bin").write_bytes(tokens.tobytes())
    shape = Shape(64, 1, 8, 1, 32)
    files = Files(str(directory), shape)
    passes = [[int(files.batch(range(n, n + 1))[0][0, 0]) for n in range(8 * turn, 8 * turn + 8)] for turn in (0, 1)]
    short = DIRECTORY / "short"
    short.mkdir()
    (short / "x.bin").write_bytes(b"ab")
    return {
        "passes": passes,
        "shifted": bool((files.batch(range(3))[0][:, 1:] == files.batch(range(3))[1][:, :-1]).all()),
        "run": run("files", "--steps=2", f"--data={directory}"),
        "vocabulary": run("small", "--steps=2", "--vocabulary=5", f"--data={directory}"),
        "short": run("short-run", "--steps=2", f"--data={short}"),
        "missing": run("none", "--steps=2", f"--data={DIRECTORY}/nowhere"),
    }


def requested(name: str) -> dict[str, Any]:
    """Run the program with a request that is there already."""
    os.environ["CHECKPOINT_REQUEST"] = str(DIRECTORY / "please")
    Path(os.environ["CHECKPOINT_REQUEST"]).touch()
    try:
        return {**run(name, "--steps=9"), "left": Path(os.environ["CHECKPOINT_REQUEST"]).exists()}
    finally:
        del os.environ["CHECKPOINT_REQUEST"]


def main() -> None:
    """Run all of them."""
    ddp = ("--parallel=ddp", "--steps=12")
    half = DIRECTORY / "resumed/step-99"
    half.mkdir(parents=True)
    shape = Shape(64, 3, 48, 4, 16)
    count = sum(parameter.numel() for parameter in Transformer(shape).parameters())
    options = program.arguments(["--width=8192", "--heads=64", "--layers=80"])
    print(
        json.dumps(
            {
                "whole": run("whole", *ddp, "--checkpoint-steps=3", "--keep=1"),
                "interrupted": interrupted("resumed", *ddp),
                "resumed": run("resumed", *ddp),
                "again": run("resumed", *ddp),
                "requested": requested("requested"),
                "each": run("each", "--steps=3", "--checkpoint-seconds=0", "--keep=9"),
                "files": token_files(),
                "parameters": [shape.parameters, count],
                "too_large": program.problems(options, 8, 80 * 2**30),
                "fits": program.problems(options, 512, 80 * 2**30),
                "odd": program.problems(program.arguments(["--width=12", "--heads=4"]), 1, 2**40),
                "torch": torch.__version__.partition("+")[0],
            }
        )
    )


if __name__ == "__main__":
    main()
