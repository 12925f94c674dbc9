"""The gate of gangs: what pods need to test their nodes, and the permission to cordon the node on which they run."""

import json

from ultracluster.boot import breaker_limit
from ultracluster.catalogue.ec2 import NCCL_FIGURES
from ultracluster.kubernetes._health_access import ACCOUNT
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import HEALTH, Platform
from ultracluster.kubernetes._resources import node_resources

#: Exit code of the pods of a gang that leaves a node out: the gang restarts, at no cost to its restarts.
LEFT_OUT = 86
#: Pods of a pair, whose published result is the floor.
_PAIR = 2
_SIZES = (2 * 2**30, 16 * 2**30)
_NAME = "gang-gate"
_TOKEN = {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "api-token", "readOnly": True}
_HEALTH = {"mountPath": "/run/ultracluster/health", "name": "node-health", "readOnly": True}
_RBAC = "rbac.authorization.k8s.io"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_ANNOTATIONS = "['ultracluster/gate', 'ultracluster/breaker-gate']"
# The garbage collector deletes a node whose owner is not there.
_FIXED = ("metadata.labels", "metadata.finalizers", "metadata.ownerReferences", "spec.taints")
_MODE = "health-mode"


def gate_variables(gate: str, nodes: int) -> dict[str, str]:
    """Return the environment of a gang that chooses the test of its nodes: nccl, nodes or no."""
    return {"ULTRACLUSTER_GATE": gate, "ULTRACLUSTER_NODES": str(nodes)}


def with_gate(group: PlatformNodes, pod: Object) -> Object:
    """Return the spec of a pod of a gang that can test its node, and cordon it.

    JobSet names its pods: https://jobset.sigs.k8s.io/docs/concepts (0.12, read 2026-11-21).
    """
    first, *others = pod["containers"]
    floors = {
        str(row.message_bytes): row.floor_gb_per_s
        for row in NCCL_FIGURES
        if (row.instance_type, row.nodes) == (group.instance_type.name, _PAIR) and row.message_bytes in _SIZES
    }
    facts = {
        "efa": node_resources(group).efa,
        "elastic": group.elastic,
        "floors": floors,
        "gpus": group.instance_type.gpus,
        "most": breaker_limit(group.count),
        "selector": ",".join(f"{key}={value}" for key, value in group.labels.items()),
        "sizes": _SIZES,
    }
    env = [
        {"name": "ULTRACLUSTER_GATE_FACTS", "value": json.dumps(facts)},
        {"name": "ULTRACLUSTER_GATE_HEAD", "value": "$(JOB_NAME)-node-0-0.$(JOB_NAME)"},
        {"name": "ULTRACLUSTER_NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    mounts = [*first["volumeMounts"], _TOKEN, _HEALTH]
    authority = {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}
    token = {"sources": [{"serviceAccountToken": {"path": "token"}}, {"configMap": authority}]}
    volumes = [
        *pod["volumes"],
        {"name": _TOKEN["name"], "projected": token},
        {"hostPath": {"path": _HEALTH["mountPath"], "type": "DirectoryOrCreate"}, "name": _HEALTH["name"]},
    ]
    container = {**first, "env": [*first["env"], *env], "volumeMounts": mounts}
    return {**pod, "containers": [container, *others], "volumes": volumes}


def gate_access(platform: Platform) -> list[Object]:
    """Return the permission of the teams' pods to cordon the node on which they run, or to annotate it as bad.

    They change nothing else, and read the mode of the checks.

    RBAC selects nodes by name only, so that it allows all of them. The policy compares the name with the one in the
    token, which the API server binds to the pod and its node. It is the service account `default`, which pods of jobs
    have, and which may have a role of AWS.

    See: https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin and
    https://github.com/kubernetes/kubernetes, test/e2e/auth/e2edata/per_node_validatingadmissionpolicy.yaml (commit
    2b79a18, read 2026-11-26)
    """
    teams = [team.name for team in platform.tenants]
    if not teams:
        return []
    subjects = [{"kind": "ServiceAccount", "name": "default", "namespace": name} for name in teams]
    users = ", ".join(f"'system:serviceaccount:{name}:default'" for name in teams)
    its_node = (
        f"'{_NODE_NAME}' in request.userInfo.extra && request.userInfo.extra['{_NODE_NAME}'][0] == object.metadata.name"
    )
    policy = {
        "failurePolicy": "Fail",
        "matchConditions": [{"expression": f"request.userInfo.username in [{users}]", "name": "pods-of-teams"}],
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["nodes"]}
            ]
        },
        "validations": [
            {"expression": its_node, "message": "a pod changes no node but its own"},
            {
                "expression": "(has(object.spec.unschedulable) && object.spec.unschedulable) || "
                "!(has(oldObject.spec.unschedulable) && oldObject.spec.unschedulable)",
                "message": "a pod may cordon its node, and not release it",
            },
            *(_unchanged(path) for path in _FIXED),
            {
                "expression": f"{_kept('object', 'oldObject')} && {_kept('oldObject', 'object')}",
                "message": f"a pod changes no annotation but {_ANNOTATIONS}",
            },
        ],
    }
    api = f"{_RBAC}/v1"
    role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _NAME}
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "patch"]}]
    # Nothing creates it: without it, checks enforce, and no update of the platform changes what an operator has set.
    mode = [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [_MODE], "verbs": ["list"]}]
    kind, registration = "ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1"
    return [
        make(registration, kind, _NAME, spec=policy),
        make(registration, f"{kind}Binding", _NAME, spec={"policyName": _NAME, "validationActions": ["Deny"]}),
        make(api, "ClusterRole", _NAME, rules=rules),
        make(api, "ClusterRoleBinding", _NAME, roleRef=role, subjects=subjects),
        make(api, "Role", _MODE, namespace=HEALTH, rules=mode),
        make(
            api,
            "RoleBinding",
            _MODE,
            namespace=HEALTH,
            roleRef={**role, "kind": "Role", "name": _MODE},
            subjects=[*subjects, {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": HEALTH}],
        ),
    ]


def _unchanged(path: str) -> Object:
    old, new = f"oldObject.{path}", f"object.{path}"
    both = f"has({new}) && has({old}) && {new} == {old}"
    return {"expression": f"(!has({new}) && !has({old})) || ({both})", "message": f"a pod does not change {path}"}


def _kept(name: str, other: str) -> str:
    """Return the condition that another object has the annotations of one, which a pod may change or not."""
    annotations, others = _or_empty(name), _or_empty(other)
    return f"{annotations}.all(key, key in {_ANNOTATIONS} || (key in {others} && {others}[key] == {annotations}[key]))"


def _or_empty(name: str) -> str:
    return f"(has({name}.metadata.annotations) ? {name}.metadata.annotations : {{}})"
