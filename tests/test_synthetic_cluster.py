"""A cluster of 100 nodes that is none, with all behind its exporters real: who is told when something breaks."""

import re
import time
from collections.abc import Iterator

import pytest
from dashboard_queries import EMPTY_WHEN_WELL, queries, silent
from synthetic import SyntheticCluster
from synthetic.scenarios import SCENARIOS, Scenario, inject, settle
from synthetic.services import PODS, QUEUES

from ultracluster.hardware import instance_type
from ultracluster.metrics import METRICS, KubernetesSource, Profile, SlurmSource, metrics
from ultracluster.metrics.cluster_volume import PER_SCRAPE
from ultracluster.metrics.reading import read_from_exporters
from ultracluster.metrics.volume import recorded_series, scraped_series

pytestmark = [pytest.mark.slow, pytest.mark.daemons]

NODES = 100
# What nothing here has: NVLink 5, errors that are not injected, other names of the same.
ABSENT = re.compile(r".*NVLINK_(COUNT|RECOVERY_(EVENT|FAILED)|EFFECTIVE).*|DCGM_EXP_CLOCK.*|vllm:gpu_cache_usage_perc")
QUIET = re.compile(
    r"gpu:(clock_event|nvlink_(effective|recovery_f)).*|efa:.*|node:xid_(watch|application).*|kube:accelerator.*"
)
TIMES: dict[str, float] = {}
# What a reader has chosen: before, a node that is well; after, the one that lost a GPU, and all nodes of the network.
CHOSEN = {"cluster": "llama", "job": "1001", "node": "i-00000000000000001"}
BROKEN = CHOSEN | {"node": "i-00000000000000003"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyntheticCluster]:
    with SyntheticCluster(tmp_path_factory.mktemp("synthetic"), nodes=NODES) as found:
        settle(found)
        yield found


def names(cluster: SyntheticCluster, matching: str) -> set[str]:
    return {one["metric"]["__name__"] for one in cluster.query(f'count by (__name__) ({{__name__=~"{matching}"}})')}


def number(cluster: SyntheticCluster, expression: str) -> float:
    found = cluster.query(expression)
    assert len(found) == 1, expression
    return float(found[0]["value"][1])


# The tests run in this order: first all is well, then all faults come at once.


def test_a_healthy_cluster_tells_nothing(cluster: SyntheticCluster) -> None:
    since = time.time()
    time.sleep(6)
    assert cluster.firing() == set()
    assert cluster.told(since) == set()


def test_every_panel_has_data_or_nothing_to_complain_of_while_all_is_well(cluster: SyntheticCluster) -> None:
    def odd() -> set[tuple[str, str, str]]:
        quiet = {one for one in queries(CHOSEN) if one[1] in EMPTY_WHEN_WELL.get(one[0], ()) or silent(*one)}
        return {one for one in queries(CHOSEN) if bool(cluster.query(one[2])) is (one in quiet)}

    cluster.until(lambda: not odd(), "data in every panel", 60)


def test_the_estimate_of_series_is_what_prometheus_counts(cluster: SyntheticCluster) -> None:
    kind = instance_type("p5.48xlarge")
    arguments = {"efa_devices": 32}
    jobs = 'job=~"node|dcgm|agent"'
    sent = number(cluster, f"sum(scrape_samples_post_metric_relabeling{{{jobs}}}) + 5 * count(up{{{jobs}}})") / NODES
    assert scraped_series(kind, Profile.STANDARD, **arguments) == pytest.approx(sent, rel=0.02)
    made = number(cluster, 'count({__name__=~".+:.+:.+", instance!=""})') / NODES
    assert recorded_series(kind, Profile.STANDARD, **arguments) == pytest.approx(made, rel=0.05)
    assert sent + made <= 1600


