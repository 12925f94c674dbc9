"""The custom resource that fills a workspace of Amazon Managed Grafana.

CloudFormation has no data sources, dashboards or service accounts of a workspace (2026-11-21). This handler creates
a service account with a token that is valid for minutes, uses it, and deletes both within one invocation. The token is
neither returned nor logged. The dashboards are files beside it, and their checksum is a property of the resource, so
that a change of them is an update.
"""

import json
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from grafana_http import Grafana, GrafanaError

#: One file for each, called after its uid.
DASHBOARDS = Path(__file__).parent / "dashboards"
# Longer than the function may run.
_TOKEN_SECONDS = 900
_LONGEST_REASON = 1000
# Of one request: https://docs.aws.amazon.com/grafana/latest/APIReference/API_UpdatePermissions.html (read 2026-11-23)
_INSTRUCTIONS = 20


def handle(event: Mapping[str, Any], context: Any) -> None:
    """Answer one event of CloudFormation. Whatever happens, it gets an answer."""
    properties = event["ResourceProperties"]
    # It names the place. Content that changes is no replacement; another workspace is one, and the old one is emptied.
    physical_id = f"{properties['WorkspaceId']}/{properties['Folder']}"
    if event["RequestType"] == "Delete":
        physical_id = event["PhysicalResourceId"]
    status, reason = "SUCCESS", ""
    try:
        problems = apply(event["RequestType"], properties, before=event.get("OldResourceProperties"))
    except (GrafanaError, ClientError, BotoCoreError) as error:
        problems = [str(error)]
    except Exception as error:
        # Its text could hold anything; its type can't.
        problems = [f"a defect of the handler: {type(error).__name__}"]
    if problems:
        status, reason = "FAILED", "; ".join(problems)[:_LONGEST_REASON]
        print(reason, file=sys.stderr)
    _answer(event, {"Status": status, "Reason": reason, "PhysicalResourceId": physical_id})


def apply(
    request: str,
    properties: Mapping[str, str],
    *,
    before: Mapping[str, str] | None = None,
    client: Any = None,
    pause: float = 1.0,
) -> list[str]:
    """Apply a request, and return the errors.

    Args:
        request: Create, Update or Delete.
        properties: `WorkspaceId`; `Folder` and `Title`, uid and title of the folder; `DataSources`, as JSON; `Members`,
            as JSON: roles by kind and id.
        before: What they were before an update.
        client: The API of Amazon Managed Grafana. Default: the real one.
        pause: Seconds before a request to Grafana is tried again.
    """
    workspace, folder = properties["WorkspaceId"], properties["Folder"]
    data_sources = _data_sources(properties)
    api = client or boto3.client("grafana", config=Config(retries={"mode": "standard", "max_attempts": 8}))
    try:
        endpoint = api.describe_workspace(workspaceId=workspace)["workspace"]["endpoint"]
    except api.exceptions.ResourceNotFoundException:
        if request == "Delete":
            return []
        raise
    # AWS gives a name without a scheme.
    url = endpoint if "://" in endpoint else f"https://{endpoint}"
    with _token(api, workspace, f"ultracluster-content-{folder}") as token:
        grafana = Grafana(url, token, pause=pause)
        if request == "Delete":
            grafana.delete_folder(folder)
            for uid in data_sources:
                grafana.delete_data_source(uid)
            # Those that are gone already are no problem.
            assign(api, workspace, before=_members(properties), after={})
            return []
        for data_source in data_sources.values():
            grafana.put_data_source(data_source)
        grafana.put_folder(folder, properties["Title"])
        dashboards = {path.stem: json.loads(path.read_text()) for path in DASHBOARDS.glob("*.json")}
        problems = grafana.put_dashboards(folder, dashboards)
        same = before if before is not None and before["WorkspaceId"] == workspace else {}
        problems += assign(api, workspace, before=_members(same), after=_members(properties))
        if not problems and same:
            for uid in _data_sources(same).keys() - data_sources.keys():
                grafana.delete_data_source(uid)
        return problems


def assign(api: Any, workspace: str, *, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Revoke roles of users and groups that are no longer given, and add new ones. Gives what went wrong."""
    changes = [("REVOKE", *pair) for pair in sorted(before.items() - after.items())]
    changes += [("ADD", *pair) for pair in sorted(after.items() - before.items())]
    instructions = []
    for action, member, role in changes:
        kind, _, identity = member.partition("/")
        instructions.append({"action": action, "role": role, "users": [{"id": identity, "type": kind}]})
    problems = []
    for start in range(0, len(instructions), _INSTRUCTIONS):
        batch = instructions[start : start + _INSTRUCTIONS]
        answer = api.update_permissions(workspaceId=workspace, updateInstructionBatch=batch)
        for error in answer["errors"]:
            cause = error["causedBy"]
            who = ", ".join(user["id"] for user in cause["users"])
            problems.append(f"{cause['action']} {cause['role']} {who}: {error['message']}")
    return problems


def _members(properties: Mapping[str, str]) -> dict[str, str]:
    return dict(json.loads(properties.get("Members", "{}")))


def _data_sources(properties: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {source["uid"]: source for source in json.loads(properties["DataSources"])}


@contextmanager
def _token(api: Any, workspace: str, name: str) -> Iterator[str]:
    """A token for as long as the block lasts. Its account goes with it, and so does one that an earlier run left."""
    for left in _accounts(api, workspace, name):
        _delete_account(api, workspace, left)
    account = api.create_workspace_service_account(workspaceId=workspace, name=name, grafanaRole="ADMIN")["id"]
    try:
        created = api.create_workspace_service_account_token(
            workspaceId=workspace, serviceAccountId=account, name=name, secondsToLive=_TOKEN_SECONDS
        )["serviceAccountToken"]
        try:
            yield created["key"]
        finally:
            api.delete_workspace_service_account_token(
                workspaceId=workspace, serviceAccountId=account, tokenId=created["id"]
            )
    finally:
        _delete_account(api, workspace, account)


def _accounts(api: Any, workspace: str, name: str) -> list[str]:
    accounts, token = [], None
    while True:
        page = api.list_workspace_service_accounts(workspaceId=workspace, **({"nextToken": token} if token else {}))
        accounts += [account["id"] for account in page["serviceAccounts"] if account["name"] == name]
        token = page.get("nextToken")
        if not token:
            return accounts


def _delete_account(api: Any, workspace: str, account: str) -> None:
    try:
        api.delete_workspace_service_account(workspaceId=workspace, serviceAccountId=account)
    except api.exceptions.ResourceNotFoundException:
        return


def _answer(event: Mapping[str, Any], result: Mapping[str, str]) -> None:
    body = {**result, **{key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}}
    request = urllib.request.Request(event["ResponseURL"], json.dumps(body).encode(), method="PUT")
    with urllib.request.urlopen(request, timeout=30):
        return
