"""Synthetic cluster of 32 nodes: fake exporters, real Prometheus and Alertmanager, notifications of faults."""

import json
import re
import time
from collections.abc import Iterator

import pytest

from support.dashboard_queries import EMPTY_WHEN_WELL, queries, silent
from support.synthetic import SyntheticCluster
from support.synthetic.fleet import NODES
from support.synthetic.scenarios import SCENARIOS, Scenario, inject, settle, value
from support.synthetic.services import PODS, QUEUES
from support.synthetic.shortened import EVALUATION_S
from ultracluster.catalogue.ec2 import instance_type
from ultracluster.monitoring import KubernetesSource, SlurmSource
from ultracluster.monitoring._cluster_volume import PER_SCRAPE
from ultracluster.monitoring._volume import recorded_series, scraped_series
from ultracluster.monitoring.dashboards import dashboards
from ultracluster.monitoring.names import (
    CLUSTER_METRICS,
    EXPECTED_NODES,
    KUBERNETES_METRICS,
    METRICS,
    SLURM_METRICS,
    Profile,
    metrics,
    read_from_exporters,
)

pytestmark = pytest.mark.daemons

# What nothing here has: NVLink 5, errors that are not injected, other names of the same.
ABSENT = re.compile(
    r"ultracluster_gpu_recovery_required|.*NVLINK_(COUNT|RECOVERY_(EVENT|FAILED)|EFFECTIVE).*|DCGM_EXP_CLOCK.*|vllm:gpu_cache_usage_perc"
    r"|sglang:.*|train_service|ultracluster_xids_forgotten_timestamp_seconds|kube_node_(annotations|spec_unschedulable)"
    r"|ultracluster_(lustre_evictions|blocked_jobs)"
)
QUIET = re.compile(
    r"ultracluster_gpu_(clock_event|ecc_contained|nvlink_(effective|recovery_f)).*|node_device:.*|ultracluster_kube_accelerator.*"
    r"|ultracluster_node_(gpu_recovery_required|(nvswitch_fatal|nvlink_failed)_timestamp_seconds)|node_xid:ultracluster_gpu_xid_errors_(watch|application):sum|job:ultracluster_job_step_seconds:ratio"
    r"|ultracluster_job_(saving|service|preparing|stall_start_timestamp_seconds)|ultracluster_kube_node_breaker_open|ultracluster_node_mount_outage|job:ultracluster_job_(loss|slowdown):ratio"
    r"|ultracluster_node_lustre_evictions|ultracluster_slurm_blocked_jobs"
)
TIMES: dict[str, float] = {}
# What a reader has chosen: before, a node that is well; after, the one that lost a GPU, and all nodes of the network.
CHOSEN = {"cluster": "llama", "job": "1001", "node": "i-00000000000000002"}
BROKEN = CHOSEN | {"node": "i-00000000000000001"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyntheticCluster]:
    with SyntheticCluster(tmp_path_factory.mktemp("synthetic")) as result:
        settle(result)
        yield result


def names(cluster: SyntheticCluster, matching: str) -> set[str]:
    return {item["metric"]["__name__"] for item in cluster.query(f'count by (__name__) ({{__name__=~"{matching}"}})')}


def number(cluster: SyntheticCluster, expression: str) -> float:
    result = cluster.query(expression)
    assert len(result) == 1, expression
    return float(result[0]["value"][1])


def all_answer(cluster: SyntheticCluster) -> None:
    """No scrape is missing, as one would while the machine is busy."""
    cluster.until("all targets answer", lambda: value(cluster, "sum(up)") == value(cluster, "count(up)"))


# The tests run in this order: first all is well, then all faults come at once.


def test_a_healthy_cluster_fires_no_alert(cluster: SyntheticCluster) -> None:
    since = time.time()
    time.sleep(2 * EVALUATION_S)
    assert cluster.firing() == set()
    assert cluster.notified(since) == set()


def test_a_reader_selects_nodes_by_name_and_id(cluster: SyntheticCluster) -> None:
    board = json.loads(dashboards()["ultracluster-node"])
    (variable,) = [item for item in board["templating"]["list"] if item["name"] == "node"]
    query = variable["query"]["query"].removeprefix("query_result(").removesuffix(")")
    nodes = cluster.query(query.replace("$cluster", "llama").replace("$__range", "5m"))
    assert {item["metric"]["instance"]: item["metric"]["shown"] for item in nodes} == {
        node.instance: f"{node.name} {node.instance}" for node in cluster.fleet.values()
    }


def test_every_panel_has_data_or_nothing_to_complain_of_while_all_is_well(cluster: SyntheticCluster) -> None:
    def odd() -> set[tuple[str, str, str]]:
        quiet = {item for item in queries(CHOSEN) if item[1] in EMPTY_WHEN_WELL.get(item[0], ()) or silent(*item)}
        return {item for item in queries(CHOSEN) if bool(cluster.query(item[2])) is (item in quiet)}

    cluster.until("data in every panel", lambda: not odd())


