"""The VPC of a cluster, or yours, and the security group that EFA needs."""

from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.network.efa_security_group import EfaSecurityGroup, allow_all_between

__all__ = ["ClusterNetwork", "EfaSecurityGroup", "allow_all_between"]
