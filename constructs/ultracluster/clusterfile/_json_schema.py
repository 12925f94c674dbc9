"""The JSON schema of a cluster file, which editors complete from."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.rules._listing import rules
from ultracluster.clusterfile.sections._nodes import RESERVED_NODE_GROUPS
from ultracluster.clusterfile.sections._word import write


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12). What it refuses, `load` refuses; what it takes, `load` still checks."""
    made = _without_null(ClusterFile.model_json_schema(by_alias=True, mode="validation", schema_generator=_Generator))
    _name_node_groups(made["properties"]["nodes"])
    made["properties"]["accept"]["propertyNames"] = {"enum": [rule.id for rule in rules() if rule.acceptable]}
    # A file that extends another one has some of the keys.
    made |= {"if": {"required": ["extends"]}, "else": {"required": made.pop("required")}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "title": "Cluster file of cdk-ultracluster",
    }


def _name_node_groups(nodes: dict[str, Any]) -> None:
    """Names that don't match are an error, not a hole."""
    ((pattern, section),) = nodes.pop("patternProperties").items()
    nodes["propertyNames"] = {"pattern": pattern, "not": {"enum": list(RESERVED_NODE_GROUPS)}}
    nodes["additionalProperties"] = section


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


class _Generator(GenerateJsonSchema):
    """Titles in words, defaults as the file would say them."""

    def get_title_from_name(self, name: str) -> str:
        return name.replace("-", " ").capitalize()

    def encode_default(self, dft: Any) -> Any:
        return {} if isinstance(dft, BaseModel) else write(dft)
