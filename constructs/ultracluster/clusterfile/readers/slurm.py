"""The values of the Slurm section, one reader each."""

import re
from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Literal

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers import values as readers
from ultracluster.clusterfile.readers.basic import count, one_of, spare, text
from ultracluster.planning.slurm_accounts import ACCOUNT, OPTION
from ultracluster.planning.users import SSH_KEY, UIDS, check_user_name

#: What becomes of jobs of a queue when one of a higher priority wants their nodes. The other words of Slurm leave the
#: GPUs' memory full.
PREEMPTIONS = ("off", "requeue", "cancel")
Preemption = Literal["off", "requeue", "cancel"]
#: The word for 0.0.0.0/0.
ANYWHERE = "anywhere"
# "Up to 255 ASCII characters": https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateKeyPair.html (read
# 2026-11-21); ours need no quotes.
KEY_PAIR = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,254}", re.ASCII)
_WEIGHT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_/:.-]{0,60}", re.ASCII)
_GRES_ATTRIBUTE = re.compile(r"[A-Za-z]{1,30}", re.ASCII)
# slurm.conf keeps it in 16 bits, and the last is its "no value": https://slurm.schedmd.com/slurm.conf.html (read
# 2026-11-21)
_HIGHEST_PRIORITY = 65_533
# 32 bits; one more share means the parent's: SLURMDB_FS_USE_PARENT in https://github.com/SchedMD/slurm,
# slurm/slurmdb.h (read 2026-11-21)
MOST_SHARES = 2**31 - 2


def _listed(value: object, what: str, read: Callable[[object], str]) -> tuple[str, ...]:
    """A list without repetitions, each entry read."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"must be a list of {what}, got {_shown_list(value)}")
    wrong, found = [], []
    for index, entry in enumerate(value):
        try:
            word = read(entry)
        except ValueError as error:
            wrong.append(Problem(path=(index,), message=str(error)))
            continue
        if word in found:
            wrong.append(Problem(path=(index,), message=f"names {shown(word)} twice"))
        found.append(word)
    if wrong:
        raise FieldProblems(wrong)
    return tuple(found)


def _shown_list(value: object) -> str:
    return "an empty one; remove it" if value == [] else shown(value)


def names(what: str, example: str) -> Callable[[object], tuple[str, ...]]:
    """The reader of a list of names: of node sections, accounts or QoS."""
    return lambda value: _listed(value, f"{what}, as in [{example}]", account_name)


def account_name(value: object) -> str:
    """A name of sacctmgr: an account, or a QoS."""
    found = text(value, "a name")
    if ACCOUNT.fullmatch(found):
        return found
    raise ValueError(
        f"a name has 1 to 40 lower-case letters, digits, hyphens and underscores and begins with a letter, got "
        f"{shown(found)}"
    )


def user_name(value: object) -> str:
    """The name of a user."""
    found = text(value, "the name of a user")
    if problems := check_user_name(found[:60]):
        raise ValueError(problems[0])
    return found


def shares(value: object) -> int:
    """Shares of an account."""
    return _at_most(count(value))


def qos_priority(value: object) -> int:
    """What a QoS adds to the priority of a job."""
    return _at_most(spare(value))


def _at_most(value: int) -> int:
    if value > MOST_SHARES:
        raise ValueError(f"must be at most {MOST_SHARES:,}, which Slurm has room for, got {shown(value)}")
    return value


def uid(value: object) -> int:
    """The number of a user, the same on every node."""
    found = count(value)
    if found not in UIDS:
        raise ValueError(
            f"must be {UIDS.start:,} to {UIDS.stop - 1:,}, which neither images nor systemd use, got {shown(value)}"
        )
    return found


def ssh_keys(value: object) -> tuple[str, ...]:
    """Public keys, as they stand in ~/.ssh/id_ed25519.pub."""

    def one(entry: object) -> str:
        found = text(entry, "a public key").strip()
        if "PRIVATE" in found:
            raise ValueError("is a private key, which must be kept to yourself: make a new one, and give its .pub file")
        if SSH_KEY.fullmatch(found):
            return found
        raise ValueError(f"must be a public key on one line, such as ssh-ed25519 AAAA... me@home, got {shown(found)}")

    return _listed(value, "public keys", one)


def priority(value: object) -> int:
    """A priority of Slurm."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _HIGHEST_PRIORITY:
        return int(value)
    raise ValueError(f"must be a whole number, 0 to {_HIGHEST_PRIORITY:,}, got {shown(value)}")


