"""The JSON schema of a cluster file, which editors complete from."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.rules._listing import rules
from ultracluster.clusterfile.sections._word import write_value


def schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12). It accepts every valid file, and some that `load` rejects."""
    schema = _without_null(ClusterFile.model_json_schema(schema_generator=_Generator))
    schema["properties"]["accept"]["propertyNames"] = {"enum": [rule.id for rule in rules() if rule.acceptable]}
    # A file that extends another one has some of the keys.
    schema |= {"if": {"required": ["extends"]}, "else": {"required": schema.pop("required")}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Cluster file of cdk-ultracluster",
    }


def _without_null(node: Any) -> Any:
    """Return the schema without `null`: a key is left out instead."""
    if isinstance(node, list):
        return [_without_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: _without_null(value) for key, value in node.items() if not (key == "default" and value is None)}
    options = [option for option in result.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) < len(result.get("anyOf", ())):
        del result["anyOf"]
        result = {**(options[0] if len(options) == 1 else {"anyOf": options}), **result}
    return result


class _Generator(GenerateJsonSchema):
    """Titles in words, defaults as the file has them, and mappings whose names are checked."""

    def get_title_from_name(self, name: str) -> str:
        return name.replace("-", " ").capitalize()

    def encode_default(self, dft: Any) -> Any:
        return {} if isinstance(dft, BaseModel) else write_value(dft)

    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        # pydantic writes `patternProperties`, which accept every other name.
        result = super().dict_schema(schema)
        for values in result.pop("patternProperties", {}).values():
            result["additionalProperties"] = values
        return {**result, "propertyNames": self.generate_inner(schema["keys_schema"])}
