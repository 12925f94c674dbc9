"""States of the queues and node groups of a cluster, as AWS PCS lists them."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._inventory import ids_of
from cdk_rehearsal.rehearsal._state import Stacks

# Operation -> resource type, and key of the list in the answer.
_LISTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "ListComputeNodeGroups": ("AWS::PCS::ComputeNodeGroup", "computeNodeGroups"),
        "ListQueues": ("AWS::PCS::Queue", "queues"),
    }
)


def answer(stacks: Stacks, environment: Environment, operation: str, body: bytes) -> tuple[str, bytes]:
    """Return the status and the JSON that answer a request.

    A resource that a rollback could not restore is in the state UPDATE_FAILED, all others are ACTIVE.
    """
    if operation not in _LISTS:
        return _error("NotImplemented", f"the stand-in for AWS PCS has no {operation}")
    name = json.loads(body or b"{}").get("clusterIdentifier")
    living = stacks.living(environment)
    resources = [resource for stack in living for resource in stack.resources.values()]
    clusters = [each for each in resources if each.blueprint.type_name == "AWS::PCS::Cluster"]
    ids = [
        {*ids_of(cluster)}
        for cluster in clusters
        if name in (cluster.blueprint.properties.get("Name"), *ids_of(cluster))
    ]
    if not ids:
        return _error("ResourceNotFoundException", f"there is no cluster {name}")
    kind, key = _LISTS[operation]
    rows: list[dict[str, Any]] = [
        {"name": properties.get("Name"), "status": "UPDATE_FAILED" if logical_id in stack.stuck else "ACTIVE"}
        for stack in living
        for logical_id, resource in stack.resources.items()
        if resource.blueprint.type_name == kind
        for properties in [resource.blueprint.properties]
        if properties.get("ClusterId") in ids[0]
    ]
    return "200 OK", json.dumps({key: rows}).encode()


def _error(code: str, message: str) -> tuple[str, bytes]:
    return "400 Bad Request", json.dumps({"__type": code, "message": message}).encode()
