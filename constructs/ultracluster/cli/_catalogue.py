"""`ultracluster types` and `ultracluster layout`: the catalogue, and the interfaces of one type."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from ultracluster.catalogue.ec2 import (
    INSTANCE_TYPES,
    LAYOUTS,
    NETWORK_INTERFACES_PER_REGION,
    ULTRASERVERS,
    InstanceType,
    Interface,
    Layout,
    UltraServer,
    addresses,
    default_layout,
    general_type_names,
    instance_type,
    interfaces,
)
from ultracluster.cli._one_type import type_table
from ultracluster.cli._output import JsonOption, console, fail, print_json, print_table, table

if TYPE_CHECKING:
    from rich.table import Table


def types(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[TYPE]", help="Show all facts on this type, or the types of a family such as m7i."),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Show the catalogue: GPU types, UltraServers, CPU types; or all facts on one type."""
    if family := [item for item in (*INSTANCE_TYPES, *general_type_names()) if item.startswith(f"{name}.")]:
        members = sorted(map(instance_type, family), key=_by_family_and_size)
        if json_:
            print_json({"instance_types": [asdict(record) for record in members]})
            return
        print_table(_family_table(str(name), members), wraps=False)
        return
    if name is not None:
        try:
            record = _look_up(name)
        except ValueError as error:
            fail(str(error))
        if json_:
            print_json(asdict(record))
            return
        console().print(type_table(record))
        return
    records = sorted(INSTANCE_TYPES.values(), key=_by_family_and_size)
    gpu_types = [record for record in records if record.gpus]
    cpu_types = [record for record in records if not record.gpus]
    if json_:
        print_json(
            {
                "instance_types": [asdict(record) for record in (*gpu_types, *cpu_types)],
                "ultraservers": [asdict(server) for server in ULTRASERVERS.values()],
            }
        )
        return
    out = console()
    print_table(_gpu_table(gpu_types))
    out.print("Peaks are dense, per GPU. NVLink: GB/s per GPU. EFA: all devices together.\n")
    print_table(_ultraserver_table(ULTRASERVERS.values()))
    out.print()
    print_table(_cpu_table(cpu_types))
    families = dict.fromkeys(item.partition(".")[0] for item in general_type_names())
    out.print(f"General types, of which `ultracluster types FAMILY` lists a family: {', '.join(families)}.\n")
    days = sorted({record.read_on for record in records})
    out.print(f"Figures were read {' to '.join(dict.fromkeys((days[0], days[-1])))}; --json gives the source of each.")


