"""Deep health check of nodes, submitted as a job."""

from ultracluster.boot._node_files import NodeBoot, NodeFile, program
from ultracluster.catalogue.ec2 import NCCL_FIGURES, known_type, software_set


def deep_check(instance_type: str) -> NodeBoot:
    """Return the job, its evaluation script and its thresholds, at the same path on every node; and the gate of jobs.

    Submit it: `sbatch --nodes=2 /usr/local/sbin/ultracluster-deep-check`.

    Args:
        instance_type: Type of the node.
    """
    floors = "".join(
        f"{row.instance_type} {row.nodes} {row.message_bytes} {row.floor_gb_per_s}\n" for row in NCCL_FIGURES
    )
    record = known_type(instance_type)
    parts = software_set(record) if record else ()
    oldest = "".join(f"{part.name}={part.oldest}\n" for part in parts if part.place == "node" and part.oldest)
    return NodeBoot(
        files=(
            program("deep-check", in_place=True),
            program("nccl-judge", in_place=True),
            program("job-gate", in_place=True),
            program("software-check", in_place=True),
            NodeFile(path="/etc/ultracluster/software", text=oldest, in_place=True),
            NodeFile(path="/etc/ultracluster/nccl-floors", text=floors, in_place=True),
            NodeFile(path="/etc/ultracluster/instance-type", text=f"{instance_type}\n"),
        ),
        units=(),
    )
