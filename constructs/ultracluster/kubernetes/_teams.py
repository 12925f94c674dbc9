"""Teams and their shares of the nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ultracluster.kubernetes._names import check_namespace
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.rules import Refusal, error

_SHARES = error("kubernetes-team-share", "Teams share the nodes that exist.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """A team, with its namespace and its share of the nodes.

    Args:
        name: Name of the team, of its namespace and of its queues.
        nodes: Its nodes by group; none of a group that is missing. By default, an equal share
            of the nodes that other teams leave.
        borrow: Its jobs may use idle nodes of other teams, whose jobs preempt them.

    Raises:
        ValueError: If an argument is not valid, with all errors.
    """

    name: str
    nodes: Mapping[str, int] | None = None
    borrow: bool = True

    def __post_init__(self) -> None:
        """Validate the team."""
        problems: list[str] = [*check_namespace("name", self.name)]
        problems += [f"nodes of {group} is at least 0, got {n}" for group, n in (self.nodes or {}).items() if n < 0]
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
