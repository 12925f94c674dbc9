"""Permissions of the node checks: read the pods of their namespace, and cordon nodes."""

from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import HEALTH

#: The service account of the checks.
ACCOUNT = "node-health"
_RBAC = "rbac.authorization.k8s.io"


def health_access() -> list[Object]:
    """Return the service account, with exactly the verbs of a cordon."""
    # Not narrower: RBAC selects nodes by name only, and the nodes come and go. The list counts those that are cordoned.
    cordon = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "patch"]}
    pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    api = f"{_RBAC}/v1"
    return [
        make("v1", "ServiceAccount", ACCOUNT, namespace=HEALTH, automountServiceAccountToken=False),
        make(api, "ClusterRole", "node-health-cordon", rules=[cordon]),
        make(api, "ClusterRoleBinding", "node-health-cordon", **_bound("ClusterRole", "node-health-cordon")),
        make(api, "Role", ACCOUNT, namespace=HEALTH, rules=[pods]),
        make(api, "RoleBinding", ACCOUNT, namespace=HEALTH, **_bound("Role", ACCOUNT)),
    ]


def _bound(kind: str, role: str) -> Object:
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": HEALTH}
    return {"roleRef": {"apiGroup": _RBAC, "kind": kind, "name": role}, "subjects": [subject]}
