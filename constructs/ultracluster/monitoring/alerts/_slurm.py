"""Alerts on Slurm's controller, its accounting, and its nodes."""

from ultracluster.monitoring.alerts._alert import JUDGEMENT, NUMBER, Alert, Severity

#: Login nodes send, and the controller answers none of them.
CONTROLLER_DOWN = 'ultracluster_source_up{job="slurm-nodes"} == 0'
#: Then squeue does not answer either.
NOT_OF_SQUEUE = f'unless on (cluster, item) label_replace({CONTROLLER_DOWN}, "item", "squeue", "", "")'
# Nodes of groups whose capacity has ended, and of those that are drained before it does, or 0.
_ENDED = (
    "sum by (cluster) (ultracluster_group_ending_nodes and ultracluster_group_capacity_end_timestamp_seconds < time())"
)
_ENDING = "sum by (cluster) (ultracluster_group_ending_nodes)"


def _nodes_beyond(states: str, planned: str) -> str:
    """Return Slurm's nodes in states, without those that the end of their capacity puts there."""
    nodes = f'ultracluster_slurm_nodes{{state=~"{states}"}}'
    return f"{nodes} - on (cluster) group_left () ({planned} or sum by (cluster) ({nodes}) * 0)"


SLURM_ALERTS = (
    Alert(
        name="SlurmControllerDown",
        severity=Severity.CRITICAL,
        for_="10m",
        expr=f"{CONTROLLER_DOWN} and on (cluster, job) max_over_time(ultracluster_source_up[1d]) == 1",
        summary="Slurm's controller of {{ $labels.cluster }} does not answer",
        description="The login nodes work, and the controller has not answered any of them for ten minutes. Jobs run "
        "on; none starts, ends or is queued again. SlurmNodesDown and SlurmNodesDrained cannot fire.",
        diagnosis=(
            "`sinfo` on a login node. If it answers, the address is wrong: `cat /run/ultracluster/metrics/slurm.json`, "
            "`systemctl status ultracluster-metrics-slurm-target.timer`, and `curl` of it with `/metrics/nodes`.",
            "`aws pcs get-cluster --cluster-identifier CLUSTER`: its status, and whether somebody updates it.",
            "The log of the controller: docs/operations/node-health.md#logs.",
        ),
        actions=(
            "If an update is under way, wait for its end.",
            "HyperPod: `sudo systemctl restart slurmctld` on the controller. AWS PCS: contact AWS with its id.",
            "If it was removed for good, silence the alert: it clears a day after the last answer.",
        ),
        rationale="10 minutes: a controller that is restarted for an update of settings is back by then. " + JUDGEMENT,
    ),
    Alert(
        name="SlurmAccountingBehind",
        for_="10m",
        expr="min_over_time(ultracluster_slurm_accounting_queue[30m]) > 0",
        threshold=0,
        bounds=NUMBER,
        summary="{{ $value }} records of {{ $labels.cluster }} wait for Slurm's accounting",
        description="slurmdbd has not taken all records of the controller for half an hour. Jobs run and start, but "
        "`sacct` lacks them, and new accounts and limits have no effect. Above `MaxDBDMsgs` records are lost.",
        diagnosis=(
            "`sacctmgr show cluster` and `sdiag` on a login node: `DBD Agent queue size`.",
            "The log of slurmdbd: docs/operations/node-health.md#logs.",
        ),
        actions=(
            "With a database of your own, see that it runs, has space, and admits the controller.",
            "AWS PCS: contact AWS with the cluster's id.",
        ),
        rationale="The queue of a controller whose slurmdbd answers is empty again within seconds. " + JUDGEMENT,
    ),
    Alert(
        name="SlurmJobsBlocked",
        for_="30m",
        expr="ultracluster_slurm_blocked_jobs > 0",
        threshold=0,
        bounds=NUMBER,
        summary="{{ $value }} jobs of {{ $labels.cluster }} wait beside idle nodes: {{ $labels.reason }}",
        description="Enough nodes of the queue are idle, and Slurm does not start the job by itself: it held the job "
        "after failed starts, the job that it depends on failed, or the account, the QOS or the queue does not allow "
        "it. Jobs that wait for a time, for resources or for the limit of a team do not count, nor those that a person "
        "holds.",
        diagnosis=(
            "`squeue --states=PENDING --format='%i %u %P %D %r'` on a login node.",
            "`scontrol show job JOB`; after failed starts, `sinfo -R` and the log of slurmd on the nodes.",
        ),
        actions=(
            "JobHoldMaxRequeue, LaunchFailedRequeuedHeld: mend the cause, and `sudo -i scontrol release JOB`.",
            "Others: notify the job's owner, or raise the limit of the queue, the account or the QOS.",
        ),
        rationale="https://slurm.schedmd.com/job_reason_codes.html (read 2026-11-28). 30 minutes: judgement.",
    ),
    Alert(
        name="SlurmNodesDown",
        for_="10m",
        # Not `noresp`: nodes that power up have that flag, and a node that was lost has it in addition to its state.
        # https://github.com/SchedMD/slurm, src/slurmctld/power_save.c (read 2026-11-27)
        expr=f"sum by (cluster) (clamp_min({_nodes_beyond('down|fail', _ENDED)}, 0)) > 0",
        threshold=0,
        bounds=NUMBER,
        summary="Nodes of {{ $labels.cluster }} that are down for Slurm: {{ $value }}",
        description="Slurm gives these nodes no jobs. Those of a Capacity Block that has ended do not count.",
        diagnosis=("`sinfo -R`: why each is down.",),
        actions=("Repair the node and `sudo -i scontrol update nodename=NODE state=resume`.",),
        rationale="SckyzO/slurm_exporter's alerts (commit ff418af of 2026-08-04, read 2026-11-20).",
    ),
    Alert(
        name="SlurmNodesDrained",
        for_="30m",
        expr=f"{_nodes_beyond('drain', _ENDING)} > 0",
        threshold=0,
        bounds=NUMBER,
        summary="Drained nodes of {{ $labels.cluster }}: {{ $value }}",
        description="An operator or a health check has drained nodes. They cost the same. A node counts once its jobs "
        "have ended. Those of a Capacity Block do not count from the drain before its end on.",
        diagnosis=("`sinfo -R`: who, when and why.",),
        actions=("Repair and resume them, or replace them.",),
    ),
)
