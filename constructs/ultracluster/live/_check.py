"""A check, and its answers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ultracluster.catalogue.ec2 import partition_of
from ultracluster.clusterfile import ClusterFile
from ultracluster.live._account import Account, Call
from ultracluster.live._finding import Finding


def arn(cluster: ClusterFile, service: str, resource: str, *, owner: str | None = None) -> str:
    """Return the ARN of a resource in the region of a cluster file.

    Args:
        cluster: Cluster file.
        service: Service, as IAM names it.
        resource: Resource, as in the ARN.
        owner: Account. Empty: none, as for what AWS publishes. Default: that of the file, or all.
    """
    account = cluster.account or "*" if owner is None else owner
    return f"arn:{partition_of(cluster.region)}:{service}:{cluster.region}:{account}:{resource}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A check of the account.

    Args:
        id: Kebab case, from `live-` on; never changes.
        reason: Why it exists, in one line.
        run: Yields the findings.
        calls: Calls that it makes.
        resources: Returns the ARNs that a cluster file needs of a call, where IAM has ARNs for it. Default: `*`.
        applies: Returns True if the cluster file needs the check. Default: always.
    """

    id: str
    reason: str
    run: "Callable[[Check, ClusterFile, Account], Iterable[Finding]]"
    calls: tuple[Call, ...]
    resources: Callable[[ClusterFile], Mapping[Call, Iterable[str]]] = field(default=lambda _: {})
    applies: Callable[[ClusterFile], bool] = field(default=lambda _: True)

    def good(self, message: str) -> Finding:
        """Return a finding that needs nothing."""
        return Finding(check=self.id, status="pass", message=message)

    def doubt(self, message: str, fix: str) -> Finding:
        """Return a finding with which a deployment may succeed."""
        return Finding(check=self.id, status="warn", message=message, fix=fix)

    def bad(self, message: str, fix: str) -> Finding:
        """Return a finding with which a deployment, or the launch of nodes, fails."""
        return Finding(check=self.id, status="fail", message=message, fix=fix)
