"""The programs of the job files for torchtitan, and for Hugging Face with DeepSpeed, on a CPU."""

import functools
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from support import ROOT
from support.ports import free_ports
from support.training import BIN, ENVIRONMENT, warm_python

SCRIPTS = ROOT / "constructs/ultracluster/boot/scripts"
ON_CPU = ROOT / "tests/support/frameworks_on_cpu.py"
TITAN = (
    *("titan", "llama3_debugmodel", "--training.steps=4", "--training.seq-len=32", "--training.local-batch-size=1"),
    *(
        "--debug.seed=1",
        "--dump_folder=run",
        "--checkpoint.keep_latest_k=2",
        "--training.mixed_precision_param=float32",
    ),
)
FINETUNE = (
    *("finetune", "--steps=4", "--length=32", "--batch=8", "--rate=0.01"),
    *("--checkpoints=run", "--checkpoint-steps=3"),
)


# What the programs import, and what that imports during a run.
LIBRARIES = {
    "titan": "import frameworks_on_cpu, torch.distributed.run; frameworks_on_cpu.titan_libraries()",
    "finetune": "import frameworks_on_cpu; frameworks_on_cpu.finetune_libraries(); import transformers.trainer",
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, torch: Path) -> Iterator[Callable[[str], Path]]:
    """Python of one of them."""
    with ExitStack() as stack:

        @functools.cache
        def program(name: str) -> Path:
            directory = tmp_path_factory.mktemp(name)
            return stack.enter_context(
                warm_python(directory, LIBRARIES[name], torch, HF_HUB_OFFLINE="1", DS_ACCELERATOR="cpu")
            )

        yield program


class Program:
    """A program in a directory, as the launcher of a job file starts it, in one process or more."""

    def __init__(self, python: Path, directory: Path, *command: str, processes: int = 1) -> None:
        self.directory, self.command = directory, command
        (port,) = free_ports(1)
        self.launcher = [str(python), "-W", "ignore"]
        if processes > 1:
            self.launcher += ["-m", "torch.distributed.run", f"--nproc-per-node={processes}"]
            self.launcher += [f"--master-port={port}", "--local-ranks-filter=0"]
        for name in ("metrics", "run"):
            (directory / name).mkdir()
        self.environment = {
            **ENVIRONMENT,
            **{"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"},
            **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
            **{"HF_HUB_OFFLINE": "1", "DS_ACCELERATOR": "cpu", "HOME": str(directory), "PATH": f"{BIN}:/usr/bin:/bin"},
            "ULTRACLUSTER_JOB_METRICS": str(directory / "metrics"),
            "ULTRACLUSTER_CHECKPOINTS": str(directory / "run"),
            "ULTRACLUSTER_GPU_FLOPS": "1e12",
            "CHECKPOINT_REQUEST": str(directory / "please"),
            "ULTRACLUSTER_CHECKPOINT_SECONDS": "0.001",
            "PYTHONWARNINGS": "ignore",
        }

    def run(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.launcher, str(SCRIPTS / "ultracluster_run.py"), str(ON_CPU), *self.command],
            env=self.environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=600,
        )

    def metrics(self) -> dict[str, float]:
        lines = (self.directory / "metrics/train.prom").read_text().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


@pytest.mark.parametrize(
    ("command", "processes", "loss", "written", "tokens"),
    [
        # FSDP2 shards the parameters over both.
        (TITAN, 2, r"step: +(\d+) .*?loss: +([\d.]+)", "checkpoint/step-{}/.metadata", 3 * 2 * 32),
        (FINETUNE, 1, r"()'loss': '([\d.]+)'", "checkpoint-{}/latest", 4 * 8 * 32),
    ],
    ids=["torchtitan", "deepspeed"],
)
def test_a_requested_run_ends_with_a_checkpoint_and_continues_with_the_next_step(
    tmp_path: Path,
    python: Callable[[str], Path],
    command: tuple[str, ...],
    processes: int,
    loss: str,
    written: str,
    tokens: int,
) -> None:
    program = Program(python(command[0]), tmp_path, *command, processes=processes)
    (tmp_path / "please").touch()
    first = program.run()
    assert first.returncode == 0, first.stderr
    assert len(re.findall(loss, first.stdout + first.stderr)) == 1
    assert (tmp_path / "run" / written.format(1)).exists()
    assert not (tmp_path / "please").exists(), "a request that is answered would end the next start too"
    second = program.run()
    assert second.returncode == 0, second.stderr
    losses = [float(value) for _, value in re.findall(loss, second.stdout + second.stderr)]
    assert len(losses) == 3
    assert losses[2] < float(re.findall(loss, first.stdout + first.stderr)[0][1])
    writes = re.findall("DeepSpeed writes .*-(\\d)\n", second.stdout)
    assert writes == (["3", "4"] if "finetune" in command else []), "each checkpoint once"
    # At the interval, and at the end.
    assert all((tmp_path / "run" / written.format(step)).exists() for step in (3, 4))
    metrics = program.metrics()
    assert (metrics["train_step"], metrics["train_tokens_total"]) == (4, tokens)
    assert metrics["train_loss"] == pytest.approx(losses[2], rel=1e-3)
    assert metrics["train_step_seconds"] > 0
    assert 0 < metrics["train_mfu_ratio"] < 1


