"""Instance types of the catalogue."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ultracluster.catalogue.ec2._general_types import general_type, general_type_names
from ultracluster.catalogue.ec2._gpus import GPUS
from ultracluster.catalogue.ec2._instance_type import Architecture, InstanceType, Kind, NetworkCard, SoftwareFloor
from ultracluster.catalogue.ec2._ultraservers import ULTRASERVERS

# The copy that moto carries, not an answer of EC2 to this project.
_API = "EC2 DescribeInstanceTypes, as moto 5.2.5 carries it"
_TABLES = "https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html"
_EFA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html"
_EFA_TYPES = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html"
_READ = "2026-11-20"
_SOURCE = f"{_API}; {_TABLES}; {_EFA}"
_ANY: tuple[Kind, ...] = ("interface", "efa", "efa-only")

# A name as long as a file must not hide its message.
_LONGEST_QUOTE = 40


def _cards(
    count: int,
    max_interfaces: int,
    ena_gbps: float,
    efa_gbps: float | None = None,
    kinds: tuple[Kind, ...] = _ANY,
) -> tuple[NetworkCard, ...]:
    return tuple(
        NetworkCard(index=i, kinds=kinds, max_interfaces=max_interfaces, ena_gbps=ena_gbps, efa_gbps=efa_gbps)
        for i in range(count)
    )


def _software(driver: str, cuda: str, efa_installer: str, gdrcopy: str, nccl: str) -> SoftwareFloor:
    return SoftwareFloor(driver=driver, cuda=cuda, efa_installer=efa_installer, gdrcopy=gdrcopy, nccl=nccl)


# p6-b300: card 0 is ENA only (350 Gbit/s), the 16 others are 400 Gbit/s of EFA or 220 of ENA.
_B300_CARDS = (
    NetworkCard(index=0, kinds=("interface",), max_interfaces=4, ena_gbps=350),
    *(NetworkCard(index=i, kinds=_ANY, max_interfaces=4, ena_gbps=220, efa_gbps=400) for i in range(1, 17)),
)
# p6e-gb200: card 0 is ENA only, odd cards are EFA-only with one interface, even ones ENA or EFA with two (also
# https://github.com/aws/aws-parallelcluster/pull/6930). Card 0's own limit is not published; two is what even ones do.
_GB200_CARDS = (
    NetworkCard(index=0, kinds=("interface",), max_interfaces=2, ena_gbps=100),
    *(
        NetworkCard(index=i, kinds=("efa-only",), max_interfaces=1, efa_gbps=400)
        if i % 2
        else NetworkCard(index=i, kinds=_ANY, max_interfaces=2, ena_gbps=200, efa_gbps=200)
        for i in range(1, 17)
    ),
)

# p5, p5e: IP and EFA share the cards' bandwidth, so AWS's guide adds ENA on every fourth card only.
_P5_ENA_CARDS = (4, 8, 12, 16, 20, 24, 28)


def _gpu_type(name: str, *, gpu: str, **figures: Any) -> InstanceType:
    """Return a GPU type; what most of them have in common is the default."""
    defaults: dict[str, Any] = {
        "architecture": "x86_64",
        "ipv4_per_interface": 50,
        "purchase": ("on-demand", "spot", "capacity-block"),
        "source": _SOURCE,
    }
    return InstanceType(name=name, gpu=GPUS[gpu], gpu_model=gpu.split()[0], read_on=_READ, **{**defaults, **figures})


_GPU_TYPES = (
    _gpu_type(
        "p4d.24xlarge", cpu="Intel Xeon 8275CL", vcpus=96, cores=48, memory_gib=1152,
        gpus=8, gpu="A100", nvlink_domain=8, nvme=(8, 1000),
        cards=_cards(4, 15, 100, 100), max_efa=4, efa_gbps=400, efa_generation=1,
        gpudirect_rdma=True, gpudirect_storage=False, ebs_gbps=19,
    ),
    _gpu_type(
        "p4de.24xlarge", cpu="Intel Xeon 8275CL", vcpus=96, cores=48, memory_gib=1152,
        gpus=8, gpu="A100 80GB", nvlink_domain=8, nvme=(8, 1000),
        cards=_cards(4, 15, 100, 100), max_efa=4, efa_gbps=400, efa_generation=1,
        gpudirect_rdma=True, gpudirect_storage=False, ebs_gbps=19,
    ),
    _gpu_type(
        "p5.4xlarge", cpu="AMD EPYC 7R13", vcpus=16, cores=8, memory_gib=256,
        gpus=1, gpu="H100", nvlink_domain=1, nvme=(1, 3800),
        cards=_cards(1, 4, 100, 100), max_efa=1, efa_gbps=100, efa_generation=2, ipv4_per_interface=30,
        gpudirect_rdma=False, lustre_efa_interfaces=1, gpudirect_storage=False, ebs_gbps=10,
        software=_software("530", "12.1", "1.43.1", "2.3", "2.18.3"),
        # NCCL over EFA: the footnote of
        # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/gpu-instances-started.html (read 2026-11-21)
        variables=(("FI_HMEM_DISABLE_P2P", "1"),),
    ),
    _gpu_type(
        "p5.48xlarge", cpu="AMD EPYC 7R13", vcpus=192, cores=96, memory_gib=2048,
        gpus=8, gpu="H100", nvlink_domain=8, nvme=(8, 3800),
        cards=_cards(32, 2, 100, 100), max_efa=32, efa_gbps=3200, efa_generation=2,
        extra_ena_cards=_P5_ENA_CARDS, gpudirect_rdma=True,
        lustre_efa_interfaces=8, gpudirect_storage=True, ebs_gbps=80,
        software=_software("530", "12.1", "1.24.1", "2.3", "2.18.3"),
    ),
    _gpu_type(
        "p5e.48xlarge", cpu="AMD EPYC 7R13", vcpus=192, cores=96, memory_gib=2048,
        gpus=8, gpu="H200", nvlink_domain=8, nvme=(8, 3800),
        cards=_cards(32, 2, 100, 100), max_efa=32, efa_gbps=3200, efa_generation=2,
        extra_ena_cards=_P5_ENA_CARDS, gpudirect_rdma=True,
        lustre_efa_interfaces=8, gpudirect_storage=True, ebs_gbps=80,
        software=_software("550", "12.1", "1.24.1", "2.3", "2.18.3"),
    ),
    _gpu_type(
        "p5en.48xlarge", cpu="Intel Sapphire Rapids", vcpus=192, cores=96,
        memory_gib=2048, gpus=8, gpu="H200", nvlink_domain=8, nvme=(8, 3800),
        cards=_cards(16, 4, 200, 200), max_efa=16, efa_gbps=3200, efa_generation=3,
        gpudirect_rdma=True, lustre_efa_interfaces=8, gpudirect_storage=True, ebs_gbps=100,
        software=_software("550", "12.1", "1.24.1", "2.3", "2.18.3"),
    ),
    _gpu_type(
        "p6-b200.48xlarge", cpu="Intel Emerald Rapids", vcpus=192, cores=96,
        memory_gib=2048, gpus=8, gpu="B200", nvlink_domain=8, nvme=(8, 3800),
        cards=_cards(8, 4, 200, 400), max_efa=8, efa_gbps=3200, efa_generation=4,
        gpudirect_rdma=True, lustre_efa_interfaces=8, gpudirect_storage=True, ebs_gbps=100,
        software=_software("570", "12.8", "1.41.0", "2.5", "2.26.2-1"),
    ),
    _gpu_type(
        "p6-b300.48xlarge", cpu="Intel Emerald Rapids", vcpus=192, cores=96,
        memory_gib=4096, gpus=8, gpu="B300", nvlink_domain=8, nvme=(8, 3800),
        cards=_B300_CARDS, max_efa=16, efa_gbps=6400, efa_generation=4,
        gpudirect_rdma=True, lustre_efa_interfaces=16, gpudirect_storage=True, ebs_gbps=100,
        software=_software("580", "13.0", "1.44.0", "2.5", "2.28.3"),
    ),
    # EFA installer: EC2's guide says 1.41.0, the DLAMI's page on P6 1.42.0; the newer one counts.
    # EFA cards: four of 400 Gbit/s, one per GPU; the guide's other choice is eight of 200 on odd cards. Extra ENA on
    # even cards takes bandwidth from the EFA device it is paired with. EFA generation: EC2's guide says v3, AWS's
    # launch posts say v4; left open, for nothing depends on it.
    _gpu_type(
        "p6e-gb200.36xlarge", architecture="arm64", cpu="NVIDIA Grace", vcpus=144, cores=144, memory_gib=960,
        gpus=4, gpu="GB200", nvlink_domain=72, nvme=(3, 7500),
        cards=_GB200_CARDS, max_efa=16, efa_gbps=1600, efa_generation=None,
        efa_cards=(1, 5, 9, 13), efa_pairs=tuple(range(1, 17, 2)), extra_ena_cards=(),
        gpudirect_rdma=True, lustre_efa_interfaces=8, gpudirect_storage=False, ebs_gbps=60,
        purchase=("capacity-block",), placement_strategies=(), ultraservers=tuple(ULTRASERVERS.values()),
        software=_software("570", "12.8", "1.42.0", "2.5", "2.26.2-1"),
        source=f"{_TABLES}; {_EFA}; https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html",
    ),
)  # fmt: skip


def _cpu_type(
    name: str,
    architecture: Architecture,
    vcpus: int,
    memory_gib: int,
    interfaces: int,
    addresses: int,
    gbps: float,
    efa: int = 0,
) -> InstanceType:
    return InstanceType(
        name=name,
        architecture=architecture,
        cpu="AWS" if architecture == "arm64" else "Intel",
        vcpus=vcpus,
        cores=vcpus if architecture == "arm64" else vcpus // 2,
        memory_gib=memory_gib,
        cards=_cards(1, interfaces, gbps, kinds=_ANY if efa else ("interface",)),
        max_efa=efa,
        efa_generation=2 if efa else None,
        ipv4_per_interface=addresses,
        lustre_efa_interfaces=efa or None,
        source=f"{_API}; {_EFA_TYPES}" if efa else _API,
        read_on=_READ,
    )


# Login and data preparation nodes: name, vCPUs, GiB, interfaces, addresses per interface, peak Gbit/s, EFA devices.
_CPU_TYPES = tuple(
    _cpu_type(name, "arm64" if "g." in name else "x86_64", *figures)
    for name, figures in {
        "c7i.large": (2, 4, 3, 10, 12.5, 0),
        "c7i.xlarge": (4, 8, 4, 15, 12.5, 0),
        "c7i.2xlarge": (8, 16, 4, 15, 12.5, 0),
        "c7i.4xlarge": (16, 32, 8, 30, 12.5, 0),
        "c7i.8xlarge": (32, 64, 8, 30, 12.5, 0),
        "c7i.48xlarge": (192, 384, 15, 50, 50.0, 1),
        "m7i.xlarge": (4, 16, 4, 15, 12.5, 0),
        "m7i.2xlarge": (8, 32, 4, 15, 12.5, 0),
        "m7i.4xlarge": (16, 64, 8, 30, 12.5, 0),
        "m7i.8xlarge": (32, 128, 8, 30, 12.5, 0),
        "m7i.48xlarge": (192, 768, 15, 50, 50.0, 1),
        "c7g.large": (2, 4, 3, 10, 12.5, 0),
        "c7g.xlarge": (4, 8, 4, 15, 12.5, 0),
        "c7g.2xlarge": (8, 16, 4, 15, 15.0, 0),
        "c7g.4xlarge": (16, 32, 8, 30, 15.0, 0),
        "c7g.8xlarge": (32, 64, 8, 30, 15.0, 0),
        "m7g.xlarge": (4, 16, 4, 15, 12.5, 0),
        "m7g.2xlarge": (8, 32, 4, 15, 15.0, 0),
        "m7g.4xlarge": (16, 64, 8, 30, 15.0, 0),
        "m7g.8xlarge": (32, 128, 8, 30, 15.0, 0),
    }.items()
)

#: Types with all facts by name: GPU types of training first, oldest first. `instance_type` finds general types too.
INSTANCE_TYPES: Mapping[str, InstanceType] = MappingProxyType({t.name: t for t in (*_GPU_TYPES, *_CPU_TYPES)})


def known_type(name: str) -> InstanceType | None:
    """Return the record of a type, a general one included, or None."""
    return INSTANCE_TYPES.get(name) or general_type(name)


def instance_type(name: str) -> InstanceType:
    """Look a type up by its name.

    Raises:
        ValueError: If the catalogue has no such type, with similar names and how to declare a type.
    """
    record = known_type(name)
    if record is None:
        from ultracluster.rules import nearest

        near = nearest(name, [*INSTANCE_TYPES, *general_type_names()], 0.75, most=2)
        hint = f"did you mean {near}? " if near else ""
        raise ValueError(
            f"unknown instance type {name[:_LONGEST_QUOTE]!r}; {hint}`ultracluster types` lists the catalogue; "
            "declare a new type under `types` of the cluster file, or in Python by instance_type_from_api"
        )
    return record
