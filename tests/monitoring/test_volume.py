"""Estimated series of a cluster."""

import re
from typing import Any

import pytest

from ultracluster.catalogue.ec2 import instance_type
from ultracluster.monitoring import KubernetesSource, SlurmSource, volume
from ultracluster.monitoring._volume import recorded_series, scraped_series
from ultracluster.monitoring.collectors._agent import relabelling
from ultracluster.monitoring.collectors._scraping import BREAKER_ANNOTATIONS
from ultracluster.monitoring.names import METRICS, Profile
from ultracluster.planning.workload import SERIES_PER_NODE

P5 = instance_type("p5.48xlarge")


def test_a_node_of_p5_sends_at_most_1600_series_with_the_standard_profile() -> None:
    sizes = {
        profile: scraped_series(P5, profile, efa_devices=32) + recorded_series(P5, profile, efa_devices=32)
        for profile in Profile
    }
    assert sizes[Profile.BASIC] < sizes[Profile.STANDARD] <= 1600
    assert sizes[Profile.STANDARD] < sizes[Profile.FULL]


def test_more_nodes_cost_more() -> None:
    large = volume([(P5, 32, 60_000)], Profile.FULL)
    assert large.usd_per_month > volume([(P5, 32, 6_000)], Profile.FULL).usd_per_month > 0


def test_longer_retention_costs_the_storage_of_its_samples() -> None:
    """Two bytes for each sample, at 0.03 USD for a GB and month."""
    short, long = volume([(P5, 32, 1_000)], retention_days=150), volume([(P5, 32, 1_000)], retention_days=1_095)
    stored_gb = short.samples_per_s * 86_400 * (1_095 - 150) * 2 / 1e9
    assert long.usd_per_month - short.usd_per_month == pytest.approx(stored_gb * 0.03)


def test_what_is_asked_once_is_counted_and_grows_with_who_asks_and_what_is_asked_of() -> None:
    alone = volume([(P5, 32, 100)]).series
    kinds: list[SlurmSource | KubernetesSource] = [
        SlurmSource(queues=2),
        SlurmSource(queues=2, scrapers=2),
        KubernetesSource(queues=0),
        KubernetesSource(queues=3),
        KubernetesSource(queues=3, pods=20),
    ]
    sizes = [volume([(P5, 32, 100)], source=kind).series - alone for kind in kinds]
    assert sizes[0] < sizes[1]
    assert sizes[2] < sizes[3] < sizes[4]
    # A node's share of it is below what the profile promises on top of its own.
    assert alone + sizes[4] < 100 * SERIES_PER_NODE["standard"]
    for kind in kinds:
        assert kind.sent(100, Profile.STANDARD) < kind.sent(100, Profile.FULL)


def test_no_rule_reads_a_condition_that_is_not_sent() -> None:
    conditions = {result for metric in METRICS.values() for result in re.findall(r'condition="(\w+)"', metric.promql)}
    assert conditions == {"Ready", "AcceleratedHardwareReady"}
    (rule,) = _reading("condition", Profile.STANDARD)
    for condition in conditions:
        assert not re.fullmatch(rule["regex"], f"kube_node_status_condition;{condition}")
    assert re.fullmatch(rule["regex"], "kube_node_status_condition;DiskPressure")
    assert _reading("condition", Profile.FULL) == []
    # Of the annotations, only those of a breaker that is open are sent.


@pytest.mark.parametrize("profile", Profile)
def test_a_breaker_that_is_open_is_sent_and_no_other_annotation(profile: Profile) -> None:
    read = set(re.findall(r"annotation_\w+", METRICS["ultracluster_kube_node_breaker_open"].promql))
    assert read == {f"annotation_{re.sub('[^a-z]', '_', name)}" for name in BREAKER_ANNOTATIONS}
    drops = [rule for rule in relabelling("kube-state-metrics", profile) if rule["action"] == "drop"]

    def sent(sample: dict[str, str]) -> bool:
        values = (";".join(sample.get(label, "") for label in rule["source_labels"]) for rule in drops)
        return not any(re.fullmatch(rule["regex"], value) for rule, value in zip(drops, values, strict=True))

    for label in read:
        assert sent({"__name__": "kube_node_annotations", label: "open"})
    assert not sent({"__name__": "kube_node_annotations", "node": "a"})
    assert sent({"__name__": "kube_node_status_condition", "condition": "Ready"})


def _reading(label: str, profile: Profile) -> list[dict[str, Any]]:
    """Rules of kube-state-metrics that drop samples by a label."""
    rules = relabelling("kube-state-metrics", profile)
    return [rule for rule in rules if rule["action"] == "drop" and label in rule["source_labels"]]
