"""The custom resource that fills Grafana, against a stand-in for Amazon Managed Grafana: no Grafana runs here."""

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from werkzeug.serving import make_server

import ultracluster.observability
from cdk_rehearsal.rehearsal._grafana_stand_in import GrafanaStandIn, StandInWorkspace, answer

HANDLER = Path(ultracluster.observability.__file__).parent / "grafana_content"
WORKSPACE, FOLDER = "g-0123456789", "ultracluster-llama"
REQUESTS = ("Create", "Update", "Delete")


class Server:
    """The stand-in on a port, with a list of its requests and a switch for failures."""

    def __init__(self) -> None:
        self.stand_in = GrafanaStandIn()
        self.requests: list[str] = []
        #: (method, part of a path) -> statuses that are given before the real answers.
        self.failures: dict[tuple[str, str], list[int]] = {}
        self.answers: list[dict[str, Any]] = []

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        self.requests.append(f"{method} {path}")
        if path == "/answer":
            self.answers.append(json.loads(body))
            start_response("200 OK", [("Content-Length", "0")])
            return [b""]
        for (failing, part), statuses in self.failures.items():
            if statuses and failing == method and part in path:
                # As bad a server as there could be: it sends the credentials back.
                credentials = environ.get("HTTP_AUTHORIZATION", "").encode()
                start_response(f"{statuses.pop(0)} Made to fail", [("Content-Length", str(len(credentials)))])
                return [credentials]
        answered = answer(self.stand_in, environ, body)
        assert answered is not None, f"the handler requested {method} {path}"
        start_response(answered[0], [("Content-Type", "application/json"), ("Content-Length", str(len(answered[1])))])
        return [answered[1]]

    @property
    def kept(self) -> StandInWorkspace:
        return self.stand_in.workspace(WORKSPACE)


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(HANDLER))
    import grafana_content

    monkeypatch.setattr(grafana_content, "DASHBOARDS", tmp_path)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    yield grafana_content
    for name in ("grafana_content", "grafana_http"):
        sys.modules.pop(name, None)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    application = Server()
    running = make_server("127.0.0.1", 0, application, threaded=True)
    application.stand_in.endpoint = f"http://127.0.0.1:{running.server_port}"
    for name, value in {
        "AWS_ENDPOINT_URL": application.stand_in.endpoint,
        "AWS_ACCESS_KEY_ID": "stand-in",
        "AWS_SECRET_ACCESS_KEY": "stand-in",
        "AWS_DEFAULT_REGION": "us-east-2",
    }.items():
        monkeypatch.setenv(name, value)
    thread = threading.Thread(target=running.serve_forever, args=(0.02,))
    thread.start()
    yield application
    running.shutdown()
    thread.join()
    running.server_close()


def write(folder: Path, *uids: str, **more: str) -> None:
    for old in folder.glob("*.json"):
        old.unlink()
    for uid in uids:
        (folder / f"{uid}.json").write_text(json.dumps({"uid": uid, "title": more.get(uid, uid.title()), "id": 7}))


def properties(**more: str) -> dict[str, str]:
    source = {"uid": FOLDER, "name": "llama", "type": "grafana-amazonprometheus-datasource", "url": "https://aps/ws"}
    return {"WorkspaceId": WORKSPACE, "Folder": FOLDER, "Title": "llama", "DataSources": json.dumps([source]), **more}


def send(handler: ModuleType, server: Server, request: str, **more: Any) -> dict[str, Any]:
    event = {
        "RequestType": request,
        "ResourceProperties": properties(),
        "ResponseURL": f"{server.stand_in.endpoint}/answer",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Content",
        **({} if request == "Create" else {"PhysicalResourceId": f"{WORKSPACE}/{FOLDER}"}),
        **more,
    }
    handler.handle(event, SimpleNamespace())
    assert len(server.answers) == 1, "CloudFormation gets one answer"
    return server.answers.pop()


def no_token_is_left(server: Server) -> None:
    assert server.kept.tokens == {}
    assert server.kept.accounts == {}


def test_a_new_workspace_gets_a_data_source_a_folder_and_the_dashboards(
    handler: ModuleType, server: Server, tmp_path: Path
) -> None:
    write(tmp_path, "fleet", "node")
    response = send(handler, server, "Create")
    assert response["Status"] == "SUCCESS"
    assert response["PhysicalResourceId"] == f"{WORKSPACE}/{FOLDER}"
    assert server.kept.data_sources[FOLDER]["url"] == "https://aps/ws"
    assert server.kept.folders == {FOLDER: "llama"}
    assert {uid: folder for uid, (folder, _) in server.kept.dashboards.items()} == {"fleet": FOLDER, "node": FOLDER}
    assert server.kept.dashboards["fleet"][1]["id"] is None, "an id of another Grafana would be looked for"
    no_token_is_left(server)


