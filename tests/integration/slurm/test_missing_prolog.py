"""Nodes whose boot script could not be downloaded, on a real Slurm."""

import pytest

from support import ROOT
from support.real_slurm import RealSlurm
from ultracluster import clusterfile

pytestmark = pytest.mark.daemons


def test_slurm_drains_a_node_without_a_prolog_and_runs_no_job_on_it() -> None:
    """The prolog is a file of the boot script: PCS continues without it, see decision 14."""
    cluster = clusterfile.load(str(ROOT / "examples" / "slurm-minimal.yaml"))
    with RealSlurm(cluster) as slurm:
        ran, partition = slurm.directory / "ran", f"--partition={cluster.queues[0].name}"
        (slurm.directory / "prolog").unlink()
        job = slurm.run("sbatch", "--parsable", partition, "--nodes=1", f"--wrap=echo >{ran}")
        slurm.until("its node is drained", lambda: "drained" in slurm.states())
        waits = ("squeue", "--noheader", "--format=%T", f"--jobs={job}")
        slurm.until("the job waits for another node", lambda: slurm.run(*waits) == "PENDING")
        assert not ran.exists()
