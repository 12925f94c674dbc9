"""Is the fleet well, and if not, where."""

from ultracluster.monitoring.dashboards._common import (
    ANY_IS_BAD,
    ANY_IS_ODD,
    CLUSTER,
    HEAT,
    MOST,
    NODES_MISSING,
    TO_JOB,
    TO_NODE,
    named,
    of,
)  # fmt: skip
from ultracluster.monitoring.dashboards._spec import Dashboard, Query, Variable, series, stat, table, timeline

_GROUP = Variable(
    name="group", title="Group of GPUs by node", metric="ultracluster_node_up", label="group", several=True
)
_ACTIVE = 'ultracluster_gpu_tensor_active_ratio{cluster="$cluster", group=~"$group"}'

FLEET = Dashboard(
    uid="ultracluster-fleet",
    title="Fleet",
    about="Is every GPU of the cluster there, well and busy? Where not, click the node.",
    variables=(CLUSTER, _GROUP),
    rows={
        "Now": (
            stat("GPUs", "GPUs that answer.", (of("cluster:ultracluster_gpus:count"),), width=4, unit="none"),
            stat("Nodes missing",
                 "Nodes of the cluster file that do not answer: lost, not started, or their agent is gone.",
                 (NODES_MISSING,), width=4, steps=ANY_IS_BAD),
            stat("Nodes with a problem", "Nodes with a problem of their own, whether its alert fires yet or not; see "
                 "the table below. XIDs of programs do not count.",
                 (of("ultracluster_node_problem", within='problem!="GpuXidApplication"',
                     over="count(group by (instance) ({})) or vector(0)"),), width=4, steps=ANY_IS_BAD),
            stat("GPUs in jobs", "Share of the GPUs that a job has.", (of("cluster:ultracluster_gpus_in_jobs:ratio"),),
                 width=4, unit="percentunit"),
            stat("Tensor activity",
                 "Share of cycles in which the tensor cores worked, mean over all GPUs: what you pay for.",
                 (of("cluster:ultracluster_gpu_tensor_active_ratio:avg"),), width=4, unit="percentunit"),
            stat("GPU power", "What all GPUs draw.", (of("cluster:ultracluster_gpu_power_watts:sum"),),
                 width=4, unit="watt"),
        ),
        "Health": (
            table("Problems", "One line for each thing that is wrong with a node. The problem is the name of an "
                  "alert, which has a runbook. XIDs of programs are listed, and not counted above. An empty table is "
                  "a healthy fleet.",
                  (of("ultracluster_node_problem",
                      over="max by (instance, node, problem, group, xid, path) ({})"),),
                  columns={"instance": "Node", "node": "Name", "problem": "Problem", "group": "Group", "xid": "XID",
                           "path": "Path"},
                  width=14, height=9, to=TO_NODE),
            table("Jobs", "The jobs that have GPUs. Click one to see its nodes, its speed and its checkpoints.",
                  (of("job:ultracluster_gpus:count", over="max by (job_id) ({})"),),
                  width=10, height=9, to=TO_JOB, columns={"job_id": "Job", "Value": "GPUs"}),
            timeline("Problems over time",
                     "A row for each node and problem, red while it lasts: which came first, and what followed.",
                     (of("ultracluster_node_problem", "{{node}} {{instance}} {{problem}}",
                         over="group by (instance, problem) ({})"),),
                     width=24, height=9, to=TO_NODE, words={1: ("problem", "red")}, most=1, least=0),
        ),
        "Capacity": (
            table("Capacity Blocks", "Time until EC2 terminates the instances, by the end in the cluster file. Empty: "
                  "no Capacity Block, or none with an end.",
                  (of("ultracluster_group_capacity_end_timestamp_seconds", over="max by (group) ({}) - time()"),),
                  width=24, height=5, unit="s", columns={"group": "Node group", "Value": "Time left"}),
        ),
        "GPUs": (
            table("GPUs by node", "Tensor activity of each GPU: a row is a node. A dark cell in a bright row is a GPU "
                  "that the others wait for, an empty one is gone. "
                  "The variable above selects node groups.",
                  (Query(expr=f'max by (node, gpu) (label_join({named(_ACTIVE)}, "node", " ", "node", "instance"))'),),
                  width=24, height=12, unit="percentunit", matrix=("node", "gpu"), least=0, most=1,
                  steps=((None, "dark-blue"), (0.1, "blue"), (0.3, "green"), (0.6, "light-green"))),
        ),
        "GPU health": (
            series("XIDs by policy", "Error codes of the driver within five minutes. Fatal: the node goes. Reset: the "
                   "GPU is reset. Watch: look. Application: the program's fault.",
                   tuple(of(f"node_xid:ultracluster_gpu_xid_errors_{policy}:sum",
                            f"{policy} {{{{xid}}}} {{{{node}}}} {{{{instance}}}}", over="sum by (instance, xid) ({})")
                         for policy in ("fatal", "reset", "watch", "application")),
                   least=0, to=TO_NODE, steps=ANY_IS_ODD),
            series("Uncorrectable memory errors",
                   "Double-bit errors of the last 15 minutes, and rows that could not be remapped: replace.",
                   (of("ultracluster_gpu_ecc_uncorrected_errors_total", "{{node}} {{instance}} GPU {{gpu}}",
                       over="topk(10, round(increase({}[15m])) > 0)"),
                    of("ultracluster_gpu_row_remap_failed", "{{node}} {{instance}} GPU {{gpu}} remap failed",
                       over="topk(10, {} > 0)")), least=0, to=TO_NODE, steps=ANY_IS_BAD),
            series("NVLink errors", "Links that were set up again, or had wrong data, in the last 15 minutes.",
                   (of("ultracluster_gpu_nvlink_recoveries_total", "{{node}} {{instance}} GPU {{gpu}} recovered",
                       over="topk(10, round(increase({}[15m])) > 0)"),
                    of("ultracluster_gpu_nvlink_crc_errors_total", "{{node}} {{instance}} GPU {{gpu}} CRC",
                       over="topk(10, round(increase({}[15m])) > 0)"),
                    of("ultracluster_gpu_nvlink_recovery_failures_total", "{{node}} {{instance}} GPU {{gpu}} failed",
                       over="topk(10, round(increase({}[15m])) > 0)")), least=0, to=TO_NODE, steps=ANY_IS_ODD),
            series("Hottest GPUs", "The ten hottest. One far above the others has a cooling problem of its own.",
                   (of("ultracluster_gpu_temperature_celsius", "{{node}} {{instance}} GPU {{gpu}}", over=MOST),),
                   unit="celsius", steps=HEAT, to=TO_NODE),
            series("Throttled by heat",
                   "Share of time slowed down because of heat. The slowest GPU limits the speed of a job.",
                   (of("ultracluster_gpu_thermal_throttle_seconds_total", "{{node}} {{instance}} GPU {{gpu}}",
                       over="topk(10, rate({}[10m]) > 0)"),), unit="percentunit", to=TO_NODE),
            series("GPU power by node", "A node that draws far less than the others of its job does not work.",
                   (of("node:ultracluster_gpu_power_watts:sum", "{{node}} {{instance}} (most)",
                       over="{0} and topk(5, {0} @ end())"),
                    of("node:ultracluster_gpu_power_watts:sum", "{{node}} {{instance}} (least)",
                       over="{0} and bottomk(5, {0} @ end())")), unit="watt", to=TO_NODE),
        ),
    },
)  # fmt: skip
