"""Slurm accounts, QoS and users as data, and the script that applies them to a cluster."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ultracluster.boot import scripts
from ultracluster.boot._node_files import without_comments
from ultracluster.rules import ARGUMENT, Refusal, shared

#: A document has 64 KB: https://docs.aws.amazon.com/general/latest/gr/ssm.html (read 2026-11-21); a quarter is for
#: quotes and commas.
LONGEST_SCRIPT_BYTES = 48 * 1024
# Options that the script clears when they leave the file, as `sacctmgr show` and `sacctmgr modify` both name them from
# 22.05 to 26.05: src/sacctmgr/common.c of https://github.com/SchedMD/slurm (read 2026-11-27).
_LIMITS = (
    *("GrpJobs", "GrpJobsAccrue", "GrpSubmitJobs", "GrpTRES", "GrpTRESMins", "GrpTRESRunMins", "GrpWall", "MaxTRES"),
    *("MaxTRESPerNode", "MaxTRESMins", "MaxWall", "MinPrioThresh"),
)
_OF_ACCOUNTS = (*_LIMITS, "MaxJobs", "MaxJobsAccrue", "MaxSubmitJobs", "Priority", "DefaultQOS", "QOS")
_OF_QOS = (
    *_LIMITS,
    *("MaxJobsPA", "MaxJobsPU", "MaxJobsAccruePA", "MaxJobsAccruePU", "MaxSubmitJobsPA", "MaxSubmitJobsPU"),
    *("MaxTRESPA", "MaxTRESPU", "MaxTRESRunMinsPA", "MaxTRESRunMinsPU", "MinTRES", "Flags", "GraceTime", "LimitFactor"),
    *("Preempt", "PreemptExemptTime", "PreemptMode", "UsageFactor", "UsageThreshold"),
)
# Other words of sacctmgr for the same options.
_WORDS = (("peruser", "pu"), ("peraccount", "pa"), ("peracct", "pa"), ("pernode", "pn"), ("perjob", ""), ("pj", ""))
_MORE_WORDS = (("duration", ""), ("submitjobs", "submit"), ("threshold", "thresh"))
_ACCOUNT = shared("slurm-account")
_ROOT = "root"
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmQos:
    """A quality of service.

    Args:
        name: Its name.
        priority: Priority that it adds to a job. By default, 0.
        options: Further options of sacctmgr, such as `{"MaxTRESPerUser": "gres/gpu=64"}`.
    """

    name: str
    priority: int = 0
    options: Mapping[str, str] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmAccount:
    """A Slurm account, with a share of the cluster.

    Args:
        name: Its name.
        parent: Parent account. By default, the root account.
        fairshare: Shares relative to accounts with the same parent. By default, 1.
        qos: QoS of its jobs; the first is the default. By default, those of its parent.
        options: Further options of sacctmgr, such as `{"GrpTRES": "gres/gpu=256"}`.
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
        name: Its name.
        accounts: Accounts of its jobs; the first is the default.
        admin: Whether it administers Slurm, or None to leave that alone. By default, no.
    """

    name: str
    accounts: Sequence[str]
    admin: bool | None = False


def check_accounts(accounts: Sequence[SlurmAccount]) -> dict[str, str]:
    """Return the errors of the account tree, by account name; empty if it is valid."""
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
    """Return the bash script for root on a login node. It is idempotent and leaves other records alone.

    It clears options of these accounts and QoS that are not among theirs, and removes these users from those of the
    accounts that they do not name, once they have no jobs there. An option by a shorter word of sacctmgr, such as
    GrpTRESM, keeps the others of its account or QoS.

    The image's own user (ubuntu, ec2-user) gets the root account, unless it has one: Slurm may refuse users without.

    Args:
        version: Version of Slurm, in the path of PCS's `sacctmgr`.
        accounts: The accounts.
        qos: The QoS.
        users: The users.

    Raises:
        ValueError: If the accounts are not a tree, or a name or an option would need quotes.
    """
    problems = [_ACCOUNT(f"{name} {problem}") for name, problem in check_accounts(accounts).items()]
    lines = []
    for service in qos:
        lines.append(f"qos {service.name} Priority={service.priority} {_options(service.options, _OF_QOS)}")
        lines += _only("qos", service.name, service.options, _OF_QOS)
    for account in _from_the_root(accounts) if not problems else []:
        options = _options(account.options, _OF_ACCOUNTS)
        lines.append(f"account {account.name} Fairshare={account.fairshare} {_qos(account.qos)}{options}")
        lines.append(f"parent {account.name} {account.parent}")
        lines += _only("account", account.name, account.options, _OF_ACCOUNTS)
    for user in users:
        lines += [f"member {account} {user.name}" for account in user.accounts]
        level = "" if user.admin is None else f"AdminLevel={'Administrator' if user.admin else 'None'}"
        default = f"DefaultAccount={user.accounts[0]} " if user.accounts else ""
        lines.append(f"user {user.name} {default}{level}")
    lines = [line.rstrip() for line in lines]
    plain = re.compile(r"[\w .,:/=+-]+")
    problems += [ARGUMENT(f"{line!r} holds what a shell would read") for line in lines if not plain.fullmatch(line)]
    if problems:
        raise Refusal("", problems)
    text = without_comments(scripts.text("slurm-accounts.sh"))
    table = "".join(f"{line}\n" for line in lines)
    arguments = f"{version} {','.join(_OF_ACCOUNTS)} {','.join(_OF_QOS)}"
    return f"bash -c {_quoted(text)} slurm-accounts {arguments} <<'TABLE'\n{table}TABLE\n"


def signalled_script(script: str, *, handle: str) -> list[str]:
    """Return the lines of a script that signals its result to a wait condition.

    Args:
        script: The script, which bash runs.
        handle: URL of the wait condition; if it is empty when the script runs, nothing is signalled.
    """
    shebang, *lines = without_comments(scripts.text("signalled.sh")).splitlines()
    return [shebang, f"HANDLE='{handle}'", *lines, *script.splitlines()]


def _from_the_root(accounts: Sequence[SlurmAccount]) -> list[SlurmAccount]:
    """Return the accounts with parents first, otherwise in their order."""
    ordered: list[SlurmAccount] = []
    left = list(accounts)
    while left:
        names = {account.name for account in left}
        ready = [account for account in left if account.parent not in names]
        ordered += ready
        left = [account for account in left if account not in ready]
    return ordered


def _qos(names: Sequence[str]) -> str:
    return f"QOS={','.join(names)} DefaultQOS={names[0]} " if names else ""


def _options(options: Mapping[str, str], known: Sequence[str]) -> str:
    return " ".join(f"{_shown(name, known) or name}={value}" for name, value in options.items())


def _only(kind: str, name: str, options: Mapping[str, str], known: Sequence[str]) -> list[str]:
    """Return the line that clears other options, unless one of the options may be another word for one of them."""
    words = [word.lower() for word in options if _shown(word, known) is None]
    unclear = any(
        other.lower().startswith(word) or word.startswith(("grp", "max", "min")) for word in words for other in known
    )
    return [] if unclear else [f"only {kind} {name}"]


def _shown(name: str, known: Sequence[str]) -> str | None:
    """Return an option as `sacctmgr show` names it, such as MaxTRESPU for MaxTRESPerUser, or None if it is another."""
    return {_plain(word): word for word in known}.get(_plain(name))


def _plain(name: str) -> str:
    name = name.lower()
    for word, short in (*_WORDS, *_MORE_WORDS):
        name = name.replace(word, short)
    return name


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