def test_an_update_changes_what_changed_and_removes_what_is_gone(
    handler: ModuleType, server: Server, tmp_path: Path
) -> None:
    write(tmp_path, "fleet", "node")
    first = send(handler, server, "Create")
    write(tmp_path, "fleet", "job", fleet="The fleet")
    response = send(handler, server, "Update")
    assert response["PhysicalResourceId"] == first["PhysicalResourceId"], "another id would delete what was just made"
    assert server.kept.dashboards.keys() == {"fleet", "job"}
    assert server.kept.dashboards["fleet"][1]["title"] == "The fleet"
    no_token_is_left(server)


def test_a_data_source_that_is_gone_from_the_properties_is_gone_from_the_workspace(
    handler: ModuleType, server: Server, tmp_path: Path
) -> None:
    write(tmp_path, "fleet")
    sources = json.loads(properties()["DataSources"])
    both = properties(DataSources=json.dumps([*sources, {"uid": "cloudwatch-llama", "name": "CloudWatch"}]))
    send(handler, server, "Create", ResourceProperties=both)
    assert server.kept.data_sources.keys() == {FOLDER, "cloudwatch-llama"}
    server.kept.data_sources["theirs"] = {"uid": "theirs"}
    send(handler, server, "Update", OldResourceProperties=both)
    assert server.kept.data_sources.keys() == {FOLDER, "theirs"}
    send(handler, server, "Update", ResourceProperties=both, OldResourceProperties=properties())
    send(handler, server, "Delete", ResourceProperties=both)
    assert server.kept.data_sources.keys() == {"theirs"}


def test_users_and_groups_get_roles_and_lose_them(handler: ModuleType, server: Server, tmp_path: Path) -> None:
    write(tmp_path, "fleet")
    group, user = ("SSO_GROUP", "g" * 36), ("SSO_USER", "u" * 36)
    server.kept.members[("SSO_USER", "of-the-console")] = "ADMIN"
    first = {f"{kind}/{id}": "VIEWER" for kind, id in (group, user)}
    many = {f"SSO_USER/{number}": "VIEWER" for number in range(45)}
    created = properties(Members=json.dumps({**first, **many}))
    assert send(handler, server, "Create", ResourceProperties=created)["Status"] == "SUCCESS"
    assert len(server.kept.members) == 48
    changed = properties(Members=json.dumps({"/".join(group): "EDITOR"}))
    assert send(handler, server, "Update", ResourceProperties=changed, OldResourceProperties=created)["Reason"] == ""
    assert server.kept.members == {("SSO_USER", "of-the-console"): "ADMIN", group: "EDITOR"}
    send(handler, server, "Delete", ResourceProperties=changed)
    assert server.kept.members.keys() == {("SSO_USER", "of-the-console")}


def test_a_role_that_the_service_refuses_is_a_failure(handler: ModuleType, server: Server, tmp_path: Path) -> None:
    write(tmp_path, "fleet")
    old = properties(Members=json.dumps({"SSO_USER/u": "VIEWER"}))
    response = send(handler, server, "Update", OldResourceProperties=old)
    assert (response["Status"], response["Reason"]) == ("FAILED", "REVOKE VIEWER u: no such permission")


def test_the_same_content_twice_is_the_same_content(handler: ModuleType, server: Server, tmp_path: Path) -> None:
    write(tmp_path, "fleet")
    send(handler, server, "Create")
    before = dict(server.kept.dashboards), dict(server.kept.data_sources), dict(server.kept.folders)
    send(handler, server, "Update")
    assert before == (server.kept.dashboards, server.kept.data_sources, server.kept.folders)


def test_another_workspace_is_another_place_and_the_old_one_is_emptied(
    handler: ModuleType, server: Server, tmp_path: Path
) -> None:
    write(tmp_path, "fleet")
    old = send(handler, server, "Create")
    new = send(handler, server, "Update", ResourceProperties=properties(WorkspaceId="g-abcdefabcd"))
    assert new["PhysicalResourceId"] != old["PhysicalResourceId"]
    # What CloudFormation sends once an update gave another id.
    response = send(handler, server, "Delete", PhysicalResourceId=old["PhysicalResourceId"])
    assert response["PhysicalResourceId"] == old["PhysicalResourceId"]
    assert server.kept.dashboards == {}
    assert server.stand_in.workspace("g-abcdefabcd").dashboards.keys() == {"fleet"}


