"""Commands of docs/guides/jobs.md run on one machine, one after the other, as the page has them."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import ROOT
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.workloads import slurm_jobs

PAGE = (ROOT / "docs" / "guides" / "jobs.md").read_text()
CONSOLE = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
# A long command goes on in the next line.
LINES = [line for block in CONSOLE for line in block.replace("\\\n", " ").splitlines()]
FILE = """
name: llama
region: us-east-2
zone: use2-az1
orchestrator: {}
nodes:
  train: {{type: p5en.48xlarge, count: 64}}
  serve: {{type: p5en.48xlarge, count: 2}}
storage: {{lustre: {{throughput: 40 GB/s}}}}
"""
ORCHESTRATORS = {
    "slurm": "slurm",
    "kubernetes": 'kubernetes\nkubernetes: {admins: ["arn:aws:iam::123456789012:role/platform"]}',
}


@pytest.mark.parametrize("orchestrator", ORCHESTRATORS)
def test_what_renders_and_plans_runs_in_the_order_of_the_page(
    orchestrator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No command writes over the files of an earlier one, and each file that `kubectl` applies is there."""
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").write_text(FILE.format(ORCHESTRATORS[orchestrator]))
    ran = 0
    for line in LINES:
        command, _, target = line.partition("  #")[0].removeprefix("$ ").partition(" > ")
        program, *words = shlex.split(command)
        if program == "ultracluster" and words[0] in {"render", "plan", "workloads"}:
            # One of the two groups with GPUs.
            if "--workload" in words and "--group" not in words:
                words += ["--group", "train"]
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, f"{line}: {result.stderr}"
            if target:
                Path(target.strip()).write_text(result.stdout)
            ran += 1
        elif command.startswith("kubectl apply --filename") and orchestrator == "kubernetes" and "hyperpod" not in line:
            assert Path(words[-1]).exists(), line
    assert ran > 5


def test_jobs_are_submitted_by_their_path_on_the_cluster() -> None:
    """A relative path is not in `/fsx/$USER`, and the directory of the files is that of root: no log is written."""
    files = {file.path.removeprefix("jobs/") for file in slurm_jobs(clusterfile.loads(FILE.format("slurm"), "x.yaml"))}
    submitted = re.findall(r"\bsbatch (?:--?\S+ )*(\S+\.sbatch)", PAGE)
    assert len(submitted) > 8
    assert {path.removeprefix("/fsx/jobs/current/") for path in submitted} <= files
    assert [path for path in submitted if not path.startswith("/fsx/jobs/current/")] == []
