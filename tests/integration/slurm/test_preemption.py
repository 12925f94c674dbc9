"""A job that a queue of a higher priority preempts, on a real Slurm: it writes a checkpoint, and goes on later."""

import pytest

from support.real_slurm import RealSlurm
from ultracluster import clusterfile
from ultracluster.workloads import workload_files

pytestmark = pytest.mark.daemons

CLUSTER = """\
name: preempt
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5.4xlarge, count: 1}
slurm:
  queues:
    cheap: {nodes: [train], preempt: requeue}
    urgent: {nodes: [train], priority: 10}
storage:
  lustre: {throughput: 20 GB/s}
"""
# It ends at its first start when a checkpoint is requested, and at the next one by itself.
PAYLOAD = """\
echo "task start ${SLURM_RESTART_COUNT:-0}"
[ ! -e "$RUN/saved" ] || exit 0
until [ -e "$CHECKPOINT_REQUEST" ]; do sleep 0.2; done
touch "$RUN/saved"
echo saved
"""


def test_a_preempted_job_writes_a_checkpoint_and_is_requeued_once() -> None:
    with RealSlurm(clusterfile.loads(CLUSTER, "cluster.yaml")) as slurm:
        (file,) = workload_files(slurm.cluster, "pretrain", group="cheap")
        (slurm.directory / "pretrain.sbatch").write_text(file.text)
        job = slurm.run("sbatch", "--parsable", "pretrain.sbatch", PAYLOAD=PAYLOAD, RUN=str(slurm.directory / "run"))
        log = slurm.directory / f"pretrain-{job}.out"
        slurm.until("it runs", lambda: log.exists() and "task start 0" in log.read_text())
        # Without --signal, its steps get TERM; a job without steps runs until the end of the grace time.
        urgent = slurm.run("sbatch", "--parsable", "--partition=urgent", "--exclusive", "--wrap=exec sleep 600")
        slurm.until("the other one runs", lambda: slurm.job(urgent, "%T") == "RUNNING")
        assert "saved\n" in log.read_text()
        assert slurm.job(job, "%T %r") == "PENDING BeginTime"
        assert " Restarts=1 " in slurm.run("scontrol", "show", "job", job, "--oneliner")
        slurm.run("scancel", urgent)
        slurm.start_now(job)
        slurm.until("it has ended", lambda: slurm.job(job, "%T") in ("COMPLETED", "FAILED", ""))
        assert slurm.job(job, "%T") == "COMPLETED", slurm.shown()
        assert [line for line in log.read_text().splitlines() if line.startswith("task")] == [
            "task start 0",
            "task start 1",
        ]