def test_deletion_removes_only_the_content_of_the_library(handler: ModuleType, server: Server, tmp_path: Path) -> None:
    write(tmp_path, "fleet")
    send(handler, server, "Create")
    server.kept.folders["theirs"] = "Theirs"
    server.kept.dashboards["their-own"] = ("theirs", {"uid": "their-own"})
    server.kept.data_sources["theirs"] = {"uid": "theirs"}
    assert send(handler, server, "Delete")["Status"] == "SUCCESS"
    assert server.kept.folders == {"theirs": "Theirs"}
    assert server.kept.dashboards.keys() == {"their-own"}
    assert server.kept.data_sources.keys() == {"theirs"}
    no_token_is_left(server)


def test_deleting_what_was_never_made_succeeds(handler: ModuleType, server: Server) -> None:
    assert send(handler, server, "Delete")["Status"] == "SUCCESS"
    no_token_is_left(server)


def test_one_dashboard_that_fails_keeps_no_other_from_its_turn(
    handler: ModuleType, server: Server, tmp_path: Path
) -> None:
    write(tmp_path, "old")
    send(handler, server, "Create")
    write(tmp_path, "fleet", "job", "node", job="")
    response = send(handler, server, "Update")
    assert response["Status"] == "FAILED"
    assert "title cannot be empty" in response["Reason"]
    assert server.kept.dashboards.keys() == {"old", "fleet", "node"}, "nothing is removed by half an update"
    no_token_is_left(server)


def test_a_grafana_that_no_longer_answers_is_not_waited_for_again_with_each_dashboard(
    handler: ModuleType, server: Server, tmp_path: Path
) -> None:
    write(tmp_path, "fleet", "job", "node")
    # What is no JSON is no answer, like a connection that breaks off.
    server.failures["POST", "/api/dashboards/db"] = [200] * 100
    response = send(handler, server, "Create")
    assert response["Status"] == "FAILED"
    assert len([path for path in server.requests if path.endswith("/api/dashboards/db")]) == 6
    assert [path for path in server.requests if path.endswith("/uid/job")] == []
    no_token_is_left(server)


def test_a_dashboard_of_somebody_else_is_not_taken_over(handler: ModuleType, server: Server, tmp_path: Path) -> None:
    write(tmp_path, "fleet")
    server.kept.folders["theirs"] = "Theirs"
    server.kept.dashboards["fleet"] = ("theirs", {"uid": "fleet", "title": "Theirs"})
    response = send(handler, server, "Create")
    assert response["Status"] == "FAILED"
    assert "the dashboard fleet is in the folder theirs already" in response["Reason"]
    assert server.kept.dashboards["fleet"][0] == "theirs"
    no_token_is_left(server)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
@pytest.mark.parametrize("request_type", REQUESTS)
def test_retries_until_grafana_is_ready(
    handler: ModuleType, server: Server, tmp_path: Path, status: int, request_type: str
) -> None:
    write(tmp_path, "fleet")
    for method in ("GET", "POST", "PUT", "DELETE"):
        server.failures[method, "/rehearsal/grafana/"] = [status] * 3
    assert send(handler, server, request_type)["Status"] == "SUCCESS"
    assert bool(server.kept.dashboards) == (request_type != "Delete")
    no_token_is_left(server)


@pytest.mark.parametrize("status", [400, 401, 403, 500])
@pytest.mark.parametrize("request_type", REQUESTS)
def test_the_token_is_deleted_and_never_logged_when_grafana_fails(
    handler: ModuleType,
    server: Server,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    status: int,
    request_type: str,
) -> None:
    write(tmp_path, "fleet")
    for method in ("GET", "POST", "PUT", "DELETE"):
        server.failures[method, "/rehearsal/grafana/"] = [status] * 99
    response = send(handler, server, request_type)
    assert response["Status"] == "FAILED"
    assert str(status) in response["Reason"]
    assert "glsa" not in json.dumps(response), "the server sent the token back, and it went on to CloudFormation"
    assert "glsa" not in "".join(capfd.readouterr())
    no_token_is_left(server)


@pytest.mark.parametrize("request_type", REQUESTS)
def test_the_response_does_not_contain_the_token(
    handler: ModuleType, server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str], request_type: str
) -> None:
    write(tmp_path, "fleet")
    response = send(handler, server, request_type)
    assert response.keys() <= {"Status", "Reason", "PhysicalResourceId", "StackId", "RequestId", "LogicalResourceId"}
    assert capfd.readouterr() == ("", "")


