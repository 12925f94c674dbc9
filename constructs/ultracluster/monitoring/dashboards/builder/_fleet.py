"""Is the fleet well, and if not, where."""

from ultracluster.monitoring.dashboards.builder._common import (
    ANY_IS_BAD,
    ANY_IS_ODD,
    CLUSTER,
    HEAT,
    MOST,
    TO_JOB,
    TO_NODE,
    of,
)
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, Panel, Query, Row

_MISSING = (
    'sum(ultracluster_group_expected_nodes{cluster="$cluster"}) - '
    '(sum(group:ultracluster_node_up:sum{cluster="$cluster"}) or vector(0))'
)

FLEET = Dashboard(
    uid="ultracluster-fleet",
    title="Fleet",
    about="Is every GPU of the cluster there, well and busy? Where not, click the node.",
    variables=(CLUSTER,),
    rows=(
        Row(
            title="Now",
            panels=(
                Panel(kind="stat", title="GPUs", width=4, height=4, unit="none",
                      queries=(of("cluster:ultracluster_gpus:count"),),
                      why="GPUs that answer."),
                Panel(kind="stat", title="Nodes missing", width=4, height=4, steps=ANY_IS_BAD,
                      queries=(Query(expr=_MISSING),),
                      why="Nodes of the cluster file that do not answer: dead, not started, or their agent is gone."),
                Panel(kind="stat", title="Nodes with a problem", width=4, height=4, steps=ANY_IS_BAD,
                      queries=(of("ultracluster_node_problem", over="count(group by (instance) ({})) or vector(0)"),),
                      why="Nodes for which an alert stands; the table below says which."),
                Panel(kind="stat", title="GPUs in jobs", width=4, height=4, unit="percentunit",
                      queries=(of("cluster:ultracluster_gpus_in_jobs:ratio"),),
                      why="Share of the GPUs that a job has."),
                Panel(kind="stat", title="Tensor activity", width=4, height=4, unit="percentunit",
                      queries=(of("cluster:ultracluster_gpu_tensor_active_ratio:avg"),),
                      why="Share of cycles in which the tensor cores worked, mean over all GPUs: what you pay for."),
                Panel(kind="stat", title="GPU power", width=4, height=4, unit="watt",
                      queries=(of("cluster:ultracluster_gpu_power_watts:sum"),), why="What all GPUs draw."),
            ),
        ),
        Row(
            title="Health",
            panels=(
                Panel(kind="table", title="Problems", width=14, height=9, to=TO_NODE,
                      queries=(of("ultracluster_node_problem",
                                  over="max by (instance, problem, group, xid, path) ({})"),),
                      columns={"instance": "Node", "problem": "Problem", "group": "Node group", "xid": "XID",
                               "path": "Path"},
                      why="One line for each thing that is wrong with a node. The problem is the name of an alert, "
                      "which has a runbook. An empty table is a healthy fleet."),
                Panel(kind="table", title="Jobs", width=10, height=9, to=TO_JOB,
                      queries=(of("job:ultracluster_gpus:count", over="max by (job_id) ({})"),),
                      columns={"job_id": "Job", "Value": "GPUs"},
                      why="The jobs that have GPUs. Click one to see its nodes, its speed and its checkpoints."),
                Panel(kind="state-timeline", title="Problems over time", width=24, height=9, to=TO_NODE,
                      words={1: ("problem", "red")}, most=1, least=0,
                      queries=(of("ultracluster_node_problem", "{{instance}} {{problem}}",
                                  over="group by (instance, problem) ({})"),),
                      why="A row for each node and problem, red while it stands: which came first, and what followed."),
            ),
        ),
        Row(
            title="GPU health",
            panels=(
                Panel(kind="timeseries", title="XIDs by policy", width=8, least=0, to=TO_NODE,
                      steps=ANY_IS_ODD,
                      queries=tuple(
                          of(f"node_xid:ultracluster_gpu_xid_errors_{policy}:sum",
                             f"{policy} {{{{xid}}}} {{{{instance}}}}",
                             over="sum by (instance, xid) ({})")
                          for policy in ("fatal", "reset", "watch", "application")
                      ),
                      why="Error codes of the driver within five minutes. Fatal: the node goes. Reset: the GPU is "
                      "reset. Watch: look. Application: the program's fault."),
                Panel(kind="timeseries", title="Uncorrectable memory errors", width=8, least=0, to=TO_NODE,
                      steps=ANY_IS_BAD,
                      queries=(of("ultracluster_gpu_ecc_uncorrected_errors_total", "{{instance}} GPU {{gpu}}",
                                  over="topk(10, round(increase({}[15m])) > 0)"),
                               of("ultracluster_gpu_row_remap_failed", "{{instance}} GPU {{gpu}} remap failed",
                                  over="topk(10, {} > 0)")),
                      why="Double-bit errors of the last 15 minutes, and rows that could not be remapped: replace."),
                Panel(kind="timeseries", title="NVLink errors", width=8, least=0, to=TO_NODE, steps=ANY_IS_ODD,
                      queries=(of("ultracluster_gpu_nvlink_recoveries_total", "{{instance}} GPU {{gpu}} recovered",
                                  over="topk(10, round(increase({}[15m])) > 0)"),
                               of("ultracluster_gpu_nvlink_crc_errors_total", "{{instance}} GPU {{gpu}} CRC",
                                  over="topk(10, round(increase({}[15m])) > 0)"),
                               of("ultracluster_gpu_nvlink_recovery_failures_total", "{{instance}} GPU {{gpu}} failed",
                                  over="topk(10, round(increase({}[15m])) > 0)")),
                      why="Links that were set up again, or had wrong data, in the last 15 minutes."),
                Panel(kind="timeseries", title="Hottest GPUs", width=8, unit="celsius", steps=HEAT, to=TO_NODE,
                      queries=(of("ultracluster_gpu_temperature_celsius", "{{instance}} GPU {{gpu}}", over=MOST),),
                      why="The ten hottest. One far above the others has a cooling problem of its own."),
                Panel(kind="timeseries", title="Throttled by heat", width=8, unit="percentunit", to=TO_NODE,
                      queries=(of("ultracluster_gpu_thermal_throttle_seconds_total", "{{instance}} GPU {{gpu}}",
                                  over="topk(10, rate({}[10m]) > 0)"),),
                      why="Share of time slowed down because of heat. The slowest GPU of a job sets its pace."),
                Panel(kind="timeseries", title="GPU power by node", width=8, unit="watt", to=TO_NODE,
                      queries=(of("node:ultracluster_gpu_power_watts:sum", "{{instance}} (most)",
                                  over="{0} and topk(5, {0} @ end())"),
                               of("node:ultracluster_gpu_power_watts:sum", "{{instance}} (least)",
                                  over="{0} and bottomk(5, {0} @ end())")),
                      why="A node that draws far less than the others of its job does not work."),
            ),
        ),
    ),
)  # fmt: skip
