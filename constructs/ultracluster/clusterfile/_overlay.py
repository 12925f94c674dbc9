"""A cluster file over its base: `extends`."""

from dataclasses import replace

from ultracluster.clusterfile._yaml_tree import Node


def overlay(base: Node, upper: Node) -> Node:
    """Return a mapping with the keys of both; of the upper one if both have a key. Mappings in it are merged."""
    children = dict(base.value)
    for key, child in upper.value.items():
        both = key in children and isinstance(child.value, dict) and isinstance(children[key].value, dict)
        children[key] = overlay(children[key], child) if both else child
    return replace(upper, value=children, keys={**base.keys, **upper.keys})


def assign(node: Node, file: str) -> None:
    """Set the file of a value and of everything in it."""
    node.file = file
    values = node.value.values() if isinstance(node.value, dict) else node.value
    for child in values if isinstance(node.value, dict | list) else ():
        assign(child, file)
