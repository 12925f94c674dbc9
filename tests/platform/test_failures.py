"""An API server that does not answer for a moment, one that refuses the caller, and files that are not JSON."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support.kubernetes_double import node
from support.platform_runs import Run, bundle
from ultracluster.platform import ApplyError, Bundle, Options, ToolError, Tools, apply, find_tools
from ultracluster.platform.__main__ import main

PATHS = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [
            {"name": "nodes", "singularName": "node", "namespaced": False, "kind": "Node", "verbs": ["list"]}
        ],
    },
    "/api/v1/nodes": {"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "ip-10-0-0-1"}}]},
}


class Api(ThreadingHTTPServer):
    """An API server with nodes alone, which fails a number of requests."""

    failures, status = 0, 503

    class Handler(BaseHTTPRequestHandler):
        server: "Api"

        def do_GET(self) -> None:
            failed = self.server.failures > 0
            self.server.failures -= failed
            self.send_response(self.server.status if failed else 200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            if not failed:
                self.wfile.write(json.dumps(PATHS[self.path.partition("?")[0]]).encode())

        def log_message(self, *_: object) -> None:
            pass

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), self.Handler)

    def tools(self, directory: Path, backoff: tuple[float, ...] = (0,)) -> Tools:
        cluster = {"name": "a", "cluster": {"server": f"http://127.0.0.1:{self.server_port}"}}
        context = {"name": "a", "context": {"cluster": "a", "user": "a"}}
        config = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context]}
        file = directory / "kubeconfig"
        file.write_text(json.dumps({**config, "current-context": "a", "users": [{"name": "a", "user": {}}]}))
        pinned = find_tools(file)
        env = {"KUBECACHEDIR": str(directory / "cache")}
        return Tools(kubectl=pinned.kubectl, helm=pinned.helm, kubeconfig=file, env=env, backoff=backoff)


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Api() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


# kubectl lists the kinds five times before it gives up. With three failures it says that there is no such kind.
@pytest.mark.parametrize(("status", "failures"), [(429, 5), (500, 5), (503, 5), (504, 5), (503, 3)])
def test_a_read_is_repeated_while_the_api_server_restarts(
    api: Api, tmp_path: Path, status: int, failures: int, capsys: pytest.CaptureFixture[str]
) -> None:
    api.failures, api.status = failures, status
    assert [item["metadata"]["name"] for item in api.tools(tmp_path).get("nodes")] == ["ip-10-0-0-1"]
    assert capsys.readouterr().err.count("next attempt") == 1


def test_a_kind_that_is_not_served_has_no_objects(api: Api, tmp_path: Path) -> None:
    assert api.tools(tmp_path).get("workloads.kueue.x-k8s.io") == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_read_that_is_refused_is_not_repeated(
    api: Api, tmp_path: Path, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    api.failures, api.status = 1_000, status
    with pytest.raises(ToolError) as error:
        api.tools(tmp_path).get("nodes")
    assert "Unhandled Error" not in error.value.message
    assert capsys.readouterr().err == ""
    api.failures = 0


def test_the_gate_goes_on_after_an_error_that_passes() -> None:
    run = Run()
    apply(run.cluster, bundle(), Options(seconds=0))
    run.cluster.state["failures"] += ["The connection to the server 10.0.0.1 was refused - did you specify it?"] * 3
    assert run.apply(bundle())


EXPIRED = "error: You must be logged in to the server (the server has asked for the client to provide credentials)"


def test_credentials_that_expire_end_the_apply_with_the_phase() -> None:
    run = Run(node(0, "train"))

    def expire(line: str) -> None:
        if line.startswith("objects"):
            run.cluster.state["failures"].append(EXPIRED)

    with pytest.raises(ApplyError) as error:
        apply(run.cluster, bundle(), Options(seconds=600, report=expire))
    assert error.value.reason == EXPIRED
    assert "sign in again" in error.value.remedy


def test_an_api_server_that_stays_away_is_named() -> None:
    run = Run()
    run.cluster.state["failures"] += ["dial tcp 10.0.0.1:443: i/o timeout"] * 4
    assert "check: API server (kubectl get): dial tcp 10.0.0.1:443: i/o timeout" in run.refused(bundle())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "it has list instead of an object"),
        ('{"FileSystemId": 1}', "FileSystemId: not a string"),
        (None, "No such file"),
    ],
)
def test_values_that_are_not_an_object_of_strings_are_refused(
    tmp_path: Path, text: str | None, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values = tmp_path / "values.json"
    if text is not None:
        values.write_text(text)
    assert main(["apply", "--bundle", str(tmp_path), "--values", str(values)]) == 1
    error = capsys.readouterr().err
    assert f"error: check: {values}: " in error
    assert reason in error
    assert "remedy: write one JSON object of strings" in error


def test_a_bundle_that_is_no_object_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_text("[]")
    with pytest.raises(ApplyError, match="it is not a JSON object"):
        Bundle.load(tmp_path, {})


def test_no_path_to_the_api_server_is_not_a_missing_permission(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        address = f"http://127.0.0.1:{closed.server_port}"
    cluster = {"name": "a", "cluster": {"server": address}}
    context = {"name": "a", "context": {"cluster": "a", "user": ""}}
    kubeconfig.write_text(json.dumps({"clusters": [cluster], "contexts": [context], "current-context": "a"}))
    with pytest.raises(ApplyError, match=r"connect: API server: .*refused") as error:
        apply(find_tools(kubeconfig), bundle(), Options(seconds=0))
    assert "--through" in error.value.remedy
