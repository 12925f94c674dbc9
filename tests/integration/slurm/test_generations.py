"""A real Slurm takes the job files of all workloads on each generation of GPUs, as the table of the docs says."""

from pathlib import Path

import pytest

from support.generations import ON_SLURM, cluster, support
from support.real_slurm import RealSlurm
from ultracluster.workloads import WORKLOADS

pytestmark = pytest.mark.daemons


def test_slurm_accepts_the_files_of_each_generation_of_gpus(tmp_path: Path) -> None:
    with RealSlurm(cluster("slurm", *ON_SLURM)) as slurm:
        taken = []
        for row in WORKLOADS.values():
            for generation in ON_SLURM:
                status, files = support(row, "slurm", generation)
                for file in files if status == "accepted" else ():
                    (tmp_path / "job").write_text(file.text)
                    slurm.run("sbatch", "--test-only", str(tmp_path / "job"), "x")
                    taken.append(file.path)
        (tmp_path / "job").write_text("#!/bin/sh\n#SBATCH --nodes=5 --partition=h200\n")
        with pytest.raises(Exception, match="sbatch"):
            slurm.run("sbatch", "--test-only", str(tmp_path / "job"))
    assert len(taken) == len(set(taken)) == 12 * len(ON_SLURM)