def layout(
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="Such as p5en.48xlarge.")],
    layout_: Annotated[
        str | None,
        typer.Option(
            "--layout",
            metavar="LAYOUT",
            help=f"One of {', '.join(LAYOUTS)}. Default: the first that the type has; under Slurm, all-efa.",
        ),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Print the network interfaces of one node."""
    try:
        record = _look_up(type_)
        # `interfaces` rejects an unknown layout, with the reason.
        chosen: Layout = layout_ or default_layout(record)  # type: ignore[assignment]
        rows = interfaces(record, chosen)
    except ValueError as error:
        fail(str(error))
    totals = {
        "interfaces_per_node": len(rows),
        "efa_devices_per_node": sum(row.kind != "interface" for row in rows),
        "addresses_per_node": addresses(rows),
        "nodes_per_default_interface_quota": NETWORK_INTERFACES_PER_REGION // len(rows),
    }
    if json_:
        listed = [asdict(row) for row in rows]
        print_json({"instance_type": record.name, "layout": chosen, "interfaces": listed, **totals})
        return
    out = console()
    print_table(_layout_table(f"{record.name}, {chosen}", rows))
    out.print(
        f"Per node: interfaces {totals['interfaces_per_node']}, EFA devices {totals['efa_devices_per_node']}, "
        f"IPv4 addresses {totals['addresses_per_node']}."
    )
    out.print(
        f"{totals['nodes_per_default_interface_quota']:,} nodes use up a Region's default quota of "
        f"{NETWORK_INTERFACES_PER_REGION:,} interfaces."
    )


def _look_up(name: str) -> InstanceType:
    """Instance type by its name, or by the name of its UltraServer."""
    return instance_type(ULTRASERVERS[name].instance_type if name in ULTRASERVERS else name)


def _gpu_table(records: Iterable[InstanceType]) -> "Table":
    rows = table(
        "GPU types",
        *("type", "GPUs", ">HBM\nGiB", ">PFLOP/s\nBF16/FP8/FP4", ">NV-\nLink", ">vCPU", ">RAM\nGiB", "NVMe\nTB"),
        ">EFA Gb/s\n/devices",
        padding=0,
        show_edge=False,
    )
    for record in records:
        gpu = record.gpu
        rows.add_row(
            record.name,
            f"{record.gpus} {gpu.model if gpu else '?'}{' arm' if record.architecture == 'arm64' else ''}",
            f"{gpu.hbm_gib:g}" if gpu else "?",
            "/".join(
                "-" if peak is None else f"{peak:.3g}" for peak in (gpu.bf16_pflops, gpu.fp8_pflops, gpu.fp4_pflops)
            )
            if gpu
            else "?",
            f"{gpu.nvlink_gb_per_s:,}" if gpu and record.nvlink_domain != 1 else "-",
            str(record.vcpus),
            f"{record.memory_gib:,g}",
            f"{record.nvme[0]}x{record.nvme[1] / 1000:g}",
            f"{record.efa_gbps:,}/{record.max_efa}",
        )
    return rows


def _ultraserver_table(servers: Iterable[UltraServer]) -> "Table":
    rows = table(
        "UltraServers", "name", "instances", ">GPUs in one NVLink domain", ">EFA Gbit/s", collapse_padding=True
    )
    for server in servers:
        rows.add_row(
            server.name,
            f"{server.instances} {server.instance_type}",
            str(server.gpus),
            f"{server.efa_gbps:,}",
        )
    return rows


def _cpu_table(records: Iterable[InstanceType]) -> "Table":
    rows = table(
        "CPU types",
        *("type", "arch", ">vCPU", ">RAM GiB", ">Gbit/s up to", ">interfaces", ">EFA"),
        collapse_padding=True,
    )
    for record in records:
        rows.add_row(
            record.name,
            record.architecture,
            str(record.vcpus),
            f"{record.memory_gib:,g}",
            f"{sum(card.ena_gbps or 0 for card in record.cards):g}",
            str(record.max_interfaces),
            str(record.max_efa or "-"),
        )
    return rows


def _family_table(family: str, records: Iterable[InstanceType]) -> "Table":
    rows = table(
        f"Types of the family {family}, as EC2 describes them",
        *("type", "arch", ">vCPU", ">RAM GiB", "GPUs", ">Gbit/s up to", ">EFA"),
        collapse_padding=True,
    )
    for record in records:
        rows.add_row(
            record.name,
            record.architecture,
            str(record.vcpus),
            f"{record.memory_gib:,g}",
            f"{record.gpus} {record.gpu_model}" if record.gpus else "-",
            f"{sum(card.ena_gbps or 0 for card in record.cards):g}",
            str(record.max_efa or "-"),
        )
    return rows


def _layout_table(title: str, rows: Sequence[Interface]) -> "Table":
    result = table(title, "cards", ">device", "kind", collapse_padding=True)
    merged: dict[tuple[int, str], list[int]] = {}
    for row in rows:
        merged.setdefault((row.device, row.kind), []).append(row.card)
    for (device, kind), cards in merged.items():
        result.add_row(_runs(cards), str(device), kind)
    return result


def _runs(cards: Sequence[int]) -> str:
    """`0, 2-5, 8` for [0, 2, 3, 4, 5, 8]."""
    runs = [[card for _, card in run] for _, run in groupby(enumerate(sorted(cards)), lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _by_family_and_size(record: InstanceType) -> tuple[str, int]:
    return record.name.partition(".")[0], record.vcpus
