"""A check of nodes to the bottom, that somebody submits as a job."""

from ultracluster import scripts
from ultracluster.hardware.nccl_floors import NCCL_FIGURES
from ultracluster.planning.node_files import NodeBoot, NodeFile

#: What is submitted: `sbatch --nodes=2 /usr/local/sbin/ultracluster-deep-check`.
DEEP_CHECK = "/usr/local/sbin/ultracluster-deep-check"


def deep_check(instance_type: str) -> NodeBoot:
    """The job, its judge and the floors it judges by; login nodes and others have it at one path.

    Args:
        instance_type: Type of the node.
    """
    floors = "".join(
        f"{one.instance_type} {one.nodes} {one.message_bytes} {one.floor_gb_per_s}\n" for one in NCCL_FIGURES
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
