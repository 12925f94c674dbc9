"""Admission policy of the pods of teams: none of them is root on its node."""

from collections.abc import Sequence

from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import Platform

#: The results of the checks of a node, which gangs read.
_HEALTH = "/run/ultracluster/health"
# Those of containerd's default, which the level "baseline" allows, and two of the job files: registration of memory for
# EFA, and memory of other processes of the pod for libfabric.
# https://kubernetes.io/docs/concepts/security/pod-security-standards (read 2026-11-27)
_CAPABILITIES = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"),
    *("SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "IPC_LOCK", "SYS_PTRACE"),
)
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_SECURITY = "c.securityContext"
_NO_VOLUMES = "!has(object.spec.volumes) || "
_NO_PATH = "!has(v.hostPath) || "
_READ_ONLY = "!has(c.volumeMounts) || c.volumeMounts.all(m, m.name != v.name || (has(m.readOnly) && m.readOnly))"


def pod_policy(platform: Platform) -> list[Object]:
    """Return the policy that denies pods of teams what makes them root on a node.

    These are namespaces, privileges, capabilities and directories of the node, except those that the job files use: the
    level "baseline" of Pod Security denies the job files. A directory below one of those can be a link to any other.
    Updates are matched for ephemeral containers only, so that controllers can remove finalizers of pods that run.

    See: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy (read 2026-11-27)
    """
    paths = [*([platform.scratch] if platform.scratch else []), _HEALTH]
    host = [f"!(has(object.spec.{name}) && object.spec.{name})" for name in ("hostNetwork", "hostPID", "hostIPC")]
    added = f"{_SECURITY}.capabilities.add"
    has_added = f"has({_SECURITY}) && has({_SECURITY}.capabilities) && has({added})"
    validations = [
        {
            "expression": " && ".join(host),
            "message": "a pod of a team has no hostNetwork, hostPID or hostIPC",
        },
        {
            "expression": each_container(
                f"!(has({_SECURITY}) && has({_SECURITY}.privileged) && {_SECURITY}.privileged)"
            ),
            "message": "a pod of a team has no privileged container",
        },
        {
            "expression": each_container(f"!({has_added}) || {added}.all(name, name in {list(_CAPABILITIES)})"),
            "message": f"a pod of a team adds no capability but {', '.join(_CAPABILITIES)}",
        },
        {
            "expression": _NO_VOLUMES + f"object.spec.volumes.all(v, {_NO_PATH}v.hostPath.path in {paths})",
            "message": f"a pod of a team has no hostPath but {', '.join(paths)}; {_instead(platform.scratch)}",
        },
        {
            "expression": _NO_VOLUMES
            + f"object.spec.volumes.all(v, {_NO_PATH}v.hostPath.path != '{_HEALTH}' || ({each_container(_READ_ONLY)}))",
            "message": f"a pod of a team mounts {_HEALTH} with readOnly",
        },
    ]
    rules = [rule("CREATE", "pods"), rule("UPDATE", "pods/ephemeralcontainers")]
    return team_policy(platform, "team-pods", rules, validations)


def team_policy(
    platform: Platform,
    name: str,
    rules: list[Object],
    validations: list[Object],
    *,
    conditions: Sequence[Object] = (),
) -> list[Object]:
    """Return a policy that denies in the namespaces of teams alone, under conditions, and its binding."""
    teams = [team.name for team in platform.teams]
    spec = {
        **({"matchConditions": list(conditions)} if conditions else {}),
        "failurePolicy": "Fail",
        "matchConstraints": {
            "namespaceSelector": {
                "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": teams}]
            },
            "resourceRules": rules,
        },
        "validations": validations,
    }
    kind, registration = "ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1"
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return [make(registration, kind, name, spec=spec), make(registration, f"{kind}Binding", name, spec=binding)]


def rule(operation: str, resource: str, group: str = "") -> Object:
    """Return what a policy matches; of a group of custom resources, all versions."""
    versions = ["*"] if group else ["v1"]
    return {"apiGroups": [group], "apiVersions": versions, "operations": [operation], "resources": [resource]}


def each_container(condition: str) -> str:
    """Return the condition that each container of a pod meets another one; lists of other types cannot be joined."""
    return " && ".join(f"(!has(object.spec.{name}) || object.spec.{name}.all(c, {condition}))" for name in _CONTAINERS)


def _instead(scratch: str | None) -> str:
    """Return what takes the place of the directories that samples of AWS mount.

    See: https://github.com/aws-samples/awsome-distributed-training (read 2026-11-27)
    """
    disks = f", and {scratch} that of /mnt/k8s-disks/0" if scratch else ""
    return f"an emptyDir with medium Memory takes the place of /dev/shm{disks}"
