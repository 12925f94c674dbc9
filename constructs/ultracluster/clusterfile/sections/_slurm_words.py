"""Words of Slurm: names of sacctmgr, users, keys, priorities, records of gres.conf."""

import re
from typing import Annotated, Literal, get_args

from pydantic import Field

from ultracluster.catalogue.schedulers import GRES_ATTRIBUTES, pcs
from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._common import OneLine, SettingName, cidr, one_line
from ultracluster.clusterfile.sections._word import Word
from ultracluster.planning.nodes import ACCOUNT, OPTION, SSH_KEY, UIDS, USER_NAME, check_user_name

#: What Slurm does with jobs of a queue when one of a higher priority needs their nodes. The other words of Slurm leave
#: the GPUs' memory full.
Preemption = Literal["off", "requeue", "cancel"]
_ImdsUsers = Literal["root", "all"]
#: The word for 0.0.0.0/0.
ANYWHERE = "anywhere"
# "Up to 255 ASCII characters": https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateKeyPair.html (read
# 2026-11-21); ours need no quotes.
_KEY_PAIR = r"[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,254}"
# Slurm keeps names in lower case; directories have dots in them.
_MEMBER = r"[a-z0-9_][a-z0-9_.-]{0,63}"
_WEIGHT_NAME = r"[A-Za-z][A-Za-z0-9_/:.-]{0,60}"
_GRES_ATTRIBUTE = re.compile(r"[A-Za-z]{1,30}", re.ASCII)
# slurm.conf keeps it in 16 bits, and the last is its "no value": https://slurm.schedmd.com/slurm.conf.html (read
# 2026-11-21)
_HIGHEST_PRIORITY = 65_533
# 32 bits; one more share means the parent's: SLURMDB_FS_USE_PARENT in https://github.com/SchedMD/slurm,
# slurm/slurmdb.h (read 2026-11-21)
_MOST_SHARES = 2**31 - 2
_ROOM = ", which Slurm has room for"


def _ssh_key(value: object) -> str:
    key = w.text(value, "a public key").strip()
    if "PRIVATE" in key:
        raise ValueError("is a private key, which must be kept to yourself: make a new one, and give its .pub file")
    if re.fullmatch(SSH_KEY, key, re.ASCII):
        return key
    raise ValueError(f"must be a public key on one line, such as ssh-ed25519 AAAA... me@home, got {shown(key)}")


def _source(value: object) -> str:
    """Parse a range of addresses; 0.0.0.0/0 by its word only."""
    if value == ANYWHERE:
        return ANYWHERE
    result = cidr(value)
    if result.prefixlen == 0:
        raise ValueError(f"is the whole world; if you mean that, write {ANYWHERE}")
    return str(result)


def source_range(source: str) -> str:
    """Return a range of addresses as security groups have it."""
    return "0.0.0.0/0" if source == ANYWHERE else source


def _weight(value: object) -> float:
    # Up to what no cost comes near; not a number is not less than it either.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**9:
        raise ValueError(f"must be a number, 0 or more, got {shown(value)}")
    return value


def _option(value: object) -> str:
    return w.matching(one_line(value), OPTION, "a text of letters, digits and .,:/=_+- ")


_ACCOUNT = "a name of 1 to 40 lower-case letters, digits, hyphens and underscores, which begins with a letter"
AccountName = Annotated[str, w.pattern(ACCOUNT, _ACCOUNT, "research")]
UserName = Annotated[str, w.checked(check_user_name, "the name of a user", USER_NAME, "ada", longest=60)]
Member = Annotated[str, w.pattern(_MEMBER, "the name of a user, 1 to 64 lower-case letters, digits and ._-", "ada")]
Uid = Annotated[
    int,
    w.whole(UIDS.start, UIDS.stop - 1, ", which neither images nor systemd use", example=2001),
]
SshKey = Annotated[str, Word(_ssh_key, type="string", example="ssh-ed25519 AAAA...")]
KeyPair = Annotated[
    str,
    w.pattern(_KEY_PAIR, "the name of a key pair of EC2, 1 to 255 letters, digits, spaces and ._@+-", "my-key"),
]
Source = Annotated[str, Word(_source, type="string", examples=["10.0.0.0/8", ANYWHERE])]
Shares = Annotated[int, w.whole(1, _MOST_SHARES, _ROOM)]
QosPriority = Annotated[int, w.whole(0, _MOST_SHARES, _ROOM)]
Priority = Annotated[int, w.whole(0, _HIGHEST_PRIORITY)]
# `off` without quotes is a text in YAML 1.2.
Preempt = Annotated[Preemption, w.choice(get_args(Preemption), "what becomes of jobs that give way")]
ImdsAccess = Annotated[_ImdsUsers, w.choice(get_args(_ImdsUsers), "who reaches the instance metadata service")]
WeightName = Annotated[str, w.pattern(_WEIGHT_NAME, "a resource, such as CPU, Mem or GRES/gpu", "GRES/gpu")]
Weight = Annotated[float, Word(_weight, type="number", minimum=0, example=1)]
BillingWeights = Annotated[dict[WeightName, Weight], Field(min_length=1)]
OptionValue = Annotated[
    str, Word(_option, anyOf=[{"type": "string", "pattern": f"^{OPTION.pattern}$"}, {"type": "number"}], example="...")
]
Options = dict[SettingName, OptionValue]
GresAttribute = Annotated[
    str,
    Word(
        lambda value: w.matching(value, _GRES_ATTRIBUTE, "an attribute of gres.conf, a word such as Name"),
        anyOf=[{"enum": list(GRES_ATTRIBUTES)}, {"type": "string", "pattern": w.json_pattern(_GRES_ATTRIBUTE)}],
        example="Name",
    ),
]
GresRecord = Annotated[dict[GresAttribute, OneLine], Field(min_length=1)]
SLURM_VERSION = "a version of Slurm that AWS PCS runs"
SlurmVersion = Annotated[str, w.open_choice(pcs.SLURM_VERSIONS, "[0-9]{2}[.][0-9]{2}", SLURM_VERSION)]
CONTROLLER_SIZE = "a size of AWS PCS"
ControllerSize = Annotated[str, w.open_choice(pcs.SIZES, "[A-Z][A-Z0-9_]{1,30}", CONTROLLER_SIZE)]
