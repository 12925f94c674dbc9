"""Maximum number of metric series of a cluster, by metrics profile."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.catalogue.monitoring import ACTIVE_SERIES

#: Active series that a node may have by profile, rules included. Own limits;
#: what the collectors of every type are estimated to send stays below them, and a test does the sum.
SERIES_PER_NODE: Mapping[str, int] = MappingProxyType({"basic": 800, "standard": 1_600, "full": 3_200})

# A restarted job has new series, and the old ones count for two more hours; rules add series too.
# https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-21). The factor is an estimate.
_HEADROOM = 3


def series_at_most(profile: str, nodes: int) -> int:
    """Return the maximum active series of a cluster, without headroom.

    Args:
        profile: `basic`, `standard` or `full`.
        nodes: All nodes, login nodes included.
    """
    return SERIES_PER_NODE[profile] * nodes


def series_limit(profile: str, nodes: int) -> int:
    """Return a cluster's limit in its workspace: three times the expected series, and at most the quota."""
    return min(_HEADROOM * series_at_most(profile, nodes), ACTIVE_SERIES)
