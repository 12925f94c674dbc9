"""Label selectors of XIDs by policy."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.catalogue.monitoring import XIDS, XidPolicy, xids


def _selector(policy: XidPolicy) -> str:
    codes = "|".join(map(str, xids(policy)))
    if policy is not XidPolicy.WATCH:
        return f'xid=~"{codes}"'
    # Codes without published advice are watched as well.
    others = "|".join(str(code) for code, other in XIDS.items() if other is not XidPolicy.WATCH)
    return f'xid!~"{others}"'


#: Policy -> label selector of its codes. Each code has exactly one, the unknown ones too.
POLICIES: Mapping[str, str] = MappingProxyType({policy.value: _selector(policy) for policy in XidPolicy})
