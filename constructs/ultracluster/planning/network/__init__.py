"""Subnets and addresses, and the reach of EFA."""

from ultracluster.planning.network._addresses import PRIVATE_RANGES as PRIVATE_RANGES
from ultracluster.planning.network._addresses import SubnetPlan as SubnetPlan
from ultracluster.planning.network._addresses import is_private as is_private
from ultracluster.planning.network._addresses import largest_training_subnet as largest_training_subnet
from ultracluster.planning.network._addresses import plan_subnets as plan_subnets
from ultracluster.planning.network._addresses import plan_zone_subnets as plan_zone_subnets
from ultracluster.planning.network._addresses import subnet_capacity as subnet_capacity
from ultracluster.planning.network._efa_reach import EFA_REACH as EFA_REACH
from ultracluster.planning.network._efa_reach import check_efa_reach as check_efa_reach
from ultracluster.planning.network._endpoint_services import DIRECTORY_SERVICES as DIRECTORY_SERVICES
from ultracluster.planning.network._endpoint_services import EKS_SERVICES as EKS_SERVICES
from ultracluster.planning.network._endpoint_services import NOTICE_SERVICES as NOTICE_SERVICES
from ultracluster.planning.network._endpoint_services import PCS_SERVICES as PCS_SERVICES
