"""Alerts on schedulers, and on the metrics pipeline."""

from ultracluster.catalogue.monitoring import ACTIVE_SERIES
from ultracluster.monitoring.alerts._alert import (
    BY_NODE,
    JUDGEMENT,
    NUMBER,
    PER_SECOND,
    Alert,
    Severity,
    of_instance,
    seconds,
)
from ultracluster.monitoring.alerts._slurm import CONTROLLER_DOWN, SLURM_ALERTS
from ultracluster.planning.workload import quota_request

_SERIES = ACTIVE_SERIES * 2 // 5
CLUSTER_ALERTS = (
    *SLURM_ALERTS,
    Alert(
        name="KubernetesNodeNotReady",
        for_="5m",
        expr=of_instance("ultracluster_kube_node_not_ready"),
        summary="Node {{ $labels.instance }} is not ready for Kubernetes",
        description="The kubelet does not answer, or reports that it is not ready.",
        diagnosis=("`kubectl describe node NODE`.",),
        actions=(
            "Restart or replace the node.",
            "A gang does not restart while Kubernetes waits for a pod on a node that does not answer. Once the "
            "instance is stopped: `kubectl taint nodes NODE node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`.",
        ),
        rationale="The condition Ready; 5 minutes as Kubernetes evicts.",
    ),
    Alert(
        name="AcceleratorUnhealthy",
        severity=Severity.CRITICAL,
        for_="2m",
        expr=of_instance("ultracluster_kube_accelerator_unhealthy"),
        summary="EKS reports unhealthy accelerators on node {{ $labels.instance }}",
        description="EKS's node monitoring agent has seen an error of a GPU that needs a restart or a new node.",
        diagnosis=(
            "`kubectl describe node NODE`: the condition AcceleratedHardwareReady.",
            "GpuXidFatal, GpuXidReset.",
        ),
        actions=("With node auto repair, wait; else drain and replace.",),
        rationale="The agent's own list: https://github.com/aws/eks-node-monitoring-agent (v1.7.0, read 2026-11-20).",
    ),
    Alert(
        name="KueueWaiting",
        severity=Severity.INFO,
        for_="1h",
        expr="cluster_queue:kueue_pending_workloads:sum > 0 and on (cluster, cluster_queue) "
        "cluster_queue:kueue_admitted_active_workloads:sum == 0",
        summary="{{ $value }} workloads wait in queue {{ $labels.cluster_queue }}, and none runs",
        description="The queue admits nothing: quota, taints, or missing nodes.",
        diagnosis=(
            "`kubectl get workloads --all-namespaces`, and `kubectl describe workload NAME --namespace TEAM`: the "
            "condition has the reason.",
            "NodesMissing.",
        ),
        actions=("Raise the quota, or add the nodes.",),
    ),
    Alert(
        name="KueueNotReady",
        # Not `increase`: a counter that begins, as after the first eviction, has none.
        expr="cluster_queue:kueue_evicted_workloads:changes6h > 1",
        threshold=1,
        bounds=NUMBER,
        summary="Kueue evicts workloads of queue {{ $labels.cluster_queue }} again and again: their pods are not ready",
        description="Pods of admitted workloads were not ready within `kubernetes.ready-timeout`, twice within 6 hours "
        "after the first time. Kueue tries again, at most 15 minutes later.",
        diagnosis=(
            "`kubectl get events --all-namespaces --field-selector reason=EvictedDueToPodsReadyTimeout`.",
            "Elastic groups: `kubectl get nodeclaims` and `kubectl describe nodeclaims`, if EC2 has no capacity.",
            "A server: its log, if it ends or loads its model for longer.",
        ),
        actions=(
            "Without capacity, wait, or move the workload to another group.",
            "Raise `kubernetes.ready-timeout` for a model that takes longer, or delete the workload that cannot start.",
            "To try an inactive workload again: `kubectl patch workload NAME --namespace TEAM --type merge "
            """--patch '{"spec": {"active": true}}'`.""",
        ),
        rationale="A single eviction is a node that was replaced. " + JUDGEMENT,
    ),
    Alert(
        name="ExporterDown",
        for_="5m",
        # The pages of Slurm's controller are no exporters of the login node that scrapes them.
        expr='ultracluster_exporter_up{job!~"slurm-.+"} == 0',
        summary="The exporter {{ $labels.job }} of node {{ $labels.instance }} does not answer",
        description="The node's agent works, and one of its targets does not. For dcgm this is often a GPU that has "
        "fallen off the bus and hangs the host engine.",
        diagnosis=("`systemctl status ultracluster-metrics-*`, or the pod's containers.", "GpuMissing, GpuXidFatal."),
        actions=("Restart the exporter; when it hangs again, drain the node.",),
        rationale="5 minutes: a restart takes less.",
    ),
    Alert(
        name="SourceSilent",
        for_="10m",
        # `up`, not their metrics: a cluster whose last queue is deleted has an empty page of Kueue.
        expr="max_over_time(ultracluster_source_up[1d]) == 1 unless on (cluster, job) (ultracluster_source_up == 1 or "
        f"{CONTROLLER_DOWN}) and on (cluster) cluster:ultracluster_node_up:sum > 0",
        summary="{{ $labels.job }} of {{ $labels.cluster }} no longer answers",
        description="It has answered within a day and no longer does, while nodes send. Alerts on it cannot fire: for "
        "slurm-nodes SlurmNodesDown and SlurmNodesDrained, for kube-state-metrics KubernetesNodeNotReady and "
        "AcceleratorUnhealthy, for kueue KueueWaiting and KueueNotReady.",
        diagnosis=(
            "slurm-nodes: no login node sends any more; `systemctl status ultracluster-metrics-agent` on them.",
            "kube-state-metrics and kueue at once: `kubectl -n ultracluster-metrics describe pod -l "
            "app.kubernetes.io/name=cluster-metrics`, the agent that scrapes both.",
            "kueue alone: `kubectl -n kueue-system get pods`.",
        ),
        actions=(
            "Restart the login nodes' agents, the pod, or the controller.",
            "If it was removed for good, silence the alert: it clears a day after the last answer.",
        ),
        rationale="10 minutes: a controller that is updated and a pod that moves take less. " + JUDGEMENT,
    ),
    Alert(
        name="TextfileStale",
        for_="5m",
        # A file that never came, or that node_exporter cannot parse, has no time. Each file of node-metrics has the
        # number of expected GPUs, on nodes without GPUs 0.
        expr="ultracluster_textfile_age_seconds > 300 or on (cluster, instance) (ultracluster_textfile_error == 1) * 0 "
        f"or on (cluster, instance) min by ({BY_NODE}) "
        '(ultracluster_exporter_up{job="node"} == 1) * 0 unless on (cluster, instance) ultracluster_node_expected_gpus',
        threshold=300,
        bounds=seconds(60, 86400, "the files are written each minute"),
        summary="Health, EFA or mounts of node {{ $labels.instance }} are "
        "{{ if eq $value 0.0 }}missing or unreadable{{ else }}{{ $value | humanizeDuration }} old{{ end }}",
        description="A script that writes metrics of the node no longer runs, or has never run: node-metrics (EFA's "
        "counters, expected devices, health), mount-check, or drain-on-failure (the breaker). What it wrote last may "
        "still look well, and a breaker that was open stays open. Or node_exporter cannot parse what one of them has "
        "written: the alerts on it cannot fire.",
        diagnosis=(
            "Which file is old or missing: `ls -l /var/lib/node_exporter/textfile_collector`.",
            "node_exporter logs a file that it cannot parse.",
            "ultracluster_node.prom: `systemctl status ultracluster-metrics-textfiles.timer`; on Kubernetes the "
            "container textfiles.",
            "The others: `systemctl status ultracluster-mount-check.timer`.",
        ),
        actions=("Start the timer; when its script hangs, drain the node.",),
        rationale="They run each minute or more often, and one that has nothing new still renews the time of its "
        "file. Files from before the boot are deleted.",
    ),
    Alert(
        name="MetricsBehind",
        for_="5m",
        expr="ultracluster_remote_write_lag_seconds > 120",
        threshold=120,
        bounds=seconds(30, 3600, "AMP refuses samples that are older than an hour"),
        summary="Node {{ $labels.instance }} is {{ $value | humanizeDuration }} behind in sending metrics",
        description="The agent cannot send as fast as it collects. AMP refuses what is older than an hour.",
        diagnosis=(
            "The agent's log: 429 is a quota of AMP, whose samples are lost, and 403 its role.",
            "AMP's DiscardedSamples in CloudWatch.",
        ),
        actions=("Raise the quota, or use a smaller profile.",),
        rationale="Two minutes are four scrapes.",
    ),
    Alert(
        name="MetricsLost",
        for_="10m",
        expr="node:ultracluster_remote_write_samples_lost:sum_rate5m > 1",
        threshold=1,
        bounds=PER_SECOND,
        summary="Node {{ $labels.instance }} loses {{ $value | humanize }} samples a second",
        description="AMP refuses samples of this node for good.",
        diagnosis=("As for MetricsBehind.",),
        actions=("As for MetricsBehind.",),
        rationale="None is normal.",
    ),
    Alert(
        name="SeriesNearQuota",
        for_="15m",
        expr=f"sum by (cluster) (scrape_job:scrape_samples_post_metric_relabeling:sum) > {_SERIES}",
        threshold=_SERIES,
        bounds=NUMBER,
        summary="{{ $labels.cluster }} sends {{ $value | humanize }} series",
        description="With those that rules record, the series are near the limit of the cluster, or the quota of the "
        "workspace. Beyond it, samples of new series are discarded.",
        diagnosis=(
            "`topk(10, scrape_job:scrape_samples_post_metric_relabeling:sum)`.",
            "Labels without bound: job names, file names, users.",
        ),
        actions=(
            "Take a smaller profile, raise `series-limit`, or request a higher quota before you grow: "
            f"`{quota_request('L-5A151448', 2 * ACTIVE_SERIES)}`.",
        ),
        rationale=f"Two fifths of the {ACTIVE_SERIES:,} series that a workspace takes by default: rules record up to "
        "as many again. The rules of a cluster file have four fifths of `series-limit`, by what its nodes send and "
        "record. https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-26).",
    ),
    Alert(
        name="NoNodes",
        severity=Severity.CRITICAL,
        for_="10m",
        expr="sum by (cluster) (ultracluster_group_expected_nodes) > 0 unless on (cluster) "
        "cluster:ultracluster_node_up:sum",
        summary="Nothing comes from any node of {{ $labels.cluster }}",
        description="Not one node sends. Either all are gone, or none may write to the workspace.",
        diagnosis=(
            "The role of the nodes: aps:RemoteWrite.",
            "The route to AMP: VPC endpoint, or the internet.",
            "The workspace: if the Observability stack was created again, Slurm nodes send to the new one within 15 "
            "minutes.",
        ),
        actions=(
            "Fix the role or the route; see a node's agent: `sudo journalctl -u ultracluster-metrics-agent`.",
            "If it sends to a workspace that is gone: `sudo systemctl restart ultracluster-metrics-agent`.",
        ),
        rationale="10 minutes, for the creation of a cluster.",
    ),
    Alert(
        name="Watchdog",
        severity=Severity.INFO,
        expr="vector(1)",
        summary="Alerts work",
        description="It always fires. When it stops, rules, Alertmanager or its receiver are broken, and no alert is "
        "sent. An alarm of CloudWatch, `WatchdogAlarm`, notifies of that after 15 minutes, unless the file names a "
        "topic in `alerts.watchdog`. It may do so once just after its creation.",
        diagnosis=(
            "AMP's RuleEvaluationFailures and AlertManagerNotificationsFailed in CloudWatch.",
            "The status of `aws amp describe-alert-manager-definition --workspace-id ID`, and of "
            "`aws amp list-rule-groups-namespaces --workspace-id ID`.",
        ),
        actions=(
            "Nothing while it comes.",
            "If somebody changed rules or the definition, deploy them again. If not, contact AWS with the workspace.",
        ),
        rationale="A convention of kube-prometheus.",
    ),
)
