"""Logs of nodes and jobs, from CloudWatch Logs."""

from dataclasses import dataclass

from ultracluster.monitoring.dashboards._spec import Dashboard, LogsQuery, Variable, log, table

UID = "ultracluster-logs"
_ANY = ".*"
# Words that logs of nodes and of training programs have where something failed.
_FAILURE = r"(?i)(error|fail|fatal|xid|nccl warn|traceback|out of memory|killed)"


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFields:
    """Fields of a log group that the dashboard filters by, in CloudWatch Logs Insights.

    Args:
        node: Field, or several words of a query, with the node.
        job: The same with the job.
        of_job: Condition for the lines of `${job:raw}`, a regular expression.
        cluster: The same with the cluster: jobs of another one have the same numbers. Default: the log group is of one.
        source: Field with the program or container.
        message: Field with the line.
        node_title: What identifies a node.
    """

    node: str
    job: str
    of_job: str
    source: str
    message: str
    node_title: str
    cluster: str = ""


#: Of `boot.node_logs`. The stream is the instance, as `instance` in metrics.
SLURM_FIELDS = LogFields(
    node="@logStream",
    job='coalesce(job, "none")',
    of_job="job_id like /^(${job:raw})$/",
    source="source",
    message="message",
    node_title="Instance",
    cluster='coalesce(cluster, "none")',
)
#: Of the add-on amazon-cloudwatch-observability:
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-logs-FluentBit.html (read
#: 2026-11-24); `job` with `kubernetes: {logs: true}`. Names of pods begin with the name of their job.
KUBERNETES_FIELDS = LogFields(
    node="kubernetes.host",
    job="coalesce(job, kubernetes.pod_name)",
    of_job="((ispresent(job) and job_id like /^(${job:raw})$/) or "
    "(not ispresent(job) and job_id like /^(${job:raw}).*$/))",
    source="kubernetes.container_name",
    message="log",
    node_title="Node",
)


def logs_dashboard(log_groups: str, fields: LogFields) -> Dashboard:
    """Return the dashboard of the logs."""
    chosen = (
        f"fields @timestamp, {fields.node} as node_id, {fields.job} as job_id, {fields.source} as program, "
        f"{fields.message} as line{f', {fields.cluster} as of_cluster' if fields.cluster else ''}\n"
        f"| filter node_id like /^(${{node:raw}})$/ and {fields.of_job}"
        + (" and of_cluster like /^(${cluster:raw}|none)$/" if fields.cluster else "")
    )
    return Dashboard(
        uid=UID,
        title="Logs",
        about="What did the nodes and the jobs print? Every reading is billed by the size of what it searches.",
        variables=(
            Variable(name="log_group", title="Log group", log_groups=log_groups),
            *([Variable(name="cluster", title="Cluster", text=_ANY)] if fields.cluster else []),
            Variable(name="node", title=fields.node_title, text=_ANY),
            Variable(name="job", title="Job", text=_ANY),
            Variable(name="search", title="Regular expression", text=_ANY),
        ),
        source="cloudwatch",
        rows={
            "Failures": (
                table("Where failures are reported", "Lines with words such as error, fatal, XID or Traceback.",
                      (LogsQuery(f"{chosen} and line like /{_FAILURE}/\n"
                                 "| stats count(*) as lines by node_id, job_id, program\n"
                                 "| sort lines desc | limit 20"),),
                      width=24, height=6,
                      columns={"node_id": fields.node_title, "job_id": "Job", "program": "Program", "lines": "Lines"}),
            ),
            "Lines": (
                log("Log", "The newest 1,000 lines. A shorter time, a job or an expression shows others.",
                    (LogsQuery(f"{chosen} and line like /${{search:raw}}/\n| sort @timestamp desc | limit 1000\n"
                               "| display @timestamp, line, node_id, job_id, program"),),
                    width=24, height=20),
            ),
        },
    )  # fmt: skip
