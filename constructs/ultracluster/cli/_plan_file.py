"""Cluster file of a plan."""

from ultracluster.catalogue.ec2 import OFFERED, region_of_zone
from ultracluster.planning import Plan

# Zones in this order of regions, if a type is offered in several.
_REGIONS = ("us-east-2", "us-east-1", "us-west-2")
_LEVELS = ("tensor", "pipeline", "context", "expert")


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


def cluster_text(plan: Plan, *, name: str, zone: str, command: str) -> str:
    """Return a commented cluster file for the nodes of a plan.

    Args:
        plan: A plan of training, RL or inference.
        name: Name of the cluster.
        zone: Zone id.
        command: The command that made the plan.
    """
    spares = int(plan.number("spare_nodes")) if "spare_nodes" in plan else 0
    lines = [
        "# Written by `ultracluster plan`; edit it freely. `ultracluster check` validates it.",
        f"# {command}",
        *(f"# {line}" for line in _summary(plan)),
        f"name: {name}",
        f"region: {region_of_zone(zone)}",
        f"zone: {zone}                     # offers {plan['instance_type'].value}; take that of your reservation",
        "orchestrator: slurm",
        "nodes:",
    ]
    local = zone.count("-") > 1
    record = str(plan["instance_type"].value)
    if record.startswith("p6e-"):
        servers = -(-(plan.nodes + spares) // 18)
        ids = ", ".join(f"cr-{number:017x}" for number in range(1, servers + 1))
        lines += [
            "  train:",
            "    type: u-p6e-gb200x72       # UltraServers of 18 instances and 72 GPUs",
            f"    count: {servers}",
            f"    capacity: {{reservations: [{ids}], kind: ultraserver, instances: 18}}  # your Capacity Blocks",
        ]
    else:
        spare = f", spare: {spares}" if spares else ""
        lines += [
            "  # capacity is on-demand; a reservation is `capacity: cr-0123456789abcdef0`",
            f"  train: {{type: {record}, count: {plan.nodes}{spare}}}",
        ]
    if "lustre_mb_per_s" in plan and not local:
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


def _summary(plan: Plan) -> list[str]:
    """Return the plan and the options of its training job."""
    lines = []
    if "mfu" in plan:
        lines.append(
            f"{plan['active_parameters'].value:.4g} active parameters, {plan['tokens'].value:.4g} tokens: "
            f"{plan.days:,.1f} days at {plan.mfu:.1%} MFU and {plan.goodput:.1%} goodput"
        )
        lines.append(f"checkpoint every {plan.checkpoint_interval_seconds:,.0f} s")
    if "layout" in plan:
        lines.append(f"Layout: {plan['layout'].value}")
    if "tensor_parallel" in plan:
        degrees = {level: int(plan.number(f"{level}_parallel")) for level in _LEVELS}
        options = [
            f"model.tensor_model_parallel_size={degrees['tensor']}",
            f"model.pipeline_model_parallel_size={degrees['pipeline']}",
            f"model.context_parallel_size={degrees['context']}",
            f"model.expert_model_parallel_size={degrees['expert']}",
            *_of_layout(plan),
            f"train.micro_batch_size={int(plan.number('micro_batch'))}",
        ]
        sequence = int(plan.number("sequence"))
        options.append(f"train.global_batch_size={int(plan.number('batch_tokens') / sequence)}")
        options += [f"model.seq_length={sequence}", f"dataset.sequence_length={sequence}"]
        steps = max(1, round(plan.checkpoint_interval_seconds / plan.number("step_seconds")))
        options.append(f"checkpoint.save_interval={steps}")
        lines.append("Job with Megatron Bridge, from the rendered job files; RECIPE: the one of the model")
        lines.append(f"  sbatch --nodes={plan.nodes} megatron.sbatch RECIPE {' '.join(options[:2])} \\")
        lines += [f"    {' '.join(options[first : first + 3])} \\" for first in range(2, len(options), 3)]
        lines[-1] = lines[-1].removesuffix(" \\")
    return lines


def _of_layout(plan: Plan) -> list[str]:
    """Return the options of a layout besides its degrees; without them, a job needs more memory than planned.

    https://github.com/NVIDIA-NeMo/Megatron-Bridge (tag v0.4.2), src/megatron/bridge/recipes/llama/llama3.py (names of
    options read 2026-11-24)
    """
    layout = str(plan["layout"].value)
    options = ["ddp.use_distributed_optimizer=true"]
    if plan.number("tensor_parallel") > 1:
        options.append("model.sequence_parallel=true")
    if plan.number("virtual_stages") > 1:
        options.append(f"model.virtual_pipeline_model_parallel_size={int(plan.number('virtual_stages'))}")
    stages = plan.number("pipeline_parallel")
    if plan.number("layers") % stages and not (plan.number("layers") + 2) % stages:
        options += [f"model.account_for_{part}_in_pipeline_split=true" for part in ("embedding", "loss")]
    if "full recomputation" in layout:
        options += [
            "model.recompute_granularity=full",
            "model.recompute_method=uniform",
            "model.recompute_num_layers=1",
        ]
    if "FSDP" in layout:
        options += ["ddp.use_megatron_fsdp=true", "ddp.data_parallel_sharding_strategy=optim_grads_params"]
        options += ["checkpoint.ckpt_format=fsdp_dtensor", "model.gradient_accumulation_fusion=false"]
    return options
