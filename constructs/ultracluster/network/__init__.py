"""The VPC of a cluster, or an existing one, and the security group that EFA requires."""

from ultracluster.network._cluster_network import ClusterNetwork as ClusterNetwork
from ultracluster.network._cluster_network import IClusterNetwork as IClusterNetwork
from ultracluster.network._efa_rules import check_efa_rules as check_efa_rules
from ultracluster.network._efa_security_group import EfaSecurityGroup as EfaSecurityGroup
from ultracluster.network._efa_subnets import check_efa_client as check_efa_client
from ultracluster.network._efa_subnets import check_efa_subnets as check_efa_subnets
from ultracluster.network._group_rules import allow_all_between as allow_all_between
from ultracluster.network._group_rules import allow_nfs as allow_nfs
from ultracluster.network._network import Network as Network
from ultracluster.network._private_subnets import check_private as check_private
from ultracluster.network._same_vpc import check_same_vpc as check_same_vpc
from ultracluster.network._service_endpoints import ServiceEndpoints as ServiceEndpoints
