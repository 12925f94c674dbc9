"""Access to the instance metadata service on Slurm nodes."""

from ultracluster.boot._node_files import PROGRAM, NodeBoot, oneshot, program, slurmd_drop_in, unit_file

#: The unit that allows the instance metadata service to root only.
IMDS_UNIT = "ultracluster-imds.service"

# Before any program has a network, as nftables.service of Debian does; without the default dependencies, because
# sysinit.target waits for the network on images with cloud-init. nftables.service deletes all tables when it starts.
_UNIT = oneshot(
    "Allow the instance metadata service to root only",
    unit=(
        "DefaultDependencies=no",
        "Wants=network-pre.target",
        "Before=network-pre.target shutdown.target",
        "After=local-fs.target nftables.service",
        "PartOf=nftables.service",
        "Conflicts=shutdown.target",
    ),
    service=("RemainAfterExit=yes", f"ExecStart={PROGRAM}imds", "TimeoutStartSec=1min"),
    wanted_by="sysinit.target",
)


def imds_boot() -> NodeBoot:
    """Return the program and the unit that allow the instance metadata service to root only.

    The role of the nodes may call `pcs:RegisterComputeNodeGroupInstance`, whose answer holds the secret that Slurm
    authenticates with: https://docs.aws.amazon.com/pcs/latest/APIReference/API_RegisterComputeNodeGroupInstance.html.
    That a local firewall limits the access: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/
    instance-metadata-limiting-access.html (both read 2026-11-22)
    """
    after = slurmd_drop_in("ultracluster-imds", f"[Unit]\nAfter={IMDS_UNIT}\n")
    return NodeBoot(files=(program("imds"), unit_file(IMDS_UNIT, _UNIT), *after), units=(IMDS_UNIT,))
