"""Teams, their shares of the nodes, and the permissions of their members."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ultracluster.kubernetes._names import check_namespace
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._objects import Object, make
from ultracluster.rules import Refusal, error

_SHARES = error("kubernetes-team-share", "Teams share the nodes that exist.")
_RBAC = "rbac.authorization.k8s.io"
_ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
# Of jobs and servers. Neither the role `edit` of Kubernetes nor AmazonEKSEditPolicy has custom resources:
# https://github.com/aws/containers-roadmap/issues/2437 (read 2026-11-27)
_JOBS = (
    *("jobset.x-k8s.io", "kubeflow.org", "leaderworkerset.x-k8s.io", "sagemaker.amazonaws.com"),
    *("scheduling.volcano.sh", "trainer.kubeflow.org"),
)
_QUEUES = ("kueue.x-k8s.io", "scheduling.run.ai")


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """A team, with its namespace and its share of the nodes.

    Args:
        name: Name of the team, of its namespace and of its queues.
        nodes: Its nodes by group; none of a group that is missing. By default, an equal share
            of the nodes that other teams leave.
        borrow: Its jobs may use idle nodes of other teams, whose jobs preempt them.
        weight: Its weight when teams share idle nodes. By default, 1 beside a team with a weight. Without any, Kueue
            gives idle nodes to the first job that fits.

    Raises:
        ValueError: If an argument is not valid, with all errors.
    """

    name: str
    nodes: Mapping[str, int] | None = None
    borrow: bool = True
    weight: int | None = None

    def __post_init__(self) -> None:
        """Validate the team."""
        problems: list[str] = [*check_namespace("name", self.name)]
        problems += [f"nodes of {group} is at least 0, got {n}" for group, n in (self.nodes or {}).items() if n < 0]
        if self.weight is not None and self.weight < 1:
            problems.append(f"weight is at least 1, got {self.weight}")
        if problems:
            raise Refusal(f"team {self.name[:70]}", problems)


def shares(teams: Sequence[Team], group: PlatformNodes) -> dict[str, int]:
    """Return the nodes of a group by team, without spare ones.

    Raises:
        ValueError: If the teams' shares exceed the nodes.
    """
    stated = {team.name: team.nodes.get(group.name, 0) for team in teams if team.nodes is not None}
    left = group.working - sum(stated.values())
    if left < 0:
        message = f"teams were promised {sum(stated.values())} nodes of {group.name}, which has {group.working} without"
        promised = ", ".join(f"{name} {n}" for name, n in stated.items() if n)
        raise Refusal("", _SHARES(f"{message} its spare ones: {promised}"))
    others = [team.name for team in teams if team.nodes is None]
    each, rest = divmod(left, len(others)) if others else (0, 0)
    equal = {name: each + (index < rest) for index, name in enumerate(others)}
    return {team.name: stated.get(team.name, equal.get(team.name, 0)) for team in teams}


def team_group(namespace: str) -> str:
    """Return the Kubernetes group of the members of a team, which their access entries have."""
    return f"ultracluster-{namespace}"


def team_access(namespace: str) -> list[Object]:
    """Return the permissions of the group of a team: the role `edit`, its jobs, and a view of its queue.

    The role `edit` has pods, their logs, `exec` and port forwarding, Services, ConfigMaps, secrets and claims.

    See: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles (read 2026-11-27)
    """
    api, name = f"{_RBAC}/v1", "team"
    subjects = [{"apiGroup": _RBAC, "kind": "Group", "name": team_group(namespace)}]
    rules = [
        {"apiGroups": list(_JOBS), "resources": ["*"], "verbs": _ALL},
        {"apiGroups": list(_QUEUES), "resources": ["*"], "verbs": ["get", "list", "watch"]},
    ]
    roles = {name: {"kind": "Role", "name": name}, f"{name}-edit": {"kind": "ClusterRole", "name": "edit"}}
    return [
        make(api, "Role", name, namespace=namespace, rules=rules),
        *(
            make(api, "RoleBinding", id, namespace=namespace, roleRef={"apiGroup": _RBAC, **role}, subjects=subjects)
            for id, role in roles.items()
        ),
    ]
