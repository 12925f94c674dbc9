"""What every Slurm node gets whatever it mounts: settings of the kernel, and a slurmd that updates leave alone."""

from ultracluster.planning.node_files import NodeBoot, NodeFile

# Neighbours that the kernel remembers: by default 1,024, and every node of a cluster is one. As AWS ParallelCluster and
# AWS's images for PCS set them: https://github.com/aws/aws-parallelcluster-cookbook/pull/1004 and
# https://github.com/aws-samples/aws-hpc-recipes, recipes/pcs/hpc_ready_ami/assets/scripts/optimize-performance.sh
# (commit 009a29a of 2026-08-07, read 2026-11-21)
_SYSCTL = """\
net.ipv4.neigh.default.gc_thresh1 = 0
net.ipv4.neigh.default.gc_thresh2 = 15360
net.ipv4.neigh.default.gc_thresh3 = 16384
"""
# needrestart restarts services whose libraries an update has changed, and a restart of slurmd ends every job of the
# node: https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs/docs/OPERATIONS.md 6.2 (commit 95b939c
# of 2026-07-23, read 2026-11-21). One key of the table, so that what the image says of others stays.
_NEEDRESTART = "$nrconf{override_rc}{qr(^slurmd)} = 0;\n"


def system_boot() -> NodeBoot:
    """The files: the kernel reads its settings in the course of `boot_script`."""
    return NodeBoot(
        files=(
            NodeFile(path="/etc/sysctl.d/90-ultracluster.conf", text=_SYSCTL, mode="0644"),
            NodeFile(path="/etc/needrestart/conf.d/90-ultracluster.conf", text=_NEEDRESTART, mode="0644"),
        ),
        units=(),
    )
