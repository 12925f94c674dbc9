"""The section `types`: instance types that are not in this release."""

import re
from dataclasses import replace
from typing import Annotated, Any, get_args

from pydantic import Field

from ultracluster.catalogue.ec2 import (
    GPUS,
    INSTANCE_TYPES,
    ULTRASERVERS,
    Gpu,
    InstanceType,
    Kind,
    NetworkCard,
    Purchase,
    UltraServer,
    known_type,
)
from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._described import described_type
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._nodes import INSTANCE_TYPE, InstanceTypeName
from ultracluster.clusterfile.sections._section import Section

#: Source of a record with values from the cluster file alone.
DECLARED_SOURCE = "declared in the cluster file"
# Far beyond any type; a typing error must not fill the memory.
_MOST_CARDS = 128
# Without `like`.
_REQUIRED = ("architecture", "vcpus", "memory", "network_cards", "addresses_per_interface")


def _type_name(value: object) -> str:
    name = str(value)
    if name in INSTANCE_TYPES:
        raise ValueError(f"{name} is a type of the catalogue already; name yours otherwise, or remove it")
    if re.fullmatch(INSTANCE_TYPE, name) and not name.startswith("u-"):
        return name
    raise ValueError(f"must be an instance type, such as p6e-gb300.36xlarge, got {shown(name)}")


CardCount = Annotated[int, w.whole(1, _MOST_CARDS, example=4)]
UltraServerName = Annotated[
    str, w.pattern(r"u-[a-z0-9-]{1,30}", "the name of an UltraServer, such as u-p6e-gb300x72", "u-p6e-gb300x72")
]
InterfaceKind = Annotated[Kind, w.choice(get_args(Kind), "a kind of network interface")]
PurchaseOption = Annotated[Purchase, w.choice(get_args(Purchase), "a purchase option")]
_GPU = r"[A-Za-z0-9][A-Za-z0-9 -]{0,30}"
GpuName = Annotated[str, w.pattern(_GPU, "the model of a GPU, such as GB200", "GB200")]
# Far beyond any GPU: a typing error, or another unit.
Tflops = Annotated[int, w.whole(1, 1_000_000, example=2500)]
NvlinkGeneration = Annotated[int, w.whole(1, 9, example=5)]
DeclaredTypeName = Annotated[
    str, w.parsed(_type_name, r"^[a-z][a-z0-9-]{0,30}\.[a-z0-9-]{1,20}$", "p6e-gb300.36xlarge")
]


DescribeFile = Annotated[str, w.parsed(lambda value: w.text(value, "the path of a file"), r"^.+$", "p6e-gb300.json")]


class Cards(Section):
    """Some equal network cards of a type, one after the other."""

    count: CardCount = Field(description="Number of such cards.")
    kinds: tuple[InterfaceKind, ...] = Field(
        min_length=1,
        description="Kinds of interface that a card supports: interface (ENA), efa, efa-only.",
        examples=[["interface", "efa", "efa-only"]],
    )
    interfaces: CardCount = Field(description="Number of interfaces, of whatever kind, that a card supports.")


class DeclaredGpu(Section):
    """A GPU that is not in this release: plans and metrics use its figures."""

    model: GpuName = Field(description="Its name.")
    memory: t.Size = Field(description="Memory of one GPU.", examples=["268 GiB"])
    memory_bandwidth: t.Throughput = Field(description="Bandwidth of its memory.", examples=["8000 GB/s"])
    bf16: Tflops = Field(description="Dense peak with BF16, in TFLOP/s.")
    nvlink_generation: NvlinkGeneration | None = Field(
        default=None, description="Generation of NVLink, which decides its counters. By default, no NVLink."
    )
    nvlink_bandwidth: t.Throughput | None = Field(
        default=None, description="NVLink bandwidth of one GPU, both directions together.", examples=["1800 GB/s"]
    )

    @property
    def record(self) -> Gpu:
        """Its record.

        Raises:
            ValueError: If one of the two keys of NVLink is left out.
        """
        if (self.nvlink_generation is None) != (self.nvlink_bandwidth is None):
            raise ValueError(
                "gpu has one of nvlink-generation and nvlink-bandwidth: give both, or neither for a GPU without NVLink"
            )
        return Gpu(
            model=self.model,
            hbm_gib=float(self.memory.amount / 2**30),
            hbm_tb_per_s=float(self.memory_bandwidth.amount / 10**12),
            bf16_pflops=self.bf16 / 1000,
            fp8_pflops=None,
            fp4_pflops=None,
            nvlink_generation=self.nvlink_generation or 0,
            nvlink_gb_per_s=int(self.nvlink_bandwidth.amount / 10**9) if self.nvlink_bandwidth else 0,
            source=DECLARED_SOURCE,
            read_on="not known",
        )


