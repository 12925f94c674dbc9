"""Generate the reference of FSx for Lustre: deployment types, example plans and quotas."""

from docs_reference.markdown import page, table
from ultracluster.catalogue.storage import lustre, lustre_metadata, lustre_quotas
from ultracluster.catalogue.storage import lustre_intelligent_tiering as tiering
from ultracluster.planning.lustre import (
    Checkpoint,
    LustreClients,
    LustreGoal,
    LustrePlan,
    checkpoint_bytes,
    plan_lustre,
)

_STALL_SECONDS = 60
_MODELS = {"7B": 7e9, "70B": 70e9, "405B": 405e9}
_NODES = (8, 64, 512)
_TYPE = "p5en.48xlarge"
_ABOUT = """Figures that the library plans FSx for Lustre with, and plans for common models.
[Storage](../guides/storage.md#fsx-for-lustre) covers goals and keys. Sources:
[deployment types](https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html),
[SSD](https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html),
[Intelligent-Tiering](https://docs.aws.amazon.com/fsx/latest/LustreGuide/intelligent-tiering-file-systems.html),
[EFA](https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html),
[quotas](https://docs.aws.amazon.com/general/latest/gr/fsxn.html), read 2026-11-21."""
_TIERS = ("disk, baseline", "disk, burst", "network, baseline", "network, burst", "GiB a step with EFA")
_PLANS = ("model", "checkpoint", "nodes", "selected", "GiB", "GB/s", "write s", "read s", "USD a month")


def lustre_page() -> str:
    """Page with the deployment types, plans of common models, and quotas."""
    reasons = "\n".join(f"- {reason}" for reason in _plan(_MODELS["70B"], 64).reasons)
    quotas = [
        (quota.name, f"`{quota.code}`", f"{quota.default:,} {quota.unit}") for quota in lustre_quotas.LUSTRE_QUOTAS
    ]
    return page(
        "FSx for Lustre",
        _ABOUT,
        f"## Plans for common models\n\nA checkpoint of 14 bytes a parameter, written within {_STALL_SECONDS} seconds "
        f"by {_TYPE} nodes. USD are storage at us-east-2's list price of 2026-10-09: compare options with them.\n\n"
        + table(_PLANS, [_row(model, nodes) for model in _MODELS for nodes in _NODES]),
        "A checkpoint grows with the model, not with the nodes, and so does the file system. A file system takes 1,024 "
        "EFA connections, so many nodes use fewer EFA interfaces each for it.",
        f"`plan.reasons` explains each plan. That of 70B on 64 nodes:\n\n{reasons}",
        *_deployment_types(),
        "## Quotas\n\nDefaults of an account in a Region, for all file systems together. `plan.quotas_passed` names "
        f"those that one file system exceeds.\n\n{table(('quota', 'code in Service Quotas', 'default'), quotas)}",
    )


def _deployment_types() -> tuple[str, ...]:
    tiers = [
        (
            str(tier.mb_per_s_per_tib),
            str(tier.disk_burst or "none"),
            f"{tier.network:,}",
            f"{tier.network_burst:,}" if tier.network_burst else "none",
            f"{tier.efa_step_gib:,}",
        )
        for tier in lustre.TIERS
    ]
    iops = ", ".join(f"{count:,}" for count in lustre_metadata.SSD_IOPS[:3])
    tiering_iops = " or ".join(f"{count:,}" for count in lustre_metadata.INTELLIGENT_TIERING_IOPS)
    return (
        "## PERSISTENT_2 on SSD\n\nTraining data and checkpoints. Throughput comes with capacity, and the file system "
        f"grows by capacity. MB/s for each TiB:\n\n{table(_TIERS, tiers)}",
        f"Without EFA, the capacity is {lustre.SMALLEST_GIB:,} GiB, or a multiple of {lustre.STEP_GIB:,}. With EFA "
        "each step is one storage server of 4.7 GB/s, whatever the tier; EFA and tier cannot change. Network "
        "throughput limits reads from the memory of the servers. The library sizes by baseline: bursts use credits. "
        f"Metadata IOPS: AUTOMATIC, or USER_PROVISIONED with {iops}, and the multiples of "
        f"{lustre_metadata.IOPS_PER_SERVER:,} up to {lustre_metadata.MOST_IOPS:,}; they cannot be lowered. "
        "Lustre 2.15.",
        "## Intelligent-Tiering\n\nPERSISTENT_2 too: large data of which little is read often. It grows with its data, "
        "up to 512 TiB a server, over several zones. Throughput comes in "
        f"steps of {tiering.STEP_MB_PER_S:,} MB/s up to {tiering.MOST_MB_PER_S:,}, one server each, with EFA or "
        "without, and only grows. Its SSD read cache has "
        f"{tiering.LEAST_READ_CACHE_GIB_PER_STEP} to {tiering.MOST_READ_CACHE_GIB_PER_STEP:,} GiB for each step, or "
        f"{tiering.READ_CACHE_GIB_PER_STEP:,} GiB for each step by itself. What is not in it takes tens of "
        f"milliseconds and a fee for each request. Metadata IOPS are {tiering_iops}. It does not support data "
        "repository associations. The library has no price for it.",
        "## SCRATCH_2\n\nData for a few days, of which there is another copy. Nothing is replicated: the files of a "
        f"failed server are lost. It reads {lustre.SCRATCH_READ} MB/s a TiB and writes {lustre.SCRATCH_WRITE}, and "
        "bursts on the network to 1,300. It supports neither EFA nor backups nor metadata settings. The library has "
        "no price for it.",
        "## PERSISTENT_1\n\nRefused: it supports neither EFA nor a metadata configuration, and the deployment type "
        "cannot change.",
        "## Zones\n\n`lustre_offer(zone)` returns what a zone offers. Mexico, Tel Aviv and some Local Zones have two "
        "tiers and no EFA, Bahrain and the UAE no PERSISTENT_2, GovCloud no Intelligent-Tiering.",
    )


def _plan(parameters: float, nodes: int) -> LustrePlan:
    checkpoint = Checkpoint(size_bytes=checkpoint_bytes(parameters), stall_seconds=_STALL_SECONDS)
    return plan_lustre(LustreGoal(checkpoint=checkpoint, clients=LustreClients(instance_type=_TYPE, count=nodes)))


def _row(model: str, nodes: int) -> tuple[str, ...]:
    planned = _plan(_MODELS[model], nodes)
    spec, size = planned.spec, checkpoint_bytes(_MODELS[model])
    times = planned.times(size)
    return (
        model,
        f"{size / 1e9:,.0f} GB",
        str(nodes),
        f"{spec.mb_per_s_per_tib} MB/s/TiB, {'EFA' if spec.efa else 'TCP'}",
        f"{spec.capacity_gib:,}",
        f"{float(spec.disk_write_mb_per_s) / 1000:,.1f}",
        f"{times.write_seconds:.0f}",
        f"{times.read_seconds:.0f}",
        f"{spec.usd_per_month:,.0f}",
    )
