"""Errors of the arguments of a HyperPod cluster."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_iam as iam

from ultracluster.catalogue.ec2 import known_type
from ultracluster.catalogue.schedulers import hyperpod, hyperpod_kubernetes
from ultracluster.hyperpod._instance_group import HyperPodInstanceGroup
from ultracluster.hyperpod._joined_cluster import HyperPodKubernetes, HyperPodRestrictedGroup
from ultracluster.planning import arn_problem, checked_method, text_problem
from ultracluster.planning.capacity import TrainingPlan

_SECRET = "arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME"
_KEY = "arn:aws:kms:REGION:ACCOUNT:key/ID"
_HOST = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9.-]{0,253}[a-zA-Z0-9])?", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountingDatabase:
    """A MySQL database that keeps Slurm's accounting. Default of a cluster: one on its controller.

    Slurm's accounting daemon runs on the controller, and reads the secret with the execution role of its group: the
    service-linked role of HyperPod has no permission for secrets, and that of AWS's template for controllers has it.

    Args:
        endpoint: Host name of the database, which nodes of the cluster reach.
        secret_arn: ARN of the secret with `username` and `password`.
        name: Name of the schema. Default: one that has the id of the cluster.
        port: Port. Default: 3306.
        key_arn: ARN of the KMS key of the secret. Default: `aws/secretsmanager`.

    See: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html (read 2026-11-23),
    https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol-AmazonSageMakerHyperPodServiceRolePolicy.html
    and https://github.com/awslabs/awsome-distributed-ai, 1.architectures/5.sagemaker-hyperpod/
    sagemaker-hyperpod-slurm-multi-headnode.yaml (commit 95b939c of 2026-07-23; both read 2026-11-26)
    """

    endpoint: str
    secret_arn: str
    name: str | None = None
    port: int = 3306
    key_arn: str | None = None

    @checked_method
    def grant_read(self, grantee: iam.IGrantable) -> None:
        """Allow the controller to read user name and password."""
        iam.Grant.add_to_principal(
            grantee=grantee, actions=["secretsmanager:GetSecretValue"], resource_arns=[self.secret_arn]
        )
        if self.key_arn is not None:
            iam.Grant.add_to_principal(grantee=grantee, actions=["kms:Decrypt"], resource_arns=[self.key_arn])


def group_problems(
    groups: Sequence[HyperPodInstanceGroup], *, scripts: bool, kubernetes: HyperPodKubernetes | None
) -> list[str]:
    """Return the errors of the instance groups of a cluster, as far as they concern each other."""
    problems = []
    restricted: Sequence[HyperPodRestrictedGroup] = kubernetes.restricted_groups if kubernetes else ()
    total = len(groups) + len(restricted)
    if not 1 <= total <= hyperpod.MOST_GROUPS:
        problems.append(f"groups must be 1 to {hyperpod.MOST_GROUPS}, got {total}")
    problems += [
        f"groups must have different names, got {name!r} {times} times"
        for name, times in Counter([*(each.name for each in groups), *(each.name for each in restricted)]).items()
        if times > 1
    ]
    if not scripts:
        problems += [
            f"the group {group.name} names a script, and scripts is not given" for group in groups if group.script
        ]
    roles = Counter(group.node_type for group in groups if group.node_type is not None)
    if kubernetes is not None:
        if roles:
            problems.append("groups have a node_type, which is Slurm's, and kubernetes is given: leave one out")
    else:
        problems += [
            f"the group {group.name} has labels, taints or Spot instances, which Kubernetes alone has: leave them out"
            for group in groups
            if group.for_kubernetes
        ]
    if roles and roles["Controller"] != 1:
        problems.append(f"exactly one group must have the node_type 'Controller', got {roles['Controller']}")
    if roles["Login"] > 1:
        problems.append(f"at most one group has the node_type 'Login', got {roles['Login']}")
    if roles and roles.total() != len(groups):
        problems.append("every group must have a node_type, or none of them")
    if kubernetes is not None and kubernetes.autoscaling:
        problems += _elastic_problems(groups)
    return problems


def _elastic_problems(groups: Sequence[HyperPodInstanceGroup]) -> list[str]:
    """Return the errors of groups that Karpenter scales: those that start without nodes.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html and, beside
    it, sagemaker-hyperpod-spot.html (read 2026-11-25)
    """
    elastic = [group for group in groups if group.count == 0]
    problems = [] if elastic else ["autoscaling needs a group with count=0, which Karpenter scales"]
    for group in elastic:
        if group.deep_health_checks:
            problems.append(f"Karpenter scales no group with deep health checks: {group.name}")
        if isinstance(group.capacity, TrainingPlan):
            problems.append(f"Karpenter scales groups on demand and of Spot only: {group.name}")
        record = known_type(group.instance_type)
        if record is not None and record.architecture != hyperpod_kubernetes.AUTOSCALER_ARCHITECTURE:
            problems.append(f"Karpenter scales no group with Arm nodes: {group.name}")
    return problems


def slurm_problems(
    strategy: str | None, accounting: AccountingDatabase | None, *, kubernetes: bool, key: bool
) -> list[str]:
    """Return the errors of the settings of Slurm."""
    problems = []
    if strategy is not None and key:
        problems.append("a key of the volumes needs continuous provisioning: leave strategy or volume_key out")
    if kubernetes and (strategy is not None or accounting is not None):
        problems.append("strategy and accounting are for Slurm, and the cluster is one of EKS: leave them out")
    if accounting is not None:
        if strategy is not None:
            problems.append("an accounting database needs continuous provisioning: leave strategy out")
        problems += text_problem("accounting.endpoint", accounting.endpoint, _HOST, "a host name")
        problems += arn_problem("accounting.secret_arn", accounting.secret_arn, _SECRET)
        if accounting.key_arn is not None:
            problems += arn_problem("accounting.key_arn", accounting.key_arn, _KEY)
        if not 1 <= accounting.port <= 65_535:
            problems.append(f"accounting.port must be 1 to 65,535, got {accounting.port}")
    return problems
