"""Rules of accounts, QoS and users of Slurm."""

from collections.abc import Iterable, Iterator

from ultracluster.boot import LONGEST_SCRIPT_BYTES, User, check_accounts
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile._slurm_accounting import accounting_script, accounts
from ultracluster.clusterfile._slurm_enforcement import enforces_associations, unenforced
from ultracluster.clusterfile._slurm_plan import cluster_settings
from ultracluster.clusterfile.rules._rule import error, listed, shared
from ultracluster.clusterfile.sections._slurm import Slurm

_NAMES = error("slurm-unknown-name", "Accounts and QoS must be in the file before others name them.")
_ACCOUNT = shared("slurm-account")
_ACCOUNTS_SIZE = shared("slurm-accounts-size")
_UID = error("slurm-uid", "Files belong to numbers: two users with one number share their files.")
_ADMIN = error("slurm-admin", "An administrator of Slurm needs an account.")
_USER = shared("slurm-user")
_MEMBERS = error("slurm-account-members", "Users of the file name their accounts themselves.")
_NOT_ENFORCED = error("slurm-not-enforced", "A limit that Slurm does not enforce limits nothing.", acceptable=True)
_USER_ACCOUNT = error(
    "slurm-user-account",
    "Slurm refuses the jobs of users without an account when it enforces associations.",
    acceptable=True,
)
_USERS = error("slurm-users", "Each user adds resources to the stack.")

# A quarter of the resources of a stack.
_MOST_USERS = 100
#: QoS: Slurm creates it itself.
NORMAL = "normal"


def check_accounting(slurm: Slurm) -> Iterator[Problem]:
    """Check accounts, and the QoS that they name."""
    for name, message in check_accounts(accounts(slurm)).items():
        key = ("parent",) if slurm.accounts[name].parent and name != "root" else ()
        yield _ACCOUNT(("slurm", "accounts", name, *key), message, at_key=not key)
    try:
        script = accounting_script(slurm) or ""
    except ValueError:
        return  # An error of the account already.
    if len(script.encode()) > LONGEST_SCRIPT_BYTES:
        message = "are more than one document of Systems Manager holds; name fewer accounts, QoS and users"
        yield _ACCOUNTS_SIZE(("slurm", "accounts"), message, at_key=True)
    for name, account in slurm.accounts.items():
        for word in account.qos:
            yield from check_name(("slurm", "accounts", name, "qos"), word, "qos", {**slurm.qos, NORMAL: None})
        for word in account.members:
            if word in slurm.users:
                message = f"{word} is under slurm.users; write accounts: [{name}] there"
                yield _MEMBERS(("slurm", "accounts", name, "members"), message)
    for word, paths in unenforced(slurm).items():
        limits = listed(".".join(map(str, path)) for path in paths)
        without = "each user may choose any QoS" if word == "qos" else "Slurm does not enforce it"
        message = f"{limits}: without {word}, {without}; add {word}, or remove this setting: the library sets it"
        yield _NOT_ENFORCED(("slurm", "settings", "AccountingStorageEnforce"), message)
    if enforces_associations(cluster_settings(slurm)):
        yield from _check_associations(slurm)


def _check_associations(slurm: Slurm) -> Iterator[Problem]:
    refused = "Slurm enforces the limits of this file, and refuses the jobs of users without an account"
    example = next(iter(slurm.accounts), "research")
    new = "" if slurm.accounts else f" and slurm: {{accounts: {{{example}: {{}}}}}}"
    for name, user in slurm.users.items():
        if not user.accounts:
            message = f"{refused}; write accounts: [{example}]{new}"
            yield _USER_ACCOUNT(("slurm", "users", name), message, at_key=True)
    if slurm.directory is not None and not any(account.members for account in slurm.accounts.values()):
        message = f"{refused}; write the users under slurm.accounts: {{{example}: {{members: [ada, grace]}}}}"
        yield _USER_ACCOUNT(("slurm", "directory"), message, at_key=True)


def check_name(path: Path, name: str, section: str, known: Iterable[str]) -> Iterator[Problem]:
    """Check that a name is in its section."""
    if name not in known:
        message = f"{name} is not under slurm.{section}, where there are: {', '.join(known) or 'none'}"
        yield _NAMES(path, message)


def check_users(slurm: Slurm) -> Iterator[Problem]:
    """Check users, and the accounts that they name."""
    owners: dict[int, str] = {}
    for name, user in slurm.users.items():
        path: Path = ("slurm", "users", name)
        other = owners.setdefault(user.uid, name)
        if other != name:
            yield _UID((*path, "uid"), f"is {other}'s already; every user has a number of their own")
        for word in user.accounts:
            yield from check_name((*path, "accounts"), word, "accounts", slurm.accounts)
        if user.admin and not user.accounts:
            message = "an administrator of Slurm is a user of Slurm, who has an account: accounts: [...]"
            yield _ADMIN((*path, "admin"), message)
        try:
            User(name=name, uid=user.uid, ssh_keys=user.ssh_keys)
        except ValueError as error:
            yield _USER(path, str(error))
    if len(slurm.users) > _MOST_USERS:
        message = (
            f"has {len(slurm.users)} users; a cluster file supports {_MOST_USERS}; use a directory service for more"
        )
        yield _USERS(("slurm", "users"), message)
