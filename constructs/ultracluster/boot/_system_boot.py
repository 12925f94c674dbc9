"""System settings of every Slurm node: kernel parameters, updates, slurmd's restarts, a check of Pyxis."""

from ultracluster.boot._node_files import PROGRAM, NodeBoot, NodeFile, oneshot, program, slurmd_drop_in, unit_file

#: The unit that checks Enroot and Pyxis before slurmd starts; what it found is in
#: `/run/ultracluster/containers`: `ok`, `none: ...` where the image has neither, or `failed: REASON`.
CONTAINERS_UNIT = "ultracluster-containers.service"

# Neighbors that the kernel remembers: by default 1,024, and every node of a cluster is one. As AWS ParallelCluster and
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
# of 2026-07-23, read 2026-11-21). So does one of nvidia-imex, of nvidia-fabricmanager on P4d, and of a container
# engine: https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/ and
# https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/ (read 2026-11-27). Patterns are matched with the
# name of the unit, such as nvidia-imex.service. One key of the table, so that settings of the image for others stay.
_SERVICES = "slurmd|sackd|nvidia-|docker|containerd"
#: File that keeps updates from restarting the services of jobs. Amazon Linux has no needrestart, and ignores it.
NEEDRESTART = NodeFile(
    path="/etc/needrestart/conf.d/90-ultracluster.conf", text=f"$nrconf{{override_rc}}{{qr(^({_SERVICES}))}} = 0;\n"
)
# A kernel that unattended-upgrades installs runs from the next reboot on, and has no Lustre client: each package of AWS
# is for one kernel, https://docs.aws.amazon.com/fsx/latest/LustreGuide/install-lustre-client.html (read 2026-11-23).
# The libraries of a driver must be those of the loaded module. Patterns match from the start of a name.
_UNATTENDED_UPGRADES = """\
Unattended-Upgrade::Package-Blacklist {
    "linux-(aws|image|headers|modules)";
    "(lib)?nvidia-";
};
"""

# The programs of each release are in a folder of their own, and AWS's own examples add it to the path of each shell:
# https://github.com/awslabs/awsome-distributed-ai, architectures/aws-pcs/docs/USER-MANAGEMENT.md (commit 95b939c of
# 2026-07-23, read 2026-11-27). `sudo -i` reads this file too.
_PROFILE = "command -v sbatch >/dev/null || PATH=$PATH:/opt/aws/pcs/scheduler/slurm-{version}/bin\n"


def system_boot(*, slurm_version: str) -> NodeBoot:
    """Return the kernel settings, which `boot_script` applies, the path of shells, and the check of Enroot and Pyxis.

    Args:
        slurm_version: Slurm release of the cluster, such as `25.11`: Pyxis must be built for it.
    """
    # Never a failed unit: jobs without containers run all the same.
    command = f"ExecStart=-{PROGRAM}containers --slurm {slurm_version}"
    check = oneshot(
        "Check Enroot and Pyxis",
        service=("RemainAfterExit=yes", command, "TimeoutStartSec=1min"),
    )
    return NodeBoot(
        files=(
            NodeFile(path="/etc/sysctl.d/90-ultracluster.conf", text=_SYSCTL),
            NEEDRESTART,
            NodeFile(path="/etc/apt/apt.conf.d/90ultracluster", text=_UNATTENDED_UPGRADES),
            NodeFile(path="/etc/profile.d/ultracluster-slurm.sh", text=_PROFILE.format(version=slurm_version)),
            program("containers", in_place=True),
            unit_file(CONTAINERS_UNIT, check),
            *slurmd_drop_in("ultracluster-containers", f"[Unit]\nAfter={CONTAINERS_UNIT}\n"),
        ),
        units=(CONTAINERS_UNIT,),
    )
