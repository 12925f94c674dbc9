"""Train with torchtitan, on the tokens of `ultracluster_train.py`, with its answers to requests and its metrics.

    sbatch torchtitan.sbatch llama3_8b --training.steps=1000 --dataloader.dataset_path=/fsx/tokens

The first argument is a configuration of torchtitan, such as llama3_8b, llama3_70b or deepseek_v3_16b; the others are
its options. `--dataloader.dataset_path` is a directory of token files: *.bin of unsigned 16-bit integers, or *.u32 of
32-bit ones, which vocabularies of more than 65,536 tokens need; else the tokens are synthetic. It writes a checkpoint
every ULTRACLUSTER_CHECKPOINT_SECONDS, or every `--checkpoint.interval` steps. If the file CHECKPOINT_REQUEST exists, it
writes a checkpoint and ends with exit code 0.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

import torch.distributed as dist
import ultracluster_job  # type: ignore[import-not-found]  # beside this file, or on PYTHONPATH
from torchtitan.components.dataloader import BaseDataLoader  # type: ignore[import-not-found]
from torchtitan.components.metrics import MetricsProcessor  # type: ignore[import-not-found]
from torchtitan.components.tokenizer import BaseTokenizer  # type: ignore[import-not-found]
from torchtitan.models import _supported_models  # type: ignore[import-not-found]
from torchtitan.trainer import Trainer  # type: ignore[import-not-found]
from ultracluster_checkpoint import Requests  # type: ignore[import-not-found]
from ultracluster_data import Files, Synthetic  # type: ignore[import-not-found]

# A vocabulary that each model has.
_SYNTHETIC = 2048
# Steps between two checkpoints that no run has: the clock decides.
_BY_TIME = sys.maxsize


class Tokens(BaseDataLoader):  # type: ignore[misc]
    """Samples by their number. A checkpoint has the position, whatever the number of ranks that continue."""

    @dataclass(kw_only=True, slots=True)
    class Config(BaseDataLoader.Config):  # type: ignore[misc]
        """Options: `dataset_path`, and the vocabulary of the model."""

        vocabulary: int = _SYNTHETIC

    def __init__(
        self, config: Any, *, dp_world_size: int, dp_rank: int, seq_len: int, local_batch_size: int, **_: Any
    ) -> None:
        path = config.dataset_path
        shape = SimpleNamespace(vocabulary=config.vocabulary if path else _SYNTHETIC, length=seq_len)
        self._data = Files(path, shape) if path else Synthetic(shape, 0)
        self._rank, self._ranks, self._batch, self._position = dp_rank, dp_world_size, local_batch_size, 0

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Any]]:
        """Yield the batches of this rank."""
        while True:
            first = self._position + self._rank * self._batch
            self._position += self._ranks * self._batch
            tokens, targets = self._data.batch(range(first, first + self._batch))
            positions = tokens.new_ones(tokens.shape).cumsum(1) - 1
            yield {"input": tokens.contiguous(), "positions": positions}, targets.contiguous()

    def state_dict(self) -> dict[str, int]:
        """Return the position."""
        return {"position": self._position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue at a position."""
        self._position = state.get("position", 0)


class NoTokenizer(BaseTokenizer):  # type: ignore[misc]
    """The data is tokens already."""

    @dataclass(kw_only=True, slots=True)
    class Config(BaseTokenizer.Config):  # type: ignore[misc]
        """Option: the vocabulary of the model."""

        vocabulary: int = _SYNTHETIC

    def __init__(self, config: Any, **_: Any) -> None:
        super().__init__()
        self._vocabulary: int = config.vocabulary

    def encode(self, *args: Any, **kwargs: Any) -> list[int]:
        """Fail: there is no text."""
        raise NotImplementedError

    decode = encode

    def get_vocab_size(self) -> int:
        """Return the vocabulary of the model."""
        return self._vocabulary


