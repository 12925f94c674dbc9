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
from ultracluster.planning.nodes import SSH_KEY, UIDS, check_user_name
from ultracluster.rules import Refusal, shared

#: The unit that makes the users.
USERS_UNIT = "ultracluster-users.service"
_USER = shared("slurm-user")
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
