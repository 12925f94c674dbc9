"""NFS client of nodes."""

from ultracluster.boot._node_files import AFTER_NETWORK, PROGRAM, NodeBoot, oneshot, program, unit_file

#: The unit that installs the NFS client where the image has none: what `Mount.after` names for a mount over NFS.
NFS_CLIENT_UNIT = "ultracluster-nfs-client.service"

# The script tries three times, and waits up to five minutes for another apt in each.
_UNIT = oneshot(
    "NFS client",
    unit=AFTER_NETWORK,
    service=("RemainAfterExit=yes", f"ExecStart={PROGRAM}nfs-client", "TimeoutStartSec=35min"),
)


def nfs_client_boot() -> NodeBoot:
    """Return the files and the unit that install the NFS client if the image lacks it."""
    return NodeBoot(
        files=(program("nfs-client", comments=False), unit_file(NFS_CLIENT_UNIT, _UNIT)), units=(NFS_CLIENT_UNIT,)
    )
