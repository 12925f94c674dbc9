"""The directory of a job on the local disks, on a real Slurm."""

import os
from pathlib import Path

import pytest

from support import ROOT
from support.node_boot.gpu_node import GpuNode
from support.real_slurm import RealSlurm
from ultracluster import clusterfile
from ultracluster.boot import LocalScratch

pytestmark = pytest.mark.daemons


def with_disks(node: GpuNode) -> Path:
    """Create the volume of a node, with a deletion that waits for the test."""
    for file in LocalScratch().for_jobs().files:
        node.file(file.path, file.text).chmod(int(file.mode, 8))
    node.file("/run/ultracluster/health/local-scratch", "ok\n")
    waits = "while [[ $* == *.removed* && ! -e $STAND_IN_STATE/go ]]; do sleep 0.1; done"
    (node.bin / "rm").unlink()
    (node.bin / "rm").write_text(f'#!/bin/bash\n{waits}\nexec /bin/rm "$@"\n')
    (node.bin / "rm").chmod(0o755)
    scratch = node.root / "scratch"
    scratch.mkdir()
    scratch.chmod(0o1777)
    return scratch


def test_slurm_neither_waits_for_the_deletion_nor_ends_it() -> None:
    cluster = clusterfile.load(str(ROOT / "examples" / "slurm-minimal.yaml"))
    with RealSlurm(cluster) as slurm:
        name = slurm.nodes[0]
        node, ran = slurm.made[name], slurm.directory / "ran"
        scratch = with_disks(node)
        where = ("sbatch", "--parsable", f"--partition={cluster.queues[0].name}", "--nodes=1", f"--nodelist={name}")
        wrap = f"cd {scratch}/$SLURM_JOB_ID && touch shard && stat -c '%a %u' . >{ran}"
        job = slurm.run(*where, f"--wrap={wrap}")
        slurm.until("the job has ended on its node", lambda: slurm.job(job, "%T") in ("COMPLETED", "FAILED", ""))
        slurm.until("the node is free", lambda: slurm.run("sinfo", "-hN", f"--nodes={name}", "-o%T") == "idle")
        assert ran.read_text() == f"700 {os.getuid()}\n"
        assert not (scratch / job).exists()
        assert list(scratch.glob(".removed-*/job/shard"))
        node.says("go")
        slurm.until("its files are deleted", lambda: not list(scratch.iterdir()))
