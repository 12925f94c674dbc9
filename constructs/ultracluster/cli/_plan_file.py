"""Cluster file of a plan."""

import shlex

from ultracluster.catalogue.ec2 import OFFERED, region_of_zone, ultraserver
from ultracluster.planning import Plan
from ultracluster.planning.lustre import lustre_offer
from ultracluster.workloads import plan_settings

# Zones in this order of regions, if a type is offered in several.
_REGIONS = ("us-east-2", "us-east-1", "us-west-2")


def zone_for(instance_type: str, zone: str | None) -> str:
    """Return the zone of the cluster: the given one, or one that offers the type.

    Raises:
        ValueError: If the type is not offered in the given zone.
    """
    offered = OFFERED.get(instance_type, ())
    if zone is not None:
        if offered and zone not in offered:
            raise ValueError(f"{instance_type} is not offered in {zone}; it is in {', '.join(offered)}")
        return zone
    near = [at for region in _REGIONS for at in offered if at.count("-") == 1 and region_of_zone(at) == region]
    return (near or list(offered) or ["use2-az1"])[0]


def cluster_text(plan: Plan, *, name: str, zone: str, command: str, file: str) -> str:
    """Return a commented cluster file for the nodes of a plan."""
    spares = int(plan.number("spare_nodes")) if "spare_nodes" in plan else 0
    lines = [
        "# Written by `ultracluster plan`; edit it freely. `ultracluster check` validates it.",
        f"# {command}",
        *(f"# {line}" for line in _summary(plan, file)),
        f"name: {name}",
        f"region: {region_of_zone(zone)}",
        f"zone: {zone}                     # offers {plan['instance_type'].value}; use that of your reservation",
        "orchestrator: slurm",
        "nodes:",
    ]
    local = zone.count("-") > 1
    record = str(plan["instance_type"].value)
    if "ultraserver" in plan:
        server = ultraserver(str(plan["ultraserver"].value))
        servers = (plan.nodes + spares) // server.instances  # The planner purchases whole ones.
        ids = ", ".join(f"cr-{number:017x}" for number in range(1, servers + 1))
        lines += [
            "  train:",
            f"    type: {server.name}       # UltraServers of {server.instances} instances and {server.gpus} GPUs",
            f"    count: {servers}",
            f"    capacity: {{reservations: [{ids}], kind: ultraserver, instances: {server.instances}}}  "
            "# your Capacity Blocks",
        ]
    else:
        spare = f", spare: {spares}" if spares else ""
        lines += [
            "  # capacity is on-demand; a reservation is `capacity: cr-0123456789abcdef0`",
            f"  train: {{type: {record}, count: {plan.nodes}{spare}}}",
        ]
    if "lustre_mb_per_s" in plan and lustre_offer(zone).tiers:
        rate = max(1, int(plan.number("lustre_mb_per_s") // 1000))
        lines += [
            "storage:",
            f"  # a checkpoint of {plan.checkpoint_bytes / 1e12:.3g} TB in "
            f"{plan.checkpoint_bytes / plan.number('checkpoint_bytes_per_second'):g} s, and the dataset",
            f"  lustre: {{throughput: {rate} GB/s, capacity: {plan.number('lustre_capacity_gib'):.0f} GiB}}",
        ]
    if local:
        lines += ["network:", "  control-plane-zone: use1-az4   # a Local Zone has no Slurm controllers"]
    return "\n".join(lines) + "\n"


def _summary(plan: Plan, file: str) -> list[str]:
    """Return the plan, and the command that renders its training job."""
    lines = []
    if "mfu" in plan:
        lines.append(
            f"{plan['active_parameters'].value:.4g} active parameters, {plan['tokens'].value:.4g} tokens: "
            f"{plan.days:,.1f} days at {plan.mfu:.1%} MFU and {plan.goodput:.1%} goodput"
        )
        lines.append(f"checkpoint every {plan.checkpoint_interval_seconds:,.0f} s")
    if "layout" in plan:
        lines.append(f"Layout: {plan['layout'].value}")
    if "micro_batch" in plan:
        lines.append("Its job with Megatron Bridge; RECIPE: the one of the model")
        given = [f"--set {name}={value}" for name, value in plan_settings(plan, "megatron").items()]
        rows = [f"ultracluster render {shlex.quote(file)} --workload megatron --out jobs --set recipe=RECIPE"]
        rows += [" ".join(given[first : first + 4]) for first in range(0, len(given), 4)]
        lines.append("  " + " \\\n#     ".join(rows))
    return lines
