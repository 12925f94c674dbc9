"""Dashboards as text, adapted to the data source plugin of a Grafana."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ultracluster.rules import Message, error

#: The plugin that dashboards are written for.
CORE_PLUGIN = "prometheus"
_DASHBOARD = error("grafana-dashboard", "Grafana must be able to load a dashboard under its uid.")
# https://grafana.com/docs/grafana/latest/developers/http_api/dashboard/ (read 2026-11-21)
_UID = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)


def dashboard_problems(dashboards: Mapping[str, str]) -> Iterator[Message]:
    """Yield the problems of dashboards, by uid."""
    for uid, text in sorted(dashboards.items()):
        what = f"dashboards[{uid!r}]"
        try:
            dashboard = json.loads(text)
        except ValueError as problem:
            yield _DASHBOARD(f"{what} is no JSON: {problem}")
            continue
        if not isinstance(dashboard, dict) or not dashboard.get("title"):
            yield _DASHBOARD(f"{what} is no dashboard: it has no title")
        elif dashboard.get("uid") != uid:
            yield _DASHBOARD(f"{what} has the uid {dashboard.get('uid')!r}; a dashboard is identified by its uid")
        elif not _UID.fullmatch(uid):
            yield _DASHBOARD(f"{what} has no uid: 1 to 40 letters, digits, hyphens and underscores")


def fitted(dashboards: Mapping[str, str], plugin: str) -> dict[str, str]:
    """Return dashboards, by uid, with every data source and every variable of data sources of a plugin's type.

    Args:
        dashboards: The JSON of each, by uid.
        plugin: Id of the plugin.
    """
    return {uid: _fitted_text(text, plugin) for uid, text in sorted(dashboards.items())}


@lru_cache(maxsize=128)
def _fitted_text(text: str, plugin: str) -> str:
    """Return a dashboard; the clusters of an app have the same ones."""
    return json.dumps(_fitted(json.loads(text), plugin), sort_keys=True)


def _fitted(node: Any, plugin: str) -> Any:
    if isinstance(node, list):
        return [_fitted(item, plugin) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: _fitted(value, plugin) for key, value in node.items()}
    if result.get("type") == CORE_PLUGIN and "uid" in result:
        result["type"] = plugin
    if result.get("type") == "datasource" and result.get("query") == CORE_PLUGIN:
        result["query"] = plugin
    return result
