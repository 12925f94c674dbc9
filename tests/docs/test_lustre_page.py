"""The page about Lustre is what the library computes."""

import re

import pytest

from support import ROOT
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

PAGE = (ROOT / "docs" / "guides" / "lustre.md").read_text()
STALL_SECONDS = 60
MODELS = {"7B": 7e9, "70B": 70e9, "405B": 405e9}
NODES = (8, 64, 512)


def plan(parameters: float, nodes: int) -> LustrePlan:
    checkpoint = Checkpoint(size_bytes=checkpoint_bytes(parameters), stall_seconds=STALL_SECONDS)
    clients = LustreClients(instance_type="p5en.48xlarge", count=nodes)
    return plan_lustre(LustreGoal(checkpoint=checkpoint, clients=clients))


def row(model: str, nodes: int) -> str:
    planned = plan(MODELS[model], nodes)
    spec, size = planned.spec, checkpoint_bytes(MODELS[model])
    times = planned.times(size)
    assert times.nodes_mb_per_s is not None
    cells = [
        model,
        f"{size / 1e9:,.0f} GB",
        str(nodes),
        f"{spec.mb_per_s_per_tib} MB/s/TiB, {'EFA' if spec.efa else 'TCP'}",
        f"{spec.capacity_gib:,}",
        f"{float(spec.disk_write_mb_per_s) / 1000:,.1f}",
        f"{float(times.nodes_mb_per_s) / 1000:,.0f}",
        f"{times.write_seconds:.0f}",
        f"{times.read_seconds:.0f}",
        times.write_limit,
        f"{spec.usd_per_month:,.0f}",
    ]
    return f"| {' | '.join(cells)} |"


TABLE = "\n".join(
    [
        "| model | checkpoint | nodes | selected | GiB | GB/s | nodes GB/s | write s | read s | limit | USD a month |",
        f"|{'---|' * 11}",
        *(row(model, nodes) for model in MODELS for nodes in NODES),
    ]
)


def test_the_table_of_goals_is_what_the_library_computes() -> None:
    assert TABLE in PAGE, f"docs/guides/lustre.md is stale; its table is now\n{TABLE}"


@pytest.mark.parametrize("tier", lustre.TIERS, ids=lambda tier: str(tier.mb_per_s_per_tib))
def test_the_grid_of_each_tier_is_on_the_page(tier: lustre.LustreTier) -> None:
    burst = tier.disk_burst or "none"
    network_burst = f"{tier.network_burst:,}" if tier.network_burst else "none"
    line = f"| {tier.mb_per_s_per_tib} | {burst} | {tier.network:,} | {network_burst} | {tier.efa_step_gib:,} |"
    assert line in PAGE


def test_the_other_grids_and_the_metadata_iops_are_on_the_page() -> None:
    for figure in (
        f"{lustre.SMALLEST_GIB:,} GiB, or a multiple of {lustre.STEP_GIB:,}",
        f"steps of {tiering.STEP_MB_PER_S:,} MB/s up to {tiering.MOST_MB_PER_S:,}",
        f"{tiering.LEAST_READ_CACHE_GIB_PER_STEP} to {tiering.MOST_READ_CACHE_GIB_PER_STEP:,} GiB for each step",
        f"{tiering.READ_CACHE_GIB_PER_STEP:,} GiB for each step",
        f"{lustre_metadata.SSD_IOPS[0]:,}, {lustre_metadata.SSD_IOPS[1]:,}, {lustre_metadata.SSD_IOPS[2]:,}, and the "
        f"multiples of {lustre_metadata.IOPS_PER_SERVER:,} up to {lustre_metadata.MOST_IOPS:,}",
        " or ".join(f"{iops:,}" for iops in lustre_metadata.INTELLIGENT_TIERING_IOPS),
        f"reads {lustre.SCRATCH_READ} MB/s a TiB and writes {lustre.SCRATCH_WRITE}",
    ):
        assert figure in " ".join(PAGE.split()), figure


@pytest.mark.parametrize("quota", lustre_quotas.LUSTRE_QUOTAS, ids=lambda quota: quota.code)
def test_every_quota_is_on_the_page_with_its_code(quota: lustre_quotas.LustreQuota) -> None:
    assert f"| {quota.name} | `{quota.code}` | {quota.default:,} {quota.unit} |" in PAGE


def test_the_errors_shown_are_the_errors_made() -> None:
    shown = re.findall(r"^ValueError: (.*)$", PAGE, re.MULTILINE)
    clients = LustreClients(instance_type="p4d.24xlarge", count=2)
    checkpoint = Checkpoint(size_bytes=checkpoint_bytes(70e9), stall_seconds=30)
    with pytest.raises(ValueError, match="p4d") as caught:
        plan_lustre(LustreGoal(checkpoint=checkpoint, clients=clients))
    assert shown == [str(caught.value)]


def test_the_reasons_shown_are_the_reasons_given() -> None:
    shown = re.findall(r"^- (.*)$", PAGE.partition("<!-- reasons -->")[2].partition("<!-- end -->")[0], re.MULTILINE)
    assert tuple(shown) == plan(MODELS["70B"], 64).reasons
