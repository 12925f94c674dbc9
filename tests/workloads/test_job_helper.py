"""The Python module that a training program reports with, alone in an interpreter as in a container."""

import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from support import ROOT
from support.ports import free_ports

PATH = ROOT / "constructs/ultracluster/boot/scripts/ultracluster_job.py"
CONTRACT = (ROOT / "docs/reference/metrics.md").read_text()
VARIABLES = (
    *("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_JOB_ID", "SLURM_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT"),
    *("ULTRACLUSTER_JOB_METRICS", "ULTRACLUSTER_JOB_PORT", "ULTRACLUSTER_JOB_STATE", "ULTRACLUSTER_GPU_FLOPS"),
    *("SLURM_JOB_START_TIME", "NCCL_INSPECTOR_DUMP_DIR"),
)


class Clock:
    """A clock that a test moves; `time.time` and `time.monotonic` of the module."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now

    monotonic = time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def module(clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ULTRACLUSTER_JOB_METRICS", str(tmp_path))
    created = ModuleType("ultracluster_job")
    exec(compile(PATH.read_text(), str(PATH), "exec"), created.__dict__)
    created.__dict__["time"] = clock
    return created


def samples(directory: Path) -> dict[str, float]:
    lines = (directory / "train.prom").read_text().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_prometheus_reads_all_metrics_of_the_contract(module: ModuleType, clock: Clock, tmp_path: Path) -> None:
    module.Job(checkpoint_interval=60)
    job = module.Job(checkpoint_interval=60, flops_per_token=1, every=0)
    clock.now += 30
    job.step(1, tokens=100, loss=2.5)
    clock.now += 10
    job.step(2, tokens=100, loss=float("nan"), mfu=0.4)
    job.waiting(False)
    with job.checkpoint():
        clock.now += 5
    text = (tmp_path / "train.prom").read_text()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert [line for line in (done.stdout + done.stderr).splitlines() if "no help text" not in line] == []
    assert samples(tmp_path).keys() == {
        *(set(module.METRICS) - {"train_lost_seconds_total"}),
        *(f'train_lost_seconds_total{{cause="{cause}"}}' for cause in ("startup", "checkpoint", "repeated")),
    }
    documented = set(re.findall(r"`(train_\w+)`", CONTRACT))
    # The last is of servers, which have no steps.
    assert documented == {*module.METRICS, "train_service"}


def test_time_goes_into_steps_or_into_causes(module: ModuleType, clock: Clock, tmp_path: Path) -> None:
    job = module.Job(every=0, state=str(tmp_path / "state"))
    clock.now += 100
    for step in range(1, 11):
        job.step(step, tokens=1000)
        clock.now += 2
    with job.checkpoint():
        assert samples(tmp_path)["train_checkpoint_in_progress"] == 1
        clock.now += 7
    job.step(11, tokens=1000)
    values = samples(tmp_path)
    assert values["train_checkpoint_in_progress"] == 0
    assert values["train_startup_seconds"] == 100
    assert values["train_productive_seconds_total"] == 20
    assert values['train_lost_seconds_total{cause="checkpoint"}'] == values["train_checkpoint_seconds"] == 7
    assert values["train_tokens_total"] == 11_000
    assert values["train_step_seconds"] == 2
    # It starts again from step 5: what it repeats is lost.
    again = module.Job(every=0, state=str(tmp_path / "state"))
    for step in range(5, 14):
        again.step(step)
        clock.now += 2
    values = samples(tmp_path)
    assert values['train_lost_seconds_total{cause="repeated"}'] == 12
    assert values["train_productive_seconds_total"] == 4


def test_a_checkpoint_that_fails_is_neither_complete_nor_in_progress(module: ModuleType, tmp_path: Path) -> None:
    job = module.Job(every=0)
    with pytest.raises(OSError, match="full"), job.checkpoint():
        raise OSError("full")
    values = samples(tmp_path)
    assert values["train_checkpoint_in_progress"] == 0
    assert "train_last_checkpoint_timestamp_seconds" not in values


def test_reports_that_ranks_wait_for_one_and_no_longer_do(module: ModuleType, tmp_path: Path) -> None:
    job = module.Job(every=0)
    assert "train_waiting" not in samples(tmp_path)
    for waits in (True, False):
        job.waiting(waits)
        assert samples(tmp_path)["train_waiting"] == waits


def test_a_training_is_finished_until_its_next_step(module: ModuleType, tmp_path: Path) -> None:
    job = module.Job(every=0)
    job.step(1)
    assert samples(tmp_path)["train_finished"] == 0
    job.finished()
    assert samples(tmp_path)["train_finished"] == 1
    # A second phase of the same program.
    job.step(2)
    assert samples(tmp_path)["train_finished"] == 0


@pytest.mark.parametrize(
    ("ends", "finished"),
    [("", 1), ("sys.exit()", 1), ("sys.exit(1)", 0), ("raise ValueError", 0), ("os.kill(os.getpid(), 15)", 0)],
)
def test_a_program_that_ends_is_finished_and_one_that_fails_is_not(ends: str, finished: int, tmp_path: Path) -> None:
    program = f"import os, sys, ultracluster_job; ultracluster_job.Job().step(7); {ends}"
    environment = {"PYTHONPATH": str(PATH.parent), "ULTRACLUSTER_JOB_METRICS": str(tmp_path)}
    subprocess.run([sys.executable, "-S", "-B", "-c", program], env=environment, stderr=subprocess.DEVNULL)
    assert samples(tmp_path)["train_finished"] == finished


def test_mfu_follows_from_tokens_and_the_peak_of_the_gpus(
    module: ModuleType, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ULTRACLUSTER_GPU_FLOPS", "1e15")
    monkeypatch.setenv("WORLD_SIZE", "8")
    job = module.Job(flops_per_token=6 * 7e10, every=0)
    for step in range(3):
        job.step(step, tokens=80_000)
        clock.now += 10
    # 80,000 tokens in 10 s x 4.2e11 / 8e15.
    assert samples(tmp_path)["train_mfu_ratio"] == pytest.approx(0.42)


def test_restarts_are_those_of_slurm_and_of_torchrun(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_RESTART_COUNT", "2")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    module.Job()
    assert samples(tmp_path)["train_restarts_total"] == 3


def test_a_restart_by_torchrun_did_not_start_up_since_the_job_began(
    module: ModuleType, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_START_TIME", str(int(clock.now) - 36_000))
    for restarts, seconds in (("0", 36_040), ("1", 40)):
        monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", restarts)
        job = module.Job(every=0)
        clock.now += 40
        job.step(1)
        assert samples(tmp_path)["train_startup_seconds"] == seconds


def test_other_ranks_write_nothing(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    job = module.Job(every=0)
    job.step(1)
    job.saved(1)
    assert list(tmp_path.iterdir()) == []


def test_the_training_goes_on_when_nothing_can_be_written(
    module: ModuleType, clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = module.Job(every=0, directory=str(tmp_path))
    (tmp_path / "train.prom").unlink()
    (tmp_path / "train.prom").mkdir()
    for step in range(3):
        clock.now += 1
        job.step(step, loss="no number")
    assert capsys.readouterr().err.count("ultracluster_job: not reported") == 1


def test_a_tensor_is_read_only_when_the_metrics_are_written(module: ModuleType, clock: Clock, tmp_path: Path) -> None:
    reads: list[float] = []

    class Tensor:
        def detach(self) -> "Tensor":
            return self

        def __float__(self) -> float:
            reads.append(1)
            return 2.0

    job = module.Job(every=60)
    for step in range(10):
        job.step(step, loss=Tensor())
        clock.now += 5
    assert reads == []
    clock.now += 15
    job.step(11, loss=Tensor())
    assert (len(reads), samples(tmp_path)["train_loss"]) == (1, 2)


def test_a_pod_serves_its_metrics_and_those_of_the_inspector(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    line = 'nccl_bus_bandwidth_gbs{slurm_job_id="unknown",gpu="GPU0"} 390\n'
    (tmp_path / "nccl_inspector_metrics_GPU-1.prom").write_text(f"# HELP x y\n{line}")
    program = "import sys, ultracluster_job; ultracluster_job.Job().step(7); print(flush=True); sys.stdin.read()"
    pod = subprocess.Popen(
        [sys.executable, "-S", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={"PYTHONPATH": str(PATH.parent), "ULTRACLUSTER_JOB_PORT": str(port), "PYTHONDONTWRITEBYTECODE": "1",
             "NCCL_INSPECTOR_DUMP_DIR": str(tmp_path)},
    )  # fmt: skip
    assert pod.stdout is not None
    pod.stdout.readline()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=180) as answer:
        text = answer.read().decode()
    pod.communicate("", timeout=180)
    assert "train_step 7\n" in text
    assert line in text


class Trainer:
    """State of a trainer, as its callbacks read it."""

    global_step = 0
    num_input_tokens_seen = 0


def test_hugging_faces_trainer_reports(
    module: ModuleType, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The base class has a method for each event, and Trainer calls them with keywords: transformers,
    # src/transformers/trainer_callback.py (read 2026-11-22).
    library: Any = ModuleType("transformers.trainer_callback")
    library.TrainerCallback = type("TrainerCallback", (), {})
    monkeypatch.setitem(sys.modules, "transformers", ModuleType("transformers"))
    monkeypatch.setitem(sys.modules, library.__name__, library)
    callback, state = module.hugging_face(every=0), Trainer()
    assert isinstance(callback, library.TrainerCallback)
    for step in range(1, 4):
        clock.now += 4
        state.global_step, state.num_input_tokens_seen = step, 500 * step
        # DefaultFlowCallback, which is the first of the callbacks, decides before ours.
        control = SimpleNamespace(should_save=step == 3)
        callback.on_step_end(None, state, control, model=None)
        assert samples(tmp_path).get("train_checkpoint_in_progress", 0) == control.should_save
        callback.on_log(None, state, control, logs={"loss": 3.0}, model=None)
    clock.now += 9
    callback.on_save(None, state, control, model=None)
    callback.on_train_end(None, state, control, model=None)
    values = samples(tmp_path)
    assert values["train_finished"] == 1
    assert values["train_checkpoint_in_progress"] == 0
    assert (values["train_step"], values["train_loss"], values["train_checkpoint_seconds"]) == (3, 3, 9)
    assert values["train_tokens_total"] == 1500


@pytest.mark.parametrize("name", ["lightning.pytorch", "pytorch_lightning.callbacks"])
def test_lightning_and_nemo_report(
    name: str, module: ModuleType, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("lightning", "lightning.pytorch", "pytorch_lightning", "pytorch_lightning.callbacks"):
        monkeypatch.setitem(sys.modules, part, None)
    library: Any = ModuleType(name)
    library.Callback = type("Callback", (), {})
    package = name.partition(".")[0]
    monkeypatch.setitem(sys.modules, package, ModuleType(package))
    monkeypatch.setitem(sys.modules, name, library)
    callback, trainer = module.lightning(every=0), Trainer()
    for step in range(1, 4):
        callback.on_train_batch_start(trainer, None, None, step)
        clock.now += 4
        trainer.global_step = step
        callback.on_train_batch_end(trainer, None, {"loss": 2.0}, None, step)
    callback.on_save_checkpoint(trainer, None, {})
    assert samples(tmp_path)["train_checkpoint_in_progress"] == 1
    clock.now += 6
    assert samples(tmp_path)["train_finished"] == 0
    callback.on_train_end(trainer, None)
    values = samples(tmp_path)
    assert values["train_finished"] == 1
    assert values["train_checkpoint_in_progress"] == 0
    assert (values["train_step"], values["train_loss"], values["train_checkpoint_seconds"]) == (3, 2, 6)


def test_lightning_accumulates_gradients_and_repeats_nothing(
    module: ModuleType, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # global_step counts steps of the optimizer: it stays while gradients of several batches are accumulated. Seen with
    # Lightning 2.6.6 (2026-11-24).
    library: Any = ModuleType("lightning.pytorch")
    library.Callback = type("Callback", (), {})
    monkeypatch.setitem(sys.modules, "lightning", ModuleType("lightning"))
    monkeypatch.setitem(sys.modules, library.__name__, library)
    callback, trainer = module.lightning(every=0), Trainer()
    trainer.global_step = 100
    for batch in range(1, 13):
        callback.on_train_batch_start(trainer, None, None, batch)
        clock.now += 3
        trainer.global_step = 100 + batch // 4
        callback.on_train_batch_end(trainer, None, {"loss": 2.0}, None, batch)
    values = samples(tmp_path)
    assert (values["train_step"], values["train_step_seconds"]) == (103, 12)
    assert values["train_productive_seconds_total"] == 33
    assert values['train_lost_seconds_total{cause="repeated"}'] == 0


def test_megatron_reports(module: ModuleType, clock: Clock, tmp_path: Path) -> None:
    # train_step returns the losses first: Megatron-LM, megatron/training/training.py (read 2026-11-22).
    settings: Any = ModuleType("settings")
    settings.iteration, settings.global_batch_size, settings.seq_length = 100, 16, 4096
    training: Any = ModuleType("training")
    training.get_args = lambda: settings

    def train_step(forward: object, *, data: object) -> tuple[dict[str, float], int]:
        clock.now += 3
        return {"lm loss": 1.5}, 0

    def save_checkpoint(*_: object) -> str:
        assert samples(tmp_path)["train_checkpoint_in_progress"] == 1
        clock.now += 8
        return "saved"

    training.train_step, training.save_checkpoint = train_step, save_checkpoint
    module.megatron(training, every=0)
    for _ in range(2):
        assert training.train_step(None, data=None) == ({"lm loss": 1.5}, 0)
    assert training.save_checkpoint(1, 2) == "saved"
    values = samples(tmp_path)
    assert (values["train_step"], values["train_tokens_total"]) == (102, 2 * 16 * 4096)
    assert (values["train_loss"], values["train_checkpoint_seconds"]) == (1.5, 8)
