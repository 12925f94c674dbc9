"""The JSON schema of a cluster file, which editors complete from."""

from typing import Any

from ultracluster.clusterfile.cluster_file import ClusterFile


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12). What it refuses, `load` refuses; what it takes, `load` still checks."""
    made = _without_null(ClusterFile.model_json_schema(by_alias=True, mode="validation"))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "title": "Cluster file of cdk-ultracluster",
    }


def _without_null(node: Any) -> Any:
    """The schema without `null`, which is Python's word for a key that is left out."""
    if isinstance(node, list):
        return [_without_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _without_null(value) for key, value in node.items() if not (key == "default" and value is None)}
    options = [option for option in made.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) < len(made.get("anyOf", ())):
        del made["anyOf"]
        made = {**(options[0] if len(options) == 1 else {"anyOf": options}), **made}
    return made
