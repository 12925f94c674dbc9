"""Who shares the nodes, and how much of them is whose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ultracluster.kubernetes.names import check_namespace
from ultracluster.kubernetes.nodes import PlatformNodes


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """A team: a namespace of its own, and a share of the nodes.

    Args:
        name: Name of the team, of its namespace and of its queues.
        nodes: How many nodes of which group are its own; of a group that is not named, none. Default: an equal part
            of what other teams leave.
        borrow: Whether its jobs may use what other teams leave idle; the owner's jobs push them out.

    Raises:
        ValueError: With all that is wrong.
    """

    name: str
    nodes: Mapping[str, int] | None = None
    borrow: bool = True

    def __post_init__(self) -> None:
        """Check it."""
        problems = check_namespace("name", self.name)
        problems += [f"nodes of {group} is at least 0, got {n}" for group, n in (self.nodes or {}).items() if n < 0]
        if problems:
            raise ValueError(f"team {self.name[:70]}: {'; '.join(problems)}")


def shares(teams: Sequence[Team], group: PlatformNodes) -> dict[str, int]:
    """How many working nodes of a group are whose; the sum is at most what there is.

    Raises:
        ValueError: When the teams were promised more.
    """
    stated = {team.name: team.nodes.get(group.name, 0) for team in teams if team.nodes is not None}
    left = group.working - sum(stated.values())
    if left < 0:
        raise ValueError(
            f"teams were promised {sum(stated.values())} nodes of {group.name}, which has {group.working} without its "
            f"spare ones: {', '.join(f'{name} {n}' for name, n in stated.items() if n)}"
        )
    others = [team.name for team in teams if team.nodes is None]
    each, rest = divmod(left, len(others)) if others else (0, 0)
    equal = {name: each + (index < rest) for index, name in enumerate(others)}
    return {team.name: stated.get(team.name, equal.get(team.name, 0)) for team in teams}
