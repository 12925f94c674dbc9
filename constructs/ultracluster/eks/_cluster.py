"""EKS clusters."""

import re
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.catalogue.schedulers import eks as facts
from ultracluster.eks._access import admin_problems, public_access_problems, service_range_problems
from ultracluster.eks._cluster_base import EksClusterBase
from ultracluster.eks._interfaces import IEksCluster
from ultracluster.network import check_same_vpc
from ultracluster.planning import as_list, checked, id_problem, known, text_problem, token_errors
from ultracluster.rules import Refusal, shared
from ultracluster.security import add_managed_policy, check_same_region

_L1 = eks.CfnCluster
_LOGS = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_KEY_ACTIONS = ("kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt")
# Weights of bin-packing: GPUs count most.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-eks-cluster-scoringstrategy.html
# (read 2026-11-21)
_WEIGHTS = {"nvidia.com/gpu": 10, "cpu": 1, "memory": 1}

_ENDPOINT = re.compile(r"https://[A-Za-z0-9.-]+(:\d{1,5})?/?", re.ASCII)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*", re.ASCII)
_VERSION = re.compile(r"\d\.\d{1,3}", re.ASCII)
_TIER = re.compile(r"standard|tier-[a-z0-9]+", re.ASCII)
SECOND_ZONE = shared("kubernetes-second-zone")
_NEW_VERSION = shared("kubernetes-version")
_NEW_TIER = shared("kubernetes-scaling-tier")


