"""A stand-in for Amazon Managed Grafana: just enough to fill a workspace, and named as a stand-in wherever it shows.

It is no Grafana: it keeps data sources, folders and dashboards by uid, draws nothing and checks no dashboard. What it
does check is that each request carries a token that is alive.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

#: Where the stand-in of a workspace answers, on the local cloud's own port.
PATH = "/rehearsal/grafana/"
_ACCOUNT = re.compile(r"/workspaces/(g-[0-9a-f]{10})/serviceaccounts(?:/([^/]+)(?:/tokens(?:/([^/]+))?)?)?")
_PERMISSIONS = re.compile(r"/workspaces/(g-[0-9a-f]{10})/permissions")
_WORKSPACE = re.compile(r"/workspaces/(g-[0-9a-f]{10})")

Answer = tuple[int, Any]


@dataclass
class StandInWorkspace:
    """Contents of one workspace."""

    accounts: dict[str, str] = field(default_factory=dict)
    #: Kind and id of each user or group -> role.
    members: dict[tuple[str, str], str] = field(default_factory=dict)
    #: Id of each living token -> its account and its key.
    tokens: dict[str, tuple[str, str]] = field(default_factory=dict)
    data_sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    #: Uid -> folder and dashboard.
    dashboards: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)


class GrafanaStandIn:
    """The API of Amazon Managed Grafana for service accounts, and Grafana's own for content."""

    def __init__(self, on_new: Callable[[str], None] = lambda _: None) -> None:
        self._on_new = on_new
        self._count = 0
        self.endpoint = ""
        self.workspaces: dict[str, StandInWorkspace] = {}

    def workspace(self, id: str) -> StandInWorkspace:
        """The content of a workspace; one that was never read is empty."""
        if id not in self.workspaces:
            self._on_new(id)
            self.workspaces[id] = StandInWorkspace()
        return self.workspaces[id]

    def control(self, method: str, path: str, body: dict[str, Any]) -> Answer | None:
        """Answer a request of the AWS API, or return None for a request that the stand-in does not implement.

        See: https://docs.aws.amazon.com/grafana/latest/APIReference/Welcome.html (read 2026-11-21)
        """
        if match := _WORKSPACE.fullmatch(path):
            if method != "GET":
                return None
            self.workspace(match[1])
            return 200, {"workspace": {"id": match[1], "endpoint": f"{self.endpoint}{PATH}{match[1]}"}}
        if match := _PERMISSIONS.fullmatch(path):
            return _permissions(self.workspace(match[1]), body.get("updateInstructionBatch", []))
        match = _ACCOUNT.fullmatch(path)
        if match is None:
            return None
        id, account, token = match.groups()
        kept = self.workspace(id)
        if account is None:
            return self._accounts(id, kept, method, body)
        if account not in kept.accounts:
            return 404, {"message": f"no service account {account}", "resourceId": account, "resourceType": "account"}
        more = {"workspaceId": id, "serviceAccountId": account}
        if token is not None:
            kept.tokens.pop(token, None)
            return 200, {**more, "tokenId": token}
        if path.endswith("/tokens"):
            token_id = self._next()
            kept.tokens[token_id] = (account, f"glsa_stand-in-{token_id}")
            key = {"id": token_id, "name": body["name"], "key": kept.tokens[token_id][1]}
            return 200, {**more, "serviceAccountToken": key}
        del kept.accounts[account]
        kept.tokens = {key: owner for key, owner in kept.tokens.items() if owner[0] != account}
        return 200, more

    def http(self, method: str, path: str, query: str, token: str, body: dict[str, Any]) -> Answer:
        """Answer a request of Grafana's HTTP API; the path begins with the workspace's id.

        See: https://grafana.com/docs/grafana/latest/developers/http_api/ (read 2026-11-21)
        """
        id, _, rest = path.partition("/")
        kept = self.workspaces.get(id, StandInWorkspace())
        if token not in {key for _, key in kept.tokens.values()}:
            return 401, {"message": "Invalid API key"}
        match [unquote(part) for part in rest.split("/")], method:
            case (["api", "datasources"], "POST"):
                kept.data_sources[body["uid"]] = body
                return 200, {"datasource": body}
            case (["api", "datasources", "uid", uid], _):
                return _item(kept.data_sources, uid, method, body)
            case (["api", "folders"], "POST"):
                kept.folders[body["uid"]] = body["title"]
                return 200, body
            case (["api", "folders", uid], "DELETE"):
                kept.dashboards = {key: held for key, held in kept.dashboards.items() if held[0] != uid}
                return (200, {}) if kept.folders.pop(uid, None) else (404, {"message": "folder not found"})
            case (["api", "folders", uid], _):
                return _item(kept.folders, uid, method, body.get("title"))
            case (["api", "dashboards", "db"], "POST"):
                dashboard = body["dashboard"]
                if body["folderUid"] not in kept.folders or not dashboard.get("title"):
                    return 400, {"message": "folder not found" if dashboard.get("title") else "title cannot be empty"}
                kept.dashboards[dashboard["uid"]] = (body["folderUid"], dashboard)
                return 200, {"uid": dashboard["uid"], "status": "success"}
            case (["api", "dashboards", "uid", uid], "DELETE"):
                return (200, {}) if kept.dashboards.pop(uid, None) else (404, {"message": "Dashboard not found"})
            case (["api", "dashboards", "uid", uid], "GET"):
                if uid not in kept.dashboards:
                    return 404, {"message": "Dashboard not found"}
                folder, dashboard = kept.dashboards[uid]
                return 200, {"dashboard": dashboard, "meta": {"folderUid": folder}}
            case (["api", "search"], "GET"):
                return 200, _search(kept, {key: values[0] for key, values in parse_qs(query).items()})
        return 404, {"message": f"the stand-in does not implement {method} {rest}"}

    def _accounts(self, id: str, kept: StandInWorkspace, method: str, body: dict[str, Any]) -> Answer:
        if method == "GET":
            accounts = [
                {"id": account, "name": name, "grafanaRole": "ADMIN", "isDisabled": "false"}
                for account, name in kept.accounts.items()
            ]
            return 200, {"serviceAccounts": accounts, "workspaceId": id}
        if body["name"] in kept.accounts.values():
            return 409, {"message": "the name is taken", "resourceId": id, "resourceType": "account"}
        account = self._next()
        kept.accounts[account] = body["name"]
        return 200, {"id": account, "name": body["name"], "grafanaRole": body["grafanaRole"], "workspaceId": id}

    def _next(self) -> str:
        self._count += 1
        return str(self._count)


