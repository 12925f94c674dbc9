"""Slurm's accounting for real, on this machine: munge, MariaDB and slurmdbd."""

import getpass
import io
import os
import random
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from support.ports import free_ports, listens_at
from support.waiting import PATIENCE_SECONDS, wait_until

# Files of an empty database, which MariaDB creates in a fifth of a CPU second: once in a process.
_EMPTY: list[bytes] = []


class RealAccounting:
    """A slurmdbd as Debian packages it, in a directory of its own, until the end of a `with`."""

    def __init__(self) -> None:
        self.host = socket.gethostname().split(".")[0]
        self.user = getpass.getuser()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._create_directory()

    def _create_directory(self) -> None:
        # Short, for a socket's path has 107 characters.
        short = tempfile.gettempdir() if len(tempfile.gettempdir()) <= 24 else "/tmp"
        self.directory = Path(tempfile.mkdtemp(prefix="slurm-", dir=short))
        self.munge_socket = self.directory / "munge" / "socket"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH"))},
            "SLURM_CONF": str(self.directory / "slurm.conf"),
            "MYSQL_UNIX_PORT": str(self.directory / "mariadb.socket"),
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        }

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException as error:
            aborted = self._database_aborted()
            self.__exit__()
            if not aborted:
                raise
            # No test is about MariaDB, which a signal of its own ended once on a machine whose disk was slow.
            print(f"MariaDB aborted, and is started once more: {error}")
            self._create_directory()
            try:
                self._start()
            except BaseException:
                self.__exit__()
                raise
        return self

    def _database_aborted(self) -> bool:
        code = self._processes["mariadbd"].poll() if "mariadbd" in self._processes else None
        return code is not None and code < 0

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.kill()
        while left := [pid for pid, text in environments() if str(self.directory) in text]:
            for pid in left:
                kill(pid)
            time.sleep(0.05)
        for process in self._processes.values():
            process.wait()
        self._processes.clear()
        shutil.rmtree(self.directory)

    def run(self, *command: str, **variables: str) -> str:
        """Return the output of a Slurm command.

        Raises:
            AssertionError: When it fails, with what it said.
        """
        environment = {**self.environment, **variables}
        for again in (True, False):
            done = subprocess.run(
                command, env=environment, cwd=self.directory, capture_output=True, text=True, timeout=PATIENCE_SECONDS
            )
            # Slurm prints its errors: a command that printed nothing was ended by something else.
            if done.returncode == 0 or done.stdout or done.stderr or not again:
                break
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}, exit code {done.returncode}"
        return done.stdout.strip()

    def until(self, what: str, result: Callable[[], bool]) -> None:
        """Wait until something is true; a failure says what Slurm shows."""
        # Each look starts programs.
        wait_until(what, result, every=0.3, detail=self.shown)

    def shown(self) -> str:
        """All that may explain a failure."""
        logs = [path for path in (self.directory / "slurmctld.log", *self.directory.glob("*.out")) if path.exists()]
        return "\n".join(f"{path.name}:\n{_tail(path)}" for path in logs)

    def _start(self) -> None:
        (port,) = free_ports(1)
        lines = {
            "ClusterName": "llama",
            "SlurmctldHost": "localhost",
            "SlurmUser": self.user,
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={self.munge_socket}",
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": self.host,
            "AccountingStoragePort": port,
            "AccountingStoragePass": self.munge_socket,
            "NodeName": "n1",
            "PartitionName": "p Nodes=ALL",
        }
        self._write("slurm.conf", lines)
        self._start_accounting(port)
        self.run("sacctmgr", "-i", "add", "cluster", "llama")

    def _write(self, name: str, lines: dict[str, object]) -> None:
        file = self.directory / name
        file.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        file.chmod(0o600)

    def _start_accounting(self, port: int) -> None:
        here = self.directory
        self._start_munge()
        # Nothing waits for the disk: the data are of no use after the test.
        disk = (
            "--innodb-flush-method=nosync",
            "--innodb-log-file-size=4M",
            "--skip-innodb-use-native-aio",
            "--skip-innodb-doublewrite",
        )
        # MariaDB removes at its start all temporary tables of its directory: another server's too, were it shared.
        (here / "temporary").mkdir()
        places = (f"--datadir={here}/mariadb", f"--tmpdir={here}/temporary")
        options = ("--no-defaults", *places, f"--user={self.user}", *disk)
        self._install_database(*options, "--auth-root-authentication-method=normal", "--skip-test-db")
        quick = ("--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M")
        listens = self.environment["MYSQL_UNIX_PORT"]
        self._spawn("mariadbd", "mariadbd", *options, f"--socket={listens}", f"--pid-file={here}/mariadb.pid", *quick)
        self.until("MariaDB listens", Path(listens).exists)
        accounting: dict[str, object] = {
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={self.munge_socket}",
            "DbdHost": self.host,
            "DbdAddr": "127.0.0.1",
            "DbdPort": port,
            "SlurmUser": self.user,
            "StorageType": "accounting_storage/mysql",
            "StorageHost": "localhost",
            "StorageUser": "root",
            "StorageLoc": "slurm",
            "CommitDelay": 1,
            "PidFile": here / "slurmdbd.pid",
            "LogFile": here / "slurmdbd.log",
        }
        self._write("slurmdbd.conf", accounting)
        self._spawn("slurmdbd", "slurmdbd", "-D")
        self.until("slurmdbd listens", lambda: listens_at(port))

    def _install_database(self, *options: str) -> None:
        if _EMPTY:
            with tarfile.open(fileobj=io.BytesIO(_EMPTY[0])) as archive:
                archive.extractall(self.directory, filter="data")
            return
        self.run("mariadb-install-db", *options)
        files = io.BytesIO()
        with tarfile.open(fileobj=files, mode="w") as archive:
            archive.add(self.directory / "mariadb", arcname="mariadb")
        _EMPTY.append(files.getvalue())

    def _start_munge(self) -> None:
        here = self.directory
        (here / "munge").mkdir()
        key = here / "munge.key"
        key.write_bytes(random.randbytes(128))
        key.chmod(0o600)
        files = [f"--{name}-file={here}/munge/{name}" for name in ("pid", "log", "seed")]
        # --force: it warns of directories that others could write to, which /tmp is.
        options = ("--foreground", "--force", f"--key-file={key}", f"--socket={self.munge_socket}", *files)
        self._spawn("munged", "munged", *options)
        self.until("munged listens", self.munge_socket.exists)

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


def environments() -> Iterator[tuple[int, str]]:
    """The processes of this machine that we may look into, with command line and environment."""
    for directory in Path("/proc").iterdir():
        if directory.name.isdecimal() and int(directory.name) != os.getpid():
            try:
                texts = [(directory / name).read_bytes() for name in ("cmdline", "environ")]
            except OSError:
                continue
            yield int(directory.name), "".join(text.decode(errors="replace") for text in texts)


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _tail(path: Path) -> str:
    """The last lines of a log, and those before them that say what went wrong."""
    lines = path.read_text(errors="replace").splitlines()
    wrong = [line for line in lines[:-8] if "[ERROR]" in line or "signal" in line]
    return "\n".join([*wrong[-8:], *lines[-8:]])
