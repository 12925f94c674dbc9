"""Task governance of a HyperPod cluster with Kubernetes: priorities, and quotas of teams."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import aws_cdk as cdk
from aws_cdk import aws_sagemaker as l1
from constructs import Construct

from ultracluster.catalogue.schedulers import hyperpod, hyperpod_kubernetes
from ultracluster.planning import arn_problem, check_fields, checked, token_errors
from ultracluster.rules import Refusal, error

_GOVERNANCE = error("hyperpod-governance", "HyperPod limits the name of a team, its weight and its quota.")
#: What a team does with its idle nodes, and with those of others.
Sharing = Literal["DontLend", "Lend", "LendAndBorrow"]
# aws-cdk-lib 2.275.0 has no L1 of the quota, and neither it nor cfn-lint 1.58 has both types in every region of
# `TASK_GOVERNANCE_REGIONS`: us-east-2 lacks the policy in both, ap-northeast-1 the quota.
_UNKNOWN_TYPE = {"cfn-lint": "E3006", "CloudFormation-Validate": "F3006"}
_UNKNOWN_TYPE_REASON = "the bundled schemas lack the type in some Regions that AWS documents; AWS checks its properties"


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamQuota:
    """Nodes of a team, which HyperPod gives the namespace `hyperpod-ns-TEAM`.

    Args:
        nodes: Nodes of the team by EC2 name of their type, without `ml.`.
        sharing: What the team does with idle nodes. Default: it lends and borrows them.
        borrow_limit: Nodes that it may borrow, in percent of its own. Default: 50, that of the service.
        weight: Weight of the team when idle nodes are shared, 0 to 100. Default: 0.
        preempts: A task of higher priority stops those of lower priority of the team. Default: yes.

    Raises:
        Refusal: If HyperPod does not take a value. All reasons at once.

    See: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ComputeQuotaConfig.html (read 2026-11-23)
    """

    nodes: Mapping[str, int]
    sharing: Sharing = "LendAndBorrow"
    borrow_limit: int | None = None
    weight: int = 0
    preempts: bool = True

    def __post_init__(self) -> None:
        """Validate all values."""
        check_fields(self)
        problems: list[str] = []
        weights, limits = hyperpod_kubernetes.WEIGHTS, hyperpod_kubernetes.BORROW_LIMITS
        if self.weight not in weights:
            problems.append(_GOVERNANCE(f"weight must be {weights[0]} to {weights[-1]}, got {self.weight}"))
        if self.borrow_limit is not None and self.borrow_limit not in limits:
            text = f"borrow_limit must be {limits[0]} to {limits[-1]} percent, got {self.borrow_limit}"
            problems.append(_GOVERNANCE(text))
        if self.borrow_limit is not None and self.sharing != "LendAndBorrow":
            problems.append(_GOVERNANCE("borrow_limit needs sharing='LendAndBorrow': the team borrows nothing"))
        for name, count in self.nodes.items():
            problems += [_GOVERNANCE(f"nodes: {text}") for text in hyperpod.check_type(name)]
            if count < 0:
                problems.append(_GOVERNANCE(f"nodes of {name} must be 0 or more, got {count}"))
        if problems:
            raise Refusal("", problems)

    def render(self) -> dict[str, Any]:
        """Return the property `ComputeQuotaConfig`."""
        resources = [{"InstanceType": f"ml.{name}", "Count": count} for name, count in sorted(self.nodes.items())]
        sharing: dict[str, Any] = {"Strategy": self.sharing}
        if self.borrow_limit is not None:
            sharing["BorrowLimit"] = self.borrow_limit
        return {
            "ComputeQuotaResources": resources,
            "ResourceSharingConfig": sharing,
            "PreemptTeamTasks": "LowerPriority" if self.preempts else "Never",
        }


class HyperPodTaskGovernance(Construct):
    """Priority classes of a HyperPod cluster, and quotas of the teams that share its nodes.

    Teams also borrow nodes that no quota has. It needs the EKS add-on `amazon-sagemaker-hyperpod-taskgovernance`, which
    brings Kueue: the service refuses it before the webhook of Kueue answers.

    Args:
        cluster_arn: ARN of the HyperPod cluster.
        name: Name of the policy, and the beginning of those of the quotas.
        teams: Quotas by the name of the team.
        priorities: Weights of priority classes by name, 0 to 100. Default: none.

    Raises:
        Refusal: If HyperPod does not take a value. All reasons at once.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance.html (read
    2026-11-23)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_arn: str,
        name: str,
        teams: Mapping[str, TeamQuota],
        priorities: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(scope, id)
        if unknown := token_errors({"name": name}):
            raise Refusal(self, unknown)
        problems: list[str] = [
            *(_GOVERNANCE(text) for text in hyperpod.check_name(name)),
            *map(_GOVERNANCE, _team_problems(name, teams)),
            *map(_GOVERNANCE, _priority_problems(priorities or {})),
        ]
        problems += arn_problem("cluster_arn", cluster_arn, "arn:aws:sagemaker:REGION:ACCOUNT:cluster/ID")
        if problems:
            raise Refusal(self, problems)
        classes = [
            l1.CfnClusterSchedulerConfig.PriorityClassProperty(name=each, weight=weight)
            for each, weight in sorted((priorities or {}).items())
        ]
        #: Policy of the cluster.
        self.policy = l1.CfnClusterSchedulerConfig(
            self,
            "Policy",
            cluster_arn=cluster_arn,
            name=name,
            scheduler_config=l1.CfnClusterSchedulerConfig.SchedulerConfigProperty(
                fair_share="Enabled", idle_resource_sharing="Enabled", priority_classes=classes or None
            ),
        )
        _accept_unknown_type(self.policy)
        #: Quotas by team.
        self.quotas: dict[str, cdk.CfnResource] = {}
        for team, quota in sorted(teams.items()):
            resource = cdk.CfnResource(
                self,
                f"Quota{team}",
                type="AWS::SageMaker::ComputeQuota",
                properties={
                    "Name": hyperpod_kubernetes.quota_name(name, team),
                    "ClusterArn": cluster_arn,
                    "ComputeQuotaTarget": {"TeamName": team, "FairShareWeight": quota.weight},
                    "ComputeQuotaConfig": quota.render(),
                    "ActivationState": "Enabled",
                },
            )
            _accept_unknown_type(resource)
            resource.node.add_dependency(self.policy)
            self.quotas[team] = resource


