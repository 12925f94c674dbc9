"""One node, down to its GPUs."""

from dashboards.common import ANY_IS_BAD, CLUSTER, HEAT, NODE, TO_JOB, WELL, of
from dashboards.spec import Dashboard, Panel, Query, Row

_NODE = 'instance="$node"'


def _both(metric: str, text: str) -> tuple[Query, ...]:
    return (
        of(f"node:{metric}_tx:bytes_per_second", f"{text} sent", within=_NODE),
        of(f"node:{metric}_rx:bytes_per_second", f"{text} received", within=_NODE),
    )


NODE_DASHBOARD = Dashboard(
    uid="ultracluster-node",
    title="Node",
    about="What is wrong with this node: its GPUs one by one, its network, mounts and checks.",
    variables=(CLUSTER, NODE),
    rows=(
        Row(
            title="Now",
            panels=(
                Panel(kind="stat", title="GPUs missing", width=4, height=4, steps=ANY_IS_BAD,
                      queries=(Query(expr=f'node:gpus_expected:count{{cluster="$cluster", {_NODE}}} - '
                                     f'node:gpus:count{{cluster="$cluster", {_NODE}}}'),),
                      why="GPUs that the instance type has and that do not answer."),
                Panel(kind="stat", title="EFA devices missing", width=4, height=4, steps=ANY_IS_BAD,
                      queries=(Query(expr=f'node:efa_devices_expected:count{{cluster="$cluster", {_NODE}}} - '
                                     f'node:efa_devices:count{{cluster="$cluster", {_NODE}}}'),),
                      why="EFA devices that the node was given and that the driver does not know of."),
                Panel(kind="stat", title="Up for", width=4, height=4, unit="s",
                      queries=(of("node:boot:timestamp_seconds", within=_NODE, over="time() - {}"),),
                      why="Since its last boot."),
                Panel(kind="table", title="Jobs", width=6, height=4, to=TO_JOB,
                      queries=(of("job:node:info", within=_NODE, over="max by (job_id) ({})"),),
                      columns={"job_id": "Job"}, why="The jobs that the node works for."),
                Panel(kind="table", title="Problems", width=6, height=4,
                      queries=(of("node:problem:number", within=_NODE, over="max by (problem, xid, path) ({})"),),
                      columns={"problem": "Problem", "xid": "XID", "path": "Path"}, why="Alerts that stand for it."),
                Panel(kind="state-timeline", title="Checks", width=24, height=6, words=WELL,
                      queries=(of("node:health:bool", "{{check}}", within=_NODE),
                               of("mount:mounted:bool", "{{path}} mounted", within=_NODE),
                               of("mount:over_efa:bool", "{{path}} over EFA", within=_NODE)),
                      why="What the node checks itself: mounts, local disks, and whether Lustre runs over EFA."),
            ),
        ),
        Row(
            title="GPUs",
            panels=(
                Panel(kind="timeseries", title="Tensor activity", unit="percentunit", least=0,
                      queries=(of("gpu:tensor_active:ratio", "GPU {{gpu}}", within=_NODE),),
                      why="One GPU apart from the others is the one to look at."),
                Panel(kind="timeseries", title="Temperature", unit="celsius", steps=HEAT,
                      queries=(of("gpu:temperature:celsius", "GPU {{gpu}}", within=_NODE),),
                      why="One far above the others has a cooling problem of its own."),
                Panel(kind="timeseries", title="Power", unit="watt",
                      queries=(of("gpu:power:watts", "GPU {{gpu}}", within=_NODE),), why="What each board draws."),
                Panel(kind="timeseries", title="Clock", unit="hertz",
                      queries=(of("gpu:sm_clock:hertz", "GPU {{gpu}}", within=_NODE),),
                      why="Falls when the GPU is throttled."),
                Panel(kind="timeseries", title="Memory in use", unit="bytes",
                      queries=(of("gpu:memory_used:bytes", "GPU {{gpu}}", within=_NODE),), why="Of each GPU."),
                Panel(kind="timeseries", title="NVLink", least=0, unit="Bps",
                      queries=(of("gpu:nvlink_tx:bytes_per_second", "GPU {{gpu}}", within=_NODE),),
                      why="What each GPU sends to the others of its NVLink domain."),
                Panel(kind="timeseries", title="XIDs", least=0, steps=ANY_IS_BAD,
                      queries=(of("gpu:xid:count", "GPU {{gpu}} XID {{xid}}", within=_NODE),),
                      why="Error codes of the driver within five minutes. Nothing drawn is good."),
                Panel(kind="timeseries", title="Reasons to slow down", least=0,
                      queries=(of("gpu:clock_event:count", "GPU {{gpu}} {{clock_event}}", within=_NODE),),
                      why="hw_thermal and hw_power_brake are the machine's fault; power_cap is normal at full load."),
                Panel(kind="timeseries", title="Corrected memory errors", least=0,
                      queries=(of("gpu:ecc_corrected:total", "GPU {{gpu}}", within=_NODE, over="increase({}[1h])"),),
                      why="Of the last hour. Many of them announce an uncorrectable one."),
            ),
        ),
        Row(
            title="Machine",
            panels=(
                Panel(kind="timeseries", title="EFA and IP", least=0, unit="Bps",
                      queries=(*_both("efa", "EFA"), *_both("network", "IP")),
                      why="Training traffic belongs on EFA. Much on IP is a job that fell back to TCP."),
                Panel(kind="timeseries", title="CPU", unit="percentunit", least=0, most=1,
                      queries=(of("node:cpu_busy:ratio", "busy", within=_NODE),), why="Share of all CPUs."),
                Panel(kind="timeseries", title="Memory available", least=0, unit="bytes",
                      queries=(of("node:memory_available:bytes", "available", within=_NODE),
                               of("node:memory:bytes", "all", within=_NODE)),
                      why="What programs could still have."),
                Panel(kind="timeseries", title="Lustre", least=0, unit="Bps",
                      queries=(of("lustre:read:bytes_per_second", "{{filesystem}} read", within=_NODE),
                               of("lustre:write:bytes_per_second", "{{filesystem}} written", within=_NODE)),
                      why="What programs on the node read and write."),
                Panel(kind="timeseries", title="Local disks", least=0, unit="Bps",
                      queries=(of("node:disk_read:bytes_per_second", "read", within=_NODE),
                               of("node:disk_write:bytes_per_second", "written", within=_NODE)),
                      why="NVMe and root volume together."),
                Panel(kind="timeseries", title="Free space", unit="percentunit", least=0, most=1,
                      queries=(of("node:filesystem_free:ratio", "{{mountpoint}}", within=_NODE),),
                      why="Of local file systems. A full root volume drains the node."),
            ),
        ),
    ),
)  # fmt: skip
