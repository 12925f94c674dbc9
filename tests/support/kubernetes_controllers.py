"""Finalizers of controllers, and what removes them: an object that has one stays until its controller is done with it.

Read on 2026-11-27 in the sources of Kueue 0.19.2 (pkg/controller/core and tas), Karpenter 1.14.1 (pkg/controllers/
nodeclaim/lifecycle, and nodeclass of the provider of AWS) and of NVIDIA's DRA driver (cmd/compute-domain-controller).
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any

Object = dict[str, Any]
Key = tuple[str, str, str]
Objects = dict[Key, Object]
#: Kind -> release and finalizer of its controller.
FINALIZERS = {
    "ClusterQueue": ("kueue", "kueue.x-k8s.io/resource-in-use"),
    "ResourceFlavor": ("kueue", "kueue.x-k8s.io/resource-in-use"),
    "Topology": ("kueue", "kueue.x-k8s.io/resource-in-use"),
    "Workload": ("kueue", "kueue.x-k8s.io/resource-in-use"),
    "EC2NodeClass": ("karpenter", "karpenter.k8s.aws/termination"),
    "NodeClaim": ("karpenter", "karpenter.sh/termination"),
    "ComputeDomain": ("nvidia-dra-driver", "resource.nvidia.com/computeDomain"),
}
_POOL = "karpenter.sh/nodepool"


def delete(objects: Objects, key: Key) -> None:
    """Delete an object as the API server does: with a finalizer it stays, and so does a namespace that has objects."""
    item = objects[key]
    if key[0] == "Namespace":
        for inner in [other for other in objects if other[1] == key[2]]:
            delete(objects, inner)
    inside = key[0] == "Namespace" and any(other[1] == key[2] for other in objects)
    if inside or item["metadata"].get("finalizers"):
        item["metadata"]["deletionTimestamp"] = "2026-11-27T04:00:00Z"
    else:
        del objects[key]


def reconcile(objects: Objects, releases: Collection[str], denied: Collection[str]) -> None:
    """Run the garbage collector and the controllers of releases until nothing changes.

    Args:
        objects: Objects of the cluster.
        releases: Releases that are installed.
        denied: Kinds that their controller cannot finish, such as instances without the permission to end them.
    """
    changed = True
    while changed:
        changed = any([_step(objects, key, releases, denied) for key in list(objects) if key in objects])


def _step(objects: Objects, key: Key, releases: Collection[str], denied: Collection[str]) -> bool:
    kind, metadata = key[0], objects[key]["metadata"]
    deleted = "deletionTimestamp" in metadata
    if kind == "Namespace" and deleted and not any(other[1] == key[2] for other in objects):
        # Such as an API that does not answer.
        if any(row["status"] == "True" for row in objects[key].get("status", {}).get("conditions", ())):
            return False
        del objects[key]
        return True
    pool = metadata.get("labels", {}).get(_POOL)
    if kind == "NodeClaim" and not deleted and pool and ("NodePool", "", pool) not in objects:
        delete(objects, key)
        return True
    release, finalizer = FINALIZERS.get(kind, ("", ""))
    if release not in releases or kind in denied:
        return False
    names = metadata.setdefault("finalizers", [])
    if deleted and finalizer in names and not any(_users(objects, key)):
        names.remove(finalizer)
        _created(objects, key, remove=True)
        delete(objects, key)
        return True
    done = kind == "Workload" and finished(objects[key])
    if not deleted and (finalizer in names) == done:
        (names.remove if done else names.append)(finalizer)
        _created(objects, key, remove=False)
        return True
    return False


def finished(workload: Object) -> bool:
    """True if the job of a workload has ended: Kueue removes its finalizer then."""
    rows = workload.get("status", {}).get("conditions", ())
    return any(row["type"] == "Finished" and row["status"] == "True" for row in rows)


def _users(objects: Objects, key: Key) -> Iterator[bool]:
    """Yield whether each other object keeps a deleted one."""
    kind, _, name = key
    uses: dict[str, tuple[str, Callable[[Object], bool]]] = {
        "ClusterQueue": (
            "Workload",
            lambda item: not finished(item) and item.get("status", {}).get("admission", {}).get("clusterQueue") == name,
        ),
        "ResourceFlavor": ("ClusterQueue", lambda item: f"'{name}'" in str(item["spec"])),
        "Topology": ("ResourceFlavor", lambda item: item["spec"].get("topologyName") == name),
        "EC2NodeClass": ("NodeClaim", lambda item: item["spec"].get("nodeClassRef", {}).get("name") == name),
    }
    user, test = uses.get(kind, ("", lambda item: False))
    yield from (test(item) for other, item in objects.items() if other[0] == user)


def _created(objects: Objects, key: Key, *, remove: bool) -> None:
    """Create the claim template of a compute domain with a finalizer, or remove it."""
    if key[0] != "ComputeDomain":
        return
    name = objects[key]["spec"]["channel"]["resourceClaimTemplate"]["name"]
    metadata = {"name": name, "namespace": key[1], "finalizers": [FINALIZERS[key[0]][1]]}
    if remove:
        objects.pop(("ResourceClaimTemplate", key[1], name), None)
    else:
        template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata}
        objects["ResourceClaimTemplate", key[1], name] = {**template, "spec": {}}