def _permissions(kept: StandInWorkspace, batch: list[dict[str, Any]]) -> Answer:
    if len(batch) > 20:
        return 400, {"message": "at most 20 instructions", "reason": "FIELD_VALIDATION_FAILED"}
    errors = []
    for instruction in batch:
        for user in instruction["users"]:
            member = (user["type"], user["id"])
            if instruction["action"] == "ADD":
                kept.members[member] = instruction["role"]
            elif kept.members.pop(member, None) != instruction["role"]:
                errors.append({"code": 404, "message": "no such permission", "causedBy": instruction})
    return 200, {"errors": errors}


def _item(items: dict[str, Any], uid: str, method: str, value: Any) -> Answer:
    if uid not in items:
        return 404, {"message": "not found"}
    if method == "PUT":
        items[uid] = value
    elif method == "DELETE":
        return 200, items.pop(uid)
    return 200, items[uid]


def _search(kept: StandInWorkspace, query: dict[str, str]) -> list[dict[str, str]]:
    uids = [uid for uid, (folder, _) in kept.dashboards.items() if folder == query["folderUIDs"]]
    limit, page = int(query["limit"]), int(query["page"])
    return [{"uid": uid, "type": "dash-db"} for uid in uids[(page - 1) * limit : page * limit]]


def answer(stand_in: GrafanaStandIn, environ: dict[str, Any], content: bytes) -> tuple[str, bytes] | None:
    """Answer a WSGI request with a status line and a body, or None if it is not for the stand-in."""
    method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
    body = json.loads(content or b"{}")
    response: Answer | None
    if path.startswith(PATH):
        token = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        response = stand_in.http(method, path.removeprefix(PATH), environ.get("QUERY_STRING", ""), token, body)
    else:
        response = stand_in.control(method, path, body)
    return None if response is None else (f"{response[0]} Stand-in", json.dumps(response[1]).encode())
