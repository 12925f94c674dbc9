"""Run a training program, and report its progress without a change of it. Python's standard library only.

    torchrun ... ultracluster_run.py train.py [ARGUMENTS]
    python3 ultracluster_run.py -m MODULE [ARGUMENTS]

Steps are those of the Trainer of Hugging Face or Lightning, or of Megatron-LM; else of the first optimizer of PyTorch,
which has neither tokens nor repeated steps. Checkpoints are the files below ULTRACLUSTER_CHECKPOINTS. A program that
creates an `ultracluster_job.Job`, or a callback of it, reports instead. Only rank 0 is observed. An error of the
reporting never stops the program.

If ULTRACLUSTER_REQUEST_SIGNAL is TERM, each process gets that signal when the file CHECKPOINT_REQUEST exists: Megatron
Bridge and MaxText write a checkpoint then, and end.
"""

from __future__ import annotations

import atexit
import importlib.abc
import importlib.util
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

import ultracluster_job  # type: ignore[import-not-found]  # beside this file

_CHECKPOINTS = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".distcp", ".npz", ".tar", ".ocdbt")
_EVERY_S = 30
_REQUESTS_EVERY_S = 2
_LEVELS = 4
# Directories that are searched on each level: a new checkpoint is in one of the newest.
_NEWEST = 2


class Reporting:
    """The one job of this process that reports."""

    def __init__(self) -> None:
        first: Any = ultracluster_job.Job

        class CountedJob(first):  # type: ignore[misc]
            @property
            def counted(self) -> dict[str, int]:
                """Unix time of the newest checkpoint: each start counts its steps from the highest one."""
                return {"checkpoint": int(self.values.get("train_last_checkpoint_timestamp_seconds", 0))}

        self.job: Any = CountedJob()
        self.automatic = self.job
        state = self

        class ProgramJob(first):  # type: ignore[misc]
            def __init__(self, **options: Any) -> None:
                # Its port is in use already; the server there reports the values of this job.
                os.environ.pop("ULTRACLUSTER_JOB_PORT", None)
                super().__init__(**options)
                self._started = state.automatic._started
                # Without the port it would not report.
                self.active = True
                state.job.active = False
                state.automatic.text = self.text
                state.job = self

        if self.job.active:
            ultracluster_job.Job = ProgramJob

    @property
    def replaced(self) -> bool:
        """True if the program reports itself."""
        return self.job is not self.automatic

    def hugging_face(self, module: Any) -> None:
        """Add the callback to each Trainer: `transformers.trainer`."""
        create = module.Trainer.__init__

        def init(trainer: Any, *args: Any, **kwargs: Any) -> None:
            create(trainer, *args, **kwargs)
            if not self.replaced:
                trainer.add_callback(_with_mfu(ultracluster_job.hugging_face()))

        module.Trainer.__init__ = init

    def lightning(self, module: Any) -> None:
        """Add the callback to each Trainer: `lightning.pytorch.trainer.trainer`."""
        create = module.Trainer.__init__

        def init(trainer: Any, *args: Any, **kwargs: Any) -> None:
            create(trainer, *args, **kwargs)
            if not self.replaced:
                trainer.callbacks.insert(0, ultracluster_job.lightning())

        module.Trainer.__init__ = init

    def megatron(self, module: Any) -> None:
        """Wrap the functions of `megatron.training.training`."""
        if not self.replaced:
            ultracluster_job.megatron(module)

    def optimizer(self, module: Any) -> None:
        """Count the steps of the first optimizer, beginning after the highest step of earlier runs."""
        job = self.automatic
        first: list[int] = []
        done, paused = [max(job._highest, 0)], [False]

        def stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
            first.append(id(optimizer))
            del first[1:]
            if id(optimizer) != first[0] or not job.active:
                return
            # An evaluation or a checkpoint between two steps belongs to neither. Two in a row are slow steps.
            usual, now = job.values.get("train_step_seconds", 0), time.monotonic()
            paused[0] = bool(usual and job._last and now - job._last > 3 * usual + 1 and not paused[0])
            if paused[0]:
                job._last = now - usual
            done[0] += 1
            job.step(done[0])

        module.register_optimizer_step_post_hook(stepped)

    def watch(self, directory: str) -> None:
        """Report the newest checkpoint below a directory every 30 seconds."""
        while True:
            time.sleep(_EVERY_S)
            self.look(directory)

    def look(self, directory: str) -> None:
        """Report the newest checkpoint below a directory."""
        job, newest = self.job, newest_checkpoint(directory)
        if newest > job.values.get("train_last_checkpoint_timestamp_seconds", 0):
            job.values["train_last_checkpoint_timestamp_seconds"] = newest
            # Steps write themselves, and their thread reads tensors.
            if job._last is None:
                job.write()