GpuOption = Annotated[
    str | DeclaredGpu,
    Either(w.pattern(_GPU, "the model of a GPU, such as GB200", "GB200"), DeclaredGpu),
]


class Nvme(Section):
    """Local NVMe disks of a type."""

    disks: t.Count = Field(description="Number of disks.", examples=[8])
    size: t.Size = Field(description="Size of each.", examples=["3800 GB"])


class DeclaredType(Section):
    """An instance type that is not in this release. Keys that are left out have the value of `from` or `like`."""

    described_by: DescribeFile | None = Field(
        default=None,
        alias="from",
        description="File beside the cluster file with the output of aws ec2 describe-instance-types, as it is.",
    )
    like: InstanceTypeName | None = Field(
        default=None, description="A type of the catalogue that gives the values of keys that are left out."
    )
    architecture: t.Architecture | None = Field(default=None, description="Of the CPU.")
    vcpus: t.Count | None = Field(default=None, description="vCPUs of an instance.")
    memory: t.Size | None = Field(default=None, description="RAM of an instance.")
    gpus: t.Count | None = Field(default=None, description="GPUs of one instance.")
    gpu: GpuOption | None = Field(
        default=None, description="Model of the GPU, or its figures where the model is not in this release."
    )
    nvlink_domain: t.Count | None = Field(default=None, description="GPUs that share one NVLink domain.")
    nvme: Nvme | None = Field(default=None, description="Local NVMe disks.")
    network_cards: tuple[Cards, ...] | None = Field(
        default=None, min_length=1, description="Network cards from card 0 on."
    )
    max_efa: t.Spare | None = Field(default=None, description="EFA devices that an instance supports in all.")
    addresses_per_interface: t.Count | None = Field(
        default=None, description="IPv4 addresses that an interface supports."
    )
    purchase: tuple[PurchaseOption, ...] | None = Field(
        default=None, min_length=1, description="Purchase options: on-demand, spot, capacity-block."
    )
    ultraservers: dict[UltraServerName, t.Count] | None = Field(
        default=None, description="UltraServers of the type, and the number of instances of each."
    )

    def record(self, name: str) -> InstanceType:
        """Return the record of the type.

        Raises:
            ValueError: If keys are missing, `from` does not describe the type, `like` is not a type of the catalogue,
                or the catalogue has an UltraServer of that name.
        """
        if self.like and self.described_by:
            raise ValueError("from and like both give the values of other keys; remove like")
        base = self._base(name)
        taken = [server for server in self.ultraservers or {} if server in ULTRASERVERS]
        if taken:
            raise ValueError(f"{', '.join(taken)} is an UltraServer of the catalogue; give yours another name")
        stated: dict[str, Any] = {
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
            source=base.source if self.described_by else DECLARED_SOURCE,
            read_on="not known",
            declared=True,
            **{field: value for field, value in stated.items() if value is not None},
        )
        if self.gpu is not None:
            gpu = GPUS.get(self.gpu) if isinstance(self.gpu, str) else self.gpu.record
            record = replace(record, gpu=gpu, gpu_model=self.gpu if isinstance(self.gpu, str) else self.gpu.model)
            if gpu is not None and not gpu.nvlink_generation:
                if (self.nvlink_domain or 1) > 1:
                    raise ValueError(
                        f"nvlink-domain is {self.nvlink_domain}, and gpu has no nvlink-generation: remove nvlink-domain"
                    )
                record = replace(record, nvlink_domain=1)
        if self.network_cards is not None:
            record = replace(
                record,
                cards=self._cards(),
                efa_cards=None,
                efa_pairs=None,
                extra_ena_cards=None,
                efa_gbps=None,
                efa_generation=None,
            )
        # UltraServers of `like` consist of that type, not of this one.
        return replace(record, ultraservers=self._ultraservers(record))

    def _base(self, name: str) -> InstanceType:
        """Return the record that has the values of the keys that are left out."""
        if self.described_by:
            return described_type(self.described_by, name)
        missing = [key.replace("_", "-") for key in _REQUIRED if self.like is None and getattr(self, key) is None]
        if missing:
            raise ValueError(
                f"needs {', '.join(missing)} as well, or from: a file of aws ec2 describe-instance-types, or like: a "
                "type of the catalogue that it is like"
            )
        base = known_type(self.like) if self.like else _NOTHING
        if base is None:
            raise ValueError(f"like must be a type of the catalogue, got {self.like!r}; `ultracluster types` lists it")
        return base

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
                source=DECLARED_SOURCE,
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
    source=DECLARED_SOURCE,
    read_on="not known",
)
