"""A SageMaker HyperPod cluster."""

from collections.abc import Sequence
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as l1
from constructs import Construct

from ultracluster.catalogue.ec2 import INSTANCE_TYPES
from ultracluster.catalogue.schedulers import hyperpod, hyperpod_kubernetes
from ultracluster.hyperpod._autoscaler_role import HyperPodAutoscalerRole
from ultracluster.hyperpod._cluster_checks import AccountingDatabase, group_problems, slurm_problems
from ultracluster.hyperpod._hyperpod_role import HyperPodRole, controller_role
from ultracluster.hyperpod._instance_group import HyperPodInstanceGroup, hidden_from_price_lists
from ultracluster.hyperpod._interfaces import HyperPodGrants, IHyperPodCluster
from ultracluster.hyperpod._joined_cluster import HyperPodKubernetes, HyperPodRestrictedGroup
from ultracluster.hyperpod._lifecycle_scripts import HyperPodScripts
from ultracluster.network import check_efa_rules, check_private, check_same_vpc
from ultracluster.orchestration import NodeResource
from ultracluster.planning import arn_problem, as_list, checked, text_problem, token_errors
from ultracluster.rules import Refusal, error, shared
from ultracluster.security import check_same_region

_CLUSTER = error(
    "hyperpod-cluster", "HyperPod limits the name of a cluster, its instance groups and the roles of its nodes."
)
_REGION = shared("hyperpod-region")
_TYPE = shared("hyperpod-type")
#: What keeps the partitions of slurm.conf.
Strategy = Literal["Managed", "Merge", "Overwrite"]
# Rule of cfn-lint and of CloudFormation Validate, in aws-cdk-lib 2.275.0 too.
_PRICE_LISTS = "E3644"
_PRICE_LISTS_REASON = "the rule takes its types from price lists, which lack some that the API of SageMaker has"


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
        self._role = role


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
            is allowed to, and one for Slurm's controller with the same permissions and those of `accounting`.
        scripts: Lifecycle scripts of the groups that name one.
        kubernetes: EKS cluster that the nodes join. Default: Slurm.
        strategy: What keeps the partitions of slurm.conf. Default: continuous provisioning, which merges those of the
            cluster with those of the file, starts with the nodes that it gets, and retries the others.
        accounting: Existing database of Slurm's accounting, whose secret the execution role of the controller must be
            allowed to read. Default: one on the controller.
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
        kubernetes: HyperPodKubernetes | None = None,
        strategy: Strategy | None = None,
        accounting: AccountingDatabase | None = None,
        node_recovery: bool = True,
        volume_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, id)
        security_groups = as_list(security_groups)
        if unknown := token_errors({"name": name}):
            raise Refusal(self, unknown)
        restricted: Sequence[HyperPodRestrictedGroup] = kubernetes.restricted_groups if kubernetes else ()
        everyone: list[HyperPodInstanceGroup | HyperPodRestrictedGroup] = [*groups, *restricted]
        named = {f"security_groups[{index}]": group for index, group in enumerate(security_groups)}
        subnets = {f"the subnet of {group.name}": group.subnet for group in everyone if group.subnet is not None}
        subnets = {"subnet": subnet, **subnets}
        types = {record.name for record in INSTANCE_TYPES.values() if record.supports_efa}
        efa = check_efa_rules(named) if any(group.instance_type in types for group in everyone) else []
        problems: list[str] = [
            *(_CLUSTER(text) for text in hyperpod.check_name(name)),
            *check_same_vpc({**subnets, **named}),
            *check_private(subnets),
            *(message for message in efa if message.rule.kind == "error"),
            *map(_CLUSTER, group_problems(groups, scripts=scripts is not None, kubernetes=kubernetes)),
            *map(
                _CLUSTER,
                slurm_problems(strategy, accounting, kubernetes=kubernetes is not None, key=volume_key is not None),
            ),
        ]
        provisioning = None if scripts is None else scripts.provisioning
        if provisioning is not None:
            roles = {group.name: group.node_type is not None for group in groups}
            problems += map(_CLUSTER, provisioning.problems(roles))
            if any(each is not None for each in (kubernetes, strategy, accounting, volume_key)):
                text = "provisioning is Slurm's older form: leave kubernetes, strategy, accounting and volume_key out"
                problems.append(_CLUSTER(text))
        problems += check_same_region(self, {"volume_key": volume_key})
        if kubernetes is not None and kubernetes.autoscaling and not node_recovery:
            problems.append(_CLUSTER("autoscaling needs node_recovery: leave it out"))
        if not security_groups:
            problems.append("security_groups must hold at least one group, got none")
        if problems:
            raise Refusal(self, problems)
        for unknown_rules in efa:
            cdk.Validations.of(self).add_warning(unknown_rules.rule.warning_id, unknown_rules)
        region = cdk.Stack.of(self).region
        if not cdk.Token.is_unresolved(region) and region not in hyperpod.REGIONS:
            cdk.Validations.of(self).add_warning(_REGION.warning_id, f"HyperPod is not known to be in {region}")
        for message in dict.fromkeys(text for each in everyone for text in hyperpod.check_type(each.instance_type)):
            cdk.Validations.of(self).add_warning(_TYPE.warning_id, message)
        eks_arn = None if kubernetes is None else kubernetes.cluster_arn
        nodes = controller = role or HyperPodRole(self, "Role", eks_cluster_arn=eks_arn, volume_key=volume_key)
        if role is None and isinstance(nodes, iam.Role):
            if scripts is not None:
                scripts.grants.read(nodes)
            if any(group.node_type == "Controller" for group in groups):
                controller = controller_role(self, nodes)
            if accounting is not None:
                accounting.grant_read(controller)
        executors = [*dict.fromkeys((nodes, controller))]
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
        #: Role of HyperPod's Karpenter. None: nothing scales by itself.
        self.autoscaler_role = (
            HyperPodAutoscalerRole(self, "AutoscalerRole", volume_key=volume_key)
            if kubernetes is not None and kubernetes.autoscaling
            else None
        )
        orchestrator = None
        if eks_arn is not None:
            eks = l1.CfnCluster.ClusterOrchestratorEksConfigProperty(cluster_arn=eks_arn)
            orchestrator = l1.CfnCluster.OrchestratorProperty(eks=eks)
        elif any(group.node_type for group in groups):
            orchestrator = l1.CfnCluster.OrchestratorProperty(slurm=slurm)
        self.resource = l1.CfnCluster(
            self,
            "Resource",
            cluster_name=name,
            instance_groups=[
                group.render(
                    role=controller if group.node_type == "Controller" else nodes,
                    source_s3_uri=None if scripts is None else scripts.source_s3_uri,
                    security_groups=ids,
                    key=volume_key,
                )
                for group in groups
            ]
            or None,
            restricted_instance_groups=[group.render(role=nodes, security_groups=ids) for group in restricted] or None,
            cluster_role=None if self.autoscaler_role is None else self.autoscaler_role.role_arn,
            auto_scaling=None
            if self.autoscaler_role is None
            else l1.CfnCluster.ClusterAutoScalingConfigProperty(mode="Enable", auto_scaler_type="Karpenter"),
            tiered_storage_config=None if kubernetes is None else kubernetes.tiered_storage,
            vpc_config=l1.CfnCluster.VpcConfigProperty(security_group_ids=ids, subnets=[subnet.subnet_id]),
            orchestrator=orchestrator,
            node_recovery="Automatic" if node_recovery else "None",
            # AWS's module has none with restricted groups alone: https://github.com/awslabs/awsome-distributed-ai,
            # 1.architectures/7.sagemaker-hyperpod-eks/terraform-modules/hyperpod-eks-tf/modules/hyperpod_cluster
            # (commit 95b939c of 2026-07-23, read 2026-11-24)
            node_provisioning_mode=None
            if strategy is not None or provisioning is not None or not groups
            else "Continuous",
        )
        if kubernetes is not None:
            cdk.Tags.of(self.resource).add(*hyperpod_kubernetes.ADD_ON_TAG)
        if any(hidden_from_price_lists(group.instance_type) for group in everyone):
            self.resource.add_metadata("cfn-lint", {"config": {"ignore_checks": [_PRICE_LISTS]}})
            cdk.Validations.of(self.resource).acknowledge(
                cdk.Acknowledgment(id=f"CloudFormation-Validate::{_PRICE_LISTS}", reason=_PRICE_LISTS_REASON)
            )
        for each in dict.fromkeys((*executors, self.autoscaler_role, *(group.role for group in groups))):
            if isinstance(each, iam.Role) and (policy := each.node.try_find_child("DefaultPolicy")) is not None:
                # The service checks at the creation that the role reaches subnets and scripts.
                self.resource.node.add_dependency(policy)
        if scripts is not None:
            self.resource.node.add_dependency(*scripts.ready)
        self.cluster_name = name
        self.cluster_arn = self.resource.attr_cluster_arn
        self._set(security_groups, nodes)
