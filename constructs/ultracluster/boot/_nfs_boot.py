"""NFS client of nodes."""

from ultracluster.boot import scripts
from ultracluster.boot._node_files import NodeBoot, NodeFile, without_comments

#: The unit that installs the NFS client where the image has none: what `Mount.after` names for a mount over NFS.
NFS_CLIENT_UNIT = "ultracluster-nfs-client.service"

_PROGRAM = "/usr/local/sbin/ultracluster-nfs-client"
# The script tries three times, and waits up to five minutes for another apt in each.
_UNIT = f"""\
[Unit]
Description=NFS client
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={_PROGRAM}
TimeoutStartSec=35min

[Install]
WantedBy=multi-user.target
"""


def nfs_client_boot() -> NodeBoot:
    """Return the files and the unit that install the NFS client if the image lacks it."""
    script = without_comments(scripts.text("nfs-client.sh"))
    return NodeBoot(
        files=(
            NodeFile(path=_PROGRAM, text=script, mode="0755"),
            NodeFile(path=f"/etc/systemd/system/{NFS_CLIENT_UNIT}", text=_UNIT, mode="0644"),
        ),
        units=(NFS_CLIENT_UNIT,),
    )
