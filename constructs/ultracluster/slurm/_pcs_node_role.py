"""IAM role of Slurm nodes."""

from constructs import Construct

from ultracluster.planning import checked
from ultracluster.security import NodeRole

# PCS accepts instances by the path of their role, or by a role name that begins with AWSPCS. See
# https://docs.aws.amazon.com/pcs/latest/userguide/security-instance-profiles.html (read 2026-11-20).
ROLE_PATH = "/aws-pcs/"
_JOIN = {
    "pcs:RegisterComputeNodeGroupInstance": "pcs:RegisterComputeNodeGroupInstance is granted on * by AWS's own guide "
    "to PCS instance profiles: an instance registers before its node group is known"
}


class PcsNodeRole(NodeRole):
    """Role of the nodes of a cluster: it registers them with AWS PCS, and allows Session Manager.

    Node groups with different tasks have a role each, such as login nodes and compute nodes: pass its
    `instance_profile` to the node group.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/security-instance-profiles.html (read 2026-11-22)
    """

    @checked
    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, path=ROLE_PATH, account_wide_actions=_JOIN)
