"""Content of a Grafana, written over its HTTP API: data sources, one folder, the dashboards in it.

Standard library alone: this file runs in a Lambda function.

See: https://docs.aws.amazon.com/grafana/latest/userguide/using-grafana-APIs.html (read 2026-11-21)
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

# A new workspace answers 5xx for a while, and its front 429 under load.
_AGAIN = frozenset({429, 500, 502, 503, 504})
_ATTEMPTS = 6
_PAGE = 500


class GrafanaError(Exception):
    """Grafana refused something.

    Args:
        status: The HTTP status, 0 when nothing answered.
        message: The request, and the answer of Grafana.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Grafana:
    """A Grafana server.

    Args:
        url: Where it is.
        token: A token of a service account that may administer it. It goes into one header and nowhere else.
        pause: Seconds before the second attempt of a request; each further one waits twice as long.
    """

    def __init__(self, url: str, token: str, *, pause: float = 1.0) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._pause = pause

    def put_data_source(self, data_source: Mapping[str, Any]) -> None:
        """Make a data source, or change the one with its uid."""
        uid = _quoted(data_source["uid"])
        if self._exists(f"/api/datasources/uid/{uid}"):
            self._request("PUT", f"/api/datasources/uid/{uid}", data_source)
        else:
            self._request("POST", "/api/datasources", data_source)

    def put_folder(self, uid: str, title: str) -> None:
        """Make a folder, or give the one with this uid its title."""
        if self._exists(f"/api/folders/{_quoted(uid)}"):
            self._request("PUT", f"/api/folders/{_quoted(uid)}", {"title": title, "overwrite": True})
        else:
            self._request("POST", "/api/folders", {"uid": uid, "title": title})

    def put_dashboards(self, folder: str, dashboards: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Make and change dashboards, and remove what else is in the folder. Gives what went wrong.

        One that fails keeps no other from its turn; then nothing is removed either. A server that no longer answers
        does: each request would wait for minutes, and the function's time is up before it has cleaned up.
        """
        problems = []
        for uid, dashboard in sorted(dashboards.items()):
            try:
                self._put_dashboard(folder, uid, dashboard)
            except GrafanaError as error:
                problems.append(str(error))
                if error.status == 0:
                    break
        if not problems:
            for uid in sorted(self._dashboards(folder) - dashboards.keys()):
                self._delete(f"/api/dashboards/uid/{_quoted(uid)}")
        return problems

    def delete_folder(self, uid: str) -> None:
        """Delete a folder with all that is in it; one that is gone already is no problem."""
        self._delete(f"/api/folders/{_quoted(uid)}?forceDeleteRules=true")

    def delete_data_source(self, uid: str) -> None:
        """Delete a data source; one that is gone already is no problem."""
        self._delete(f"/api/datasources/uid/{_quoted(uid)}")

    def _put_dashboard(self, folder: str, uid: str, dashboard: Mapping[str, Any]) -> None:
        try:
            there = self._request("GET", f"/api/dashboards/uid/{_quoted(uid)}")["meta"].get("folderUid")
        except GrafanaError as error:
            if error.status != 404:
                raise
        else:
            if there != folder:
                raise GrafanaError(
                    409,
                    f"the dashboard {uid} is in the folder {there or 'General'} already, which is somebody else's: two "
                    "clusters that share a Grafana workspace share its dashboards too, so provision them once",
                )
        # Grafana gives numbers of its own; with those of the file it would look for them.
        body = {**dashboard, "uid": uid, "id": None}
        body.pop("version", None)
        self._request("POST", "/api/dashboards/db", {"dashboard": body, "folderUid": folder, "overwrite": True})

    def _dashboards(self, folder: str) -> set[str]:
        uids: set[str] = set()
        page = 1
        while True:
            query = urllib.parse.urlencode({"type": "dash-db", "folderUIDs": folder, "limit": _PAGE, "page": page})
            hits = self._request("GET", f"/api/search?{query}")
            uids |= {hit["uid"] for hit in hits}
            if len(hits) < _PAGE:
                return uids
            page += 1

    def _exists(self, path: str) -> bool:
        try:
            self._request("GET", path)
        except GrafanaError as error:
            if error.status == 404:
                return False
            raise
        return True

    def _delete(self, path: str) -> None:
        try:
            self._request("DELETE", path)
        except GrafanaError as error:
            if error.status != 404:
                raise

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._once(method, path, body)
            except GrafanaError as error:
                if attempt == _ATTEMPTS or error.status not in (0, *_AGAIN):
                    raise
                time.sleep(self._pause * 2 ** (attempt - 1))
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        request = urllib.request.Request(
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        what = f"{method} {path}"
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            reason = error.read()[:300].decode(errors="replace").replace(self._token, "...")
            raise GrafanaError(error.code, f"{what}: {error.code} {reason}") from None
        except (urllib.error.URLError, TimeoutError, ConnectionError, ValueError) as error:
            reason = str(error).replace(self._token, "...")
            raise GrafanaError(0, f"{what}: {reason}") from None


def _quoted(uid: str) -> str:
    return urllib.parse.quote(uid, safe="")
