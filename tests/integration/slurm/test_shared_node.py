"""Jobs that share a node, on a real Slurm: metrics know which of them has which GPU."""

import getpass

import pytest

from support import ROOT
from support.real_slurm import RealSlurm
from ultracluster import clusterfile
from ultracluster.boot.scripts.ultracluster_job_output import new_lines

pytestmark = pytest.mark.daemons

METRICS = "/var/lib/node_exporter/textfile_collector/ultracluster_node.prom"


def test_the_collector_reports_the_gpus_of_each_slurm_job() -> None:
    cluster = clusterfile.load(str(ROOT / "examples" / "slurm-minimal.yaml"))
    with RealSlurm(cluster) as slurm:
        name = slurm.nodes[0]

        def submit(*options: str, script: str = "exec sleep 600") -> str:
            where = ("--parsable", f"--partition={cluster.queues[0].name}", f"--nodelist={name}")
            return slurm.run("sbatch", *where, *options, f"--wrap={script}")

        def recorded() -> list[str]:
            collector = slurm.made[name].run("node-metrics", "--gpus", "8", "--efa", "16", "--counters", "")
            assert collector.returncode == 0, collector.stderr
            lines = slurm.made[name].read(METRICS).splitlines()
            return [line.split("{")[1] for line in lines if line.startswith("ultracluster_gpu_job{")]

        def of(job: str, gpus: range) -> list[str]:
            return [f'gpu="{gpu}",job_id="{job}"}} 1' for gpu in gpus]

        # The first job on the node, which requested no GPU, has none for that.
        plain = submit("--mem=1G")
        slurm.until("it runs", lambda: f"prolog {plain}" in slurm.log_of(name))
        two = submit("--mem=1G", "--gpus=2")
        three = submit("--mem=1G", "--gres=gpu:3")
        slurm.until("both have theirs", lambda: recorded() == [*of(two, range(2)), *of(three, range(2, 5))])
        slurm.run("scancel", two)
        slurm.until("one has ended", lambda: recorded() == of(three, range(2, 5)))
        slurm.run("scancel", plain, three)
        slurm.until("all have ended", lambda: recorded() == [])
        alone = submit("--exclusive", "--mem=0", script="echo step 1; echo Traceback >&2; exec sleep 600")
        slurm.until("the node is its own", lambda: recorded() == of(alone, range(8)))
        # Its directory for metrics, and the fields that login nodes ask for.
        directories = slurm.made[name].root / "var/lib/ultracluster/job-metrics"
        assert [(path.name, path.owner()) for path in directories.iterdir()] == [(alone, getpass.getuser())]
        # Its output, which it does not name.
        root = str(slurm.made[name].root)
        printed = [(alone, f"slurm-{alone}.out", line) for line in ("step 1", "Traceback")]
        slurm.until("what it prints is read", lambda: list(new_lines(root, {})) == printed)
        slurm.run("scancel", alone)
        errors = slurm.directory / "errors"
        apart = submit("--exclusive", "--mem=0", f"--error={errors}", script="echo 1; echo 2 >&2; exec sleep 600")
        printed = [(apart, f"slurm-{apart}.out", "1"), (apart, "errors", "2")]
        slurm.until("errors are read too", lambda: list(new_lines(root, {})) == printed)
        alone = apart
        (directories / alone / "output").touch()
        assert list(new_lines(root, {})) == []
        # As a login node has it: squeue is beside the slurmd that runs, and not on the path.
        arguments = ("--gpus", "8", "--efa", "16", "--counters", "", "--queue", "yes")
        done = slurm.made[name].run("node-metrics", *arguments, SLURM_CONF=slurm.environment["SLURM_CONF"])
        assert done.returncode == 0, done.stderr
        account = slurm.run("squeue", "--noheader", f"--jobs={alone}", "--Format=Account").strip()
        labels = f'job_id="{alone}",user="{getpass.getuser()}",account="{account}",partition="{cluster.queues[0].name}"'
        assert f'ultracluster_slurm_job_info{{{labels},name="wrap"}} 1\n' in slurm.made[name].read(METRICS)
        # Beside the other node, which is idle, a job that its queue does not allow, and one that waits for its time.
        slurm.run("scontrol", "update", f"partitionname={cluster.queues[0].name}", "maxtime=10")
        for option in ("--time=60", "--begin=now+1hour"):
            slurm.run("sbatch", "--output=/dev/null", "--mem=1G", "--time=5", option, "--wrap=sleep 1")

        def blocked() -> list[str]:
            done = slurm.made[name].run("node-metrics", *arguments, SLURM_CONF=slurm.environment["SLURM_CONF"])
            assert done.returncode == 0, done.stderr
            lines = slurm.made[name].read(METRICS).splitlines()
            return [line for line in lines if line.startswith("ultracluster_blocked_jobs{")]

        slurm.until("one is blocked", lambda: blocked() == ['ultracluster_blocked_jobs{reason="PartitionTimeLimit"} 1'])
