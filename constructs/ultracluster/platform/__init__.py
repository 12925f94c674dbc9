"""Install the platform of a cluster: controllers, devices, objects, and a gate.

The package needs Python alone, kubectl and helm, and boto3 for calls to AWS: neither a cluster file nor the CDK. On a
host in the VPC, `python -m ultracluster.platform apply --bundle DIR --values FILE` does what `ultracluster apply` does.
"""

from ultracluster.platform._apply import Options as Options
from ultracluster.platform._apply import apply as apply
from ultracluster.platform._apply import hold_queues as hold_queues
from ultracluster.platform._apply import plan as plan
from ultracluster.platform._apply import wait_for_gate as wait_for_gate
from ultracluster.platform._aws import core_session as core_session
from ultracluster.platform._aws import refuse_pages as refuse_pages
from ultracluster.platform._bundle import BUNDLE_FILE as BUNDLE_FILE
from ultracluster.platform._bundle import Bundle as Bundle
from ultracluster.platform._connect import Target as Target
from ultracluster.platform._connect import caller_role as caller_role
from ultracluster.platform._connect import connected as connected
from ultracluster.platform._errors import ApplyError as ApplyError
from ultracluster.platform._errors import ToolError as ToolError
from ultracluster.platform._registry import USER as USER
from ultracluster.platform._registry import ecr_password as ecr_password
from ultracluster.platform._registry import has as has
from ultracluster.platform._registry import is_local as is_local
from ultracluster.platform._registry import signed_in as signed_in
from ultracluster.platform._releases import chart_objects as chart_objects
from ultracluster.platform._stacks import file_outputs as file_outputs
from ultracluster.platform._stacks import is_stack_of as is_stack_of
from ultracluster.platform._stacks import stack_outputs as stack_outputs
from ultracluster.platform._stacks import stage_of as stage_of
from ultracluster.platform._tools import Tools as Tools
from ultracluster.platform._tools import find_tools as find_tools