def test_an_account_that_a_killed_run_left_is_cleared_away(handler: ModuleType, server: Server, tmp_path: Path) -> None:
    write(tmp_path, "fleet")
    server.kept.accounts |= {"a": f"ultracluster-content-{FOLDER}", "b": "somebody-else"}
    server.kept.tokens["t"] = ("a", "glsa_left")
    assert send(handler, server, "Create")["Status"] == "SUCCESS"
    assert server.kept.accounts == {"b": "somebody-else"}
    assert server.kept.tokens == {}


def test_an_account_without_a_token_is_cleared_away(handler: ModuleType, server: Server, tmp_path: Path) -> None:
    write(tmp_path, "fleet")
    server.failures["POST", "/tokens"] = [403] * 99
    response = send(handler, server, "Create")
    assert response["Status"] == "FAILED"
    assert "CreateWorkspaceServiceAccountToken" in response["Reason"]
    no_token_is_left(server)


def test_an_unexpected_error_reports_only_its_type(handler: ModuleType, server: Server) -> None:
    response = send(handler, server, "Create", ResourceProperties=properties(DataSources="glsa_secret is no JSON"))
    assert response["Status"] == "FAILED"
    assert response["Reason"] == "a defect of the handler: JSONDecodeError"


def stubbed() -> tuple[Any, Stubber]:
    client = boto3.client(
        "grafana", region_name="us-east-2", aws_access_key_id="stand-in", aws_secret_access_key="stand-in"
    )
    return client, Stubber(client)


def test_a_workspace_that_is_gone_has_nothing_to_delete(handler: ModuleType) -> None:
    client, stubber = stubbed()
    stubber.add_client_error(
        "describe_workspace", "ResourceNotFoundException", expected_params={"workspaceId": WORKSPACE}
    )
    with stubber:
        assert handler.apply("Delete", properties(), client=client) == []
    stubber.assert_no_pending_responses()


def test_a_workspace_that_is_missing_can_not_be_filled(handler: ModuleType) -> None:
    client, stubber = stubbed()
    stubber.add_client_error("describe_workspace", "ResourceNotFoundException")
    with stubber, pytest.raises(client.exceptions.ResourceNotFoundException):
        handler.apply("Create", properties(), client=client)


def test_the_requests_are_those_that_the_service_takes(handler: ModuleType, server: Server, tmp_path: Path) -> None:
    """botocore checks each request and each answer against the model of the service."""
    write(tmp_path, "fleet")
    client, stubber = stubbed()
    name, place = f"ultracluster-content-{FOLDER}", {"workspaceId": WORKSPACE}
    server.kept.tokens["3"] = ("1", "glsa_stubbed")
    workspace = {
        **{key: "x" for key in ("grafanaVersion", "status")},
        "authentication": {"providers": ["AWS_SSO"]},
        "created": 0,
        "modified": 0,
        "dataSources": [],
        "endpoint": f"{server.stand_in.endpoint}/rehearsal/grafana/{WORKSPACE}",
        "id": WORKSPACE,
    }
    stubber.add_response("describe_workspace", {"workspace": workspace}, place)
    user = {"id": "9", "name": "somebody-else", "isDisabled": "false", "grafanaRole": "ADMIN"}
    left = {"id": "8", "name": name, "isDisabled": "false", "grafanaRole": "ADMIN"}
    listed = {"workspaceId": WORKSPACE}
    stubber.add_response(
        "list_workspace_service_accounts", {**listed, "serviceAccounts": [user], "nextToken": "more"}, place
    )
    stubber.add_response(
        "list_workspace_service_accounts", {**listed, "serviceAccounts": [left]}, {**place, "nextToken": "more"}
    )
    deleted = {**place, "serviceAccountId": "8"}
    stubber.add_client_error("delete_workspace_service_account", "ResourceNotFoundException", expected_params=deleted)
    stubber.add_response(
        "create_workspace_service_account",
        {"id": "1", "name": name, "grafanaRole": "ADMIN", **place},
        {**place, "name": name, "grafanaRole": "ADMIN"},
    )
    account = {**place, "serviceAccountId": "1"}
    stubber.add_response(
        "create_workspace_service_account_token",
        {**account, "serviceAccountToken": {"id": "3", "name": name, "key": "glsa_stubbed"}},
        {**account, "name": name, "secondsToLive": 900},
    )
    token = {**account, "tokenId": "3"}
    stubber.add_response("delete_workspace_service_account_token", token, token)
    stubber.add_response("delete_workspace_service_account", account, account)
    with stubber:
        assert handler.apply("Create", properties(), client=client) == []
    stubber.assert_no_pending_responses()
    assert server.kept.dashboards.keys() == {"fleet"}
