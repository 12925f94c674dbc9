"""A SageMaker HyperPod cluster."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as l1
from constructs import Construct

from ultracluster.catalogue.schedulers import hyperpod
from ultracluster.hyperpod._hyperpod_role import HyperPodRole
from ultracluster.hyperpod._instance_group import HyperPodInstanceGroup
from ultracluster.hyperpod._interfaces import HyperPodGrants, IHyperPodCluster
from ultracluster.hyperpod._lifecycle_scripts import HyperPodScripts
from ultracluster.network import check_same_vpc
from ultracluster.orchestration import NodeResource
from ultracluster.planning import arn_problem, as_list, checked, text_problem, token_errors
from ultracluster.rules import Refusal, error, shared
from ultracluster.security import check_same_region

_CLUSTER = error("hyperpod-cluster", "HyperPod takes some names, groups and roles of nodes of a cluster only.")
_REGION = shared("hyperpod-region")
_TYPE = shared("hyperpod-type")
#: What keeps the partitions of slurm.conf.
Strategy = Literal["Managed", "Merge", "Overwrite"]
_SECRET = "arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME"
# Rule of cfn-lint and of CloudFormation Validate, in aws-cdk-lib 2.275.0 too.
_PRICE_LISTS = "E3644"
_PRICE_LISTS_REASON = "the rule takes its types from price lists, which lack some that the API of SageMaker has"
_HOST = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9.-]{0,253}[a-zA-Z0-9])?", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountingDatabase:
    """A MySQL database that keeps Slurm's accounting. Default of a cluster: one on its controller.

    Args:
        endpoint: Host name of the database, which nodes of the cluster reach.
        secret_arn: ARN of the secret with `username` and `password`.
        name: Name of the schema. Default: one that has the id of the cluster.
        port: Port. Default: 3306.

    See: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html (read 2026-11-23)
    """

    endpoint: str
    secret_arn: str
    name: str | None = None
    port: int = 3306


class _HyperPodClusterBase(NodeResource):
    """Base of created and imported clusters; connections are those of the nodes."""

    cluster_name: str
    cluster_arn: str
    role: iam.IRole

    @property
    def grants(self) -> HyperPodGrants:
        """Permissions on the cluster."""
        return HyperPodGrants(self.cluster_arn)

    def _set(self, security_groups: Sequence[ec2.ISecurityGroup], role: iam.IRole) -> None:
        self.role = role
        self._connections = ec2.Connections(security_groups=list(security_groups), default_port=ec2.Port.all_traffic())
        self._principal = role.grant_principal


class HyperPodCluster(_HyperPodClusterBase):
    """A HyperPod cluster with Slurm, or of an EKS cluster, in a VPC.

    Name, subnet and security groups cannot change. Nodes are in an account of the service; their network interfaces are
    in the VPC.

    Args:
        name: Name of the cluster, 1 to 63 letters, digits and hyphens.
        groups: Instance groups, of which exactly one has Slurm's controller, unless the cluster is one of EKS.
        subnet: Subnet of the nodes whose group names no other.
        security_groups: Security groups of the nodes, which must allow all traffic among themselves by their ids, as
            `network.EfaSecurityGroup` does: the service checks EFA before a node joins.
        role: Execution role of the nodes, which must be allowed to read `scripts`. Default: a new `HyperPodRole` that
            is allowed to.
        scripts: Lifecycle scripts of the groups that name one.
        eks_cluster_arn: ARN of the EKS cluster that the nodes join. Default: Slurm.
        strategy: What keeps the partitions of slurm.conf. Default: continuous provisioning, which merges those of the
            cluster with those of the file, starts with the nodes that it gets, and retries the others.
        accounting: Existing database of Slurm's accounting. Default: one on the controller.
        node_recovery: Reboot or replace faulty nodes. Default: yes.
        volume_key: KMS key of the volumes of the nodes. Default: the service's own.

    Raises:
        Refusal: If HyperPod does not take a value. All reasons at once.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html (read 2026-11-23)
    """

    @staticmethod
    @checked
    def from_hyper_pod_cluster_attributes(
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        cluster_arn: str,
        role: iam.IRole,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup] = (),
    ) -> IHyperPodCluster:
        """Import an existing cluster.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            cluster_name: Name.
            cluster_arn: ARN.
            role: Execution role of its nodes.
            security_groups: Security groups of its nodes. Default: not known; rules cannot be added.

        Raises:
            Refusal: If name or ARN are not those of a HyperPod cluster. All reasons at once.
        """
        imported = _HyperPodClusterBase(scope, id)
        problems = [
            *text_problem("cluster_name", cluster_name, hyperpod.NAME, "the name of a HyperPod cluster"),
            *arn_problem("cluster_arn", cluster_arn, "arn:aws:sagemaker:REGION:ACCOUNT:cluster/ID"),
        ]
        if problems:
            raise Refusal(imported, problems)
        imported.cluster_name, imported.cluster_arn = cluster_name, cluster_arn
        imported._set(as_list(security_groups), role)
        return imported

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        groups: Sequence[HyperPodInstanceGroup],
        subnet: ec2.ISubnet,
        security_groups: ec2.ISecurityGroup | Sequence[ec2.ISecurityGroup],
        role: iam.IRole | None = None,
        scripts: HyperPodScripts | None = None,
        eks_cluster_arn: str | None = None,
        strategy: Strategy | None = None,
        accounting: AccountingDatabase | None = None,
        node_recovery: bool = True,
        volume_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, id)
        security_groups = as_list(security_groups)
        if unknown := token_errors({"name": name}):
            raise Refusal(self, unknown)
        named = {f"security_groups[{index}]": group for index, group in enumerate(security_groups)}
        problems: list[str] = [
            *(_CLUSTER(text) for text in hyperpod.check_name(name)),
            *check_same_vpc({"subnet": subnet, **named}),
            *map(_CLUSTER, _group_problems(groups, scripts, kubernetes=eks_cluster_arn is not None)),
            *map(_CLUSTER, _slurm_problems(strategy, accounting, kubernetes=eks_cluster_arn is not None)),
        ]
        problems += check_same_region(self, {"volume_key": volume_key})
        if eks_cluster_arn is not None:
            problems += arn_problem("eks_cluster_arn", eks_cluster_arn, "arn:aws:eks:REGION:ACCOUNT:cluster/NAME")
        if not security_groups:
            problems.append("security_groups must hold at least one group, got none")
        if problems:
            raise Refusal(self, problems)
        region = cdk.Stack.of(self).region
        if not cdk.Token.is_unresolved(region) and region not in hyperpod.REGIONS:
            cdk.Validations.of(self).add_warning(_REGION.warning_id, f"HyperPod is not known to be in {region}")
        for message in dict.fromkeys(message for group in groups for message in group.unknown_type):
            cdk.Validations.of(self).add_warning(_TYPE.warning_id, message)
        nodes = role or HyperPodRole(self, "Role")
        if scripts is not None and role is None:
            scripts.grants.read(nodes)
        ids = [group.security_group_id for group in security_groups]
        slurm = l1.CfnCluster.ClusterOrchestratorSlurmConfigProperty(
            slurm_config_strategy=strategy,
            accounting_database=None
            if accounting is None
            else l1.CfnCluster.ClusterAccountingDatabaseProperty(
                endpoint=accounting.endpoint,
                secret_arn=accounting.secret_arn,
                name=accounting.name,
                port=accounting.port,
            ),
        )
        eks = None
        if eks_cluster_arn is not None:
            eks = l1.CfnCluster.ClusterOrchestratorEksConfigProperty(cluster_arn=eks_cluster_arn)
        self.resource = l1.CfnCluster(
            self,
            "Resource",
            cluster_name=name,
            instance_groups=[
                group.render(
                    role=nodes,
                    source_s3_uri=None if scripts is None else scripts.source_s3_uri,
                    security_groups=ids,
                    key=volume_key,
                )
                for group in groups
            ],
            vpc_config=l1.CfnCluster.VpcConfigProperty(security_group_ids=ids, subnets=[subnet.subnet_id]),
            orchestrator=l1.CfnCluster.OrchestratorProperty(eks=eks)
            if eks is not None
            else l1.CfnCluster.OrchestratorProperty(slurm=slurm)
            if any(group.node_type for group in groups)
            else None,
            node_recovery="Automatic" if node_recovery else "None",
            node_provisioning_mode=None if strategy is not None else "Continuous",
        )
        if any(group.hidden_from_price_lists for group in groups):
            self.resource.add_metadata("cfn-lint", {"config": {"ignore_checks": [_PRICE_LISTS]}})
            cdk.Validations.of(self.resource).acknowledge(
                cdk.Acknowledgment(id=f"CloudFormation-Validate::{_PRICE_LISTS}", reason=_PRICE_LISTS_REASON)
            )
        if isinstance(nodes, iam.Role) and (policy := nodes.node.try_find_child("DefaultPolicy")) is not None:
            # The service checks at the creation that the role reaches subnets and scripts.
            self.resource.node.add_dependency(policy)
        if scripts is not None:
            self.resource.node.add_dependency(*scripts.ready)
        self.cluster_name = name
        self.cluster_arn = self.resource.attr_cluster_arn
        self._set(security_groups, nodes)


def _group_problems(
    groups: Sequence[HyperPodInstanceGroup], scripts: HyperPodScripts | None, *, kubernetes: bool
) -> list[str]:
    problems = []
    if not 1 <= len(groups) <= hyperpod.MOST_GROUPS:
        problems.append(f"groups must be 1 to {hyperpod.MOST_GROUPS}, got {len(groups)}")
    problems += [
        f"groups must have different names, got {name!r} {times} times"
        for name, times in Counter(group.name for group in groups).items()
        if times > 1
    ]
    if scripts is None:
        problems += [
            f"the group {group.name} names a script, and scripts is not given" for group in groups if group.script
        ]
    roles = Counter(group.node_type for group in groups if group.node_type is not None)
    if kubernetes and roles:
        problems.append("groups have a node_type, which is Slurm's, and eks_cluster_arn is given: leave one out")
    if roles and roles["Controller"] != 1:
        problems.append(f"exactly one group must have the node_type 'Controller', got {roles['Controller']}")
    if roles["Login"] > 1:
        problems.append(f"at most one group has the node_type 'Login', got {roles['Login']}")
    if roles and roles.total() != len(groups):
        problems.append("every group must have a node_type, or none of them")
    return problems


def _slurm_problems(strategy: Strategy | None, accounting: AccountingDatabase | None, *, kubernetes: bool) -> list[str]:
    problems = []
    if kubernetes and (strategy is not None or accounting is not None):
        problems.append("strategy and accounting are for Slurm, and the cluster is one of EKS: leave them out")
    if accounting is not None:
        if strategy is not None:
            problems.append("an accounting database needs continuous provisioning: leave strategy out")
        problems += text_problem("accounting.endpoint", accounting.endpoint, _HOST, "a host name")
        problems += arn_problem("accounting.secret_arn", accounting.secret_arn, _SECRET)
        if not 1 <= accounting.port <= 65_535:
            problems.append(f"accounting.port must be 1 to 65,535, got {accounting.port}")
    return problems
