"""Deep health check of nodes, submitted as a job."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.boot._node_files import NodeBoot, NodeFile, program
from ultracluster.catalogue.ec2 import NCCL_FIGURES, known_type, oldest_software


def deep_check(instance_type: str, software: Mapping[str, str] = MappingProxyType({})) -> NodeBoot:
    """Return the job, its evaluation script and its thresholds, at the same path on every node; and the gate of jobs.

    Submit it: `sbatch --nodes=2 /usr/local/sbin/ultracluster-deep-check`.

    Args:
        instance_type: Type of the node.
        software: Oldest versions instead of those of the type, by name of the part.
    """
    floors = "".join(
        f"{row.instance_type} {row.nodes} {row.message_bytes} {row.floor_gb_per_s}\n" for row in NCCL_FIGURES
    )
    record = known_type(instance_type)
    versions = oldest_software(record, "node", software) if record else {}
    oldest = "".join(f"{name}={version}\n" for name, version in versions.items())
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
