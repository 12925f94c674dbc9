"""Logs of a node in CloudWatch."""

import base64
import posixpath

from ultracluster.boot import scripts
from ultracluster.boot._lifecycle_script import OWN_SCRIPTS, NodeScript
from ultracluster.boot._node_files import AFTER_NETWORK, PROGRAM, NodeFile, tar, unit_file

_JOB_OUTPUT = "ultracluster_job_output.py"
_UNIT = "\n".join(
    (
        "[Unit]",
        "Description=Logs of the node to CloudWatch",
        *AFTER_NETWORK,
        "",
        "[Service]",
        "EnvironmentFile=/etc/ultracluster/node-logs",
        "Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin",
        f"ExecStart=/usr/bin/python3 {PROGRAM}node-logs",
        "Restart=always",
        "RestartSec=30",
        # It sends what is left when the node stops.
        "TimeoutStopSec=20",
        # Never a job's CPUs or memory.
        "CPUQuota=100%",
        "MemoryMax=1G",
        "OOMScoreAdjust=500",
        "Nice=10",
        "",
        "[Install]",
        "WantedBy=multi-user.target",
        "",
    )
)


def node_logs(*, log_group: str, region: str) -> NodeScript:
    """Return the script that sends the logs of a node to CloudWatch. It must be the first of its stage.

    It sends the kernel's log, warnings and errors of the journal, everything of slurmd, prolog, epilog, health checks
    and boot, the logs of AWS PCS, and the output of batch jobs. The stream is the id of the
    instance; each event has the name of the node, and those of jobs the id of the job. A failure of it does not keep
    the node from its work.

    Args:
        log_group: Name of the log group. It may be a token.
        region: Region of the log group. It may be a token.
    """
    files = (
        NodeFile(path=f"{PROGRAM}node-logs", text=scripts.text("_node_logs.py"), mode="0755"),
        NodeFile(path=f"{posixpath.dirname(PROGRAM)}/{_JOB_OUTPUT}", text=scripts.text(_JOB_OUTPUT)),
        unit_file("ultracluster-node-logs.service", _UNIT),
    )
    archive = base64.encodebytes(tar(files)).decode()
    return NodeScript(
        name=f"{OWN_SCRIPTS}-logs",
        content=(scripts.text("node-logs.sh") + "#FILES\n" + archive).encode(),
        arguments=(log_group, region),
        on_error="CONTINUE",
        every_boot=True,
    )
