"""Script that drains the nodes of a Capacity Block."""

import shlex
from datetime import datetime

from ultracluster.boot import scripts
from ultracluster.boot._node_files import without_comments


def drain_block_script(*, version: str, nodes: str, reason: str, ends: datetime, requeue_at: datetime) -> list[str]:
    """Return the lines of the script for root on a login node. It is idempotent.

    Args:
        version: Version of Slurm, in the path of PCS's `scontrol`.
        nodes: Names of the nodes, as Slurm writes several.
        reason: Reason of the drain.
        ends: Time at which EC2 terminates the nodes, in UTC.
        requeue_at: Time from which a run requeues the jobs that are left.
    """
    environment = {
        "NODES": nodes,
        "REASON": reason,
        "ENDS": f"{ends:%Y-%m-%dT%H:%M:%S}",
        "REQUEUE_AT": f"{requeue_at.timestamp():.0f}",
    }
    shebang, *lines = without_comments(scripts.text("drain-block.sh")).splitlines()
    return [
        shebang,
        f'export PATH="$PATH:/opt/aws/pcs/scheduler/slurm-{version}/bin"',
        *(f"export {name}={shlex.quote(value)}" for name, value in environment.items()),
        *lines,
    ]
