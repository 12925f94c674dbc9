"""The job files of servers declare a service, and write the metrics of the server for the collector of the node."""

import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from support.relabelling import relabelled
from ultracluster.clusterfile import load
from ultracluster.monitoring.collectors import kubernetes_scraping
from ultracluster.monitoring.collectors._agent import ROLE, relabelling
from ultracluster.monitoring.names import Profile, read_from_exporters
from ultracluster.workloads import slurm_jobs

SCRIPT = ROOT / "constructs/ultracluster/workloads/slurm/serving.sh"
PAGE = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="meta-llama/Llama-3.1-8B"} 4.0
vllm:iteration_tokens_total_bucket{engine="0",le="8.0",model_name="meta-llama/Llama-3.1-8B"} 12.0
python_gc_objects_collected_total{generation="0"} 12834.0
"""


@pytest.fixture
def port() -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.end_headers()
            self.wfile.write(PAGE.encode())

        def log_message(self, *args: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def serve(directory: Path, port: int, without: str = "") -> None:
    # Once: the second round would begin after a sleep.
    program = f'set -euo pipefail; metrics={directory}; source {SCRIPT}; sleep() {{ exit 0; }}; serves_on "{port}"'
    program += f" '{without}'" if without else ""
    subprocess.run(["bash", "-c", program], check=True, timeout=60)


def test_a_server_writes_its_metrics_and_no_others(tmp_path: Path, port: int) -> None:
    serve(tmp_path, port)
    assert (tmp_path / "service.prom").read_text() == "train_service 1\n"
    assert (tmp_path / "serving.prom").read_text() == PAGE.splitlines()[2] + "\n"


@pytest.mark.parametrize("prefix", ["vllm:", "sglang:"])
def test_the_metrics_of_a_server_are_those_that_rules_read(prefix: str) -> None:
    script = f'source {SCRIPT}; printf %s "$served"'
    pattern = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout
    read = {name for name in read_from_exporters(Profile.FULL) if name.startswith(prefix)}
    assert read
    assert {name for name in read if not re.fullmatch(pattern, name)} == set()
    # Of the parts of a histogram, and of a counter when it was created, no more than that.
    others = {f"{name}{end}" for name in read for end in ("_sum", "_created")} | {f"{prefix}cache_config_info"}
    assert {name for name in others if re.fullmatch(pattern, name)} == set()


def test_a_server_that_does_not_answer_is_a_service_without_metrics(tmp_path: Path) -> None:
    (tmp_path / "serving.prom").write_text("vllm:num_requests_running 4\n")
    serve(tmp_path, 1)
    assert (tmp_path / "service.prom").exists()
    assert not (tmp_path / "serving.prom").exists()


def test_a_node_without_collectors_writes_nothing(tmp_path: Path) -> None:
    serve(tmp_path / "none", 1)
    assert list(tmp_path.iterdir()) == []


def test_the_job_files_of_servers_do_so_and_those_of_training_do_not() -> None:
    files = {Path(item.path).stem: item.text for item in slurm_jobs(load(str(ROOT / "examples/slurm-512-gpus.yaml")))}
    servers = {name for name, text in files.items() if re.search(r"^ *\(?serves_on ", text, re.M)}
    assert servers == {"inference", "sglang", "dynamo"}


ROLES = """\
vllm:num_requests_running{engine="0"} 1.0
vllm:num_requests_waiting{engine="0"} 2.0
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:prompt_tokens_total{engine="0"} 3.0
vllm:generation_tokens_total{engine="0"} 4.0
vllm:request_success_total{engine="0",finished_reason="length"} 5.0
vllm:prefix_cache_hits_total{engine="0"} 6.0
vllm:prefix_cache_queries_total{engine="0"} 7.0
vllm:e2e_request_latency_seconds_bucket{engine="0",le="1.0"} 8.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="1.0"} 9.0
vllm:inter_token_latency_seconds_bucket{engine="0",le="1.0"} 10.0
"""


def names(text: str) -> set[str]:
    return set(re.findall(r"^vllm:\w+", text, re.M))


GAUGES = {"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"}


def test_workers_of_two_roles_count_a_request_once_on_slurm(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "PAGE", ROLES)
    text = (SCRIPT.parent / "dynamo.sh").read_text()
    kept = []
    for role in ("of_tokens", "of_prompts"):
        (without,) = re.findall(rf"^{role}='(.*)'$", text, re.M)
        serve(tmp_path, port, without)
        kept.append(names((tmp_path / "serving.prom").read_text()))
    prefill, decode = kept
    assert prefill & decode == GAUGES
    assert prefill | decode == names(ROLES)
    assert "vllm:request_success_total" in decode


def test_workers_of_two_roles_count_a_request_once_on_kubernetes() -> None:
    def kept(role: str) -> set[str]:
        rules = relabelling("workloads", Profile.STANDARD)
        samples = ({"__name__": name, ROLE: role} for name in names(ROLES))
        return {result["__name__"] for sample in samples if (result := relabelled(sample, rules)) is not None}

    assert kept("prefill") & kept("decode") == GAUGES
    assert kept("prefill") | kept("decode") == kept("") == names(ROLES)
    (job,) = (
        item for item in yaml.safe_load(kubernetes_scraping("c"))["scrape_configs"] if item["job_name"] == "workloads"
    )
    meta = "__meta_kubernetes_pod_"
    target = {f"{meta}label_ultracluster_serves": "dynamo-train", f"{meta}label_role": "prefill"}
    target |= {f"{meta}annotation_ultracluster_metrics_port": "9090", f"{meta}ip": "10.0.0.1", f"{meta}name": "p-0"}
    result = relabelled(target | {"__meta_kubernetes_namespace": "team"}, job["relabel_configs"])
    assert result is not None
    assert result[ROLE] == "prefill"
    # The leader of vLLM has a role too, and counts everything.
    del target[f"{meta}label_ultracluster_serves"]
    other = relabelled(target | {"__meta_kubernetes_namespace": "team"}, job["relabel_configs"])
    assert other is not None
    assert ROLE not in other