def test_fine_tuning_refuses_what_it_cannot_read(tmp_path: Path, python: Callable[[str], Path]) -> None:
    script = """
import json, pathlib
import ultracluster_finetune as program
(pathlib.Path("model")).mkdir()
(pathlib.Path("model") / "config.json").write_text("{}")
def problems(*given):
    return program.problems(program.arguments(given))
here = str(pathlib.Path.cwd())
given = ["--model=/nowhere"], ["--data", here], ["--model", here + "/model", "--data=/no"]
print(json.dumps([problems(*options) for options in given]))
from types import SimpleNamespace
load = lambda path, dtype: print(dtype) or SimpleNamespace(config=SimpleNamespace(vocab_size=9))
program.AutoModelForCausalLM = SimpleNamespace(from_pretrained=load)
for stage in ("0", "3"):
    program._of(program.arguments(["--model", here, "--zero", stage]), here)
program._HAS_DEEPSPEED = False
print(json.dumps([problems("--zero=2"), problems()]))
program.dist.init_process_group("gloo", store=program.dist.HashStore(), rank=0, world_size=1)
def download(name, revision, ignore_patterns):
    print(name, revision, [pattern for pattern in ignore_patterns if pattern.endswith(".bin")])
    return here + "/commit"
program.snapshot_download = download
print(program.downloaded(here) == here, program.downloaded("a/model") == here + "/commit")
(pathlib.Path("commit")).mkdir()
(pathlib.Path("commit") / "model.safetensors.index.json").touch()
program.downloaded("a/model")
from tokenizers import Tokenizer, models, pre_tokenizers, processors
words = ["<s>", "</s>", "a", "b", "c", "user"]
backend = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="a"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
from transformers import PreTrainedTokenizerFast
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>")
turns = "{% for turn in messages %} {{ turn.role }} {{ turn.content }} {{ eos_token }}{% endfor %}"
tokenizer.chat_template = "{{ bos_token }}" + turns
print(json.dumps([[words[number] for number in line["tokens"]] for line in program.Samples(here, tokenizer, 5)]))
print(program.collate([dict(tokens=[1, 2]), dict(tokens=[3])])["labels"].tolist())
"""
    (tmp_path / "a.jsonl").write_text(
        '{"text": "a b"}\n\n{"text": "c b a b c"}\n{"messages": [{"role": "user", "content": "b"}]}\n'
    )
    environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(SCRIPTS)}
    command = [str(python("finetune")), "-W", "ignore", "-c", script]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        '[["--model /nowhere has no file config.json"], ["--data needs --model, whose tokenizer reads it"], '
        '["--data /no has no file *.jsonl"]]',
        # Steps of AdamW are too small for BF16 without the copy in FP32 that ZeRO has.
        "torch.float32",
        "torch.bfloat16",
        '[["DeepSpeed is not in this image: use --zero 0, which replicates the model on each GPU"], []]',
        # The files of PyTorch only where there are no safetensors.
        "a/model None ['pytorch_model*.bin']",
        "a/model commit []",
        "a/model commit ['pytorch_model*.bin']",
        "a/model commit []",
        "True True",
        "a/model None ['pytorch_model*.bin']",
        # One beginning, and an end unless the sample is cut.
        '[["<s>", "a", "b", "</s>"], ["<s>", "c", "b", "a", "b"], ["<s>", "user", "b", "</s>"]]',
        "[[1, 2], [3, -100]]",
    ]
