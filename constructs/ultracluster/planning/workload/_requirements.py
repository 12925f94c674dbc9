"""Resources of a cluster that follow from type and nodes: addresses, interfaces, quotas, metrics, file system, cost."""

from ultracluster.catalogue.ec2 import (
    DAYS_OF_CAPACITY_BLOCK,
    INSTANCES_IN_CAPACITY_BLOCKS,
    INSTANCES_PER_CAPACITY_BLOCK,
    NETWORK_INTERFACES_PER_REGION,
    InstanceType,
    UltraServer,
    addresses,
    interfaces,
    vcpu_quota,
)
from ultracluster.catalogue.schedulers import pcs
from ultracluster.planning.capacity import segment, ultraservers_for
from ultracluster.planning.lustre import Checkpoint, LustreClients, LustreGoal, LustrePlan, plan_lustre
from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._failures import spare_nodes
from ultracluster.planning.workload._series import series_at_most
from ultracluster.planning.workload._sheet import Sheet

_GIB = 1 << 30
# Room beside checkpoints and dataset: a full file system truncates a checkpoint.
_HEADROOM = 1.2


def whole_nodes(record: InstanceType, nodes: int) -> int:
    """Return the nodes of a job on at most this many: whole segments, if it spans UltraServers."""
    size = segment(record.ultraservers[-1].instances) if record.ultraservers else 1
    return nodes if nodes <= size else nodes // size * size


def idle_nodes(record: InstanceType, nodes: int) -> int:
    """Return the instances of its UltraServers that a job leaves idle, such as 2 of 18 in each; 0 for other types."""
    if not record.ultraservers:
        return 0
    server = _ultraserver(record, nodes)
    return ultraservers_for(nodes, server) * server.instances - nodes


def add_spares(sheet: Sheet, record: InstanceType, nodes: int, assumptions: Assumptions) -> int:
    """Add the spare nodes of a job, and return their number: those that UltraServers leave, or of failures."""
    spares = idle_nodes(record, nodes)
    if record.ultraservers:
        server = _ultraserver(record, nodes)
        source = "https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-nvidia-imex.html"
        sheet.add("ultraserver", server.name, "", "smallest UltraServer that holds the job, or the largest", source)
        sheet.add("spare_nodes", spares, "nodes", "instances of the UltraServers without nodes: "
                  f"{server.instances - segment(server.instances)} of {server.instances} in each", source)  # fmt: skip
        return spares
    spares = spare_nodes(nodes, assumptions)
    sheet.add("spare_nodes", spares, "nodes", "failures during repair_days, in 99 % of the cases",
              "Poisson distribution of failures")  # fmt: skip
    return spares


def _ultraserver(record: InstanceType, nodes: int) -> UltraServer:
    """Return the smallest UltraServer with a segment for a job of this many nodes, or else the largest."""
    servers = record.ultraservers
    return next((server for server in servers if nodes <= segment(server.instances)), servers[-1])


