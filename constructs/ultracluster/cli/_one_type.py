"""All facts on one instance type, as a table."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ultracluster.catalogue.ec2 import OFFERED, READ_ON, InstanceType, vcpu_quota
from ultracluster.cli._facts import layouts_of
from ultracluster.cli._output import table

if TYPE_CHECKING:
    from rich.table import Table


def type_table(record: InstanceType) -> "Table":
    rows = table(record.name, "", show_header=False)
    rows.add_column(overflow="fold")
    for name, value in _rows(record):
        rows.add_row(name, value)
    return rows


def _rows(record: InstanceType) -> Iterator[tuple[str, str]]:
    yield "CPU", f"{record.cpu}, {record.architecture}, {record.vcpus} vCPUs, {record.memory_gib:,g} GiB"
    yield from _gpu_rows(record)
    disks, size = record.nvme
    yield "NVMe", f"{disks} of {size:,} GB" if disks else "none"
    if record.supports_efa:
        generation = f", v{record.efa_generation}" if record.efa_generation else ""
        speed = f"{record.efa_gbps:,} Gbit/s" if record.efa_gbps else "bandwidth not known"
        yield "EFA", f"{record.max_efa} devices{generation}, {speed}, on {len(record.cards)} cards"
    yield "layouts", ", ".join(layouts_of(record))
    if record.lustre_efa_interfaces:
        direct = ", with GPUDirect Storage" if record.gpudirect_storage else ""
        yield "Lustre over EFA", f"{record.lustre_efa_interfaces} connections{direct}"
    yield "purchase options", ", ".join(record.purchase)
    if record.ultraservers:
        yield "UltraServers", ", ".join(f"{server.name} ({server.instances})" for server in record.ultraservers)
    yield "placement groups", ", ".join(record.placement_strategies) or "none"
    if "on-demand" in record.purchase:
        quota = vcpu_quota(record.name, "on-demand")
        yield "vCPU quota", f"{quota.name} ({quota.code}), {quota.default} in a new account"
    floor = record.software
    if floor:
        yield (
            "oldest software",
            f"NVIDIA driver {floor.driver}, CUDA {floor.cuda}, EFA installer {floor.efa_installer}"
            + "".join(
                f", {name} {least}" for name, least in (("GDRCopy", floor.gdrcopy), ("NCCL", floor.nccl)) if least
            ),
        )
    if record.name in OFFERED:
        yield f"zones, {READ_ON}", " ".join(OFFERED[record.name])
    yield "source", f"{record.source}, read {record.read_on}"


def _gpu_rows(record: InstanceType) -> Iterator[tuple[str, str]]:
    if not record.gpus:
        return
    gpu = record.gpu
    yield "GPUs", f"{record.gpus} {record.gpu_model}" + (f", {gpu.hbm_gib:g} GiB each" if gpu else "")
    if record.nvlink_domain == 1 or gpu is None:
        yield "NVLink", "none" if record.nvlink_domain == 1 else "not known"
        return
    yield (
        "NVLink",
        f"generation {gpu.nvlink_generation}, {gpu.nvlink_gb_per_s:,} GB/s a GPU, up to {record.nvlink_domain} GPUs in "
        "one domain",
    )
    if gpu.c2c_gb_per_s:
        yield "NVLink-C2C", f"{gpu.c2c_gb_per_s} GB/s to the CPU, so GPUs reach its {record.memory_gib:,g} GiB too"
