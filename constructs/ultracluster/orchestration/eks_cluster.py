"""A Kubernetes control plane run by Amazon EKS."""

from collections.abc import Sequence
from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.hardware import eks as facts
from ultracluster.security.managed_policies import add_managed_policy

_L1 = eks.CfnCluster
_LOGS = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_KEY_ACTIONS = ("kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt")
# What bin-packing weighs: a GPU is what a node is bought for.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-eks-cluster-scoringstrategy.html
# (read 2026-11-21)
_WEIGHTS = {"nvidia.com/gpu": 10, "cpu": 1, "memory": 1}


class EksCluster(Construct):
    """An EKS cluster: private interfaces, secrets under a key of yours, all logs, nobody inside who was not named.

    L1, because `aws_eks_v2.Cluster` has no settings of the scheduler (aws-cdk-lib 2.275.0). Node groups and add-ons are
    constructs of their own, so that they may live in another stack and join a cluster of yours as well: they take the
    `ICluster` that `cluster` is.

    Args:
        name: Name of the cluster. Changing it makes a new cluster.
        version: Version of Kubernetes; see `hardware.eks.VERSIONS`.
        vpc: The VPC.
        subnets: Private subnets in two zones at least, where EKS puts its interfaces.
        reached_from: Ranges of addresses that reach the API server from outside the VPC. Default: none, the API
            server has no public address.
        open_to_the_world: Whether those may hold everybody. Default: no.
        admins: ARNs of IAM roles and users that administer the cluster. Default: nobody.
        key: KMS key of the cluster's secrets. Its policy must let the account use it. Default: one is made.
        scaling_tier: Tier of the control plane; see `hardware.eks.SCALING_TIERS`. Default: `standard`.
        bin_packing: Whether Kubernetes' own scheduler fills nodes one after the other, GPUs first. Default: no.
        service_cidr: Range of its Services. It can't change.

    Raises:
        ValueError: When the version is none that EKS runs, there are too few subnets, or the world, or a large part
            of it, may come in unasked.

    See: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html and cluster-endpoint.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        version: str,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        reached_from: Sequence[str] = (),
        open_to_the_world: bool = False,
        admins: Sequence[str] = (),
        key: kms.IKey | None = None,
        scaling_tier: str = "standard",
        bin_packing: bool = False,
        service_cidr: str = facts.SERVICE_CIDR,
    ) -> None:
        super().__init__(scope, id)
        problems = facts.check_version(version)
        if len(subnets) < 2:
            problems.append(f"subnets must hold two at least, in different zones, got {len(subnets)}")
        if scaling_tier not in facts.SCALING_TIERS:
            problems.append(f"scaling_tier must be one of {', '.join(facts.SCALING_TIERS)}, got {scaling_tier!r}")
        if not open_to_the_world:
            found = filter(None, map(facts.check_public_range, map(IPv4Network, reached_from)))
            problems += [f"reached_from: {one}; name ranges, or say open_to_the_world=True" for one in found]
        if len(reached_from) > facts.PUBLIC_RANGES:
            problems.append(f"reached_from must hold {facts.PUBLIC_RANGES} ranges at most, got {len(reached_from)}")
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        self.version = version
        self.service_cidr = service_cidr
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("eks.amazonaws.com"))
        add_managed_policy(
            role, "AmazonEKSClusterPolicy", "EKS asks for it, and AWS keeps it in step with what the control plane does"
        )
        made = key or kms.Key(
            self,
            "Key",
            description=f"Secrets of the Kubernetes cluster {name}",
            enable_key_rotation=True,
            # A cluster whose key is gone can't be read any more.
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        role.add_to_policy(iam.PolicyStatement(actions=list(_KEY_ACTIONS), resources=[made.key_arn]))
        # EKS would make it, and keep what is in it for ever.
        log_group = logs.LogGroup(
            self,
            "LogGroup",
            log_group_name=f"/aws/eks/{name}/cluster",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        self.resource = _L1(
            self,
            "Resource",
            name=name,
            version=version,
            role_arn=role.role_arn,
            resources_vpc_config=_L1.ResourcesVpcConfigProperty(
                subnet_ids=[subnet.subnet_id for subnet in subnets],
                endpoint_private_access=True,
                endpoint_public_access=bool(reached_from),
                public_access_cidrs=list(reached_from) or None,
            ),
            access_config=_L1.AccessConfigProperty(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            bootstrap_self_managed_addons=False,
            encryption_config=[
                _L1.EncryptionConfigProperty(provider=_L1.ProviderProperty(key_arn=made.key_arn), resources=["secrets"])
            ],
            logging=_L1.LoggingProperty(
                cluster_logging=_L1.ClusterLoggingProperty(
                    enabled_types=[_L1.LoggingTypeConfigProperty(type=kind) for kind in _LOGS]
                )
            ),
            kubernetes_network_config=_L1.KubernetesNetworkConfigProperty(
                ip_family="ipv4", service_ipv4_cidr=service_cidr
            ),
            control_plane_scaling_config=None
            if scaling_tier == "standard"
            else _L1.ControlPlaneScalingConfigProperty(tier=scaling_tier),
            kube_scheduler_config=_bin_packing() if bin_packing else None,
        )
        # The permissions must be there when EKS makes its interfaces, and when it takes them away.
        self.resource.node.add_dependency(role.node.find_child("DefaultPolicy"), log_group)
        if reached_from:
            cdk.Validations.of(self.resource).acknowledge(
                cdk.Acknowledgment(
                    id="AwsSolutions-EKS1",
                    reason="The public address answers the ranges that were named, and IAM is asked as well: "
                    + ", ".join(reached_from),
                )
            )
        for arn in admins:
            # Ids come from what they are for; a colon ends no id.
            self._admin(arn)
        #: The cluster, for whatever takes one.
        self.cluster: eks.ICluster = eks.Cluster.from_cluster_attributes(
            self,
            "Attributes",
            cluster_name=self.resource.ref,
            cluster_endpoint=self.resource.attr_endpoint,
            cluster_certificate_authority_data=self.resource.attr_certificate_authority_data,
            cluster_security_group_id=self.resource.attr_cluster_security_group_id,
            vpc=vpc,
        )

    def _admin(self, arn: str) -> None:
        entry = eks.CfnAccessEntry
        entry(
            self,
            f"Admin-{arn.split(':', 4)[4].replace('/', '~').replace(':', '~')}",
            cluster_name=self.resource.ref,
            principal_arn=arn,
            type="STANDARD",
            access_policies=[
                entry.AccessPolicyProperty(
                    access_scope=entry.AccessScopeProperty(type="cluster"),
                    policy_arn=f"arn:{cdk.Aws.PARTITION}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
                )
            ],
        )


def _bin_packing() -> eks.CfnCluster.KubeSchedulerConfigProperty:
    return _L1.KubeSchedulerConfigProperty(
        node_resources_fit=_L1.NodeResourcesFitConfigProperty(
            scoring_strategy=_L1.ScoringStrategyProperty(
                type="MostAllocated",
                resources=[_L1.ResourceWeightProperty(name=name, weight=weight) for name, weight in _WEIGHTS.items()],
            )
        )
    )
