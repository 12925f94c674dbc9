"""Checkpoints that are written while the training goes on, and requests for them."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp


class Checkpoints:
    """Checkpoints of a run: `step-N`, complete when PyTorch has written `.metadata`."""

    def __init__(self, directory: Path, keep: int, job: Any) -> None:
        self.directory, self._keep, self._job = directory, keep, job
        # Its own group: a thread writes while the training exchanges gradients.
        self._group = dist.new_group(backend="gloo")
        self._writing: Any = None
        self._waited = 0.0

    def complete(self) -> list[int]:
        """Return the steps of the complete checkpoints, in order."""
        return sorted(int(path.parent.name.removeprefix("step-")) for path in self.directory.glob("step-*/.metadata"))

    def start(self, step: int, state: dict[str, Any]) -> None:
        """Begin to write a checkpoint: the training waits until its tensors are copied to the memory of the host."""
        self.finish()
        began = time.monotonic()
        self._job.saving()
        self._writing = dcp.async_save(state, checkpoint_id=str(self.path(step)), process_group=self._group)
        self._job.saving(False)
        self._waited = time.monotonic() - began

    def poll(self) -> None:
        """Report a checkpoint that has become complete."""
        if self._writing is not None and self._writing.done():
            self.finish()

    def finish(self) -> None:
        """Wait for the checkpoint that is being written."""
        if self._writing is None:
            return
        began = time.monotonic()
        self._job.saving()
        self._writing.result()
        self._writing = None
        self._job.saved(self._waited + time.monotonic() - began)
        if dist.get_rank() == 0:
            done = self.complete()
            for path in self.directory.glob("step-*"):
                step = int(path.name.removeprefix("step-"))
                if step < done[-1] and step not in done[-self._keep :]:
                    shutil.rmtree(path, ignore_errors=True)

    def path(self, step: int) -> Path:
        """Return the directory of a checkpoint."""
        return self.directory / f"step-{step}"


class Requests:
    """Requests that all ranks agree on in each step: to end, and to write a checkpoint.

    Args:
        file: File that requests a checkpoint and the end.
        seconds: Seconds between two checkpoints.
        steps: Steps between two checkpoints instead, or 0.
    """

    def __init__(self, file: Path, *, seconds: float, steps: int) -> None:
        self._file = file
        self.group = dist.new_group(backend="gloo")
        self._seconds, self._steps = seconds, steps
        self._last, self._signalled = time.monotonic(), False
        self._flags = torch.zeros(2, dtype=torch.int32)
        signal.signal(signal.SIGUSR1, lambda *_: setattr(self, "_signalled", True))

    def exchange(self) -> Any:
        """Begin to exchange what the ranks request, while the step runs. Only rank 0 reads the file and the clock."""
        first = dist.get_rank() == 0
        due = first and not self._steps and time.monotonic() - self._last >= self._seconds
        self._flags = torch.tensor([self._signalled or (first and self._file.exists()), due], dtype=torch.int32)
        return dist.all_reduce(self._flags, dist.ReduceOp.MAX, group=self.group, async_op=True)

    def answers(self, exchange: Any, step: int) -> tuple[bool, bool]:
        """Return whether to end, and whether to write a checkpoint."""
        exchange.wait()
        end, due = (bool(flag) for flag in self._flags.tolist())
        due = due or bool(self._steps and step % self._steps == 0)
        if due:
            self._last = time.monotonic()
        return end, due

    def done(self) -> None:
        """Remove the request, which is answered."""
        if dist.get_rank() == 0:
            self._file.unlink(missing_ok=True)
