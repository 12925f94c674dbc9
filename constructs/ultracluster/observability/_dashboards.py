"""Dashboards as text, adapted to the data source plugin of a Grafana."""

import json
import re
from collections.abc import Mapping
from typing import Any

#: The plugin that dashboards are written for.
CORE_PLUGIN = "prometheus"
# https://grafana.com/docs/grafana/latest/developers/http_api/dashboard/ (read 2026-11-21)
_UID = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)


def fitted(dashboards: Mapping[str, str], plugin: str) -> dict[str, str]:
    """Dashboards, by uid, with every data source and every variable of data sources of a plugin's type.

    Args:
        dashboards: The JSON of each, by uid.
        plugin: Id of the plugin.

    Raises:
        ValueError: If one is not a dashboard, or its uid is not its key; all at once.
    """
    problems = []
    result = {}
    for uid, text in sorted(dashboards.items()):
        try:
            dashboard = json.loads(text)
        except ValueError as error:
            problems.append(f"{uid} is no JSON: {error}")
            continue
        if not isinstance(dashboard, dict) or not dashboard.get("title"):
            problems.append(f"{uid} is no dashboard: it has no title")
        elif dashboard.get("uid") != uid:
            problems.append(f"{uid} has the uid {dashboard.get('uid')!r}; a dashboard goes by its uid")
        elif not _UID.fullmatch(uid):
            problems.append(f"{uid!r} is no uid: 1 to 40 letters, digits, hyphens and underscores")
        result[uid] = json.dumps(_fitted(dashboard, plugin), indent=1, sort_keys=True)
    if problems:
        raise ValueError("; ".join(problems))
    return result


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