def billing_weights(value: object) -> dict[str, float]:
    """What resources cost: CPU, Mem, GRES/gpu."""
    if not isinstance(value, dict) or not value:
        raise ValueError(f"must be a mapping of resources to numbers, as in {{GRES/gpu: 1}}, got {shown(value)}")
    wrong = []
    for key, weight in value.items():
        if not _WEIGHT_NAME.fullmatch(key):
            message = f"a resource is a word such as CPU, Mem or GRES/gpu, got {shown(key)}"
            wrong.append(Problem(path=(key,), at_key=True, message=message))
        # Up to what no cost comes near; not a number is not less than it either.
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < 10**9:
            wrong.append(Problem(path=(key,), message=f"must be a number, 0 or more, got {shown(weight)}"))
    if wrong:
        raise FieldProblems(wrong)
    return dict(value)


def options(value: object) -> dict[str, str]:
    """Options of sacctmgr by name, such as GrpTRES."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping of names to values, as in {{GrpTRES: gres/gpu=64}}, got {shown(value)}")
    found = readers.slurm_settings(value)
    wrong = [
        Problem(path=(key,), message=f"must be of letters, digits and .,:/=_+- , got {shown(word)}")
        for key, word in found.items()
        if not OPTION.fullmatch(word)
    ]
    if wrong:
        raise FieldProblems(wrong)
    return found


def gres(value: object) -> list[dict[str, str]]:
    """Records of gres.conf; a number is read as it was written."""
    what = "a list of records of gres.conf, as in [{Name: gpu, File: /dev/nvidia[0-7]}]"
    if not isinstance(value, list) or not value:
        raise ValueError(f"must be {what}, got {_shown_list(value)}")
    wrong, read = [], []
    for index, record in enumerate(value):
        if not isinstance(record, dict) or not record:
            wrong.append(Problem(path=(index,), message=f"must be a record of gres.conf, got {shown(record)}"))
            continue
        made: dict[str, str] = {}
        for key, found in record.items():
            written = getattr(found, "text", found) if isinstance(found, int | float) else found
            if not _GRES_ATTRIBUTE.fullmatch(key):
                message = f"an attribute of gres.conf is a word, such as Name, got {shown(key)}"
                wrong.append(Problem(path=(index, key), at_key=True, message=message))
            elif not isinstance(written, str) or not written or "\n" in written:
                wrong.append(Problem(path=(index, key), message=f"must be a text on one line, got {shown(found)}"))
            else:
                made[key] = written
        read.append(made)
    if wrong:
        raise FieldProblems(wrong)
    return read


def key_pair(value: object) -> str:
    """The name of a key pair of EC2."""
    what = "the name of a key pair of EC2"
    found = text(value, what)
    if KEY_PAIR.fullmatch(found):
        return found
    raise ValueError(f"must be {what}, 1 to 255 letters, digits, spaces and ._@+-, got {shown(found)}")


def sources(value: object) -> tuple[str, ...]:
    """Ranges of addresses that may reach the login nodes; the whole world by its name only."""

    def one(entry: object) -> str:
        if entry == ANYWHERE:
            return ANYWHERE
        found: IPv4Network = readers.cidr(entry)
        if found.prefixlen == 0:
            raise ValueError(f"is the whole world; if you mean that, write {ANYWHERE}")
        return str(found)

    return _listed(value, "ranges of IPv4 addresses, as in [10.0.0.0/8]", one)


def source_range(source: str) -> str:
    """A range of addresses as security groups have it."""
    return "0.0.0.0/0" if source == ANYWHERE else source


def preemption(value: object) -> str:
    """What becomes of jobs that give way. `off` without quotes is a text in YAML 1.2."""
    return one_of(value, PREEMPTIONS, "what becomes of jobs that give way")
