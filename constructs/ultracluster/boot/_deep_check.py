"""Deep health check of nodes, submitted as a job."""

from ultracluster.boot import scripts
from ultracluster.boot._node_files import NodeBoot, NodeFile
from ultracluster.catalogue.ec2 import NCCL_FIGURES

#: What is submitted: `sbatch --nodes=2 /usr/local/sbin/ultracluster-deep-check`.
DEEP_CHECK = "/usr/local/sbin/ultracluster-deep-check"


def deep_check(instance_type: str) -> NodeBoot:
    """Return the job, its evaluation script and its thresholds, at the same path on every node.

    Args:
        instance_type: Type of the node.
    """
    floors = "".join(
        f"{row.instance_type} {row.nodes} {row.message_bytes} {row.floor_gb_per_s}\n" for row in NCCL_FIGURES
    )
    return NodeBoot(
        files=(
            NodeFile(path=DEEP_CHECK, text=scripts.text("deep-check.sh"), mode="0755"),
            NodeFile(path="/usr/local/sbin/ultracluster-nccl-judge", text=scripts.text("nccl-judge.sh"), mode="0755"),
            NodeFile(path="/etc/ultracluster/nccl-floors", text=floors, mode="0644"),
            NodeFile(path="/etc/ultracluster/instance-type", text=f"{instance_type}\n", mode="0644"),
        ),
        units=(),
    )