def __getattr__(name: str) -> Any:
    """Return a configuration of torchtitan, by its name, with the data of this file and with checkpoints."""
    for model in sorted(_supported_models, key=len, reverse=True):
        if name.startswith(f"{model}_"):
            create = getattr(importlib.import_module(f"torchtitan.models.{model}.config_registry"), name, None)
            if create is not None:
                return lambda: _configured(create())
    raise AttributeError(name)


def _configured(config: Any) -> Any:
    vocabulary = config.model_spec.model.vocab_size
    config.dataloader = Tokens.Config(vocabulary=vocabulary)
    config.tokenizer = NoTokenizer.Config(vocabulary=vocabulary)
    config.validator.enable = config.profiler.enable_profiling = False
    # The last checkpoint of a run that a request ends is continued too.
    config.checkpoint.enable, config.checkpoint.last_save_model_only = True, False
    config.checkpoint.interval = _BY_TIME
    config.metrics.log_freq = 1
    # torchtitan 0.3.0 has newer defaults than PyTorch 2.13, whose fully_shard refuses the other backend.
    config.parallelism.spmd_backend, config.training.disable_cuda_graphs = "partial_dtensor", True
    return config


def report(trainer: type, processor: type) -> None:
    """Report steps, tokens and loss, and end at a request."""
    train, step, log = trainer.train, trainer.train_step, processor.log  # type: ignore[attr-defined]
    state: dict[str, Any] = {}

    def run(self: Any) -> Any:
        file = Path(os.environ.get("CHECKPOINT_REQUEST") or Path(self.config.dump_folder) / "checkpoint-request")
        planned = float(os.environ.get("ULTRACLUSTER_CHECKPOINT_SECONDS") or 1800)
        seconds = planned if self.config.checkpoint.interval == _BY_TIME else None
        flops = self.metrics_processor.num_flops_per_token
        state["job"] = ultracluster_job.Job(checkpoint_interval=seconds, flops_per_token=flops)
        state["requests"] = Requests(file, seconds=seconds or float("inf"), steps=0)
        return train(self)

    def train_step(self: Any, data: Any) -> Any:
        requests, before = state["requests"], self.ntokens_seen
        exchange = requests.exchange()
        result = step(self, data)
        # Each rank counts its own tokens; the ranks of this mesh have different ones.
        mesh = self.parallel_dims.get_optional_mesh("loss")
        tokens = (self.ntokens_seen - before) * (mesh.size() if mesh else 1)
        state["job"].step(self.step, tokens=tokens, loss=state.get("loss"))
        end, due = requests.answers(exchange, self.step)
        if self.config.checkpoint.interval == _BY_TIME:
            # torchtitan saves after this step if its number is a multiple.
            self.checkpointer.interval = self.step if due else _BY_TIME
        if end:
            self.config.training.steps = self.step
            requests.done()
        return result

    def logged(self: Any, number: int, loss: float, *args: Any, **kwargs: Any) -> Any:
        state["loss"] = loss
        return log(self, number, loss, *args, **kwargs)

    trainer.train, trainer.train_step, processor.log = run, train_step, logged  # type: ignore[attr-defined]


def main(given: Sequence[str]) -> None:
    """Run torchtitan."""
    if not given or given[0].startswith("-"):
        raise SystemExit("usage: ultracluster_titan.py CONFIGURATION [OPTIONS OF torchtitan]")
    report(Trainer, MetricsProcessor)
    # torchtitan 0.3.0 calls it; PyTorch 2.13 has it by its older name.
    vars(dist).setdefault("set_timeout", dist.distributed_c10d._set_pg_timeout)
    name = Path(__file__).stem
    # torchtitan imports it by this name.
    sys.modules.setdefault(name, sys.modules[__name__])
    sys.argv[1:] = [f"--module={name}", f"--config={given[0]}", *given[1:]]
    importlib.import_module("torchtitan.train").main()


if __name__ == "__main__":
    main(sys.argv[1:])
