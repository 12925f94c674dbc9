"""Alerts of nodes: whether they are there, EFA, mounts, disks."""

from ultracluster.metrics.alert import Alert, Severity
from ultracluster.metrics.metric import NODE

_NODE = ", ".join(NODE)
_OURS = "Judgement, not published: change it when your fleet says otherwise."
_DRAIN = "Drain the node: `scontrol update nodename=NODE state=drain reason=ALERT`, or `kubectl cordon NODE`."

NODE_ALERTS = (
    Alert(
        name="NodeLost",
        severity=Severity.CRITICAL,
        # A dead node has no `up` at all: its agent died with it. The job's other nodes still have the job, so this
        # is no node that was given back.
        expression=f"max by ({_NODE}, job_id) (last_over_time(job:node:info[15m])) "
        "unless on (cluster, instance) pipeline:exporter_up:bool and on (cluster, job_id) job:gpus:count",
        summary="Node {{ $labels.instance }} is silent, and job {{ $labels.job_id }} still runs elsewhere",
        means="Nothing has come from the node for two minutes, while other nodes work for the same job. The instance "
        "has died, or its network or its agent.",
        look=(
            "The instance's status checks in EC2.",
            "`scontrol show node`, or `kubectl describe node`.",
            "Whether others in the same zone are silent too.",
        ),
        act=(
            "End the job if it hangs, and start it again from its last checkpoint without the node.",
            "Restart the instance, or let the scheduler replace it.",
        ),
        basis="Two minutes are four scrapes.",
    ),
    Alert(
        name="NodesMissing",
        severity=Severity.WARNING,
        wait="15m",
        of_a_node=False,
        expression="group:nodes_expected:count - on (cluster, group) (group:nodes:count or "
        "group:nodes_expected:count * 0) > 0",
        summary="{{ $value }} nodes of group {{ $labels.group }} of {{ $labels.cluster }} are not there",
        means="Fewer nodes answer than the cluster file has. This is the inventory: a node that never came, or that "
        "died without a job, is seen here only.",
        look=(
            "The node group's status in PCS or EKS: no capacity?",
            "The nodes' boot: `/var/log/cloud-init-output.log`.",
        ),
        act=(
            "With a reservation: see that it is in the right zone and not used up.",
            "Replace nodes that do not boot.",
        ),
        basis="15 minutes: a large instance may take ten to boot.",
    ),
    Alert(
        name="NodeUnhealthy",
        severity=Severity.CRITICAL,
        wait="2m",
        expression="node:health:bool == 0",
        summary="Check {{ $labels.check }} fails on node {{ $labels.instance }}",
        means="A check of the node's boot or mounts fails. On Slurm the node drains itself.",
        look=("`cat /run/ultracluster/health/CHECK` on the node: it says why.", "`systemctl --failed`."),
        act=("Mend what it says, or restart the node.", "`scontrol show node` says whether it is drained."),
        basis="Two minutes are two runs of the check.",
    ),
    Alert(
        name="LustreOverTcp",
        severity=Severity.WARNING,
        wait="5m",
        expression="mount:over_efa:bool == 0",
        summary="{{ $labels.path }} runs over TCP on node {{ $labels.instance }}",
        means="The file system was to be reached over EFA and is not: reads and checkpoints of this node are slower "
        "than those of the others, and nothing else says so.",
        look=("`lnetctl net show --net efa`.", "`journalctl -u ultracluster-lustre-efa`."),
        act=("Let the job end, and restart the node: EFA is set up before the mount only.",),
        basis="It is 0 or 1.",
    ),
    Alert(
        name="MountSlow",
        severity=Severity.WARNING,
        wait="10m",
        expression="mount:check:seconds > 2",
        summary="{{ $labels.path }} takes {{ $value | humanizeDuration }} to answer on node {{ $labels.instance }}",
        means="The file system answers, but slowly.",
        look=("FSx's metrics: throughput, IOPS and CPU of the file servers.", "Which job writes."),
        act=("Find the job that makes it busy; see docs/lustre.md on more throughput.",),
        basis=_OURS,
    ),
    Alert(
        name="NodeDiskFull",
        severity=Severity.WARNING,
        wait="10m",
        expression="node:filesystem_free:ratio < 0.1",
        summary="{{ $labels.mountpoint }} of node {{ $labels.instance }} has {{ $value | humanizePercentage }} left",
        means="A local file system is nearly full. Full, it fails jobs, container pulls and logs.",
        look=("`du -xh --max-depth=2 MOUNTPOINT | sort -h | tail`.",),
        act=("Remove old containers and files of jobs.",),
        basis="HyperPod's published rule: 90 % (read 2026-11-21).",
    ),
    Alert(
        name="NodeMemoryLow",
        severity=Severity.WARNING,
        wait="5m",
        expression="node:memory_available:bytes / node:memory:bytes < 0.05",
        summary="Node {{ $labels.instance }} has {{ $value | humanizePercentage }} of its memory left",
        means="The kernel will soon kill a process, most likely a data loader or a rank.",
        look=("`ps aux --sort=-rss | head`.",),
        act=("Fewer data loader workers, or pinned memory, in the job.",),
        basis=_OURS,
    ),
    Alert(
        name="EfaDeviceMissing",
        severity=Severity.CRITICAL,
        wait="5m",
        expression="node:efa_devices_expected:count - on (cluster, instance) group_left () (node:efa_devices:count or "
        "node:efa_devices_expected:count * 0) > 0",
        summary="Node {{ $labels.instance }} lacks {{ $value }} EFA devices",
        means="Fewer EFA devices are there than the node was given. NCCL runs with fewer, and slows every collective.",
        look=("`ls /sys/class/infiniband`, `fi_info -p efa`.", "`dmesg | grep -i efa`."),
        act=(_DRAIN, "Restart the instance, then replace it."),
        basis="The catalogue and the layout know the number.",
    ),
    Alert(
        name="EfaReceiveDrops",
        severity=Severity.WARNING,
        wait="10m",
        expression="node:efa_rx_drops:per_second > 0",
        summary="EFA of node {{ $labels.instance }} drops {{ $value | humanize }} packets a second",
        means="Packets arrive and find no room. They are sent again; collectives are slower.",
        look=(
            "`efa:rx_drops:per_second` by device.",
            "Whether all nodes of the job have it: then the traffic is uneven.",
        ),
        act=("Nothing for a burst. One node alone, for long: drain and replace it.",),
        basis=_OURS,
    ),
    Alert(
        name="EfaRetransmits",
        severity=Severity.WARNING,
        wait="10m",
        expression="node:efa_retransmit:ratio > 0.01",
        summary="Node {{ $labels.instance }} sends {{ $value | humanizePercentage }} of its EFA packets again",
        means="The fabric between this node and others loses packets or is congested.",
        look=("`efa:retransmits:per_second` by device: one of them, or all?", "Which nodes of the job share it."),
        act=("One device: drain and replace the node.", "All nodes: ask AWS, with the time and the instance ids."),
        basis=_OURS + " Below 1,000 packets a second it says nothing.",
    ),
    Alert(
        name="EfaPathTrouble",
        severity=Severity.WARNING,
        wait="5m",
        expression="node:efa_path_trouble:per_second > 0",
        summary="Node {{ $labels.instance }} finds remote ends that do not answer over EFA",
        means="Another node, or the way to it, does not answer. Often the first sign of a node that dies.",
        look=("NodeLost and XIDs of the other nodes of the job.", "The collective that hangs: `ncclras`."),
        act=("Find the node that the others complain of, and drain it.",),
        basis="What the counters mean: EFA's driver, 2.17.0 and newer (amzn-drivers' release notes, read 2026-11-20).",
    ),
)