class EksCluster(EksClusterBase):
    """An EKS cluster with private interfaces, encrypted secrets, all logs, and no access except for `admins`.

    L1, because `aws_eks_v2.Cluster` has no settings of the scheduler (aws-cdk-lib 2.275.0). Node groups and add-ons are
    separate constructs, which may be in another stack and join existing clusters as well: they take the `ICluster` of
    `cluster`.

    Args:
        name: Name of the cluster. A change replaces the cluster.
        version: Version of Kubernetes; see `catalogue.schedulers.eks.VERSIONS`.
        vpc: VPC of the cluster.
        subnets: Private subnets in at least two zones, for the network interfaces of EKS.
        public_access_cidrs: CIDR ranges that reach the API server from outside the VPC. Default: none; the API server
            has no public endpoint.
        allow_public_access_from_anywhere: Whether `public_access_cidrs` may be wider than a /8. Default: no.
        admins: IAM roles and users that administer the cluster, or their ARNs. Default: none.
        key: KMS key of the cluster's secrets. Its policy must allow the account to use it. Default: a new key.
        scaling_tier: Tier of the control plane; see `catalogue.schedulers.eks.SCALING_TIERS`. Default: `standard`.
        support: `standard` or `extended`. With `standard`, EKS updates the version at the end of standard support.
            Default: `extended`, the default of EKS
            (https://docs.aws.amazon.com/eks/latest/userguide/view-upgrade-policy.html, read 2026-11-22).
        bin_packing: Whether the scheduler fills one node before the next, GPUs first. Default: no.
        service_cidr: Range of its Services. It cannot change.

    Raises:
        Refusal: If EKS does not take a name, version or range, there are too few subnets, one is of another VPC, the
            key is of another region, or `public_access_cidrs` is too broad. All reasons at once.

    See: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html and cluster-endpoint.html (read 2026-11-21)
    """

    @staticmethod
    @checked
    def from_eks_cluster_attributes(
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        endpoint: str,
        certificate_authority: str,
        security_group_id: str,
        vpc: ec2.IVpc,
    ) -> IEksCluster:
        """Import an existing cluster.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            cluster_name: Name of the cluster.
            endpoint: URL of its API server.
            certificate_authority: Certificate authority data.
            security_group_id: Id of the security group that EKS created for it.
            vpc: VPC of the cluster.

        Raises:
            Refusal: If a value is not one of a cluster of EKS. All reasons at once.
        """
        imported = EksClusterBase(scope, id)
        names = facts.check_cluster_name(cluster_name) if known(cluster_name) else []
        problems = [f"cluster_{problem}" for problem in names]
        problems += text_problem("endpoint", endpoint, _ENDPOINT, "the URL of an API server, https://...")
        problems += text_problem("certificate_authority", certificate_authority, _BASE64, "a certificate in Base64")
        problems += id_problem("security_group_id", security_group_id, "sg-")
        if problems:
            raise Refusal(imported, problems)
        imported._set(
            name=cluster_name,
            endpoint=endpoint,
            certificate_authority=certificate_authority,
            security_group_id=security_group_id,
            vpc=vpc,
        )
        return imported

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        version: str,
        vpc: ec2.IVpc,
        subnets: ec2.ISubnet | Sequence[ec2.ISubnet],
        public_access_cidrs: str | Sequence[str] = (),
        allow_public_access_from_anywhere: bool = False,
        admins: str | iam.IRole | iam.IUser | Sequence[str | iam.IRole | iam.IUser] = (),
        key: kms.IKey | None = None,
        scaling_tier: str = "standard",
        support: str | None = None,
        bin_packing: bool = False,
        service_cidr: str = facts.SERVICE_CIDR,
    ) -> None:
        super().__init__(scope, id)
        subnets, public_access_cidrs, admins = as_list(subnets), as_list(public_access_cidrs), as_list(admins)
        problems: list[str] = list(
            token_errors({"version": version, "scaling_tier": scaling_tier, "support": support or ""})
        )
        problems += text_problem("version", version, _VERSION, f"one of {', '.join(facts.VERSIONS)}")
        problems += check_same_vpc({"vpc": vpc, **{f"subnets[{index}]": each for index, each in enumerate(subnets)}})
        problems += check_same_region(self, {"key": key})
        if known(name):
            problems += facts.check_cluster_name(name)
        if known(scaling_tier) and not _TIER.fullmatch(scaling_tier):
            problems.append(f"scaling_tier must be one of {', '.join(facts.SCALING_TIERS)}, got {scaling_tier!r}")
        if support not in (None, "standard", "extended"):
            problems.append(f"support must be standard or extended, got {support!r}")
        if known(service_cidr):
            problems += service_range_problems(service_cidr)
        if len(subnets) < 2:
            problems.append(SECOND_ZONE(f"subnets must hold at least two, in different zones, got {len(subnets)}"))
        problems += public_access_problems(public_access_cidrs, anywhere=allow_public_access_from_anywhere)
        problems += admin_problems(admins)
        if problems:
            raise Refusal(self, problems)
        # EKS gets versions and tiers before a release of this library has them.
        for message in facts.check_version(version):
            cdk.Validations.of(self).add_warning(_NEW_VERSION.warning_id, message)
        if scaling_tier not in facts.SCALING_TIERS:
            message = f"scaling_tier must be one of {', '.join(facts.SCALING_TIERS)}, got {scaling_tier!r}"
            cdk.Validations.of(self).add_warning(_NEW_TIER.warning_id, message)
        #: Version of Kubernetes.
        self.version = version
        #: Range of its Services.
        self.service_cidr = service_cidr
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("eks.amazonaws.com"))
        add_managed_policy(
            role, "AmazonEKSClusterPolicy", "EKS requires this policy, and AWS maintains it with the control plane"
        )
        encryption_key = key or kms.Key(
            self,
            "Key",
            description=f"Secrets of the Kubernetes cluster {name}",
            enable_key_rotation=True,
            # A cluster without its key cannot be read.
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        role.add_to_policy(iam.PolicyStatement(actions=list(_KEY_ACTIONS), resources=[encryption_key.key_arn]))
        # EKS would create the group without a retention period.
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
                endpoint_public_access=bool(public_access_cidrs),
                public_access_cidrs=list(public_access_cidrs) or None,
            ),
            access_config=_L1.AccessConfigProperty(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            bootstrap_self_managed_addons=False,
            encryption_config=[
                _L1.EncryptionConfigProperty(
                    provider=_L1.ProviderProperty(key_arn=encryption_key.key_arn), resources=["secrets"]
                )
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
            upgrade_policy=None if support is None else _L1.UpgradePolicyProperty(support_type=support.upper()),
            kube_scheduler_config=_bin_packing() if bin_packing else None,
        )
        # The permissions must exist when EKS creates and deletes its network interfaces.
        policy = role.node.try_find_child("DefaultPolicy")
        # `Role.customize_roles` creates no policy.
        self.resource.node.add_dependency(*([] if policy is None else [policy]), log_group)
        if public_access_cidrs:
            cdk.Validations.of(self.resource).acknowledge(
                cdk.Acknowledgment(
                    id="AwsSolutions-EKS1",
                    reason="The public endpoint serves named ranges only, and IAM authenticates its clients",
                )
            )
        self._set(
            name=name,
            endpoint=self.resource.attr_endpoint,
            certificate_authority=self.resource.attr_certificate_authority_data,
            security_group_id=self.resource.attr_cluster_security_group_id,
            vpc=vpc,
            created=self.resource,
        )
        for admin in admins:
            self._add_admin(admin)


def _bin_packing() -> eks.CfnCluster.KubeSchedulerConfigProperty:
    return _L1.KubeSchedulerConfigProperty(
        node_resources_fit=_L1.NodeResourcesFitConfigProperty(
            scoring_strategy=_L1.ScoringStrategyProperty(
                type="MostAllocated",
                resources=[_L1.ResourceWeightProperty(name=name, weight=weight) for name, weight in _WEIGHTS.items()],
            )
        )
    )
