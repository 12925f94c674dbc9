"""How many series of metrics a cluster has at most, by how much is collected."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.hardware.prometheus import ACTIVE_SERIES

#: Active series that a node may have, by profile: what each profile promises to keep, rules included. Choices of ours;
#: what the collectors of every type are estimated to send stays below them, and a test does the sum.
SERIES_PER_NODE: Mapping[str, int] = MappingProxyType({"basic": 800, "standard": 1_600, "full": 3_200})

# A job that starts anew has new series, and the old ones count for two hours more; rules make series of their own.
# https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-21). The factor is ours.
_HEADROOM = 3


def series_at_most(profile: str, nodes: int) -> int:
    """Active series of a cluster at most, without any headroom.

    Args:
        profile: `basic`, `standard` or `full`.
        nodes: All nodes, login nodes included.
    """
    return SERIES_PER_NODE[profile] * nodes


def series_limit(profile: str, nodes: int) -> int:
    """The limit that a cluster gets in its workspace: three times what it should have, and no more than the quota."""
    return min(_HEADROOM * series_at_most(profile, nodes), ACTIVE_SERIES)
