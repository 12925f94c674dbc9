"""YAML 1.2 read by libyaml: ruamel's reader in Python takes a second for the rules of a cluster."""

from typing import Any

import yaml  # type: ignore[import-untyped]  # no stubs
from ruamel.yaml.resolver import implicit_resolvers


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]  # no stubs
    """PyYAML has the words of YAML 1.1, such as `on`, and takes a key twice."""

    yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012 - PyYAML's own attribute

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        result: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(result) != len(node.value):
            raise ValueError(f"a key is there twice{node.start_mark}")
        return result


for versions, tag, pattern, first in implicit_resolvers:
    if (1, 2) in versions:
        _Loader.add_implicit_resolver(tag, pattern, first)


def load(text: str) -> Any:
    """Return what is in a text."""
    # Bytes: libyaml takes no subclass of `str`.
    return yaml.load(text.encode(), _Loader)
