"""Prolog of a Slurm node that refuses jobs if the boot of the node failed."""

from collections.abc import Sequence

from ultracluster.boot._lifecycle_script import NodeScript
from ultracluster.boot._node_files import PROGRAM, NodeBoot, NodeFile, program

#: Path of the prolog on a node.
BOOT_GUARD = f"{PROGRAM}boot-guard"
# A node has about 30 minutes to join Slurm, and a script of the stage nodeReady runs after that:
# https://docs.aws.amazon.com/pcs/latest/userguide/cng-node-lifecycle-actions-best-practices.html (read 2026-11-21)
_READY_MINUTES = 60


def boot_guard(scripts: Sequence[NodeScript], *, prolog: str = "") -> NodeBoot:
    """Return the prolog that refuses jobs if the boot of a node failed, and what it reads.

    Slurm fails a job whose prolog does not exist. So a node whose boot script could not be downloaded takes no jobs
    either, and AWS PCS need not terminate it. See https://github.com/SchedMD/slurm,
    src/plugins/prep/script/prep_script_slurmd.c (tag slurm-25-11-2-1, read 2026-11-22).

    Args:
        scripts: Scripts of the user as they were written. Without those of `TERMINATE`, a node takes no jobs.
        prolog: Prolog of the cluster, which runs after the check: a path or a pattern. Default: none.
    """
    lines = [
        f"{0 if script.stage == 'nodeBootstrapped' else _READY_MINUTES} {script.name}\n"
        for script in scripts
        if script.on_error == "TERMINATE"
    ]
    return NodeBoot(
        files=(
            program("boot-guard", in_place=True),
            NodeFile(path="/etc/ultracluster/prolog", text=f"{prolog}\n" if prolog else "", in_place=True),
            # Not in place: the nodes of a former deployment do not have the scripts of this one.
            NodeFile(path="/etc/ultracluster/scripts", text="".join(lines)),
        ),
        units=(),
    )
