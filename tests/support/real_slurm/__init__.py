"""A real Slurm on this machine: munge, MariaDB, slurmdbd, slurmctld, and one slurmd for each node of a cluster file."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.node_boot.gpu_node import GpuNode
from support.ports import free_ports
from support.real_slurm.accounting import RealAccounting, environments, kill
from support.real_slurm.configuration import Machine, as_pcs_has_it, on_one_machine
from ultracluster.clusterfile import ClusterFile, NodeGroup

# Slurm runs these on each node: they run the library's own, on the node that is made of files.
_SCRIPT = """\
#!/bin/sh
node={directory}/nodes/$SLURMD_NODENAME
echo "{name} $SLURM_JOB_ID" >>"$node/log"
export PATH="$node/bin" ULTRACLUSTER_ROOT="$node/root" STAND_IN_STATE="$node/state" SLURM_CONF={directory}/slurm.conf
export ULTRACLUSTER_CHECK_LIMIT=300 ULTRACLUSTER_SETTLE=1
exec "$node/root/usr/local/sbin/ultracluster-{name}"
"""
# `timeout --kill-after=5 20 COMMAND` without the time.
_NO_TIMEOUT = """\
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
shift
exec "$@"
"""


class RealSlurm(RealAccounting):
    """Slurm as Debian packages it, in a directory of its own, until the end of a `with`."""

    def __init__(self, cluster: ClusterFile) -> None:
        super().__init__()
        self.cluster = cluster
        self.nodes = [name for group in cluster.node_groups for name in _names(group)]

    def shown(self) -> str:
        """All that may explain a failure."""
        commands = [("sinfo", "--list-reasons"), ("sinfo",), ("squeue", "--long"), ("scontrol", "show", "job")]
        if self._processes["slurmctld"].poll() is not None:
            # Each would wait for the controller for a minute.
            commands.clear()
        shown = [subprocess.run(command, env=self.environment, capture_output=True, text=True) for command in commands]
        return "\n".join([*(item.stdout for item in shown), super().shown()])

    def mend(self, node: str) -> str:
        """All GPUs of a node are there again, and the node passes its check; then what the timer does, three times."""
        here = self.made[node]
        here.gpus()
        result = {"SLURM_CONF": self.environment["SLURM_CONF"]}
        assert here.call("health-check", **result).returncode == 0
        return "".join(here.call("drain-on-failure", **result).stdout for _ in range(3))

    def fail(self, nodes: Sequence[str], reason: str, **variables: str) -> dict[str, int]:
        """A check fails on nodes at the same moment; return the exit codes of what the timer runs."""
        for node in nodes:
            self.made[node].file("/run/ultracluster/health/devices", f"failed: {reason}\n")

        def run(node: str) -> int:
            variables_of_node = {"SLURM_CONF": self.environment["SLURM_CONF"], "ULTRACLUSTER_SETTLE": "3"} | variables
            call = self.made[node].call("drain-on-failure", "--now", "devices", **variables_of_node)
            return call.returncode

        with ThreadPoolExecutor(len(nodes)) as pool:
            return dict(zip(nodes, pool.map(run, nodes), strict=True))

    def reset(self, nodes: Sequence[str]) -> None:
        """An operator has looked: the nodes are in service again, and their drains forgotten."""
        for node in nodes:
            (self.made[node].root / "run/ultracluster/health/devices").unlink()
            self.run("scontrol", "update", f"nodename={node}", "comment=")
        drained = [node for node in nodes if "DRAIN" in self.run("scontrol", "show", "node", node)]
        self.run("scontrol", "update", f"nodename={','.join(drained)}", "state=resume")

    def lose(self, node: str) -> None:
        """Lose an instance: all processes of the node die at once, and Slurm marks it down.

        The controller would see it by itself after SlurmdTimeout; the tests do not wait for that.
        """
        lost = self._processes.pop(node)
        lost.kill()
        lost.wait()
        here = f"SLURMD_NODENAME={node}\0"
        tasks = {pid for pid, text in environments() if here in text and str(self.directory) in text}
        # The parent of a task, or of a job's script, is the process by which slurmd watches it.
        watchers = {pid for pid in map(_parent, tasks) if _name(pid) == "slurmstepd"}
        assert watchers, f"{node} runs no job"
        # The watchers first: one that outlives its task tells the controller that the job has failed.
        for pid in (*watchers, *tasks):
            kill(pid)
        self.run("scontrol", "update", f"nodename={node}", "state=down", "reason=instance lost")

    @contextlib.contextmanager
    def held_script(self, job: str) -> Iterator[None]:
        """Hold the process that watches the script of a job, and passes signals of Slurm on to it."""
        script = f"job{int(job):05}/slurm_script"
        parents = {_parent(pid) for pid, text in environments() if script in text and str(self.directory) in text}
        (watcher,) = (pid for pid in parents if _name(pid) == "slurmstepd")
        os.kill(watcher, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(watcher, signal.SIGCONT)

    @contextlib.contextmanager
    def controller_away(self, job: str) -> Iterator[None]:
        """The controller is killed once it has saved its jobs, of which one changes, and starts again."""
        now, state = time.time(), self.directory / "state/job_state"
        self.run("scontrol", "update", f"jobid={job}", "comment=saved")
        self.until("it has saved its jobs", lambda: state.exists() and state.stat().st_mtime > now)
        process = self._processes.pop("slurmctld")
        process.kill()
        process.wait()
        try:
            yield
        finally:
            self._start_controller()

    def lose_gpus(self, node: str) -> None:
        """The node boots again without its GPUs: Slurm drains it, and its registration is not valid."""
        process = self._processes.pop(node)
        process.kill()
        process.wait()
        file = self.directory / "gres.conf"
        others = ",".join(name for name in self.nodes if name != node)
        file.write_text(f"NodeName={others} Name=gpu File={self.directory}/gpus/nvidia0\n")
        self.bring_back(node)
        self.until(f"{node} lacks GPUs", lambda: "INVALID_REG" in self.run("scontrol", "show", "node", node))

    def bring_back(self, node: str) -> None:
        """The node boots again."""
        self._spawn(node, "slurmd", "-D", "-N", node)

    def start_now(self, job: str) -> None:
        """Start a requeued job, which would wait until the credentials of its last start expire: two minutes.

        The start time is set when the nodes have been cleared, so a time that is set earlier is overwritten.

        See: https://slurm.schedmd.com/slurm.conf.html#OPT_cred_expire (read 2026-11-22)
        """
        self.until(f"job {job} is requeued", lambda: set(self.job(job, "%T %r").splitlines()) == {"PENDING BeginTime"})
        # A node refuses credentials of the second in which the last ones were revoked.
        time.sleep(1.1)
        self.run("scontrol", "update", f"jobid={job}", "starttime=now")

    def job(self, job: str, format: str) -> str:
        """Fields that squeue prints of a job, or nothing if Slurm keeps no record of it."""
        return self.run("squeue", "--noheader", f"--jobs={job}", "--states=all", f"--format={format}")

    def log_of(self, node: str) -> list[str]:
        """Files of prolog and epilog on a node."""
        return (self.directory / "nodes" / node / "log").read_text().splitlines()

    def _start(self) -> None:
        here = self.directory
        here.chmod(0o755)
        for name in ("state", "spool", "log", "gpus"):
            (here / name).mkdir()
        #: The nodes as their scripts see them.
        self.made = {name: self._make(name, group) for group in self.cluster.node_groups for name in _names(group)}
        ports = free_ports(len(self.nodes) + 2)
        self.machine = Machine(
            directory=here,
            host=self.host,
            user=self.user,
            slurmctld_port=ports[0],
            slurmdbd_port=ports[1],
            slurmd_ports=dict(zip(self.nodes, ports[2:], strict=True)),
        )
        self._write_files()
        self._start_accounting(self.machine.slurmdbd_port)
        self._start_controller()
        for node in self.nodes:
            self.bring_back(node)
        self.until("all nodes are idle", lambda: self.states() == {"idle": len(self.nodes)})

    def _start_controller(self) -> None:
        self._spawn("slurmctld", "slurmctld", "-D")
        self.until("slurmctld answers", lambda: self._says_up("slurmctld"))

    def _make(self, name: str, group: NodeGroup) -> GpuNode:
        """The library's checks on a node; its scontrol, sinfo and squeue are real, and ask the real controller.

        So is its stat, which only each prolog runs here.
        """
        efa = sum(item.kind != "interface" for item in group.interfaces)
        created = GpuNode(self.directory / "nodes" / name, name=name, instance_type=group.instance_type, efa=efa)
        created.says("hostname", socket.gethostname())
        (scontrol,) = created.root.glob("opt/**/bin/scontrol")
        scontrol.unlink()
        for program in ("scontrol", "sinfo", "squeue"):
            (scontrol.parent / program).symlink_to(str(shutil.which(program)))
        (created.bin / "stat").unlink()
        (created.bin / "stat").symlink_to(str(shutil.which("stat")))
        # The controller has one machine for all nodes and all checks, and takes longer than a script would wait for it.
        (created.bin / "timeout").unlink()
        (created.bin / "timeout").write_text(_NO_TIMEOUT)
        (created.bin / "timeout").chmod(0o755)
        (self.directory / "nodes" / name / "log").touch()
        return created

    def states(self) -> dict[str, int]:
        """Number of nodes by state."""
        lines = self.run("sinfo", "--noheader", "--format=%T %D").splitlines()
        return {state: int(count) for state, count in (line.split() for line in lines)}

    def _write_files(self) -> None:
        here, machine = self.directory, self.machine
        for name in ("prolog", "epilog"):
            (here / name).write_text(_SCRIPT.format(directory=here, name=name))
            (here / name).chmod(0o755)
        self.pcs_lines = as_pcs_has_it(self.cluster, prolog=here / "prolog", epilog=here / "epilog")
        (here / "slurm.conf").write_text(on_one_machine(self.pcs_lines, machine))
        source, plugin = Path(__file__).parent / "containers.c", here / "containers.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", plugin, source], check=True)
        (here / "plugstack.conf").write_text(f"required {plugin}\n")
        most = max(group.instance_type.gpus for group in self.cluster.node_groups)
        for gpu in range(most):
            # Slurm allocates devices, not plain files: with files, no prolog would get the GPUs of a job.
            (here / "gpus" / f"nvidia{gpu}").symlink_to("/dev/null")
        (here / "gres.conf").write_text(
            "".join(
                f"NodeName={g.name}-[1-{g.count}] Name=gpu File={here}/gpus/nvidia[0-{g.instance_type.gpus - 1}]\n"
                for g in self.cluster.node_groups
                if g.instance_type.gpus
            )
        )

    def _says_up(self, name: str) -> bool:
        process = self._processes[name]
        assert process.poll() is None, f"{name} ended: {self.shown()}"
        done = subprocess.run(["scontrol", "ping"], env=self.environment, capture_output=True, text=True)
        return "is UP" in done.stdout


def _names(group: NodeGroup) -> list[str]:
    return [f"{group.name}-{number}" for number in range(1, group.count + 1)]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return pid


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
