"""Report the progress of a training job to the monitoring of its cluster. One file, Python's standard library only.

    job = ultracluster_job.Job(checkpoint_interval=1800, flops_per_token=6 * parameters)
    job.step(step, tokens=tokens_of_the_step, loss=loss)
    with job.checkpoint(): save()

Or `hugging_face()` and `lightning()` as callbacks of a Trainer, and `megatron(module)`: docs/guides/jobs.md.
Rank 0 reports: under Slurm in a file, on Kubernetes over HTTP on ULTRACLUSTER_JOB_PORT. Errors never stop a training.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_DIRECTORY = "/var/lib/ultracluster/job-metrics"
_RESTART = ("SLURM", "TORCHELASTIC", "JOBSET")
#: Gauges and counters, in the order in which they are written.
METRICS = (
    *("train_step", "train_step_seconds", "train_tokens_total", "train_loss", "train_mfu_ratio"),
    *("train_checkpoint_seconds", "train_checkpoint_in_progress", "train_checkpoint_interval_seconds"),
    *("train_last_checkpoint_timestamp_seconds", "train_startup_seconds", "train_restarts_total"),
    *("train_productive_seconds_total", "train_lost_seconds_total", "train_finished", "train_waiting"),
)


class Job:
    """Progress of a training job.

    Args:
        checkpoint_interval: Planned seconds between two checkpoints. Default: unknown, and no alert on late ones.
        flops_per_token: 6 x parameters of a dense model: the MFU, if ULTRACLUSTER_GPU_FLOPS has the peak of a GPU.
        directory: Directory of the metrics. Default: that of the Slurm job.
        state: File that survives restarts, so that repeated steps count as lost. Default: ULTRACLUSTER_JOB_STATE.
        every: Seconds between two writes.
    """

    def __init__(
        self,
        *,
        checkpoint_interval: float | None = None,
        flops_per_token: float | None = None,
        directory: str | None = None,
        state: str | None = None,
        every: float = 5,
    ) -> None:
        rank = os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or "0"
        self.values: dict[str, float] = defaultdict(float, train_finished=0)
        self.values["train_restarts_total"] = sum(int(os.environ.get(f"{by}_RESTART_COUNT") or 0) for by in _RESTART)
        self.lost: dict[str, float] = {"startup": 0, "checkpoint": 0, "repeated": 0}  # seconds, by cause
        self._flops, self._every, self._tokens, self._warned = flops_per_token, every, 0.0, False
        self._peak = float(os.environ.get("ULTRACLUSTER_GPU_FLOPS") or 0) * int(os.environ.get("WORLD_SIZE") or 1)
        self._directory = _directory(directory) if rank == "0" else None
        self._state = state or os.environ.get("ULTRACLUSTER_JOB_STATE")
        self._highest = _highest(self._state)
        is_first = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"  # torchrun's others begin later
        self._started = float((is_first and os.environ.get("SLURM_JOB_START_TIME")) or time.time())
        self._loss: Any = None
        self._last: float | None = None
        self._written = self._window = time.monotonic()
        if checkpoint_interval is not None:
            self.values["train_checkpoint_interval_seconds"] = checkpoint_interval
        if port := int(os.environ.get("ULTRACLUSTER_JOB_PORT") or 0) if rank == "0" else 0:
            self._serve(port)
        self.active = self._directory is not None or port > 0  # False if nothing is reported from here
        self.write()
        leave, rc = sys.exit, dict[int, Any]()  # each status of the program: an error is no end of the training
        sys.exit = lambda status=None: leave(rc.setdefault(len(rc), status))
        atexit.register(lambda: self.write() if rc.get(len(rc) - 1) or hasattr(sys, "last_value") else self.finished())

    def step(self, step: int, *, tokens: float = 0, loss: Any = None, mfu: float | None = None) -> None:
        """Report a completed step, and its tokens over all ranks. A loss is read when the metrics are written."""
        if not self.active:
            return
        now = time.monotonic()
        if self._last is None:
            self.values["train_startup_seconds"] = seconds = max(time.time() - self._started, 0)
            self.lost["startup"] += seconds
            self._window = now
        else:
            self.values["train_step_seconds"] = seconds = now - self._last
            if step > self._highest:
                self.values["train_productive_seconds_total"] += seconds
            else:
                self.lost["repeated"] += seconds
            self._tokens += tokens
        self._last, self._highest = now, max(self._highest, step)
        total = self.values["train_tokens_total"] + tokens
        self.values.update(train_step=step, train_finished=0, train_tokens_total=total)
        if loss is not None:
            self._loss = loss.detach() if hasattr(loss, "detach") else loss  # reading it waits for the GPU
        if mfu is not None:
            self.values["train_mfu_ratio"] = mfu
        if now - self._written >= self._every:
            self.write()

    @contextlib.contextmanager
    def checkpoint(self) -> Iterator[None]:
        """Report the checkpoint that is written inside; one that fails is not reported as complete."""
        began = time.monotonic()
        self.saving()
        try:
            yield
            self.saved(time.monotonic() - began)
        finally:
            self.saving(False)

    def saving(self, waits: bool = True) -> None:
        """Report that the training waits for a checkpoint from now on, or no longer does."""
        self.values["train_checkpoint_in_progress"] = waits
        self.write()

    def waiting(self, waits: bool = True) -> None:
        """Report that other ranks wait for what rank 0 does alone, such as an index of a data set, or no longer do."""
        self.values["train_waiting"] = waits
        self.write()

    def saved(self, seconds: float) -> None:
        """Report a complete checkpoint that took so many seconds of the training's time."""
        self.values.update(train_last_checkpoint_timestamp_seconds=time.time(), train_checkpoint_seconds=seconds)
        self.lost["checkpoint"] += seconds
        if self._last is not None:
            self._last = min(self._last + seconds, time.monotonic())
        self.saving(False)

    def finished(self) -> None:
        """Report that the training is over, whatever the program does then; a program that ends is finished too."""
        self.values["train_finished"] = 1
        self.write()

    def text(self) -> str:
        """Return the metrics, without the id of the job."""
        metrics = {name: {"": self.values[name]} for name in METRICS if name in self.values}
        metrics["train_lost_seconds_total"] = {f'{{cause="{cause}"}}': value for cause, value in self.lost.items()}
        lines = []
        for name, values in metrics.items():
            lines.append(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}")
            lines += [f"{name}{labels} {value:.15g}" for labels, value in values.items()]
        return "\n".join(lines).replace(" nan", " NaN").replace("inf", "Inf") + "\n"

    def write(self) -> None:
        """Write the metrics now. A reader sees the old file or the new one."""
        if not self.active:
            return
        try:
            self._written = now = time.monotonic()
            if self._loss is not None:
                self.values["train_loss"], self._loss = float(self._loss), None
            if self._flops and self._peak and self._tokens and now > self._window:
                self.values["train_mfu_ratio"] = self._flops * self._tokens / (now - self._window) / self._peak
                self._tokens, self._window = 0.0, now
            if self._directory is not None:
                _replace(self._directory / "train.prom", self.text())
            if self._state:
                _replace(Path(self._state), json.dumps({"step": self._highest, **getattr(self, "counted", {})}))
        except Exception as error:  # whatever a loss, a disk or a network file system does: the training goes on
            if not self._warned:
                print(f"ultracluster_job: not reported: {error}", file=sys.stderr)
            self._warned = True

    def _serve(job, port: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write((job.text() + _inspector()).encode())

            def log_message(self, *args: Any) -> None: ...

        try:
            threading.Thread(target=ThreadingHTTPServer(("", port), Handler).serve_forever, daemon=True).start()
        except OSError as error:
            print(f"ultracluster_job: port {port}: {error}", file=sys.stderr)


def hugging_face(**options: Any) -> Any:
    """Return a callback for Trainer of Hugging Face's transformers and TRL. `options` are those of `Job`."""
    base: Any = importlib.import_module("transformers.trainer_callback").TrainerCallback

    class UltraclusterCallback(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.job = Job(**options)
            self._tokens, self._since = 0.0, time.monotonic()

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            seen = float(getattr(state, "num_input_tokens_seen", 0) or 0)  # include_num_input_tokens_seen
            self.job.step(state.global_step, tokens=seen - self._tokens)
            self._tokens, self._since = seen, time.monotonic()
            self.on_epoch_end(args, state, control)

        def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if getattr(control, "should_save", False):  # the Trainer's own callback has decided before
                self.job.saving()

        def on_log(self, *args: Any, logs: Any = None, **kwargs: Any) -> None:
            self.job._loss = (logs or {}).get("loss", self.job._loss)
            self._since = time.monotonic()

        on_evaluate = on_log

        def on_save(self, *args: Any, **kwargs: Any) -> None:
            self.job.saved(time.monotonic() - self._since)  # the Trainer logs and evaluates before

        def on_train_end(self, *args: Any, **kwargs: Any) -> None:
            self.job.finished()

    return UltraclusterCallback()


def lightning(**options: Any) -> Any:
    """Return a callback for Trainer of Lightning and NeMo. `options` are those of `Job`."""
    try:
        base: Any = importlib.import_module("lightning.pytorch").Callback
    except ImportError:
        base = importlib.import_module("pytorch_lightning.callbacks").Callback

    class UltraclusterCallback(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.job = Job(**options)
            self._saving: float | None = None

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, *args: Any) -> None:
            self.on_train_batch_start()
            if trainer.global_step != self.job.values.get("train_step"):  # a step may have several batches
                loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
                self.job.step(trainer.global_step, loss=loss)

        def on_save_checkpoint(self, *args: Any) -> None:
            self._saving = time.monotonic()  # Lightning writes after this, and before the next batch
            self.job.saving()

        def on_train_batch_start(self, *args: Any) -> None:
            if self._saving is not None:
                self.job.saved(time.monotonic() - self._saving)
            self._saving = None

        def on_train_end(self, *args: Any) -> None:
            self.on_train_batch_start()
            self.job.finished()

    return UltraclusterCallback()


def megatron(training: Any, **options: Any) -> Job:
    """Report from Megatron-LM: wrap two functions of `megatron.training.training`, before `pretrain` is called."""
    job, done = Job(**options), list[int]()
    train_step, save_checkpoint = training.train_step, training.save_checkpoint

    def step(*args: Any, **kwargs: Any) -> Any:
        result = train_step(*args, **kwargs)
        settings = training.get_args()
        done[:] = [done[0] + 1 if done else settings.iteration + 1]
        losses = result[0] if isinstance(result, tuple) and isinstance(result[0], dict) else {}
        tokens = getattr(settings, "global_batch_size", 0) * getattr(settings, "seq_length", 0)
        job.step(done[0], tokens=tokens, loss=losses.get("lm loss"))
        return result

    def save(*args: Any, **kwargs: Any) -> Any:
        with job.checkpoint():
            return save_checkpoint(*args, **kwargs)

    training.train_step, training.save_checkpoint = step, save
    return job


def _directory(given: str | None) -> Path | None:
    path = given or os.environ.get("ULTRACLUSTER_JOB_METRICS") or f"{_DIRECTORY}/{os.environ.get('SLURM_JOB_ID')}"
    return Path(path) if os.access(path, os.W_OK) and Path(path).is_dir() else None


def _highest(state: str | None) -> int:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads(Path(state or os.devnull).read_text())["step"])
    return -1


def _inspector() -> str:
    """Return the files of NCCL's Inspector on this node. Prometheus removes its label of the job."""
    lines: set[str] = set()
    for path in Path(os.environ.get("NCCL_INSPECTOR_DUMP_DIR") or os.devnull).glob("nccl_inspector_metrics_*.prom"):
        with contextlib.suppress(OSError):
            lines |= {line for line in path.read_text().splitlines() if line and not line.startswith("#")}
    return "".join(f"{line}\n" for line in sorted(lines))


def _replace(path: Path, text: str) -> None:
    path.with_name(f".{path.name}.{os.getpid()}").write_text(text, encoding="utf-8")
    os.replace(path.with_name(f".{path.name}.{os.getpid()}"), path)