def add_resources(sheet: Sheet, record: InstanceType, nodes: int, spares: int, days: float = 0) -> None:
    """Add addresses, interfaces, quotas and metric series of the nodes, spares included, and limits of blocks."""
    # Slurm's, which has most addresses: the planner writes a file for it.
    layout = pcs.default_layout(record)
    rows, total = interfaces(record, layout), nodes + spares
    of_node = f"of a node in the layout {layout}, Slurm's default, * (nodes + spare_nodes)"
    sheet.add("addresses", addresses(rows) * total, "IPv4 addresses", f"addresses {of_node}",
              "`ultracluster layout TYPE`")  # fmt: skip
    used = len(rows) * total
    sheet.add("network_interfaces", used, "interfaces", f"interfaces {of_node}",
              "`ultracluster layout TYPE`")  # fmt: skip
    sheet.add("vcpus", record.vcpus * total, "vCPUs", "vCPUs of a node * (nodes + spare_nodes)", record.source)
    market = "on-demand" if "on-demand" in record.purchase else None
    if market:
        quota = vcpu_quota(record.name, "on-demand")
        sheet.add("vcpu_quota", f"{quota.code}, {quota.name}", "", "quota of the family; Capacity Blocks do not count",
                  "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html")  # fmt: skip
    else:
        sheet.notes.append(f"{record.name} is available in Capacity Blocks and training plans only")
    if used > NETWORK_INTERFACES_PER_REGION:
        sheet.notes.append(
            f"{used:,} network interfaces are {used - NETWORK_INTERFACES_PER_REGION:,} more than the default quota of "
            f"a Region ({NETWORK_INTERFACES_PER_REGION:,}, L-DF5E4CA3)"
        )
    for amount, unit, most, what in (
        (total, "nodes", INSTANCES_PER_CAPACITY_BLOCK, "one Capacity Block holds"),
        (total, "nodes", INSTANCES_IN_CAPACITY_BLOCKS, "Capacity Blocks of an organization hold on one day"),
        (days, "days", DAYS_OF_CAPACITY_BLOCK, "one Capacity Block lasts, with all its extensions"),
    ):
        if amount > most:
            sheet.notes.append(f"{amount:,.0f} {unit} are more than the {most} that {what}")
    if total >= (most := max(pcs.SIZES.values())):
        sheet.notes.append(
            f"{total:,} nodes and a login node are more than the {most:,} instances of one AWS PCS cluster: "
            "plan several clusters, or EKS"
        )
    sheet.add("metric_series", series_at_most("standard", total), "series", "series of a node * (nodes + spare_nodes)",
              "limit of the profile standard")  # fmt: skip


def add_file_system(
    sheet: Sheet, record: InstanceType, nodes: int, size: int, dataset: float, assumptions: Assumptions
) -> LustrePlan | None:
    """Add the file system that takes a checkpoint within the stall, and return its plan."""
    # Frameworks delete an old checkpoint once the new one is complete.
    most = assumptions.checkpoints_kept + 1
    held = Checkpoint(size_bytes=size, stall_seconds=assumptions.checkpoint_stall_seconds, kept=most)
    capacity = round((most * size * _HEADROOM + dataset) / _GIB) + 1
    sheet.add("checkpoints_kept", assumptions.checkpoints_kept, "checkpoints", "assumed", "the jobs' settings")
    needed = "(checkpoints_kept + 1) * checkpoint_bytes * 1.2 + dataset"
    sheet.add("file_system_bytes", capacity * _GIB, "bytes", needed)
    sheet.add("checkpoint_bytes_per_second", size / assumptions.checkpoint_stall_seconds, "bytes/s",
              "checkpoint_bytes / checkpoint_stall_seconds")  # fmt: skip
    plan = None
    for clients in (LustreClients(instance_type=record, count=nodes), None):
        try:
            plan = plan_lustre(LustreGoal(checkpoint=held, capacity_gib=capacity, clients=clients))
        except ValueError as error:
            reason = str(error)
            continue
        if clients is None:
            sheet.notes.append(f"the file system is sized without the limits of its clients: {reason}")
        break
    if plan is None:
        sheet.notes.append(f"no file system of FSx for Lustre meets the goal: {reason}")
        return None
    spec = plan.spec
    source = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/; `ultracluster check` explains the choice"
    sheet.add("lustre_capacity_gib", spec.capacity_gib or capacity, "GiB", "cheapest file system for goal and clients",
              source)  # fmt: skip
    sheet.add("lustre_mb_per_s", float(spec.disk_write_mb_per_s), "MB/s", "baseline disk throughput", source)
    return plan


def add_cost(sheet: Sheet, dollars_per_hour: float | None, nodes: int, days: float) -> None:
    """Add the cost of the nodes, if a price is known."""
    if dollars_per_hour is None:
        return
    sheet.add("dollars_per_node_hour", dollars_per_hour, "USD/h", "price of a node", "the caller")
    sheet.add(
        "dollars",
        dollars_per_hour * nodes * days * 24,
        "USD",
        "dollars_per_node_hour * (nodes + spare_nodes) * 24 * days",
    )
