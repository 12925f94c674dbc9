"""A real Slurm on this machine: munge, MariaDB, slurmdbd, slurmctld, and one slurmd for each node of a cluster file."""

import getpass
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from node_boot.gpu_node import GpuNode

from real_slurm.configuration import Machine, as_pcs_has_it, on_one_machine
from ultracluster.clusterfile import ClusterFile, NodeGroup

# What a machine with two cores and other work on them needs at most for anything that is waited for.
PATIENCE_SECONDS = 150
# Below those that the kernel hands out.
_PORTS = range(20_000, 32_000)

# Slurm runs these on each node: they run the library's own, on the node that is made of files.
_SCRIPT = """\
#!/bin/sh
node={directory}/nodes/$SLURMD_NODENAME
echo "{name} $SLURM_JOB_ID" >>"$node/log"
export PATH="$node/bin" ULTRACLUSTER_ROOT="$node/root" STAND_IN_STATE="$node/state" SLURM_CONF={directory}/slurm.conf
exec "$node/root/usr/local/sbin/ultracluster-{name}"
"""


class RealSlurm:
    """Slurm as Debian packages it, in a directory of its own, until the end of a `with`."""

    def __init__(self, cluster: ClusterFile) -> None:
        self.cluster = cluster
        self.nodes = [name for group in cluster.node_groups for name in _names(group)]
        # Short, for a socket's path has 107 characters.
        self.directory = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH"))},
            "SLURM_CONF": str(self.directory / "slurm.conf"),
            "MYSQL_UNIX_PORT": str(self.directory / "mariadb.socket"),
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        }

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.kill()
        while left := [pid for pid, text in _environments() if str(self.directory) in text]:
            for pid in left:
                _kill(pid)
            time.sleep(0.05)
        for process in self._processes.values():
            process.wait()
        shutil.rmtree(self.directory)

    def run(self, *command: str, **variables: str) -> str:
        """What a command of Slurm's prints.

        Raises:
            AssertionError: When it fails, with what it said.
        """
        environment = {**self.environment, **variables}
        done = subprocess.run(command, env=environment, cwd=self.directory, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def until(self, what: str, found: Callable[[], bool]) -> None:
        """Wait until something is true.

        Raises:
            AssertionError: When it is not within the patience, with what Slurm shows.
        """
        end = time.monotonic() + PATIENCE_SECONDS
        while not found():
            assert time.monotonic() < end, f"not within {PATIENCE_SECONDS} s: {what}\n{self.shown()}"
            time.sleep(0.1)

    def shown(self) -> str:
        """All that may explain a failure."""
        commands = (("sinfo", "--list-reasons"), ("sinfo",), ("squeue", "--long"), ("scontrol", "show", "job"))
        shown = [subprocess.run(command, env=self.environment, capture_output=True, text=True) for command in commands]
        logs = [path for path in (self.directory / "slurmctld.log", *self.directory.glob("*.out")) if path.exists()]
        return "\n".join([*(one.stdout for one in shown), *(f"{path.name}:\n{_tail(path)}" for path in logs)])

    def mend(self, node: str) -> str:
        """All GPUs of a node are there again, and it is checked as docs/health.md says; then what the timer does."""
        here = self.made[node]
        here.gpus()
        found = {"SLURM_CONF": self.environment["SLURM_CONF"]}
        assert here.call("health-check", **found).returncode == 0
        return here.call("drain-on-failure", **found).stdout

    def lose(self, node: str) -> None:
        """What the loss of an instance is to Slurm: all processes of the node die at once, and it is seen to be down.

        The controller would see it by itself after SlurmdTimeout; the tests do not wait for that.
        """
        lost = self._processes.pop(node)
        lost.kill()
        lost.wait()
        here = f"SLURMD_NODENAME={node}\0"
        tasks = {pid for pid, text in _environments() if here in text and str(self.directory) in text}
        # The parent of a task, or of a job's script, is the process by which slurmd watches it.
        watchers = {pid for pid in map(_parent, tasks) if _name(pid) == "slurmstepd"}
        assert watchers, f"{node} runs no job"
        for pid in watchers | tasks:
            _kill(pid)
        self.run("scontrol", "update", f"nodename={node}", "state=down", "reason=instance lost")

    def bring_back(self, node: str) -> None:
        """The node boots again."""
        self._spawn(node, "slurmd", "-D", "-N", node)

    def log_of(self, node: str) -> list[str]:
        """What prolog and epilog left on a node."""
        return (self.directory / "nodes" / node / "log").read_text().splitlines()

    def _start(self) -> None:
        here = self.directory
        here.chmod(0o755)
        for name in ("munge", "state", "spool", "log", "gpus"):
            (here / name).mkdir()
        #: The nodes as their scripts see them.
        self.made = {name: self._make(name, group) for group in self.cluster.node_groups for name in _names(group)}
        ports = _free_ports(len(self.nodes) + 2)
        self.machine = Machine(
            directory=here,
            host=socket.gethostname().split(".")[0],
            user=getpass.getuser(),
            slurmctld_port=ports[0],
            slurmdbd_port=ports[1],
            slurmd_ports=dict(zip(self.nodes, ports[2:], strict=True)),
        )
        self._write_files()
        self._start_munge()
        self._start_accounting()
        self._spawn("slurmctld", "slurmctld", "-D")
        self.until("slurmctld answers", lambda: self._says_up("slurmctld"))
        for node in self.nodes:
            self.bring_back(node)
        self.until("all nodes are idle", lambda: self.states() == {"idle": len(self.nodes)})

    def _make(self, name: str, group: NodeGroup) -> GpuNode:
        """The library's checks on a node; its scontrol is the real one, which asks the real controller."""
        efa = sum(one.kind != "interface" for one in group.interfaces)
        made = GpuNode(self.directory / "nodes" / name, name=name, instance_type=group.instance_type, efa=efa)
        made.says("hostname", socket.gethostname())
        (scontrol,) = made.root.glob("opt/**/bin/scontrol")
        scontrol.unlink()
        scontrol.symlink_to(str(shutil.which("scontrol")))
        (self.directory / "nodes" / name / "log").touch()
        return made

    def states(self) -> dict[str, int]:
        """How many nodes are in each state."""
        lines = self.run("sinfo", "--noheader", "--format=%T %D").splitlines()
        return {state: int(count) for state, count in (line.split() for line in lines)}

    def _write_files(self) -> None:
        here, machine = self.directory, self.machine
        for name in ("prolog", "epilog"):
            (here / name).write_text(_SCRIPT.format(directory=here, name=name))
            (here / name).chmod(0o755)
        self.pcs_lines = as_pcs_has_it(self.cluster, prolog=here / "prolog", epilog=here / "epilog")
        (here / "slurm.conf").write_text(on_one_machine(self.pcs_lines, machine))
        most = max(group.instance_type.gpus for group in self.cluster.node_groups)
        for gpu in range(most):
            (here / "gpus" / f"nvidia{gpu}").touch()
        (here / "gres.conf").write_text(
            "".join(
                f"NodeName={g.name}-[1-{g.count}] Name=gpu File={here}/gpus/nvidia[0-{g.instance_type.gpus - 1}]\n"
                for g in self.cluster.node_groups
                if g.instance_type.gpus
            )
        )
        accounting = {
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={machine.munge_socket}",
            "DbdHost": machine.host,
            "DbdAddr": "127.0.0.1",
            "DbdPort": machine.slurmdbd_port,
            "SlurmUser": machine.user,
            "StorageType": "accounting_storage/mysql",
            "StorageHost": "localhost",
            "StorageUser": "root",
            "StorageLoc": "slurm",
            "CommitDelay": 1,
            "PidFile": here / "slurmdbd.pid",
            "LogFile": here / "slurmdbd.log",
        }
        file = here / "slurmdbd.conf"
        file.write_text("".join(f"{name}={value}\n" for name, value in accounting.items()))
        file.chmod(0o600)

    def _start_munge(self) -> None:
        here, machine = self.directory, self.machine
        key = here / "munge.key"
        key.write_bytes(random.randbytes(128))
        key.chmod(0o600)
        files = [f"--{name}-file={here}/munge/{name}" for name in ("pid", "log", "seed")]
        # --force: it warns of directories that others could write to, which /tmp is.
        options = ("--foreground", "--force", f"--key-file={key}", f"--socket={machine.munge_socket}", *files)
        self._spawn("munged", "munged", *options)
        self.until("munged listens", machine.munge_socket.exists)

    def _start_accounting(self) -> None:
        here, machine = self.directory, self.machine
        options = ("--no-defaults", f"--datadir={here}/mariadb", f"--user={machine.user}")
        self.run("mariadb-install-db", *options, "--auth-root-authentication-method=normal", "--skip-test-db")
        quick = ("--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M")
        listens = self.environment["MYSQL_UNIX_PORT"]
        self._spawn("mariadbd", "mariadbd", *options, f"--socket={listens}", f"--pid-file={here}/mariadb.pid", *quick)
        self.until("MariaDB listens", Path(listens).exists)
        self._spawn("slurmdbd", "slurmdbd", "-D")
        self.until("slurmdbd listens", lambda: _listens(machine.slurmdbd_port))

    def _says_up(self, name: str) -> bool:
        process = self._processes[name]
        assert process.poll() is None, f"{name} ended: {self.shown()}"
        done = subprocess.run(["scontrol", "ping"], env=self.environment, capture_output=True, text=True)
        return "is UP" in done.stdout

    def _spawn(self, name: str, *command: str) -> None:
        with (self.directory / f"{command[0]}.out").open("ab") as log:
            # Should this process be killed, none of them stays.
            self._processes[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def _names(group: NodeGroup) -> list[str]:
    return [f"{group.name}-{number}" for number in range(1, group.count + 1)]


def _free_ports(count: int) -> list[int]:
    """Neighbouring ports that nothing listens on."""
    while True:
        first = random.choice(_PORTS[:-count])
        ports = list(range(first, first + count))
        if not any(_listens(port) for port in ports):
            return ports


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _environments() -> Iterator[tuple[int, str]]:
    """The processes of this machine that we may look into, with command line and environment."""
    for directory in Path("/proc").iterdir():
        if directory.name.isdecimal() and int(directory.name) != os.getpid():
            try:
                texts = [(directory / name).read_bytes() for name in ("cmdline", "environ")]
            except OSError:
                continue
            yield int(directory.name), "".join(text.decode(errors="replace") for text in texts)


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


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _tail(path: Path) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-8:])
