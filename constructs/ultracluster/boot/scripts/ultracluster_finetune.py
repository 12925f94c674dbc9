"""Fine-tune a language model with the Trainer of Hugging Face, on Accelerate and DeepSpeed.

    sbatch finetune.sbatch                                                   a small model and synthetic samples
    sbatch finetune.sbatch ultracluster_finetune.py --model /fsx/model --data /fsx/samples

`--data` is a directory of files *.jsonl, each line with `text`, or with `messages` for the chat template of the model.
It continues from the newest complete checkpoint. If the file CHECKPOINT_REQUEST exists, or at USR1, it writes a
checkpoint and ends with exit code 0. The launcher of the job files, ultracluster_run.py, reports to the monitoring.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

import torch
import torch.distributed as dist
from huggingface_hub import snapshot_download  # type: ignore[import-not-found]
from transformers import (  # type: ignore[import-not-found]
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.integrations import is_deepspeed_zero3_enabled  # type: ignore[import-not-found]
from ultracluster_checkpoint import Requests  # type: ignore[import-not-found]  # beside this file

_HAS_DEEPSPEED = importlib.util.find_spec("deepspeed") is not None
_IGNORED = -100
# Weights in other formats.
_NOT_READ = ("original/*", "consolidated*", "*.pth", "*.gguf", "*.onnx", "*.h5", "*.msgpack")
_SMALL = 128


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Fine-tune a language model with the Trainer of Hugging Face.")
    parser.add_argument("--model", help="directory, or name at Hugging Face; else a small model with random weights")
    parser.add_argument("--data", help="directory of *.jsonl with `text` or `messages`; else synthetic samples")
    parser.add_argument(
        "--zero", type=int, choices=range(4), help="stage of DeepSpeed's ZeRO, 3 if it is installed; 0: DDP"
    )
    parser.add_argument("--steps", type=int, default=1000, help="steps of the whole run")
    parser.add_argument("--batch", type=int, default=1, help="samples of a rank in a step")
    parser.add_argument("--length", type=int, default=4096, help="longest sample, in tokens")
    parser.add_argument("--rate", type=float, default=1e-5, help="highest learning rate")
    parser.add_argument(
        "--checkpoint-seconds",
        type=float,
        default=float(os.environ.get("ULTRACLUSTER_CHECKPOINT_SECONDS") or 1800),
        help="seconds between two checkpoints",
    )
    parser.add_argument("--checkpoint-steps", type=int, default=0, help="steps between two checkpoints instead")
    parser.add_argument("--keep", type=int, default=2, help="checkpoints to keep")
    parser.add_argument("--checkpoints", default=os.environ.get("ULTRACLUSTER_CHECKPOINTS") or "run", help="directory")
    options = parser.parse_args(given)
    if options.zero is None:
        # The image for arm64 has none.
        options.zero = 3 if _HAS_DEEPSPEED else 0
    return options


def problems(options: argparse.Namespace) -> list[str]:
    """Return why the run cannot start."""
    errors = []
    if options.model and options.model.startswith("/") and not (Path(options.model) / "config.json").is_file():
        errors.append(f"--model {options.model} has no file config.json")
    if options.data and not options.model:
        errors.append("--data needs --model, whose tokenizer reads it")
    if options.data and not any(Path(options.data).glob("*.jsonl")):
        errors.append(f"--data {options.data} has no file *.jsonl")
    if options.zero and not _HAS_DEEPSPEED:
        errors.append("DeepSpeed is not in this image: use --zero 0, which replicates the model on each GPU")
    return errors


class Samples(torch.utils.data.Dataset):  # type: ignore[misc]
    """Samples of a directory of *.jsonl files, tokenized when they are read."""

    def __init__(self, directory: str, tokenizer: Any, length: int) -> None:
        files = sorted(Path(directory).glob("*.jsonl"))
        self._lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        self._tokenizer, self._length = tokenizer, length

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._lines)

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return a sample."""
        sample = json.loads(self._lines[number])
        most = {"truncation": True, "max_length": self._length}
        if text := sample.get("text"):
            tokens, end = self._tokenizer(text, **most)["input_ids"], self._tokenizer.eos_token_id
            # A text that is cut does not end there, and few tokenizers add the token of the end.
            return {
                "tokens": tokens + [end] * (end is not None and len(tokens) < self._length and tokens[-1:] != [end])
            }
        text = self._tokenizer.apply_chat_template(sample["messages"], tokenize=False)
        # The template has them.
        return {"tokens": self._tokenizer(text, add_special_tokens=False, **most)["input_ids"]}


class Synthetic(torch.utils.data.Dataset):  # type: ignore[misc]
    """Sequences in which each token follows from the token before."""

    def __init__(self, vocabulary: int, length: int) -> None:
        self._vocabulary, self._length = vocabulary, length

    def __len__(self) -> int:
        """Return the number of samples."""
        return 65_536

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return a sample."""
        return {"tokens": [(number + 3 * place) % self._vocabulary for place in range(self._length)]}


def collate(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a batch, padded to its longest sample."""
    longest = max(len(sample["tokens"]) for sample in samples)
    rows = [(tokens := sample["tokens"], longest - len(tokens)) for sample in samples]
    return {
        "input_ids": torch.tensor([tokens + [0] * missing for tokens, missing in rows]),
        "attention_mask": torch.tensor([[1] * len(tokens) + [0] * missing for tokens, missing in rows]),
        "labels": torch.tensor([tokens + [_IGNORED] * missing for tokens, missing in rows]),
    }


