"""A real slurmdbd with a real database, for the tests of accounts."""

import getpass
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PORT, _DATABASE_PORT = 26819, 23306
_SQL = "create user slurm@127.0.0.1 identified by 'x'; grant all on *.* to slurm@127.0.0.1;"


@contextmanager
def slurmdbd(room: Path) -> Iterator[dict[str, str]]:
    """The environment in which `sacctmgr` asks a slurmdbd that lives in a directory, as long as it is needed."""
    me = getpass.getuser()
    run = room / "run"
    run.mkdir()
    key = room / "key"
    key.write_bytes(b"k" * 128)
    key.chmod(0o400)
    socket = run / "munge"
    _write(
        room / "slurmdbd.conf",
        f"AuthType=auth/munge\nAuthInfo=socket={socket}\nDbdHost=localhost\nDbdPort={_PORT}\nSlurmUser={me}\n"
        f"StorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\nStoragePort={_DATABASE_PORT}\n"
        f"StorageUser=slurm\nStoragePass=x\nStorageLoc=acct\nPidFile={run}/dbd.pid\nLogFile={room}/dbd.log\n",
    )
    _write(
        room / "slurm.conf",
        f"ClusterName=llama\nSlurmctldHost=localhost\nSlurmUser={me}\nAuthType=auth/munge\n"
        f"AuthInfo=socket={socket}\nAccountingStorageType=accounting_storage/slurmdbd\n"
        f"AccountingStorageHost=localhost\nAccountingStoragePort={_PORT}\nAccountingStoragePass={socket}\n"
        "NodeName=n1\nPartitionName=p Nodes=ALL\n",
    )
    environment = {**os.environ, "SLURM_CONF": str(room / "slurm.conf")}
    started: list[subprocess.Popen[bytes]] = []
    try:
        data = room / "db"
        data.mkdir()
        common = ["--no-defaults", f"--datadir={data}", f"--user={me}"]
        subprocess.run(
            ["mariadb-install-db", *common, "--auth-root-authentication-method=normal", "--skip-test-db"],
            check=True,
            capture_output=True,
        )
        database = ["mariadbd", *common, f"--socket={run}/sql", f"--port={_DATABASE_PORT}", "--bind-address=127.0.0.1"]
        started.append(_start(database, environment, room / "mariadb.out"))
        _until(["mariadb", "--no-defaults", "-S", f"{run}/sql", "-u", "root", "-e", _SQL], environment)
        munge = [f"--key-file={key}", f"--socket={socket}", f"--pid-file={run}/munge.pid"]
        munge += [f"--log-file={room}/munge.log", f"--seed-file={room}/seed", "--force", "--foreground"]
        started.append(_start(["munged", *munge], environment, room / "munged.out"))
        started.append(_start(["slurmdbd", "-D"], environment, room / "slurmdbd.out"))
        _until(["sacctmgr", "-i", "add", "cluster", "llama"], environment)
        yield environment
    finally:
        for process in reversed(started):
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)


def _start(command: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        # Should this process be killed, none of them stays.
        command = ["setpriv", "--pdeathsig", "KILL", *command]
        return subprocess.Popen(command, env=environment, stdout=out, stderr=out)


# A database is up in two seconds, and in a minute on a machine that does much else.
_PATIENCE_S = 120


def _until(command: list[str], environment: dict[str, str]) -> None:
    """Run a command until it works."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        found = subprocess.run(command, env=environment, capture_output=True, timeout=30)
        if found.returncode == 0:
            return
        time.sleep(0.25)
    raise AssertionError(found.stderr.decode())
