"""Account and region of a cluster file and of the stacks that it is deployed to."""

from pathlib import Path

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.planning import shown
from ultracluster.rules import Refusal, error

_ENVIRONMENT = error("environment", "Account and Region of the cluster file are those of its stacks.")


def cluster_errors(cluster: object) -> list[str]:
    """Return the error of an argument `cluster` that is not a cluster file."""
    if isinstance(cluster, ClusterFile):
        return []
    remedy = f": pass clusterfile.load({str(cluster)!r})" if isinstance(cluster, str | Path) else ""
    return [f"cluster must be a ClusterFile, got {shown(cluster)}{remedy}"]


def check_environment(place: object, cluster: ClusterFile, *, account: str | None, region: str | None) -> None:
    """Check that account and region are those of a cluster file.

    Args:
        place: The construct, or its path.
        cluster: Cluster file.
        account: Account of the stack or stage. Tokens and None are not checked.
        region: Region of the stack or stage. Tokens and None are not checked.

    Raises:
        ValueError: If they differ.
    """
    problems = [
        _ENVIRONMENT(f"the cluster file has {name}: {expected}, and the stack or stage is in {actual}; make them agree")
        for name, expected, actual in (("region", cluster.region, region), ("account", cluster.account, account))
        if expected is not None and actual is not None and not cdk.Token.is_unresolved(actual) and actual != expected
    ]
    if problems:
        raise Refusal(place, problems)


def add_environment_rule(scope: Construct, cluster: ClusterFile) -> None:
    """Add a rule by which CloudFormation refuses another Region or account than that of the file.

    A stack with an environment needs none. Zones and scripts of a file are those of its Region, so its templates have
    the Region as a literal.
    """
    stack = cdk.Stack.of(scope)
    places = (("region", cluster.region, stack.region), ("account", cluster.account, stack.account))
    assertions = [
        cdk.CfnRuleAssertion(
            assert_=cdk.Fn.condition_equals(actual, expected),
            assert_description=f"the cluster file has {name}: {expected}, and the stack is deployed elsewhere",
        )
        for name, expected, actual in places
        if expected is not None and cdk.Token.is_unresolved(actual)
    ]
    if assertions:
        cdk.CfnRule(scope, "Environment", assertions=assertions)