class AtRequest(TrainerCallback):  # type: ignore[misc]
    """Write checkpoints, on all ranks in the same step, when they are due; when one is requested, end."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._file = Path(os.environ.get("CHECKPOINT_REQUEST") or Path(options.checkpoints) / "checkpoint-request")
        self._seconds, self._steps = options.checkpoint_seconds, options.checkpoint_steps
        self._requests: Any = None

    def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
        """Begin to exchange what the ranks request."""
        self._requests = self._requests or Requests(self._file, seconds=self._seconds, steps=self._steps)
        self._exchange = self._requests.exchange()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Answer a request."""
        end, due = self._requests.answers(self._exchange, state.global_step)
        control.should_save = control.should_save or end or due
        control.should_training_stop = control.should_training_stop or end

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Remove the request, which is answered."""
        if control.should_training_stop:
            self._requests.done()


class Training(Trainer):  # type: ignore[misc]
    """A Trainer that writes each checkpoint of ZeRO 3 once.

    The Trainer has no weights of ZeRO 3 for `save_model`, which writes the state of DeepSpeed in their place, and then
    writes that state again: `save_model` and `_save_optimizer_and_scheduler` of transformers 5.24.0, and
    https://github.com/huggingface/transformers/issues/34534 (read 2026-11-27).
    """

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Save the model; of a checkpoint of ZeRO 3, what the state of DeepSpeed does not have."""
        if not _internal_call or not is_deepspeed_zero3_enabled():
            super().save_model(output_dir, _internal_call)
        elif self.args.should_save:
            for part in (self.model.config, self.model.generation_config, self.processing_class):
                if part is not None:
                    part.save_pretrained(output_dir)


def complete(directory: str) -> str | None:
    """Return the newest checkpoint whose last file is there, or None."""
    done = {
        int(path.parent.name.rpartition("-")[2]): path.parent for path in Path(directory).glob("*-*/trainer_state.json")
    }
    return str(done[max(done)]) if done else None


def main(given: Sequence[str]) -> int:
    """Run the program; return its exit code."""
    options = arguments(given)
    if refused := problems(options):
        print(f"{Path(__file__).name}: {'; '.join(refused)}", file=sys.stderr)
        return 2
    on_gpu = torch.cuda.is_available()
    if "WORLD_SIZE" not in os.environ:
        # DeepSpeed needs it on a GPU.
        os.environ["LOCAL_RANK"] = "0"
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    auto = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping")
    zero: dict[str, Any] = {
        "zero_optimization": {"stage": options.zero},
        "bf16": {"enabled": "auto"},
        **dict.fromkeys(auto, "auto"),
    }
    # AdamW of PyTorch, which needs no operator that is compiled first.
    zero |= {"zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False}
    # Before the model is loaded: ZeRO 3 loads each rank's part.
    settings = TrainingArguments(
        options.checkpoints,
        max_steps=options.steps,
        per_device_train_batch_size=options.batch,
        learning_rate=options.rate,
        logging_steps=1,
        # AtRequest writes them.
        save_steps=sys.maxsize,
        save_total_limit=options.keep,
        bf16=on_gpu,
        use_cpu=not on_gpu,
        gradient_checkpointing=on_gpu and bool(options.model),
        deepspeed=zero if options.zero else None,
        remove_unused_columns=False,
        include_num_input_tokens_seen="all",
        report_to="none",
        disable_tqdm=True,
    )
    model, data, tokenizer = _small(options) if options.model is None else _of(options, downloaded(options.model))
    callbacks = [AtRequest(options)]
    trainer = Training(
        model,
        settings,
        train_dataset=data,
        data_collator=collate,
        callbacks=callbacks,
        processing_class=tokenizer,
    )
    trainer.train(resume_from_checkpoint=complete(options.checkpoints))
    return 0


def downloaded(model: str) -> str:
    """Return the directory of a model at Hugging Face: one rank downloads it, for all would exceed the limits there."""
    if Path(model).is_dir():
        return model
    # Longer than collectives wait.
    group = dist.new_group(backend="gloo", timeout=timedelta(hours=6))
    path = [_snapshot(model) if dist.get_rank() == 0 else ""]
    dist.broadcast_object_list(path, group=group)
    # Without a file system that nodes share, each has a cache.
    if not int(os.environ.get("LOCAL_RANK") or 0) and not Path(path[0]).is_dir():
        _snapshot(model, Path(path[0]).name)
    dist.barrier(group=group)
    return path[0]


def _snapshot(model: str, revision: str | None = None) -> str:
    path = str(snapshot_download(model, ignore_patterns=[*_NOT_READ, "pytorch_model*.bin"], revision=revision))
    # Transformers reads the others where there are no safetensors: modeling_utils.py (read 2026-11-27).
    if not any(Path(path, name).exists() for name in ("model.safetensors", "model.safetensors.index.json")):
        snapshot_download(model, ignore_patterns=_NOT_READ, revision=Path(path).name)
    return path


def _of(options: argparse.Namespace, path: str) -> tuple[Any, Any, Any]:
    # ZeRO keeps a copy in FP32. Without it, most steps are too small for weights in BF16, which autocast computes in.
    dtype = torch.bfloat16 if options.zero else torch.float32
    model = AutoModelForCausalLM.from_pretrained(path, dtype=dtype)
    if options.data is None:
        return model, Synthetic(model.config.vocab_size, options.length), None
    tokenizer = AutoTokenizer.from_pretrained(path)
    return model, Samples(options.data, tokenizer, options.length), tokenizer


def _small(options: argparse.Namespace) -> tuple[Any, Any, Any]:
    length = min(options.length, _SMALL)
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=_SMALL, **shape)), Synthetic(_SMALL, length), None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
