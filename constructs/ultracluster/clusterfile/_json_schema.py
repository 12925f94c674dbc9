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
    schema = ClusterFile.model_json_schema(schema_generator=_Generator)
    schema["properties"]["accept"]["propertyNames"] = {"enum": [rule.id for rule in rules() if rule.acceptable]}
    # A file that extends another one has some of the keys.
    schema |= {"if": {"required": ["extends"]}, "else": {"required": schema.pop("required")}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Cluster file of cdk-ultracluster",
    }


class _Generator(GenerateJsonSchema):
    """Titles in words, defaults as the file has them, and mappings whose names are checked."""

    def get_title_from_name(self, name: str) -> str:
        return name.replace("-", " ").capitalize()

    def encode_default(self, dft: Any) -> Any:
        return {} if isinstance(dft, BaseModel) else write_value(dft)

    def nullable_schema(self, schema: core_schema.NullableSchema) -> dict[str, Any]:
        # A key is left out instead.
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        result = super().default_schema(schema)
        return {key: value for key, value in result.items() if key != "default" or value is not None}

    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        # pydantic writes `patternProperties`, which accept every other name.
        result = super().dict_schema(schema)
        for values in result.pop("patternProperties", {}).values():
            result["additionalProperties"] = values
        return {**result, "propertyNames": self.generate_inner(schema["keys_schema"])}
