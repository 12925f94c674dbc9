"""Alerts on file systems and disks."""

from ultracluster.monitoring.alerts._alert import JUDGEMENT, NUMBER, SHARE, Alert, Severity, seconds

_EVICTIONS = "ultracluster_node_lustre_evictions"

STORAGE_ALERTS = (
    Alert(
        name="FileSystemUnavailable",
        severity=Severity.CRITICAL,
        for_="15m",
        expr="count by (cluster, path) (time() - ultracluster_node_mount_last_success_timestamp_seconds > 180 and on "
        "(cluster, instance, path) ultracluster_node_mount_outage)",
        threshold=180,
        bounds=seconds(120, 86400, "the check runs each minute"),
        summary="{{ $labels.path }} does not answer on {{ $value }} nodes of {{ $labels.cluster }}",
        description="The check of a mount fails on more than half of the nodes that have it, and on two at least: the "
        "file system, or the way to it, is at fault. Programs wait, and most go on when it answers.",
        diagnosis=(
            "The state of the file system, and its maintenance window: `aws fsx describe-file-systems`.",
            "`cat /run/ultracluster/health/mounts` on a node: it has the reason.",
            "The security group of the file system, and the routes to it.",
        ),
        actions=("If it is in maintenance, wait. If not, contact AWS with its id.", "Restart jobs that ended with it."),
        rationale="Maintenance takes a few minutes of a window of 30 "
        "(https://docs.aws.amazon.com/fsx/latest/LustreGuide/maintenance-windows.html, read 2026-11-26); 15 minutes: "
        "judgement.",
    ),
    Alert(
        name="LustreOverTcp",
        for_="5m",
        expr="ultracluster_node_mount_over_efa == 0",
        summary="{{ $labels.path }} runs over TCP on node {{ $labels.instance }}",
        description="The file system was to be reached over EFA and is not: reads and checkpoints of this node are "
        "slower than those of the others, and nothing else shows it.",
        diagnosis=(
            "`cat /run/ultracluster/health/lustre-efa` on the node: it has the reason.",
            "`sudo lnetctl net show --net efa`.",
            "`sudo journalctl -u ultracluster-lustre-efa`.",
        ),
        actions=(
            "If AWS's tool is missing or has another checksum, name a reviewed copy: "
            "`storage.lustre.client.bundle`, or use an image that has it.",
            "Let the job end, and restart the node: EFA is set up before the mount only.",
        ),
        rationale="It is 0 or 1.",
    ),
    Alert(
        name="LustreClientsEvicted",
        # Three evictions of a node: the metric has each for ten minutes, with others of that time.
        expr=f"count by (cluster, filesystem) (max_over_time({_EVICTIONS}[1h])) > 2 or "
        f"count by (cluster, filesystem) (count_over_time({_EVICTIONS}[6h:1m]) > 25)",
        threshold=2,
        bounds=NUMBER,
        summary="Lustre {{ $labels.filesystem }} evicted nodes of {{ $labels.cluster }}, several within an hour or one "
        "again and again: {{ $value }}",
        description="Servers of the file system gave up on nodes that did not answer, and took their locks: three "
        "nodes in an hour, or one node three times in six hours. What programs read or wrote there failed with an "
        "error, and data that was not written yet is lost. The nodes are connected again, and their checks are well.",
        diagnosis=(
            "Dashboard Storage: which nodes. One node, one rack, one job, or all?",
            "`sudo journalctl -k --grep 'evicted by'` on the nodes: the targets, and the times. Lines before it have "
            "the reason, such as `Connection to ... was lost`.",
            "Maintenance of the file system, or load of its servers: dashboard Lustre servers.",
        ),
        actions=(
            "See that the jobs of the nodes have ended, or go on from their last checkpoint.",
            "One node again and again: drain it with a reason of your own, which no check lifts, and replace it.",
            "Several nodes, without maintenance: contact AWS with the id of the file system and the times.",
        ),
        rationale="One node once may have been too busy to answer. A node that boots or is replaced is not evicted in "
        f"its own log. {JUDGEMENT}",
    ),
    Alert(
        name="MountSlow",
        for_="10m",
        expr="ultracluster_node_mount_check_seconds > 1",
        threshold=1,
        bounds=seconds(0.1, 5, "the check gives up after five seconds"),
        summary="{{ $labels.path }} takes {{ $value | humanizeDuration }} to answer on node {{ $labels.instance }}",
        description="The file system answers, but slowly.",
        diagnosis=("FSx's metrics: throughput, IOPS and CPU of the file servers.", "Which job writes."),
        actions=("Find the job that makes it busy; see docs/guides/storage.md on more throughput.",),
    ),
    Alert(
        name="NodeDiskFull",
        for_="10m",
        expr="ultracluster_node_filesystem_free_ratio < 0.1",
        threshold=0.1,
        bounds=SHARE,
        summary="{{ $labels.mountpoint }} of node {{ $labels.instance }} has {{ $value | humanizePercentage }} left",
        description="A local file system is nearly full. Full, it fails jobs, container pulls and logs.",
        diagnosis=("`du -xh --max-depth=2 MOUNTPOINT | sort -h | tail`.",),
        actions=("Remove old containers and files of jobs.",),
        rationale="HyperPod's published rule: 90 % (read 2026-11-21).",
    ),
    Alert(
        name="NodeDiskFilling",
        for_="30m",
        expr="predict_linear(ultracluster_node_filesystem_free_ratio[1h], 14400) < 0 and "
        "ultracluster_node_filesystem_free_ratio < 0.3",
        threshold=0.3,
        bounds=SHARE,
        summary="{{ $labels.mountpoint }} of node {{ $labels.instance }} will be full in four hours",
        description="A local file system has less than 30 % left, and loses it within four hours.",
        diagnosis=(
            "`du -xh --max-depth=2 MOUNTPOINT | sort -h | tail`.",
            "What grew in the last hour: the node's page.",
        ),
        actions=("Remove old containers and files of jobs, or notify the job's owner.",),
    ),
)
