"""Accounts, QoS and users of Slurm as data, and the script that brings a cluster to them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ultracluster import scripts
from ultracluster.planning.node_files import without_comments

#: A name of an account or a QoS: Slurm keeps them in lower case.
ACCOUNT = re.compile(r"[a-z][a-z0-9_-]{0,39}", re.ASCII)
#: A value of an option of sacctmgr that needs no quotes in a shell.
OPTION = re.compile(r"[\w.,:/=+-]{1,200}", re.ASCII)
#: A document has 64 KB: https://docs.aws.amazon.com/general/latest/gr/ssm.html (read 2026-11-21); a quarter is for
#: quotes and commas.
LONGEST_SCRIPT_BYTES = 48 * 1024
_ROOT = "root"
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmQos:
    """A quality of service.

    Args:
        name: Its name.
        priority: What it adds to the priority of a job. Default: 0.
        options: More options of sacctmgr, such as `{"MaxTRESPerUser": "gres/gpu=64"}`.
    """

    name: str
    priority: int = 0
    options: Mapping[str, str] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmAccount:
    """An account: who shares a part of the cluster.

    Args:
        name: Its name.
        parent: The account that it is a part of. Default: the whole cluster.
        fairshare: Its shares beside those of the others with its parent. Default: 1.
        qos: QoS that its jobs may ask for; the first is what they get. Default: that of its parent.
        options: More options of sacctmgr, such as `{"GrpTRES": "gres/gpu=256"}`.
    """

    name: str
    parent: str = _ROOT
    fairshare: int = 1
    qos: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmUser:
    """A user of Slurm.

    Args:
        name: The name on the nodes.
        accounts: Those that the user's jobs may be for; the first is what they get.
        admin: Whether the user may do everything with Slurm. Default: no.
    """

    name: str
    accounts: Sequence[str]
    admin: bool = False


def check_accounts(accounts: Sequence[SlurmAccount]) -> dict[str, str]:
    """What is wrong with the tree of accounts, by the account's name; empty when nothing is."""
    parents = {account.name: account.parent for account in accounts}
    problems = {}
    for account in accounts:
        seen = [account.name]
        while (above := parents.get(seen[-1], _ROOT)) != _ROOT:
            if above not in parents:
                problems[seen[-1]] = f"is a part of {above}, which is no account here"
                break
            if above in seen:
                problems[account.name] = f"is a part of itself: {' in '.join([*seen, above])}"
                break
            seen.append(above)
    if _ROOT in parents:
        problems[_ROOT] = "root is the whole cluster, which is there already"
    return problems


def accounting_script(
    *,
    version: str,
    accounts: Sequence[SlurmAccount] = (),
    qos: Sequence[SlurmQos] = (),
    users: Sequence[SlurmUser] = (),
) -> str:
    """The script, for bash as root on a login node. Idempotent; what it does not name it leaves alone.

    Args:
        version: Version of Slurm, by which PCS calls the directory of `sacctmgr`.
        accounts: The accounts.
        qos: The QoS.
        users: The users.

    Raises:
        ValueError: When the accounts are no tree, or a name or an option would need quotes.
    """
    problems = [f"{name} {problem}" for name, problem in check_accounts(accounts).items()]
    lines = [f"qos {one.name} Priority={one.priority} {_options(one.options)}" for one in qos]
    for account in _from_the_root(accounts) if not problems else []:
        lines.append(
            f"account {account.name} Fairshare={account.fairshare} {_qos(account.qos)}{_options(account.options)}"
        )
        lines.append(f"parent {account.name} {account.parent}")
    for user in users:
        lines += [f"member {account} {user.name}" for account in user.accounts]
        level = "Administrator" if user.admin else "None"
        lines.append(f"user {user.name} DefaultAccount={user.accounts[0]} AdminLevel={level}")
    lines = [line.rstrip() for line in lines]
    problems += [
        f"{line!r} holds what a shell would read" for line in lines if not re.fullmatch(r"[\w .,:/=+-]+", line)
    ]
    if problems:
        raise ValueError("; ".join(problems))
    text = without_comments(scripts.text("slurm-accounts.sh"))
    table = "".join(f"{line}\n" for line in lines)
    return f"bash -c {_quoted(text)} slurm-accounts {version} <<'TABLE'\n{table}TABLE\n"


def _from_the_root(accounts: Sequence[SlurmAccount]) -> list[SlurmAccount]:
    """Parents first, otherwise as they stand."""
    made: list[SlurmAccount] = []
    left = list(accounts)
    while left:
        names = {account.name for account in left}
        ready = [account for account in left if account.parent not in names]
        made += ready
        left = [account for account in left if account not in ready]
    return made


def _qos(names: Sequence[str]) -> str:
    return f"QOS={','.join(names)} DefaultQOS={names[0]} " if names else ""


def _options(options: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in options.items())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