def test_the_estimate_of_series_is_what_prometheus_counts(cluster: SyntheticCluster) -> None:
    all_answer(cluster)
    kind = instance_type("p5.48xlarge")
    arguments = {"efa_devices": 32}
    jobs = 'job=~"node|dcgm|agent"'
    sent = number(cluster, f"sum(scrape_samples_post_metric_relabeling{{{jobs}}}) + 5 * count(up{{{jobs}}})") / NODES
    assert scraped_series(kind, Profile.STANDARD, **arguments) == pytest.approx(sent, rel=0.02)
    recorded = number(cluster, f'count({{__name__=~"{"|".join(METRICS)}", instance!=""}})') / NODES
    assert recorded_series(kind, Profile.STANDARD, **arguments) == pytest.approx(recorded, rel=0.05)
    assert sent + recorded <= 1600


def test_so_is_that_of_what_is_asked_once_for_a_cluster(cluster: SyntheticCluster) -> None:
    all_answer(cluster)
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
        counted = (*CLUSTER_METRICS, *(SLURM_METRICS if source is slurm else KUBERNETES_METRICS))
        recorded = "|".join((EXPECTED_NODES, *(metric.name for metric in counted)))
        selector = f'__name__=~"{recorded}", instance="", job=~"|node|dcgm|agent|{jobs}"'
        assert source.recorded(1, Profile.STANDARD) == number(cluster, f"count({{{selector}}})")


def test_every_fault_is_injected_and_exporters_of_another_version_change_nothing(cluster: SyntheticCluster) -> None:
    before = {
        name: number(cluster, f"avg({name})")
        for name in ("ultracluster_gpu_sm_clock_hertz", "ultracluster_gpu_utilization_ratio")
    }
    TIMES.update(inject(cluster))
    upgraded = "|".join(cluster.fleet[item].instance for item in SCENARIOS[-1].nodes)
    gpus = 8 * len(SCENARIOS[-1].nodes)
    cluster.until("the new names", lambda: value(cluster, "count(DCGM_FI_DEV_GPU_TEMP_CELSIUS)") == gpus)
    for name, expected in before.items():
        assert number(cluster, f'avg({name}{{instance=~"{upgraded}"}})') == pytest.approx(expected, rel=0.2)
        assert number(cluster, f'count({name}{{instance=~"{upgraded}"}})') == gpus


@pytest.mark.parametrize(
    ("scenario", "alert"),
    [(scenario, alert) for scenario in SCENARIOS for alert in scenario.alerts],
    ids=lambda value: value if isinstance(value, str) else value.state,
)
def test_a_fault_is_notified_by_webhook(cluster: SyntheticCluster, scenario: Scenario, alert: str) -> None:
    took = cluster.seconds_until_notified(alert, TIMES[scenario.name])
    print(f"{scenario.name}: {alert} after {took:.1f} s")
    where = {
        item["labels"].get("instance") for _, _, item in cluster.notifications if item["labels"]["alertname"] == alert
    }
    assert where <= {None} | {cluster.fleet[item].instance for item in scenario.nodes}


def test_every_panel_has_data_when_everything_breaks(cluster: SyntheticCluster) -> None:
    def empty() -> set[tuple[str, str]]:
        return {(board, title) for board, title, query in queries(BROKEN) if not silent(board, title, query)
                and not cluster.query(query)}  # fmt: skip

    cluster.until("data in every panel", lambda: not empty())


@pytest.mark.parametrize("name", sorted({name for scenario in SCENARIOS for name in scenario.inhibited}))
def test_inhibited_alerts_are_not_notified(cluster: SyntheticCluster, name: str) -> None:
    cluster.until(f"{name} held back", lambda: name in cluster.inhibited())


def test_no_other_alert_is_notified(cluster: SyntheticCluster) -> None:
    meant = {name for scenario in SCENARIOS for name in scenario.alerts + scenario.inhibited}
    # The schedulers see the dead node as well, and a hung job has no goodput.
    others = {"SlurmNodesDown", "KubernetesNodeNotReady", "JobGoodputLow"}
    assert cluster.notified(min(TIMES.values())) - meant <= others
    not_notified = {name for scenario in SCENARIOS for name in scenario.not_notified}
    cluster.until("what goes to nobody", lambda: not_notified <= cluster.firing())


def test_every_recorded_metric_and_every_source_exists(cluster: SyntheticCluster) -> None:
    there = names(cluster, ".+")
    assert {name for name in METRICS if METRICS[name].profile <= Profile.STANDARD} - there <= {
        metric.name for metric in metrics(Profile.STANDARD) if QUIET.fullmatch(metric.name)
    }
    missing = {name for name in read_from_exporters(Profile.STANDARD) - there if not ABSENT.fullmatch(name)}
    assert missing == set()


def test_labels_have_bounds(cluster: SyntheticCluster) -> None:
    for label in ("UUID", "Hostname", "hostname", "modelName", "pci_bus_id"):
        assert cluster.query(f'count({{{label}!=""}})') == []
