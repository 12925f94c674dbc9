"""Admission policies of teams whose queues Volcano or KAI Scheduler has: no pod uses the quota of another team.

Both let any pod name any queue, and a pod with another scheduler is in none. Kueue needs no policy: its queues are in
the namespaces of the teams, and it holds each pod that is in none of them.

See: https://github.com/kai-scheduler/KAI-Scheduler/issues/2068 and
https://github.com/volcano-sh/volcano/issues/2790 (read 2026-11-27)
"""

from ultracluster.kubernetes._charts import CHARTS
from ultracluster.kubernetes._objects import Object
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._pod_policy import each_container, rule, team_policy
from ultracluster.kubernetes._resources import EFA

# The queue of a PodGroup is that of its owner's label `kai.scheduler/queue`, the pod's, or the label `project`:
# pkg/podgrouper/podgrouper/plugins/defaultgrouper. The scheduler looks for pods of a PodGroup by this annotation in all
# namespaces: pkg/scheduler/cache/cluster_info (KAI Scheduler, tag v0.17.0, read 2026-11-27).
_KAI_GROUP = "pod-group-name"
# GPUs, parts of them, and EFA, also by a version of the device plugin with several names.
_DEVICES = ("nvidia.com/", EFA)
_NAMED = {
    "kai": ("labels", "kai.scheduler/queue", "scheduling.run.ai"),
    # pkg/controllers/podgroup and pkg/webhooks/admission/podgroups (Volcano, commit ed72c7c, read 2026-11-27)
    "volcano": ("annotations", "scheduling.volcano.sh/queue-name", "scheduling.volcano.sh"),
}


def queue_policies(platform: Platform) -> list[Object]:
    """Return the policies of the pods and PodGroups of teams; none with Kueue.

    The schedulers read the queue of a PodGroup alone. Volcano's webhook has replaced the queue `default` before. What
    exists is left alone: an update may keep what it has.
    """
    if platform.scheduler not in _NAMED:
        return []
    field, key, group = _NAMED[platform.scheduler]
    created, named = "request.operation != 'CREATE' || ", f"object.metadata.{field}"
    prefixes = " || ".join(f"name.startsWith('{name}')" for name in _DEVICES)
    limits = "c.resources.limits"
    plain = each_container(f"!has(c.resources) || !has({limits}) || !{limits}.exists(name, {prefixes})")
    scheduled = f"has(object.spec.schedulerName) && object.spec.schedulerName == '{platform.scheduler_name}'"
    validations = [
        {
            "expression": f"{created}(!has(object.spec.resourceClaims) && {plain}) || "
            f"({scheduled} && !has(object.spec.nodeName))",
            "message": f"a pod of a team with GPUs or EFA has schedulerName {platform.scheduler_name}, and no nodeName",
        },
        {
            "expression": f"{created}!has({named}) || !('{key}' in {named}) || {named}['{key}'] == request.namespace",
            "message": f"{key} in the {field} of a pod of a team is its namespace",
        },
    ]
    pods = [rule("CREATE", "pods")]
    if platform.scheduler == "kai":
        pods.append(rule("UPDATE", "pods"))
        accounts = f"system:serviceaccount:{CHARTS['kai-scheduler'].namespace}:"
        old = f"(request.operation == 'CREATE' ? '' : {_annotation('oldObject', _KAI_GROUP)})"
        validations.append(
            {
                "expression": f"{_annotation('object', _KAI_GROUP)} in ['', {old}] || "
                f"request.userInfo.username.startsWith('{accounts}')",
                "message": f"KAI Scheduler alone sets the annotation {_KAI_GROUP} of a pod of a team",
            }
        )
    queue = "object.spec.queue"
    kept = f"request.operation == 'UPDATE' && has(oldObject.spec.queue) && {queue} == oldObject.spec.queue"
    groups = [
        {
            "expression": f"has({queue}) && ({queue} == request.namespace || ({kept}))",
            "message": f"the queue of a PodGroup of a team is its namespace: {key} in the {field} of its owner or pods",
        }
    ]
    group_rules = [rule(operation, "podgroups", group) for operation in ("CREATE", "UPDATE")]
    return [
        *team_policy(platform, "team-schedulers", pods, validations),
        *team_policy(platform, "team-queues", group_rules, groups),
    ]


def _annotation(object: str, key: str) -> str:
    """Return the value of an annotation, or an empty text."""
    annotations = f"{object}.metadata.annotations"
    return f"(has({annotations}) && '{key}' in {annotations} ? {annotations}['{key}'] : '')"
