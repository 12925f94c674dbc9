"""Install the platform of a cluster: controllers, devices, objects, and a gate.

The package needs Python alone, kubectl and helm, and boto3 for calls to AWS: neither a cluster file nor the CDK. On a
host in the VPC, `python -m ultracluster.platform apply --bundle DIR --values FILE` does what `ultracluster apply` does.
"""

from ultracluster.platform._apply import Options, apply, hold_queues, plan, wait_for_gate
from ultracluster.platform._bundle import BUNDLE_FILE, Bundle
from ultracluster.platform._connect import Target, caller_role, connected, stack_outputs
from ultracluster.platform._errors import ApplyError, ToolError
from ultracluster.platform._registry import USER, ecr_password, has, is_local, signed_in
from ultracluster.platform._releases import chart_objects
from ultracluster.platform._tools import Tools, find_tools

__all__ = [
    "BUNDLE_FILE",
    "USER",
    "ApplyError",
    "Bundle",
    "Options",
    "Target",
    "ToolError",
    "Tools",
    "apply",
    "caller_role",
    "chart_objects",
    "connected",
    "ecr_password",
    "find_tools",
    "has",
    "hold_queues",
    "is_local",
    "plan",
    "signed_in",
    "stack_outputs",
    "wait_for_gate",
]
