"""Admission policies of members of teams: no load balancers, and no egress from their namespace.

The role `edit` of Kubernetes allows both. Job files create network policies, so that members may write them.
Administrators and controllers are not matched.
"""

from ultracluster.kubernetes._network_policies import team_policies
from ultracluster.kubernetes._objects import Object
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._pod_policy import rule, team_policy
from ultracluster.kubernetes._teams import team_group

_NETWORKING = "networking.k8s.io"
_TYPES = ["LoadBalancer", "NodePort"]


def member_policies(platform: Platform) -> list[Object]:
    """Return the policies of what members of teams write in their namespace.

    A Service of the type LoadBalancer is a load balancer of AWS, which is billed, and may have addresses of the
    internet. An address of `externalIPs` receives traffic of other pods:
    https://github.com/kubernetes/kubernetes/issues/97076 (read 2026-11-27).
    """
    groups = [team_group(team.name) for team in platform.teams]
    condition = {"expression": f"request.userInfo.groups.exists(group, group in {groups})", "name": "members"}
    names = [policy["metadata"]["name"] for policy in team_policies("")]
    service, egress = "object.kind != 'Service' || ", "object.spec.egress"
    kept = "(request.operation == 'UPDATE' && oldObject.spec.type == object.spec.type)"
    exposed = [
        {"expression": "object.kind != 'Ingress'", "message": "an administrator creates an Ingress of a team"},
        {
            "expression": f"{service}!has(object.spec.type) || !(object.spec.type in {_TYPES}) || {kept}",
            "message": f"an administrator creates a Service of a team with type {' or '.join(_TYPES)}",
        },
        {
            "expression": f"{service}!has(object.spec.externalIPs)",
            "message": "a Service of a team has no externalIPs",
        },
    ]
    # Without `to`, a rule allows all addresses; a peer without a namespace is in that of the policy.
    inside = (
        "has(rule.to) && size(rule.to) > 0 && rule.to.all(peer, !has(peer.ipBlock) && !has(peer.namespaceSelector))"
    )
    networks = [
        {
            "expression": f"request.operation == 'CREATE' || !(request.name in {names})",
            "message": f"members of a team do not change {', '.join(names)}",
        },
        {
            "expression": f"request.operation == 'DELETE' || !has({egress}) || {egress}.all(rule, {inside})",
            "message": "egress of a network policy of a team is to podSelector alone, in its namespace",
        },
    ]
    writes = ("CREATE", "UPDATE")
    exposing = [*(rule(name, "services") for name in writes), rule("CREATE", "ingresses", _NETWORKING)]
    changing = [rule(name, "networkpolicies", _NETWORKING) for name in (*writes, "DELETE")]
    return [
        *team_policy(platform, "team-services", exposing, exposed, conditions=[condition]),
        *team_policy(platform, "team-networks", changing, networks, conditions=[condition]),
    ]
