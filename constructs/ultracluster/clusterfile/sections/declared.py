"""Instance types that a cluster file declares, because this release does not know them."""

from dataclasses import replace
from typing import Any

from pydantic import Field

from ultracluster.clusterfile.sections.section import Section
from ultracluster.clusterfile.types import values as t
from ultracluster.hardware import GPUS, INSTANCE_TYPES, ULTRASERVERS, InstanceType, NetworkCard, UltraServer

_SOURCE = "declared in the cluster file"


class Cards(Section):
    """Some equal network cards of a type, one after the other."""

    count: t.CardCount = Field(description="How many such cards.")
    kinds: tuple[t.InterfaceKind, ...] = Field(
        min_length=1, description="Kinds of interface that a card takes: interface (ENA), efa, efa-only."
    )
    interfaces: t.CardCount = Field(description="How many interfaces, of whatever kind, a card takes.")


class Nvme(Section):
    """Local NVMe disks of a type."""

    disks: t.Count = Field(description="How many disks.")
    size: t.Size = Field(description="Size of each.")


class DeclaredType(Section):
    """An instance type that this release does not know. What is left out is that of `like`."""

    like: t.InstanceTypeName | None = Field(
        default=None, description="A type of the catalogue that it is like in all that is not said here."
    )
    architecture: t.Architecture | None = Field(default=None, description="Of the CPU.")
    vcpus: t.Count | None = Field(default=None, description="vCPUs of an instance.")
    memory: t.Size | None = Field(default=None, description="RAM of an instance.")
    gpus: t.Count | None = Field(default=None, description="GPUs of one instance.")
    gpu: t.GpuName | None = Field(default=None, description="Model of the GPU.")
    nvlink_domain: t.Count | None = Field(default=None, description="GPUs that share one NVLink domain.")
    nvme: Nvme | None = Field(default=None, description="Local NVMe disks.")
    network_cards: tuple[Cards, ...] | None = Field(
        default=None, min_length=1, description="Network cards from card 0 on."
    )
    max_efa: t.Spare | None = Field(default=None, description="EFA devices that an instance takes in all.")
    addresses_per_interface: t.Count | None = Field(default=None, description="IPv4 addresses that an interface takes.")
    purchase: tuple[t.PurchaseWay, ...] | None = Field(
        default=None, min_length=1, description="Ways to buy it: on-demand, spot, capacity-block."
    )
    ultraservers: dict[t.UltraServerName, t.Count] | None = Field(
        default=None, description="UltraServers that it comes in, and how many instances each has."
    )

    def missing(self) -> list[str]:
        """Keys that a type needs that is like no other."""
        if self.like is not None:
            return []
        needed = ("architecture", "vcpus", "memory", "network_cards", "addresses_per_interface")
        return [name.replace("_", "-") for name in needed if getattr(self, name) is None]

    def record(self, name: str) -> InstanceType:
        """The record of the type, once nothing is missing.

        Raises:
            ValueError: When `like` is no type of the catalogue, or an UltraServer of it has that name.
        """
        taken = [server for server in self.ultraservers or {} if server in ULTRASERVERS]
        if taken:
            raise ValueError(f"{', '.join(taken)} is an UltraServer of the catalogue; give yours another name")
        if self.like is not None and self.like not in INSTANCE_TYPES:
            raise ValueError(f"like must be a type of the catalogue, got {self.like!r}; `ultracluster types` lists it")
        base = INSTANCE_TYPES[self.like] if self.like else _NOTHING
        said: dict[str, Any] = {
            "architecture": self.architecture,
            "vcpus": self.vcpus,
            "cores": self.vcpus,
            "memory_gib": self.memory and float(self.memory.gib),
            "gpus": self.gpus,
            "nvlink_domain": self.nvlink_domain,
            "nvme": self.nvme and (self.nvme.disks, int(self.nvme.size.amount / 10**9)),
            "max_efa": self.max_efa,
            "ipv4_per_interface": self.addresses_per_interface,
            "purchase": self.purchase,
        }
        record = replace(
            base,
            name=name,
            source=_SOURCE,
            read_on="not known",
            declared=True,
            **{field: value for field, value in said.items() if value is not None},
        )
        if self.gpu is not None:
            record = replace(record, gpu=GPUS.get(self.gpu), gpu_model=self.gpu)
        if self.network_cards is not None:
            record = replace(
                record, cards=self._cards(), efa_cards=None, extra_ena_cards=None, efa_gbps=None, efa_generation=None
            )
        # UltraServers of the type that it is like are made of that one.
        return replace(record, ultraservers=self._ultraservers(record))

    def _cards(self) -> tuple[NetworkCard, ...]:
        rows = [(row.kinds, row.interfaces) for row in self.network_cards or () for _ in range(row.count)]
        return tuple(
            NetworkCard(index=index, kinds=kinds, max_interfaces=most) for index, (kinds, most) in enumerate(rows)
        )

    def _ultraservers(self, record: InstanceType) -> tuple[UltraServer, ...]:
        return tuple(
            UltraServer(
                name=name,
                instance_type=record.name,
                instances=instances,
                gpus=record.gpus * instances,
                efa_gbps=(record.efa_gbps or 0) * instances,
                source=_SOURCE,
                read_on="not known",
            )
            for name, instances in (self.ultraservers or {}).items()
        )


_NOTHING = InstanceType(
    name="",
    architecture="x86_64",
    cpu="unknown",
    vcpus=1,
    cores=1,
    memory_gib=1,
    cards=(),
    ipv4_per_interface=1,
    source=_SOURCE,
    read_on="not known",
)
