"""UltraServers: instances that share one NVLink domain and are bought together."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True, slots=True)
class UltraServer:
    """An UltraServer type.

    Args:
        name: Name, such as `u-p6e-gb200x36`.
        instance_type: The instances that make it up.
        instances: How many; a Capacity Block holds one UltraServer, whole.
        gpus: GPUs in the one NVLink domain.
        efa_gbps: EFA bandwidth of all instances in Gbit/s.
        source: Source of the figures.
        read_on: The day they were read there.
    """

    name: str
    instance_type: str
    instances: int
    gpus: int
    efa_gbps: int
    source: str
    read_on: str


_SOURCE = "https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html"

#: UltraServer types, by name.
ULTRASERVERS: Mapping[str, UltraServer] = MappingProxyType(
    {
        name: UltraServer(
            name=name,
            instance_type="p6e-gb200.36xlarge",
            instances=instances,
            gpus=4 * instances,
            efa_gbps=1600 * instances,
            source=_SOURCE,
            read_on="2026-11-20",
        )
        for name, instances in {"u-p6e-gb200x36": 9, "u-p6e-gb200x72": 18}.items()
    }
)


def ultraserver(name: str) -> UltraServer:
    """Look an UltraServer up by its name.

    Raises:
        ValueError: If there is no such UltraServer.
    """
    if name not in ULTRASERVERS:
        raise ValueError(f"unknown UltraServer {name!r}; known are {', '.join(ULTRASERVERS)}")
    return ULTRASERVERS[name]