def newest_checkpoint(directory: str, levels: int = _LEVELS) -> float:
    """Return when the newest file of a checkpoint was last written, in Unix time, or 0."""
    latest, directories = 0.0, []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    directories.append((entry.stat().st_mtime, entry.path))
                elif entry.name.endswith(_CHECKPOINTS):
                    latest = max(latest, entry.stat().st_mtime)
    except OSError:
        return latest
    below = sorted(directories, reverse=True)[:_NEWEST] if levels > 1 else []
    return max([latest, *(newest_checkpoint(path, levels - 1) for _, path in below)])


def _with_mfu(callback: Any) -> Any:
    """Add the MFU from the operations that the Trainer of Hugging Face counts over all ranks."""
    log, before = callback.on_log, [time.monotonic(), 0.0]

    def on_log(args: Any, state: Any, *rest: Any, **kwargs: Any) -> None:
        log(args, state, *rest, **kwargs)
        now, done = time.monotonic(), float(getattr(state, "total_flos", 0) or 0)
        if callback.job._peak and before[1] and done > before[1]:
            rate = (done - before[1]) / (now - before[0])
            callback.job.values["train_mfu_ratio"] = rate / callback.job._peak
        before[:] = [now, done]

    callback.on_log = on_log
    return callback


class AfterImport(importlib.abc.MetaPathFinder):
    """Call a function with a module after its import."""

    def __init__(self, calls: Mapping[str, Callable[[Any], None]]) -> None:
        self._calls = dict(calls)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find a module as the other finders do, and wrap its loader."""
        call = self._calls.pop(name, None)
        spec = importlib.util.find_spec(name) if call else None
        if call and spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                try:
                    call(module)
                except Exception as error:
                    _say(f"not reported: {name}: {error}")

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def answer(request: Path) -> None:
    """Send this process TERM when a checkpoint is requested, as soon as the program handles it."""
    while not request.exists() or signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        time.sleep(_REQUESTS_EVERY_S)
    _say("checkpoint requested")
    os.kill(os.getpid(), signal.SIGTERM)


def prepare() -> None:
    """Observe what the program imports and writes, on the rank that reports."""
    reporting = Reporting()
    if not reporting.job.active:
        return
    calls = {
        "transformers.trainer": reporting.hugging_face,
        "lightning.pytorch.trainer.trainer": reporting.lightning,
        "pytorch_lightning.trainer.trainer": reporting.lightning,
        "megatron.training.training": reporting.megatron,
        "torch.optim.optimizer": reporting.optimizer,
    }
    # A file *.pth of an image may have imported some before this program starts.
    for name in calls.keys() & sys.modules.keys():
        calls.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, AfterImport(calls))
    if directory := os.environ.get("ULTRACLUSTER_CHECKPOINTS"):
        # A program that ends soon must not end before the first look.
        reporting.look(directory)
        threading.Thread(target=reporting.watch, args=[directory], daemon=True).start()
        # Before the last report of the job, which it has registered.
        atexit.register(reporting.look, directory)


def main(arguments: Sequence[str]) -> None:
    """Run a program as Python does, with its directory on the path."""
    is_module = arguments[:1] == ["-m"]
    program = list(arguments[is_module:])
    if not program:
        raise SystemExit("usage: ultracluster_run.py PROGRAM|-m MODULE [ARGUMENTS]")
    if os.environ.get("ULTRACLUSTER_REQUEST_SIGNAL") == "TERM" and (request := os.environ.get("CHECKPOINT_REQUEST")):
        threading.Thread(target=answer, args=[Path(request)], daemon=True).start()
    try:
        prepare()
    except Exception as error:
        _say(f"not reported: {error}")
    sys.argv[:] = program
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program[0]).resolve().parent)
        runpy.run_path(program[0], run_name="__main__")


def _say(text: str) -> None:
    print(f"ultracluster_run: {text}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
