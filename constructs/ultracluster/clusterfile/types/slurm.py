"""The readers of the Slurm section as pydantic types, each with the JSON schema of what it takes."""

from typing import Annotated, Any

from ultracluster.clusterfile.readers import slurm as r
from ultracluster.clusterfile.types.reader import Reader
from ultracluster.hardware.slurm_settings import GRES_ATTRIBUTES
from ultracluster.planning.slurm_accounts import ACCOUNT, OPTION
from ultracluster.planning.users import UIDS, USER_NAME

_NAME = f"^{ACCOUNT.pattern}$"


def _list(**entry: Any) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "uniqueItems": True, "items": entry}


_NAMES = _list(type="string", pattern=_NAME)
AccountName = Annotated[str, Reader(r.account_name, type="string", pattern=_NAME)]
AccountNames = Annotated[tuple[str, ...], Reader(r.names("accounts", "research"), **_NAMES)]
QosNames = Annotated[tuple[str, ...], Reader(r.names("QoS", "normal"), **_NAMES)]
SectionNames = Annotated[tuple[str, ...], Reader(r.names("sections of nodes", "train"), **_NAMES)]
UserName = Annotated[str, Reader(r.user_name, type="string", pattern=f"^{USER_NAME.pattern}$")]
Uid = Annotated[int, Reader(r.uid, type="integer", minimum=UIDS.start, maximum=UIDS.stop - 1)]
SshKeys = Annotated[tuple[str, ...], Reader(r.ssh_keys, **_list(type="string"))]
KeyPair = Annotated[str, Reader(r.key_pair, type="string", pattern=f"^{r.KEY_PAIR.pattern}$")]
Sources = Annotated[tuple[str, ...], Reader(r.sources, **_list(type="string", examples=["10.0.0.0/8", r.ANYWHERE]))]
Shares = Annotated[int, Reader(r.shares, type="integer", minimum=1, maximum=r.MOST_SHARES)]
QosPriority = Annotated[int, Reader(r.qos_priority, type="integer", minimum=0, maximum=r.MOST_SHARES)]
Priority = Annotated[int, Reader(r.priority, type="integer", minimum=0, maximum=65_533)]
Preempt = Annotated[r.Preemption, Reader(r.preemption, enum=list(r.PREEMPTIONS))]
BillingWeights = Annotated[
    dict[str, float],
    Reader(r.billing_weights, type="object", minProperties=1, additionalProperties={"type": "number", "minimum": 0}),
]
Options = Annotated[
    dict[str, str],
    Reader(
        r.options,
        type="object",
        additionalProperties={"anyOf": [{"type": "string", "pattern": f"^{OPTION.pattern}$"}, {"type": "number"}]},
    ),
]
Gres = Annotated[
    list[dict[str, str]],
    Reader(
        r.gres,
        type="array",
        minItems=1,
        items={
            "type": "object",
            "minProperties": 1,
            "properties": {name: {"type": ["string", "number"]} for name in GRES_ATTRIBUTES},
        },
    ),
]
