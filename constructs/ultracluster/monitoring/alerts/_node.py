"""Alerts on nodes: availability, health, EFA."""

from ultracluster.monitoring.alerts._alert import (
    DRAIN,
    FORGET,
    JUDGEMENT,
    NUMBER,
    PER_SECOND,
    REBOOT,
    RESET,
    SHARE,
    UNTIL,
    Alert,
    Bounds,
    Severity,
    of_instance,
    seconds,
)
from ultracluster.monitoring.alerts._slurm import NOT_OF_SQUEUE
from ultracluster.monitoring.names import PROBLEM_DAY

_OUTAGE = "max_over_time(ultracluster_node_mount_outage[15m])"
_SEEN = "node_job:ultracluster_job_seen_timestamp_seconds:max"

NODE_ALERTS = (
    Alert(
        name="NodeLost",
        severity=Severity.CRITICAL,
        # A lost node has no `up` at all, nor has its agent. It was seen in this run of the job, whose other nodes
        # still have the job and do not compute without it.
        expr=f"{_SEEN} > on (cluster, job_id) group_left () ultracluster_job_start_timestamp_seconds "
        "unless on (cluster, instance) ultracluster_exporter_up and on (cluster, job_id) job:ultracluster_gpus:count "
        "unless on (cluster, job_id) job:ultracluster_gpus_computing:ratio > 0.5 "
        # The job has computed without it for half an hour: others evaluate or accumulate for a while, and then wait.
        f"unless ({_SEEN} < on (cluster, job_id) group_left () (ultracluster_job_computed_timestamp_seconds - 1800)) "
        # It was given back: it answered without the job before it was gone.
        f"unless ({_SEEN} < on (cluster, instance) group_left () node:ultracluster_well_timestamp_seconds:max) "
        # The job has as many nodes as ever, so another has taken its place.
        "unless on (cluster, job_id) job:ultracluster_node_up:count >= "
        "max_over_time(job:ultracluster_node_up:count[1d])",
        for_="4m",
        summary="Node {{ $labels.instance }} is silent, and job {{ $labels.job_id }} waits for it",
        description="Nothing has come from the node for six minutes, while other nodes have the same job and do not "
        "compute. The instance has failed, or its network. A node whose samples are late does not stop the others. One "
        "that answered without the job before it was gone was given back, as by a group that shrinks. "
        "`NodesMissing` reports both.",
        diagnosis=(
            "The instance's status checks in EC2.",
            "`scontrol show node`, or `kubectl describe node`.",
            "Whether others in the same zone are silent too.",
        ),
        actions=(
            "End the job if it hangs, and start it again from its last checkpoint without the node.",
            "Restart the instance, or let the scheduler replace it.",
        ),
        rationale="Six minutes: an agent that restarts is back by then. It stays for a day, or until the node is "
        "back or the job computes without it, has another one, or ends.",
    ),
    Alert(
        name="NodeFlapping",
        for_="5m",
        # The time since the boot: that of the boot moves by a second with the clock. Three restarts have no threshold.
        expr="node:ultracluster_health_changes:max > 6 or resets((time() - "
        "ultracluster_node_boot_timestamp_seconds)[6h:5m]) >= 3",
        threshold=6,
        bounds=NUMBER,
        summary="Node {{ $labels.instance }} failed, recovered or restarted {{ $value }} times in six hours",
        description="The checks of the node fail and recover more than six times in six hours, or it restarts three "
        "times. Each time it costs a job. Its mounts do not count: they fail with their file system.",
        diagnosis=("`sudo journalctl -u 'ultracluster-*'` on the node.", "The history of `ultracluster_node_problem`."),
        actions=("Drain it with a reason of your own, which no check lifts.", "Replace it."),
    ),
    Alert(
        name="NodeLemon",
        # The step of a subquery is at midnight UTC, and sees what began on the day before: each day counts once.
        expr=f"sum_over_time(({PROBLEM_DAY} * 0 + 1)[14d:1d]) > 2 and on (cluster, instance) ultracluster_node_up",
        threshold=2,
        bounds=Bounds(0, 14, " days", "the rule looks at 14 days"),
        summary="Node {{ $labels.instance }} had a new fault on {{ $value }} of 14 days",
        description="On more than two days of the last 14 a critical alert on the hardware of the node began, and "
        "ended: an XID, an ECC error, a missing device, a failed check, or silence. Such nodes end many jobs. Mounts "
        "and local file systems do not count.",
        diagnosis=("`ultracluster_node_problem` of the node over 14 days: always the same part?",),
        actions=("Drain it when its job ends, and replace the instance: resets and restarts have not cured it.",),
        rationale="Meta finds lemon nodes by their history too (arXiv 2410.21680). Three days of 14: judgement.",
    ),
    Alert(
        name="NodesMissing",
        for_="15m",
        # Counted, not summed: a node whose node_exporter does not answer is there, and ExporterDown names it.
        expr="ultracluster_group_expected_nodes - on (cluster, group) (count by (cluster, group) "
        "(ultracluster_node_up) or ultracluster_group_expected_nodes * 0) > 0",
        threshold=0,
        bounds=NUMBER,
        summary="{{ $value }} nodes of group {{ $labels.group }} of {{ $labels.cluster }} are not there",
        description="Fewer nodes answer than the cluster file has. This is the inventory: a node that never came, or "
        "that failed without a job, is seen here only. Before `starts` of a capacity and after `ends` no nodes are "
        "expected: if you extend it, change the file and deploy, or missing nodes are not reported.",
        diagnosis=(
            "The node group's status in PCS or EKS: no capacity?",
            "PCS: the scaling log has the reason of each failed launch; see docs/operations/node-health.md.",
            "EKS: docs/operations/node-health.md#an-eks-node-that-does-not-come-up.",
            "The nodes' boot: `/var/log/cloud-init-output.log`.",
        ),
        actions=(
            "With a reservation: see that it is in the right zone and not used up.",
            "Replace nodes that do not boot.",
        ),
        rationale="15 minutes: a large instance may take ten to boot. Nodes of a capacity that starts are expected a "
        "quarter of an hour after it.",
    ),
    Alert(
        name="NodeUnhealthy",
        severity=Severity.CRITICAL,
        for_="3m",
        # Also if beside a file system that nobody reaches another one fails here alone.
        expr='ultracluster_node_health_ok{check!="mounts"} == 0 or ultracluster_node_health_ok{check="mounts"} == 0 '
        f"unless on (cluster, instance) ({_OUTAGE} unless on (cluster, instance) (time() - "
        "ultracluster_node_mount_last_success_timestamp_seconds > 150 unless on (cluster, instance, path) "
        f"{_OUTAGE}))",
        summary="Check {{ $labels.check }} fails on node {{ $labels.instance }}",
        description="A check of the node's boot, devices or mounts fails. On Slurm the node drains itself. A mount "
        "that fails on most of the nodes that have it is FileSystemUnavailable.",
        diagnosis=("`cat /run/ultracluster/health/CHECK` on the node: it has the reason.", "`systemctl --failed`."),
        actions=("Fix the reason, or restart the node.", "`scontrol show node` shows whether it is drained."),
        rationale="Three minutes are three runs of the check.",
    ),
    Alert(
        name="HealthBreakerOpen",
        severity=Severity.CRITICAL,
        for_="2m",
        expr=f"ultracluster_node_health_breaker_open == 1 unless on (cluster, instance) {_OUTAGE} or "
        f"{of_instance('ultracluster_kube_node_breaker_open')}",
        summary="Node {{ $labels.instance }} fails a check without a {{ $labels.action }}",
        description="A health check failed on more than 2 nodes, or 5 %, of a node group within an hour (Kubernetes: "
        "at once), 2 nodes, or 10 %, are drained by checks, or the mode is observe. The node stays in service, and "
        "jobs start on it. A file system that fails on most nodes is FileSystemUnavailable.",
        diagnosis=(
            "`cat /run/ultracluster/health/*` on the nodes: the same reason on all of them points to the check, to a "
            "file system or to the network. `ended with code N and without a result`: the check was killed, or is "
            "broken.",
            "`scontrol show node`: the reasons of the drained nodes, and the times of drains in their comments.",
            "Kubernetes: `kubectl describe nodes`: the annotations `ultracluster/gate`, `dcgm` and `nccl`.",
        ),
        actions=(
            "If the check is wrong: `aws ssm put-parameter --name /ultracluster/NAME/health-mode --value observe "
            "--overwrite`. Once the check is right, drained nodes resume within 20 minutes, but not those that flap.",
            "Kubernetes: `kubectl --namespace node-health create configmap health-mode --from-literal mode=observe "
            "--dry-run=client -o yaml | kubectl apply -f -`.",
            "If the fault is real: drain with `sudo -i scontrol` or `kubectl cordon`; each repaired node makes room.",
            "Kubernetes: the alert ends when the check passes, or with `kubectl annotate node NODE "
            "ultracluster/breaker-CHECK-`.",
        ),
        rationale="Nodes that are known to be bad take jobs.",
    ),
    Alert(
        name="SoftwareMissing",
        for_="5m",
        expr=f"ultracluster_node_software_ok == 0 {NOT_OF_SQUEUE}",
        summary="{{ $labels.item }} could not be installed or updated, or is too old, on node {{ $labels.instance }}",
        description="AWS's image lacks it, and its installation at the boot of the node failed. Without enroot, pyxis "
        "or containers, jobs with an image avoid the node; without an exporter its metrics are missing. node-scripts: "
        "the node keeps old checks. users: one has a name or uid of the image. Without squeue JobLost cannot fire. "
        "driver, efa-installer, libfabric, aws-ofi-nccl, gdrcopy are too old; driver-below: too new.",
        diagnosis=(
            "`cat /run/ultracluster/software/ITEM` on the node: it has the reason.",
            "`/var/log/amazon/pcs/lifecycle/actions/nodeBootstrapped/ultracluster-software.log`: the whole log; of "
            "node-scripts: `sudo journalctl -u ultracluster-node-scripts`.",
        ),
        actions=(
            "`ultracluster image bundle FILE` fills the cluster's bucket; then restart the node.",
            "If the publisher's file has another checksum, take an image that has the software.",
            "node-scripts: correct the parameter or the role, and `sudo systemctl start ultracluster-node-scripts`.",
            "For squeue: sackd or slurmd must run there, and the controller answer. For what is older: a newer image.",
        ),
        rationale="It is 0 or 1.",
    ),
    Alert(
        name="ClockSkew",
        for_="10m",
        expr="abs(ultracluster_node_clock_offset_seconds) > 0.05 or ultracluster_node_clock_synchronised == 0",
        threshold=0.05,
        bounds=seconds(0.001, 60, "beyond a minute every step of Slurm fails"),
        summary="The clock of node {{ $labels.instance }} is wrong or not synchronised",
        description="The clock is 50 ms off, or nothing disciplines it. Slurm's credentials, TLS and logs of several "
        "nodes need equal clocks.",
        diagnosis=("`chronyc tracking` and `chronyc sources` on the node.",),
        actions=("`sudo systemctl restart chronyd`, or `chrony` on Ubuntu.", "Replace the node if it comes back."),
        rationale="Amazon Time Sync keeps clocks within a millisecond; 50 ms: judgement.",
    ),
    Alert(
        name="FabricManagerDown",
        severity=Severity.CRITICAL,
        for_="5m",
        expr="ultracluster_node_fabric_manager_up == 0 or changes(ultracluster_node_fabric_manager_up[30m]) > 4",
        threshold=4,
        bounds=NUMBER,
        summary="The fabric manager of node {{ $labels.instance }} does not run, or restarts again and again",
        description="Without it the GPUs of an NVSwitch system cannot be used together: CUDA programs fail at their "
        "start with error 802.",
        diagnosis=("`sudo journalctl -u nvidia-fabricmanager` on the node.", "Its version must be the driver's."),
        actions=(DRAIN, "`sudo systemctl restart nvidia-fabricmanager`, then `nvidia-smi -q | grep -A2 Fabric`."),
        rationale="It is 0 or 1. A reset of the GPUs stops it for minutes; more than two restarts in half an hour "
        "are none.",
    ),
    Alert(
        name="NvswitchFatal",
        severity=Severity.CRITICAL,
        for_="1m",
        expr="ultracluster_node_nvswitch_fatal_timestamp_seconds > 0",
        summary="An NVSwitch of node {{ $labels.instance }} has a fatal error",
        description="A switch between the GPUs has reported an SXid that only a reset of the GPUs clears. Programs on "
        "them are ended.",
        diagnosis=("`sudo journalctl -k --grep SXid` on the node: switch, link and code.", "GpuXidReset of the node."),
        actions=(DRAIN, REBOOT, f"{RESET} Without `-i INDEX`: all GPUs. {FORGET}", "Replace it if it comes back."),
        rationale="SXids are fatal or not: NVIDIA's Fabric Manager User Guide (read 2026-11-22). " + UNTIL,
    ),
    Alert(
        name="NodeMemoryLow",
        for_="5m",
        expr="ultracluster_node_memory_available_bytes / ultracluster_node_memory_bytes < 0.05",
        threshold=0.05,
        bounds=SHARE,
        summary="Node {{ $labels.instance }} has {{ $value | humanizePercentage }} of its memory left",
        description="The kernel will soon kill a process, most likely a data loader or a rank.",
        diagnosis=("`ps aux --sort=-rss | head`.",),
        actions=("Fewer data loader workers, or pinned memory, in the job.",),
    ),
    Alert(
        name="EfaDeviceMissing",
        severity=Severity.CRITICAL,
        for_="5m",
        expr="ultracluster_node_expected_efa_devices - on (cluster, instance) group_left () "
        "(node:ultracluster_efa_devices:count or ultracluster_node_expected_efa_devices * 0) > 0",
        summary="Node {{ $labels.instance }} lacks {{ $value }} EFA devices",
        description="The node has fewer EFA devices than it was given, which slows every collective of NCCL.",
        diagnosis=("`ls /sys/class/infiniband`; of Slurm, also `fi_info -p efa`.", "`sudo journalctl -k --grep efa`."),
        actions=(DRAIN, "Restart the instance, then replace it."),
        rationale="The number follows from catalogue and layout.",
    ),
    Alert(
        name="EfaDeviceSlow",
        for_="15m",
        expr="node:node_amazonefa_bytes:ratio_rate5m < 0.5",
        threshold=0.5,
        bounds=SHARE,
        summary="An EFA device of node {{ $labels.instance }} carries {{ $value | humanizePercentage }} of what the "
        "others carry",
        description="NCCL spreads traffic evenly over the devices of a node. One that sends or receives less than "
        "half of what most of them do is slow, or its GPU is.",
        diagnosis=("`node_device:node_amazonefa_tx_bytes:rate5m` by device.", "`sudo journalctl -k --grep efa`."),
        actions=("Run the NCCL test on the node when the job ends; replace it when the device stays behind.",),
    ),
    Alert(
        name="EfaReceiveDrops",
        for_="10m",
        expr="node:node_amazonefa_rx_drops:sum_rate5m > 10",
        threshold=10,
        bounds=PER_SECOND,
        summary="EFA of node {{ $labels.instance }} drops {{ $value | humanize }} packets a second",
        description="Packets arrive and find no room. They are sent again; collectives are slower.",
        diagnosis=(
            "`node_device:node_amazonefa_rx_drops:rate5m` by device.",
            "Whether all nodes of the job have it: then the traffic is uneven.",
        ),
        actions=("Nothing for a burst. One node alone, for long: drain and replace it.",),
    ),
    Alert(
        name="EfaRetransmits",
        for_="10m",
        expr="node:node_amazonefa_retrans_pkts:ratio_rate5m > 0.01",
        threshold=0.01,
        bounds=SHARE,
        summary="Node {{ $labels.instance }} sends {{ $value | humanizePercentage }} of its EFA packets again",
        description="The fabric between this node and others loses packets or is congested.",
        diagnosis=(
            "`node_device:node_amazonefa_retrans_pkts:rate5m` by device: one of them, or all?",
            "Which nodes of the job share it.",
        ),
        actions=(
            "One device: drain and replace the node.",
            "All nodes: contact AWS, with the time and the instance ids.",
        ),
        rationale=JUDGEMENT + " Below 1,000 packets a second there is no value.",
    ),
    Alert(
        name="EfaPathTrouble",
        for_="5m",
        expr="node:node_amazonefa_remote_events:sum_rate5m > 0.01",
        threshold=0.01,
        bounds=PER_SECOND,
        summary="Node {{ $labels.instance }} has EFA peers that do not answer",
        description="Another node, or the path to it, does not answer. Often the first sign of a failing node.",
        diagnosis=("NodeLost and XIDs of the other nodes of the job.", "The collective that hangs: `ncclras`."),
        actions=("Find the node that the others cannot reach, and drain it.",),
        rationale="More than three events in five minutes: one is a peer that was restarted. What the counters mean: "
        "EFA's driver, 2.17.0 and newer (amzn-drivers' release notes, read 2026-11-20).",
    ),
)
