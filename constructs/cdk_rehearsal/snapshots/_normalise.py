"""Templates without what changes from one release of the CDK to the next."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# An asset is named by the SHA-256 of its content.
_ASSET = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
_HIDDEN, _DIGEST = "<asset>", r"<asset \1>"

# Added by the CDK to every template.
_BOILERPLATE = {
    "Parameters": ["BootstrapVersion"],
    "Rules": ["CheckBootstrapVersion"],
    "Conditions": ["CDKMetadataAvailable"],
    "Resources": ["CDKMetadata"],
}

#: Resource type -> properties that take another asset in place, without an effect on what runs; "*" for all.
#: An asset anywhere else may replace the resource, or the nodes that it starts.
_IN_PLACE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "AWS::Lambda::Function": ("Code",),
        "AWS::IAM::ManagedPolicy": ("*",),
        "AWS::IAM::Policy": ("*",),
        "AWS::IAM::Role": ("*",),
        "AWS::S3::BucketPolicy": ("*",),
    }
)


def normalise(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a template for a snapshot.

    An asset hash becomes `<asset 0123456789ab>` where another asset may replace the resource or its nodes, and
    `<asset>` elsewhere, as in the code of a Lambda function. What the CDK adds to every template is left out.
    """
    result: dict[str, Any] = {}
    for section, body in template.items():
        if not isinstance(body, Mapping):
            result[section] = _replaced(body, _HIDDEN)
            continue
        kept = {key: value for key, value in body.items() if key not in _BOILERPLATE.get(section, ())}
        if kept:
            result[section] = {
                key: _resource(value) if section == "Resources" else _replaced(value, _HIDDEN)
                for key, value in kept.items()
            }
    return result


def _resource(resource: Any) -> Any:
    if not isinstance(resource, Mapping):
        return _replaced(resource, _HIDDEN)
    kind = str(resource.get("Type"))
    in_place = ("*",) if kind.startswith("Custom::") else _IN_PLACE.get(kind, ())
    return {
        key: {
            name: _replaced(property, _HIDDEN if name in in_place or "*" in in_place else _DIGEST)
            for name, property in value.items()
        }
        if key == "Properties" and isinstance(value, Mapping)
        else _replaced(value, _HIDDEN)
        for key, value in resource.items()
    }


def _replaced(node: Any, replacement: str) -> Any:
    if isinstance(node, Mapping):
        return {key: _replaced(value, replacement) for key, value in node.items()}
    if isinstance(node, list):
        return [_replaced(value, replacement) for value in node]
    return _ASSET.sub(replacement, node) if isinstance(node, str) else node
