"""Maximum use of a workspace's quotas by a cluster: metric series, samples, rules and alerts."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ultracluster.catalogue.monitoring import ACTIVE_ALERTS, ACTIVE_SERIES, RULES, SAMPLES_PER_S

#: Active series that a node may have by profile, rules included. Own limits;
#: what the collectors of every type are estimated to send stays below them, and a test does the sum.
SERIES_PER_NODE: Mapping[str, int] = MappingProxyType({"basic": 800, "standard": 1_600, "full": 3_200})
#: Seconds between two scrapes of a target, by profile.
SCRAPE_INTERVAL_S: Mapping[str, int] = MappingProxyType({"basic": 60, "standard": 30, "full": 15})

# A restarted job has new series, and the old ones count for two more hours; rules add series too.
# https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-21). The factor is an estimate.
_HEADROOM = 3
# Rules of the library with the largest profile, and those of a node group: expected nodes, end of capacity. Own limits;
# a test does the sum.
_RULES = 331
_RULES_OF_GROUP = 2


class Use(NamedTuple):
    """Most that a cluster uses of a quota of its workspace."""

    code: str
    what: str
    most: int
    quota: int


def uses(profile: str, nodes: int) -> tuple[Use, Use]:
    """Return what the nodes use at the most, with the quotas by default.

    Args:
        profile: `basic`, `standard` or `full`.
        nodes: All nodes, login nodes included.
    """
    series = series_at_most(profile, nodes)
    samples = series // SCRAPE_INTERVAL_S[profile]
    return (
        Use("L-5A151448", "active series", series, ACTIVE_SERIES),
        Use("L-F4BCE0BA", "samples a second", samples, SAMPLES_PER_S),
    )


def rules_use(groups: int, added: int) -> Use:
    """Return the rules of a cluster.

    Args:
        groups: Node groups.
        added: Rules of the files that the cluster file names.
    """
    return Use("L-3D15CDB4", "rules", _RULES + _RULES_OF_GROUP * groups + added, RULES)


def alerts_use(nodes: int, added: int, *, shared: bool) -> Use:
    """Return the active alerts of a cluster: one for each node of each own alert.

    Args:
        nodes: All nodes, login nodes included.
        added: Alerts of the files that the cluster file names.
        shared: Whether other clusters have alerts in the workspace too. Those of the library fit into it once.
    """
    return Use("L-E9CD1A4F", "active alerts", added * nodes + shared * ACTIVE_ALERTS, ACTIVE_ALERTS)


def quota_request(code: str, value: int) -> str:
    """Return the command that requests a quota of Amazon Managed Service for Prometheus."""
    return (
        "aws service-quotas request-service-quota-increase --service-code aps "
        f"--quota-code {code} --desired-value {value}"
    )


def series_at_most(profile: str, nodes: int) -> int:
    """Return the maximum active series of a cluster, without headroom.

    Args:
        profile: `basic`, `standard` or `full`.
        nodes: All nodes, login nodes included.
    """
    return SERIES_PER_NODE[profile] * nodes


def series_limit(profile: str, nodes: int) -> int:
    """Return a cluster's limit in its workspace: three times the most series, up to the quota."""
    return min(_HEADROOM * series_at_most(profile, nodes), ACTIVE_SERIES)
