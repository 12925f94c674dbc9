"""Fake exporters, Prometheus, Alertmanager and a webhook, started and stopped together."""

import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from support.ports import free_ports
from support.synthetic.fleet import FakeNode, make_fleet
from support.synthetic.shortened import EVALUATION_S, SCRAPE_S, shortened_routes, shortened_rules
from support.waiting import wait_until
from ultracluster.monitoring.alerts import alertmanager, rules
from ultracluster.monitoring.collectors import SLURM_PAGES, kubernetes_scraping, slurm_scraping
from ultracluster.monitoring.collectors._agent import agent_configuration
from ultracluster.monitoring.names import Profile

NAME, GROUP, TYPE, ZONE = "llama", "train", "p5.48xlarge", "use2-az1"
_JOBS = ("node", "dcgm", "agent")
_SERVICES = {f"slurm-{page}": f"slurm-{page}" for page in SLURM_PAGES} | {
    "kube-state-metrics": "kube",
    "kueue": "kueue",
    "workloads": "vllm",
}


class SyntheticCluster:
    """A cluster to watch, as a context manager. What is real: Prometheus, Alertmanager, the rules, the configuration.

    What is swapped in the generated configuration: how nodes are found (files instead of each node's own address),
    where alerts go (a webhook), and the clock (see `shortened`). Nothing is written to AMP.

    Args:
        directory: Where it may write.
        profile: How much is collected.
        extra_rules: Other people's rule files, evaluated beside ours.
    """

    def __init__(
        self,
        directory: Path,
        *,
        profile: Profile = Profile.STANDARD,
        extra_rules: tuple[Path, ...] = (),
    ) -> None:
        self.directory = directory
        self.profile = profile
        self.extra_rules = extra_rules
        self.fleet = make_fleet()
        self.exporters, self.prometheus, self.alertmanager = free_ports(3)
        #: What came by webhook: when, which receiver, the alert.
        self.notifications: list[tuple[float, str, dict[str, Any]]] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._webhook = ThreadingHTTPServer(("127.0.0.1", 0), self._listener())
        threading.Thread(target=self._webhook.serve_forever, daemon=True).start()

    def __enter__(self) -> "SyntheticCluster":
        """Start all of it; it answers when this returns."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._write()
        logs = self.directory
        self._start(sys.executable, "-m", "support.synthetic.exporters", str(self.exporters))
        self._start(
            shutil.which("alertmanager") or "prometheus-alertmanager",
            f"--config.file={logs / 'alertmanager.yaml'}",
            f"--storage.path={logs / 'alertmanager'}",
            f"--web.listen-address=127.0.0.1:{self.alertmanager}",
            "--cluster.listen-address=",
        )
        self._start(
            "prometheus",
            f"--config.file={logs / 'prometheus.yaml'}",
            f"--storage.tsdb.path={logs / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.prometheus}",
            "--storage.tsdb.retention.time=2h",
        )
        try:
            self.until("the first metrics", lambda: self.query("count(ultracluster_node_up)") != [])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all of it."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(timeout=180)
        self._webhook.shutdown()
        self._webhook.server_close()

    def inject(self, state: str, *numbers: int) -> float:
        """Put nodes into a state, and tell when; `lost` takes them away, `healthy` heals."""
        urllib.request.urlopen(
            f"http://127.0.0.1:{self.exporters}/control/{state}/{','.join(map(str, numbers))}", timeout=180
        ).close()
        for number in numbers:
            node = self.fleet[number]
            node.states = set() if state == "healthy" else node.states | {state}
        self._write_targets()
        return time.time()

    def query(self, expression: str) -> list[dict[str, Any]]:
        """An instant query's result.

        Raises:
            ValueError: When Prometheus refuses it, with its words.
        """
        return self._api("query", query=expression)

    def query_range(self, expression: str, *, start: float, end: float, step: float) -> list[dict[str, Any]]:
        """A range query's result; see `query`."""
        return self._api("query_range", query=expression, start=start, end=end, step=step)

    def firing(self) -> set[str]:
        """The names of the alerts that fire, the Watchdog aside."""
        return {item["metric"]["alertname"] for item in self.query('ALERTS{alertstate="firing"}')} - {"Watchdog"}

    def inhibited(self) -> set[str]:
        """The names of the alerts that Alertmanager holds back because another says it all."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.alertmanager}/api/v2/alerts", timeout=180) as answer:
            alerts = json.load(answer)
        held = (item["labels"] for item in alerts if item["status"]["inhibitedBy"] or item["labels"].get("cause"))
        return {labels["alertname"] for labels in held}

    def notified(self, since: float) -> set[str]:
        """Names of the alerts that were notified and began after a moment, without the Watchdog."""
        return {
            item["labels"]["alertname"]
            for _, who, item in self.notifications
            if who != "watchdog"
            and item["status"] == "firing"
            and datetime.fromisoformat(item["startsAt"]).timestamp() > since
        }

    def seconds_until_notified(self, alert: str, since: float) -> float:
        """Seconds from a moment to the notification of an alert."""

        def at() -> list[float]:
            return [
                when for when, _, item in self.notifications if item["labels"]["alertname"] == alert and when >= since
            ]

        self.until(f"the alert {alert}", lambda: bool(at()))
        return at()[0] - since

    def until(self, what: str, done: Callable[[], bool]) -> None:
        """Wait until something is true, as long as all processes run; the directory has what they said."""

        def here() -> bool:
            if any(process.poll() is not None for process in self._processes):
                logs = "\n".join(path.read_text()[-2000:] for path in self.directory.glob("*.log"))
                raise RuntimeError(f"a process has ended while waiting for {what}:\n{logs}")
            try:
                return done()
            except OSError:
                return False

        wait_until(what, here, every=0.3, detail=lambda: f"see the logs in {self.directory}")

    def _api(self, call: str, **arguments: Any) -> list[dict[str, Any]]:
        body = urllib.parse.urlencode(arguments).encode()
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.prometheus}/api/v1/{call}", body, timeout=180
            ) as answer:
                result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
                return result
        except urllib.error.HTTPError as error:
            # 503: it is starting.
            if error.code not in (400, 422):
                raise
            raise ValueError(f"{arguments['query']}: {error.read().decode()}") from None

    def _start(self, *command: str) -> None:
        log = (self.directory / f"{len(self._processes)}.log").open("wb")
        path = str(Path(__file__).parent.parent.parent)
        environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "PYTHONPATH": ":".join([path, *sys.path]), "GOGC": "200"}
        # Samples that come too late are nodes that are lost. Without root, the log has a warning instead.
        first = ["nice", "-n", "-10", *command]
        self._processes.append(subprocess.Popen(first, stdout=log, stderr=log, env=environment))
        log.close()

    def _write(self) -> None:
        files = rules(self.profile, inventory={(NAME, GROUP): len(self.fleet)}, ends={(NAME, GROUP): 4e9}, cluster=NAME)
        for name, text in files.items():
            (self.directory / name).write_text(json.dumps(shortened_rules(text)))
        for extra in self.extra_rules:
            (self.directory / extra.name).write_text(json.dumps(shortened_rules(extra.read_text())))
        url = f"http://127.0.0.1:{self._webhook.server_address[1]}/"
        warning, critical, watchdog = (
            {"webhook_configs": [{"send_resolved": True, "url": url + name}]}
            for name in ("warning", "critical", "watchdog")
        )
        routes = alertmanager(warning=warning, critical=critical, watchdog=watchdog)
        (self.directory / "alertmanager.yaml").write_text(json.dumps(shortened_routes(routes)))
        (self.directory / "prometheus.yaml").write_text(json.dumps(self._configuration([*files, *self.extra_rules])))
        self._write_targets()

    def _configuration(self, rule_files: list[Any]) -> dict[str, Any]:
        """The agents' generated configuration as one, with nodes found in files."""
        text = agent_configuration(cluster=NAME, group=GROUP, region="us-east-2", gpus=True, profile=self.profile)
        result: dict[str, Any] = YAML(typ="safe").load(text)
        del result["remote_write"]
        for text in (slurm_scraping(NAME, "10.0.0.1", self.profile), kubernetes_scraping(NAME, self.profile)):
            result["scrape_configs"] += YAML(typ="safe").load(text)["scrape_configs"]
        for job in result["scrape_configs"]:
            for key in ("static_configs", "metrics_path", "kubernetes_sd_configs", "relabel_configs",
                        "scheme", "authorization", "tls_config"):  # fmt: skip
                job.pop(key, None)
            file = str(self.directory / f"{job['job_name']}.json")
            job["file_sd_configs"] = [{"files": [file], "refresh_interval": "2s"}]
        result["global"] = {"scrape_interval": f"{SCRAPE_S}s", "scrape_timeout": f"{SCRAPE_S}s"}
        result["global"]["evaluation_interval"] = f"{EVALUATION_S}s"
        result["rule_files"] = [str(self.directory / Path(file).name) for file in rule_files]
        result["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{self.alertmanager}"]}]}]}
        return result

    def _write_targets(self) -> None:
        address = [f"127.0.0.1:{self.exporters}"]
        for job in _JOBS:
            # A lost node's agent sends nothing at all: there is nothing that could be down.
            self._put(job, [self._target(job, node, address) for node in self.fleet.values() if not node.lost])
        for job, page in _SERVICES.items():
            self._put(job, [{"targets": address, "labels": {"cluster": NAME, "__metrics_path__": f"/{page}"}}])

    @staticmethod
    def _target(job: str, node: FakeNode, address: list[str]) -> dict[str, Any]:
        labels = {"cluster": NAME, "group": GROUP, "instance": node.instance, "instance_type": TYPE, "zone": ZONE}
        return {"targets": address, "labels": labels | {"__metrics_path__": f"/{job}/{node.number}"}}

    def _put(self, job: str, targets: list[dict[str, Any]]) -> None:
        # Prometheus must not read half a file.
        part = self.directory / f".{job}.part"
        part.write_text(json.dumps(targets))
        part.rename(self.directory / f"{job}.json")

    def _listener(self) -> type[BaseHTTPRequestHandler]:
        notifications = self.notifications

        class Listener(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                now = time.time()
                notifications.extend((now, self.path.strip("/"), item) for item in body["alerts"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Listener