def test_so_is_that_of_what_is_asked_once_for_a_cluster(cluster: SyntheticCluster) -> None:
    slurm, kubernetes = SlurmSource(queues=2), KubernetesSource(queues=len(QUEUES), pods=PODS)
    for source, jobs in ((slurm, "slurm-.*"), (kubernetes, "kube-state-metrics|kueue")):
        selector = f'{{job=~"{jobs}"}}'
        kept = number(cluster, f"sum(scrape_samples_post_metric_relabeling{selector})")
        sent = kept + PER_SCRAPE * number(cluster, f"count(up{selector})")
        # Kueue has one replica here: another answers, and all that it says is dropped.
        alone = PER_SCRAPE if source is kubernetes else 0
        assert source.sent(NODES, Profile.STANDARD) == sent + alone
        # Much more is said than is kept.
        assert number(cluster, f"sum(scrape_samples_scraped{selector})") > 1.5 * kept
        # This cluster has both at once.
        own = "slurm" if source is slurm else "kube|kueue"
        made = number(cluster, f'count({{__name__=~"(cluster|group|{own}):.+", instance=""}})')
        made += number(cluster, f'count({{__name__=~"pipeline:.+", instance="", job=~"node|dcgm|agent|{jobs}"}})')
        assert source.recorded(1, Profile.STANDARD) == made


def test_every_fault_is_injected_and_exporters_of_another_version_change_nothing(cluster: SyntheticCluster) -> None:
    before = {name: number(cluster, f"avg({name})") for name in ("gpu:sm_clock:hertz", "gpu:utilization:ratio")}
    TIMES.update(inject(cluster))
    upgraded = "|".join(cluster.fleet[one].instance for one in SCENARIOS[-1].nodes)
    cluster.until(lambda: names(cluster, "DCGM_FI_DEV_GPU_TEMP_CELSIUS") != set(), "the new names", 20)
    for name, value in before.items():
        assert number(cluster, f'avg({name}{{instance=~"{upgraded}"}})') == pytest.approx(value, rel=0.2)
        assert number(cluster, f'count({name}{{instance=~"{upgraded}"}})') == 8 * len(SCENARIOS[-1].nodes)


@pytest.mark.parametrize(
    ("scenario", "alert"),
    [(scenario, alert) for scenario in SCENARIOS for alert in scenario.alerts],
    ids=lambda value: value if isinstance(value, str) else value.state,
)
def test_a_fault_is_told_by_webhook(cluster: SyntheticCluster, scenario: Scenario, alert: str) -> None:
    took = cluster.seconds_until_heard(alert, TIMES[scenario.name])
    print(f"{scenario.name}: {alert} after {took:.1f} s")
    where = {one["labels"].get("instance") for _, _, one in cluster.heard if one["labels"]["alertname"] == alert}
    assert where <= {None} | {cluster.fleet[one].instance for one in scenario.nodes}


def test_every_panel_has_data_when_everything_breaks(cluster: SyntheticCluster) -> None:
    def empty() -> set[tuple[str, str]]:
        return {(board, title) for board, title, query in queries(BROKEN) if not silent(board, title, query)
                and not cluster.query(query)}  # fmt: skip

    cluster.until(lambda: not empty(), "data in every panel", 60)


@pytest.mark.parametrize("name", sorted({name for scenario in SCENARIOS for name in scenario.inhibited}))
def test_what_one_alert_says_no_other_repeats(cluster: SyntheticCluster, name: str) -> None:
    cluster.until(lambda: name in cluster.inhibited(), f"{name} held back", 60)


def test_nothing_else_is_told(cluster: SyntheticCluster) -> None:
    meant = {name for scenario in SCENARIOS for name in scenario.alerts + scenario.inhibited}
    # The schedulers see the dead node as well, and a hung job has no goodput.
    others = {"SlurmNodesDown", "KubernetesNodeNotReady", "JobGoodputLow"}
    assert cluster.told(min(TIMES.values())) - meant <= others
    untold = {name for scenario in SCENARIOS for name in scenario.untold}
    cluster.until(lambda: untold <= cluster.firing(), "what goes to nobody", 30)


def test_every_metric_of_ours_and_every_source_of_them_is_there(cluster: SyntheticCluster) -> None:
    there = names(cluster, ".+")
    assert {name for name in METRICS if METRICS[name].profile <= Profile.STANDARD} - there <= {
        metric.name for metric in metrics(Profile.STANDARD) if QUIET.fullmatch(metric.name)
    }
    missing = {name for name in read_from_exporters(Profile.STANDARD) - there if not ABSENT.fullmatch(name)}
    assert missing == set()


def test_labels_have_bounds(cluster: SyntheticCluster) -> None:
    for label in ("UUID", "Hostname", "hostname", "modelName", "pci_bus_id"):
        assert cluster.query(f'count({{{label}!=""}})') == []
