"""Users of all nodes, with constant UIDs."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ultracluster.boot._node_files import (
    PROGRAM,
    NodeBoot,
    NodeFile,
    oneshot,
    program,
    slurmd_drop_in,
    timer,
    unit_file,
)
from ultracluster.planning import check_fields
from ultracluster.rules import Refusal, shared

#: The unit that makes the users.
USERS_UNIT = "ultracluster-users.service"
# From 60,001 on numbers are systemd's, and images hand theirs out from 1,000 on: https://systemd.io/UIDS-GIDS/ (read
# 2026-11-21). The group of a user has the same number.
UIDS = range(2_000, 60_000)
_USER = shared("slurm-user")
#: As `useradd` of Debian takes it, without capitals.
USER_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)
# Directories of the cluster where users have theirs: job files, and images of containers.
_SHARED_DIRECTORIES = ("containers", "jobs")
#: These, users and groups of images, Slurm and Systems Manager, and a name that sudo would take for a group's. A user
#: has a group of the same name. The groups are those of Debian's base-passwd 3.6, and of systemd and services of Ubuntu
#: Server 22.04 and 24.04 (read 2026-11-27).
RESERVED_USERS = (
    *("root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "backup"),
    *("list", "irc", "nobody", "admin", "sudo", "adm", "docker", "ubuntu", "ec2-user", "ssm-user", "slurm"),
    *("munge", "sshd", "www-data", "systemd-network", "nvidia-persistenced", "ultracluster-images"),
    *("tty", "disk", "kmem", "dialout", "fax", "voice", "cdrom", "floppy", "tape", "audio", "dip", "operator", "src"),
    *("shadow", "utmp", "video", "sasl", "plugdev", "staff", "users", "nogroup"),
    *("input", "sgx", "kvm", "render", "lxd", "netdev", "crontab", "syslog", "messagebus", "systemd-journal"),
    *("systemd-timesync", "systemd-resolve", "uuidd", "tcpdump", "tss", "landscape", "fwupd-refresh", "polkitd"),
    *("ssl-cert", "rdma"),
    *_SHARED_DIRECTORIES,
)
# https://man.openbsd.org/sshd#AUTHORIZED_KEYS_FILE_FORMAT (read 2026-11-21); DSA is gone from OpenSSH. The bar parts
# fields of the record, so that no comment has one.
SSH_KEY = (
    r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com"
    r"|sk-ecdsa-sha2-nistp256@openssh\.com) AAAA[A-Za-z0-9+/]{16,2000}={0,2}( [\w.@+:-]{1,80})?"
)
# A standard parameter: https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
# (read 2026-11-21)
_LONGEST = 4_096


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A user of the cluster.

    Args:
        name: Name on every node, and in Slurm.
        uid: UID on every node, and GID of a group of the same name. Never reuse it: files keep it.
        ssh_keys: Public keys for the login nodes. By default, none; Session Manager is enough.

    Raises:
        ValueError: If a value is not valid on a node.
    """

    name: str
    uid: int
    ssh_keys: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Validate all values."""
        check_fields(self)
        problems = check_user_name(self.name)
        if self.uid not in UIDS:
            problems.append(f"uid must be {UIDS.start} to {UIDS.stop - 1}, got {self.uid}")
        problems += [
            f"ssh_keys must hold public keys, got {key[:40]!r}"
            for key in self.ssh_keys
            if not re.fullmatch(SSH_KEY, key, re.ASCII)
        ]
        if not problems and len(self.record) > _LONGEST:
            problems.append(f"the keys of {self.name} have more than 4,096 characters together; give fewer")
        if problems:
            raise Refusal("", map(_USER, problems))

    @property
    def record(self) -> str:
        """Record that a node reads: `NAME UID|KEY|KEY`, on one line."""
        return "|".join([f"{self.name} {self.uid}", *self.ssh_keys])


def check_user_name(name: str) -> list[str]:
    """Return the errors of a user name; empty if it is valid."""
    if not USER_NAME.fullmatch(name):
        return [
            "a user's name has 1 to 32 lower-case letters, digits, hyphens and underscores and begins with a letter, "
            f"got {name!r}"
        ]
    if name in _SHARED_DIRECTORIES:
        return [f"{name} is a directory of the cluster, beside those of users; choose another name"]
    return (
        [f"{name} is a user or a group of the image or of a service; choose another name"]
        if name in RESERVED_USERS
        else []
    )


def users_path(cluster: str) -> str:
    """Return the Parameter Store path of a cluster's user records."""
    return f"/ultracluster/{cluster}/users"


def user_lists(users: Iterable[User]) -> list[str]:
    """Return the values of as few parameters as hold the records of all users, one on each line.

    A request returns at most ten parameters, and all nodes of an account share 40 requests a second; so a user has no
    parameter of their own.
    """
    lists: list[str] = []
    for record in (user.record for user in users):
        if lists and len(lists[-1]) + 1 + len(record) <= _LONGEST:
            lists[-1] += f"\n{record}"
        else:
            lists.append(record)
    return lists


def users_boot(*, cluster: str, region: str, homes: str, shared: str | None = None) -> NodeBoot:
    """Return the files and units that create the users before Slurm starts, and apply changes within 15 minutes.

    Args:
        cluster: Name of the cluster.
        region: Region of its Parameter Store.
        homes: Directory of the homes: the mount of the shared file system, or `/home`.
        shared: Mount of the file system on which root creates a directory for each user. By default, none.
    """
    directories = [
        program("user-directories", comments=False, in_place=True),
        NodeFile(path="/etc/ultracluster/shared", text=f"{shared}\n", in_place=True),
    ]
    command = f"ExecStart={PROGRAM}users --path {users_path(cluster)} --region {region} --homes {homes}"
    service = oneshot(
        "Users of the cluster",
        unit=("Wants=network-online.target", "After=network-online.target remote-fs.target"),
        # Five requests of a minute, and pauses of up to 100 s.
        service=(command, "TimeoutStartSec=10min"),
    )
    return NodeBoot(
        files=(
            program("users", comments=False, in_place=True),
            program("container-homes", comments=False, in_place=True),
            *(directories if shared else ()),
            unit_file(USERS_UNIT, service),
            unit_file("ultracluster-users.timer", _TIMER),
            *slurmd_drop_in("ultracluster-users", f"[Unit]\nWants={USERS_UNIT}\nAfter={USERS_UNIT}\n"),
        ),
        units=(USERS_UNIT, "ultracluster-users.timer"),
    )


# Nodes send requests at different times: the Parameter Store answers 40 requests a second.
# https://docs.aws.amazon.com/general/latest/gr/ssm.html (read 2026-11-21)
_TIMER = timer(
    "Users of the cluster, every ten minutes", "OnActiveSec=10min", "OnUnitInactiveSec=10min", "RandomizedDelaySec=5min"
)
