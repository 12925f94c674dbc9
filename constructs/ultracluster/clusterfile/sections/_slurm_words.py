"""Words of Slurm: names of sacctmgr, users, keys, priorities, records of gres.conf."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args

from ultracluster.boot import ACCOUNT, OPTION, SSH_KEY, UIDS, USER_NAME, check_user_name
from ultracluster.catalogue.schedulers import GRES_ATTRIBUTES, pcs
from ultracluster.clusterfile._problems import Collector, shown
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._common import cidr, one_line, settings
from ultracluster.clusterfile.sections._word import Word

#: What Slurm does with jobs of a queue when one of a higher priority needs their nodes. The other words of Slurm leave
#: the GPUs' memory full.
Preemption = Literal["off", "requeue", "cancel"]
#: The word for 0.0.0.0/0.
ANYWHERE = "anywhere"
# "Up to 255 ASCII characters": https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateKeyPair.html (read
# 2026-11-21); ours need no quotes.
_KEY_PAIR = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,254}", re.ASCII)
_WEIGHT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_/:.-]{0,60}", re.ASCII)
_GRES_ATTRIBUTE = re.compile(r"[A-Za-z]{1,30}", re.ASCII)
# slurm.conf keeps it in 16 bits, and the last is its "no value": https://slurm.schedmd.com/slurm.conf.html (read
# 2026-11-21)
_HIGHEST_PRIORITY = 65_533
# 32 bits; one more share means the parent's: SLURMDB_FS_USE_PARENT in https://github.com/SchedMD/slurm,
# slurm/slurmdb.h (read 2026-11-21)
_MOST_SHARES = 2**31 - 2


def _account_name(value: object) -> str:
    name = w.text(value, "a name")
    if ACCOUNT.fullmatch(name):
        return name
    raise ValueError(
        f"a name has 1 to 40 lower-case letters, digits, hyphens and underscores and begins with a letter, got "
        f"{shown(name)}"
    )


def _user_name(value: object) -> str:
    name = w.text(value, "the name of a user")
    if problems := check_user_name(name[:60]):
        raise ValueError(problems[0])
    return name


def _at_most_shares(parse: Callable[[object], int]) -> Callable[[object], int]:
    def read(value: object) -> int:
        number = parse(value)
        if number > _MOST_SHARES:
            raise ValueError(f"must be at most {_MOST_SHARES:,}, which Slurm has room for, got {shown(number)}")
        return number

    return read


def _uid(value: object) -> int:
    number = w.count(value)
    if number not in UIDS:
        raise ValueError(
            f"must be {UIDS.start:,} to {UIDS.stop - 1:,}, which neither images nor systemd use, got {shown(value)}"
        )
    return number


def _ssh_key(value: object) -> str:
    key = w.text(value, "a public key").strip()
    if "PRIVATE" in key:
        raise ValueError("is a private key, which must be kept to yourself: make a new one, and give its .pub file")
    if SSH_KEY.fullmatch(key):
        return key
    raise ValueError(f"must be a public key on one line, such as ssh-ed25519 AAAA... me@home, got {shown(key)}")


def _priority(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _HIGHEST_PRIORITY:
        return int(value)
    raise ValueError(f"must be a whole number, 0 to {_HIGHEST_PRIORITY:,}, got {shown(value)}")


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


def _billing_weights(value: object) -> dict[str, float]:
    what = "resources to numbers, as in {GRES/gpu: 1}"
    if value == {}:
        raise ValueError(f"must be a mapping of {what}, got {shown(value)}")

    def key(name: str) -> str | None:
        good = _WEIGHT_NAME.fullmatch(name)
        return None if good else f"a resource is a word such as CPU, Mem or GRES/gpu, got {shown(name)}"

    return w.mapped(value, what, key=key, parse=_weight)


def _options(value: object) -> dict[str, str]:
    result = settings(value, "names to values, as in {GrpTRES: gres/gpu=64}")
    errors = Collector()
    for key, word in result.items():
        if not OPTION.fullmatch(word):
            errors.add((key,), f"must be of letters, digits and .,:/=_+- , got {shown(word)}")
    return errors.result(result)


def _record(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise ValueError(f"must be a record of gres.conf, got {shown(value)}")

    def key(name: str) -> str | None:
        good = _GRES_ATTRIBUTE.fullmatch(name)
        return None if good else f"an attribute of gres.conf is a word, such as Name, got {shown(name)}"

    return w.mapped(value, "", key=key, parse=one_line)


def _gres(value: object) -> list[dict[str, str]]:
    if not isinstance(value, list) or not value:
        what = "a list of records of gres.conf, as in [{Name: gpu, File: /dev/nvidia[0-7]}]"
        raise ValueError(f"must be {what}, got {w.shown_list(value)}")
    errors = Collector()
    return errors.result([errors.parse((index,), _record, record) for index, record in enumerate(value)])


def _list(what: str, parse: Callable[[object], str], *, example: object = None, **entry: Any) -> Word:
    return Word(
        lambda value: w.listed(value, what, parse),
        type="array",
        minItems=1,
        uniqueItems=True,
        items=entry,
        example=example,
    )


def _names(what: str, example: str) -> Word:
    return _list(f"{what}, as in [{example}]", _account_name, type="string", pattern=_NAME)


_NAME = f"^{ACCOUNT.pattern}$"
AccountName = Annotated[str, Word(_account_name, type="string", pattern=_NAME)]
AccountNames = Annotated[tuple[str, ...], _names("accounts", "research")]
QosNames = Annotated[tuple[str, ...], _names("QoS", "normal")]
SectionNames = Annotated[tuple[str, ...], _names("sections of nodes", "train")]
UserName = Annotated[str, Word(_user_name, type="string", pattern=f"^{USER_NAME.pattern}$")]
Uid = Annotated[int, Word(_uid, type="integer", minimum=UIDS.start, maximum=UIDS.stop - 1, example=2001)]
SshKeys = Annotated[tuple[str, ...], _list("public keys", _ssh_key, type="string")]
KeyPair = Annotated[
    str,
    w.pattern(_KEY_PAIR, "the name of a key pair of EC2", "my-key", got=", 1 to 255 letters, digits, spaces and ._@+-"),
]
Sources = Annotated[
    tuple[str, ...],
    _list(
        "ranges of IPv4 addresses, as in [10.0.0.0/8]",
        _source,
        example="[10.0.0.0/8]",
        type="string",
        examples=["10.0.0.0/8", ANYWHERE],
    ),
]
Shares = Annotated[int, Word(_at_most_shares(w.count), type="integer", minimum=1, maximum=_MOST_SHARES)]
QosPriority = Annotated[int, Word(_at_most_shares(w.spare), type="integer", minimum=0, maximum=_MOST_SHARES)]
Priority = Annotated[int, Word(_priority, type="integer", minimum=0, maximum=_HIGHEST_PRIORITY)]
# `off` without quotes is a text in YAML 1.2.
Preempt = Annotated[Preemption, w.choice(get_args(Preemption), "what becomes of jobs that give way")]
BillingWeights = Annotated[
    dict[str, float],
    Word(_billing_weights, type="object", minProperties=1, additionalProperties={"type": "number", "minimum": 0}),
]
Options = Annotated[
    dict[str, str],
    Word(
        _options,
        type="object",
        additionalProperties={"anyOf": [{"type": "string", "pattern": f"^{OPTION.pattern}$"}, {"type": "number"}]},
    ),
]
Gres = Annotated[
    list[dict[str, str]],
    Word(
        _gres,
        type="array",
        minItems=1,
        items={
            "type": "object",
            "minProperties": 1,
            "properties": {name: {"type": ["string", "number"]} for name in GRES_ATTRIBUTES},
        },
    ),
]
SLURM_VERSION = "a version of Slurm that AWS PCS runs"
SlurmVersion = Annotated[str, w.open_choice(pcs.SLURM_VERSIONS, "[0-9]{2}[.][0-9]{2}", SLURM_VERSION)]
CONTROLLER_SIZE = "a size of AWS PCS"
ControllerSize = Annotated[str, w.open_choice(pcs.SIZES, "[A-Z][A-Z0-9_]{1,30}", CONTROLLER_SIZE)]
