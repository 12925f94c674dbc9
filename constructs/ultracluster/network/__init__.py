"""The VPC of a cluster, or yours, and the security group that EFA needs."""

from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.network.efa_security_group import EfaSecurityGroup, allow_all_between
from ultracluster.network.efa_subnets import check_efa_client, check_efa_subnets
from ultracluster.network.nfs_rules import allow_nfs
from ultracluster.network.service_endpoints import ServiceEndpoints

__all__ = [
    "ClusterNetwork",
    "EfaSecurityGroup",
    "ServiceEndpoints",
    "allow_all_between",
    "allow_nfs",
    "check_efa_client",
    "check_efa_subnets",
]
