"""Administrators of a Kubernetes cluster, and members of its teams."""

from collections.abc import Iterator

from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._finding import Finding
from ultracluster.live._place import IDENTITY


def _check(id: str, kind: str) -> Check:
    """Return the check of roles or of users."""
    result = kind.title()
    call = Call(service="iam", operation=f"get_{kind}", action=f"iam:Get{result}", result=result)

    def named(cluster: ClusterFile) -> list[str]:
        section = cluster.kubernetes
        members = [arn for team in section.teams.values() for arn in team.members]
        principals = dict.fromkeys([*section.admins, *members])
        return [arn for arn in principals if arn.split(":", 5)[5].startswith(f"{kind}/")]

    def run(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
        for arn in named(cluster):
            if arn.split(":")[4] != account.ask(IDENTITY)["Account"]:
                yield check.doubt(f"{arn} is of another account, which is not asked", "make sure that it exists")
                continue
            answer = account.find(call, missing="NoSuchEntity", **{f"{result}Name": arn.rpartition("/")[2]})
            existing = None if answer is None else answer[result]["Arn"]
            if existing == arn:
                yield check.good(f"{arn} exists")
                continue
            yield check.bad(
                f"{arn} does not exist: its access entry fails after the control plane is created, and the stack fails",
                f"write {existing}: the path is a part of it"
                if existing
                else f"create the {kind}, or change `admins` or `members`",
            )

    def resources(cluster: ClusterFile) -> dict[Call, list[str]]:
        # With any path, which the file may lack.
        return {call: [f"{arn.partition('/')[0]}/*{arn.rpartition('/')[2]}" for arn in named(cluster)]}

    return Check(
        id=id,
        reason=f"An access entry of EKS fails without its {kind}, after the control plane is created.",
        run=run,
        calls=(IDENTITY, call),
        resources=resources,
        applies=lambda cluster: bool(named(cluster)),
    )


CHECKS = (_check("live-admin-roles", "role"), _check("live-admin-users", "user"))
