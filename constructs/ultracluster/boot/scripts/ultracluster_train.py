"""Train a small language model with FSDP2 or DDP, from one process on a laptop to 512 GPUs.

    python3 ultracluster_train.py --steps 100
    sbatch pretrain.sbatch ultracluster_train.py --layers 32 --width 4096 --heads 32 --data /fsx/tokens

It writes checkpoints while it trains, continues from the newest complete one (model, optimizer, position in the data,
random numbers), and reports to the monitoring of the cluster. If the file CHECKPOINT_REQUEST exists, or at USR1, it
writes a checkpoint and ends with exit code 0: the job files request one before a time limit, and then requeue.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import ultracluster_job  # type: ignore[import-not-found]  # beside this file, or on PYTHONPATH
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from ultracluster_checkpoint import Checkpoints, Requests  # type: ignore[import-not-found]
from ultracluster_data import Files, Synthetic  # type: ignore[import-not-found]
from ultracluster_model import Shape, Transformer  # type: ignore[import-not-found]

# Bytes of a parameter: value, gradient and the two moments of AdamW, each in float32.
_BYTES_OF_PARAMETER = 16


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Train a small language model with FSDP2 or DDP.")
    parser.add_argument("--parallel", choices=("fsdp", "ddp"), default="fsdp", help="shard the state, or replicate it")
    parser.add_argument("--steps", type=int, default=1000, help="steps of the whole run")
    parser.add_argument("--batch", type=int, default=8, help="sequences of a rank in a step")
    parser.add_argument("--length", type=int, default=1024, help="tokens of a sequence")
    parser.add_argument("--vocabulary", type=int, default=32_768)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--rate", type=float, default=3e-4, help="highest learning rate")
    parser.add_argument("--warmup", type=int, default=100, help="steps until that rate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--data", help="directory of token files: *.bin of 16-bit integers, *.u32 of 32-bit; else synthetic"
    )
    parser.add_argument("--checkpoints", default=os.environ.get("ULTRACLUSTER_CHECKPOINTS") or "run", help="directory")
    planned = float(os.environ.get("ULTRACLUSTER_CHECKPOINT_SECONDS") or 1800)
    parser.add_argument("--checkpoint-seconds", type=float, default=planned, help="default: that of the job file")
    parser.add_argument("--checkpoint-steps", type=int, default=0, help="steps between two checkpoints, instead")
    parser.add_argument("--keep", type=int, default=2, help="complete checkpoints to keep")
    parser.add_argument("--log-every", type=int, default=10, help="steps between two lines of the log")
    return parser.parse_args(given)


class Training:
    """A run: model, optimizer, data and position."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.device = _device()
        shape = Shape(options.vocabulary, options.layers, options.width, options.heads, options.length, options.dropout)
        self.data = Files(options.data, shape) if options.data else Synthetic(shape, options.seed)
        self.step = self.position = 0
        torch.manual_seed(options.seed * 1_000_003 + self.rank)
        with torch.device("meta"):
            model = Transformer(shape)
        on_gpu = self.device.type == "cuda"
        if options.parallel == "fsdp":
            policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32) if on_gpu else None
            more = {"mp_policy": policy} if policy else {}
            for block in model.blocks:
                fully_shard(block, **more)
            fully_shard(model, **more)
        model.to_empty(device=self.device)
        model.reset()
        # DDP sends the parameters of rank 0 to all.
        self.model = model if options.parallel == "fsdp" else DistributedDataParallel(model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.rate, betas=(0.9, 0.95))
        self.autocast = on_gpu and options.parallel == "ddp"

    def state(self) -> dict[str, Any]:
        """Return everything that a run continues from."""
        model, optimizer = get_state_dict(self.model, self.optimizer)
        random = [torch.get_rng_state(), *([torch.cuda.get_rng_state()] if self.device.type == "cuda" else [])]
        state = {"model": model, "optimizer": optimizer, "step": self.step, "position": self.position}
        return {**state, **{f"random.{self.rank}.{number}": value for number, value in enumerate(random)}}

    def load(self, path: Path) -> None:
        """Continue from a checkpoint. On another number of ranks, new ranks begin with random numbers of their own."""
        known = dcp.FileSystemReader(str(path)).read_metadata().state_dict_metadata
        state = {key: value for key, value in self.state().items() if not key.startswith("random.") or key in known}
        dcp.load(state, checkpoint_id=str(path))
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        self.step, self.position = state["step"], state["position"]
        for number, restore in enumerate((torch.set_rng_state, torch.cuda.set_rng_state)):
            if (random := state.get(f"random.{self.rank}.{number}")) is not None:
                restore(random)

    def train_step(self) -> Any:
        """Run one step, and return its loss, the mean of all ranks."""
        options = self.options
        samples = range(self.position + self.rank * options.batch, self.position + (self.rank + 1) * options.batch)
        tokens, targets = (part.to(self.device, non_blocking=True) for part in self.data.batch(samples))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast):
            loss = self.model(tokens, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = _rate(self.step, options)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.position += options.batch * self.world
        mean = loss.detach().float()
        dist.all_reduce(mean)
        return mean / self.world


def train(options: argparse.Namespace) -> None:
    """Train until the last step, or until a checkpoint is requested."""
    training = Training(options)
    shape: Shape = training.data.shape
    interval = options.checkpoint_seconds if not options.checkpoint_steps else None
    job = ultracluster_job.Job(checkpoint_interval=interval, flops_per_token=shape.flops_per_token)
    directory = Path(options.checkpoints)
    checkpoints = Checkpoints(directory, options.keep, job)
    file = Path(os.environ.get("CHECKPOINT_REQUEST") or directory / "checkpoint-request")
    requests = Requests(file, seconds=options.checkpoint_seconds, steps=options.checkpoint_steps)
    newest = [checkpoints.complete()[-1:]]
    dist.broadcast_object_list(newest, device=torch.device("cpu"), group=requests.group)
    for step in newest[0]:
        training.load(checkpoints.path(step))
    tokens = options.batch * training.world * options.length
    _log(
        event="start", step=training.step, ranks=training.world, parallel=options.parallel, parameters=shape.parameters
    )
    end, written = False, training.step
    while training.step < options.steps and not end:
        exchange = requests.exchange()
        loss = training.train_step()
        job.step(training.step, tokens=tokens, loss=loss)
        if training.step % options.log_every == 0 or training.step == options.steps:
            _log(event="step", step=training.step, loss=loss.item(), position=training.position)
        checkpoints.poll()
        end, due = requests.answers(exchange, training.step)
        if due and not end:
            checkpoints.start(training.step, training.state())
            written = training.step
    if written != training.step:
        checkpoints.start(training.step, training.state())
    checkpoints.finish()
    requests.done()
    job.finished()
    _log(event="requested end" if end else "end", step=training.step)


def _rate(step: int, options: argparse.Namespace) -> float:
    """Return the learning rate: linear to its highest value, then along a cosine to a tenth of it."""
    if step < options.warmup:
        return float(options.rate * (step + 1) / options.warmup)
    part = (step - options.warmup) / max(1, options.steps - options.warmup)
    return float(options.rate * (0.55 + 0.45 * math.cos(math.pi * part)))


def _device() -> torch.device:
    if not torch.cuda.is_available():
        return torch.device("cpu")
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK") or 0))
    return torch.device("cuda", torch.cuda.current_device())


def _log(**values: Any) -> None:
    if dist.get_rank() == 0:
        print(json.dumps(values), flush=True)


def problems(options: argparse.Namespace, ranks: int, memory: int) -> list[str]:
    """Return why the run cannot start, with the arithmetic.

    Args:
        options: Options of the run.
        ranks: Number of ranks.
        memory: Bytes of memory of a rank.
    """
    errors = []
    if options.width % (2 * options.heads):
        errors.append(f"--width {options.width} / --heads {options.heads} must be an even number")
    shape = Shape(options.vocabulary, options.layers, options.width, options.heads, options.length)
    parts = ranks if options.parallel == "fsdp" else 1
    needed = shape.parameters * _BYTES_OF_PARAMETER / parts
    if needed > memory:
        errors.append(
            f"{shape.parameters:,} parameters x {_BYTES_OF_PARAMETER} bytes / {parts} = {needed / 2**30:.1f} GiB, "
            f"and a rank has {memory / 2**30:.1f} GiB: use more ranks with --parallel fsdp, or a smaller model"
        )
    if options.data and not Files.paths(options.data):
        errors.append(f"--data {options.data} has no file *.bin or *.u32")
    return errors


def _memory() -> int:
    if torch.cuda.is_available():
        return int(torch.cuda.get_device_properties(_device()).total_memory)
    here = int(os.environ.get("LOCAL_WORLD_SIZE") or 1)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // here


def main(given: Sequence[str]) -> int:
    """Run the program; return its exit code."""
    options = arguments(given)
    if refused := problems(options, int(os.environ.get("WORLD_SIZE") or 1), _memory()):
        print(f"{Path(__file__).name}: {'; '.join(refused)}", file=sys.stderr)
        return 2
    Path(options.checkpoints).mkdir(parents=True, exist_ok=True)
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    alone = {} if "WORLD_SIZE" in os.environ else {"store": dist.HashStore(), "rank": 0, "world_size": 1}
    dist.init_process_group(backend, **alone)
    try:
        train(options)
    finally:
        dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
