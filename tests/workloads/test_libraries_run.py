"""Accelerate and Lightning on a CPU, from PyPI, through the launcher of job files; Trainer: test_programs_run.py."""

import subprocess
from pathlib import Path

import pytest

from support import ROOT
from support.training import BIN, ENVIRONMENT

RUN = ROOT / "constructs/ultracluster/boot/scripts/ultracluster_run.py"
ACCELERATE = """
import torch
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(4, 1)
model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=0.1))
for step in range(6):
    loss = model(torch.ones(8, 4)).square().mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
accelerator.save_state("run/step-6")
"""
LIGHTNING = """
import lightning, torch
class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch):
        return self.layer(batch).square().mean()
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.1)
options = dict(accelerator="cpu", max_steps=6, logger=False, enable_progress_bar=False, enable_model_summary=False)
data = torch.utils.data.DataLoader(torch.ones(64, 4), batch_size=8)
lightning.Trainer(default_root_dir="run", **options).fit(Module(), data)
"""


@pytest.mark.parametrize(
    ("program", "warm", "reported"),
    [
        # Neither a loss nor tokens: the launcher observes the optimizer, which is imported after it.
        (ACCELERATE, False, set()),
        (LIGHTNING, True, {"train_loss", "train_checkpoint_seconds"}),
    ],
    ids=["accelerate", "lightning"],
)
def test_a_library_reports_without_a_change_of_the_program(
    tmp_path: Path, torch: Path, program: str, warm: bool, reported: set[str]
) -> None:
    (tmp_path / "train.py").write_text(program)
    (tmp_path / "metrics").mkdir()
    (tmp_path / "run").mkdir()
    variables = {
        **ENVIRONMENT,
        "ULTRACLUSTER_JOB_METRICS": str(tmp_path / "metrics"),
        "ULTRACLUSTER_CHECKPOINTS": str(tmp_path / "run"),
        "ULTRACLUSTER_GPU_FLOPS": "1e12",
        "HF_HUB_OFFLINE": "1",
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }
    command = [str(torch if warm else BIN / "python"), "-W", "ignore", str(RUN), "train.py"]
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert (done.returncode, "not reported" in done.stderr) == (0, False), done.stderr
    lines = [line for line in (tmp_path / "metrics/train.prom").read_text().splitlines() if line[0] != "#"]
    metrics = {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}
    assert metrics["train_step"] == 6
    assert metrics["train_step_seconds"] > 0
    for name in ("train_loss", "train_mfu_ratio", "train_checkpoint_seconds"):
        assert (name in metrics) == (name in reported), name
    if "train_checkpoint_seconds" in reported:
        assert metrics["train_last_checkpoint_timestamp_seconds"] > 1e9
