"""The VPC of a cluster, or an existing one, and the security group that EFA requires."""

from ultracluster.network._cluster_network import ClusterNetwork, IClusterNetwork
from ultracluster.network._efa_rules import check_efa_rules
from ultracluster.network._efa_security_group import EfaSecurityGroup
from ultracluster.network._efa_subnets import check_efa_client, check_efa_subnets
from ultracluster.network._group_rules import allow_all_between, allow_nfs
from ultracluster.network._network import Network
from ultracluster.network._private_subnets import check_private
from ultracluster.network._same_vpc import check_same_vpc
from ultracluster.network._service_endpoints import ServiceEndpoints

__all__ = [
    "ClusterNetwork",
    "EfaSecurityGroup",
    "IClusterNetwork",
    "Network",
    "ServiceEndpoints",
    "allow_all_between",
    "allow_nfs",
    "check_efa_client",
    "check_efa_rules",
    "check_efa_subnets",
    "check_private",
    "check_same_vpc",
]