def _accept_unknown_type(resource: cdk.CfnResource) -> None:
    """Turn off the one rule on the type of this resource: its region may be missing from the bundled schemas."""
    resource.add_metadata("cfn-lint", {"config": {"ignore_checks": [_UNKNOWN_TYPE["cfn-lint"]]}})
    cdk.Validations.of(resource).acknowledge(
        cdk.Acknowledgment(
            id=f"CloudFormation-Validate::{_UNKNOWN_TYPE['CloudFormation-Validate']}", reason=_UNKNOWN_TYPE_REASON
        )
    )


def _team_problems(name: str, teams: Mapping[str, TeamQuota]) -> list[str]:
    problems = [] if teams else ["teams must hold at least one team, got none"]
    for team in teams:
        if not hyperpod_kubernetes.TEAM.fullmatch(team):
            problems.append(f"a team has a name of 1 to 40 lowercase letters, digits and hyphens, got {team[:80]!r}")
        else:
            problems += [
                f"the quota of {team}: {text}"
                for text in hyperpod.check_name(hyperpod_kubernetes.quota_name(name, team))
            ]
    return problems


def _priority_problems(priorities: Mapping[str, int]) -> list[str]:
    problems = []
    if len(priorities) > hyperpod_kubernetes.MOST_PRIORITY_CLASSES:
        problems.append(
            f"priorities must be at most {hyperpod_kubernetes.MOST_PRIORITY_CLASSES}, got {len(priorities)}"
        )
    for name, weight in priorities.items():
        if not hyperpod_kubernetes.PRIORITY_CLASS.fullmatch(name):
            problems.append(f"a priority class is named by lowercase letters, digits and hyphens, got {name[:80]!r}")
        if weight not in hyperpod_kubernetes.WEIGHTS:
            problems.append(f"the weight of {name} must be 0 to 100, got {weight}")
    return problems
