"""Active NVLinks of a GPU on a healthy instance."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.ec2._instance_type import InstanceType
from ultracluster.catalogue.provenance import Source, Stated

_REFERENCE = Source("https://github.com/awslabs/awsome-distributed-ai", read_on="2026-11-20", as_of="2026-07-23")

# Generation -> links. AWS's check takes 12 on p4de and 18 on p5 and p6 (pcie.gpu_nvlinks_expected_up):
# https://github.com/awslabs/awsome-distributed-ai, 4.validation_and_observability/2.gpu-cluster-healthcheck (commit
# 95b939c of 2026-07-23, read 2026-11-20). 12 x 50, 18 x 50 and 18 x 100 GB/s are the bandwidths in `gpus`.
_LINKS: Annotated[Mapping[int, int], Stated(_REFERENCE, "links of a GPU, by generation of NVLink")] = MappingProxyType(
    {3: 12, 4: 18, 5: 18}
)


def nvlinks(instance_type: InstanceType) -> int:
    """Return the links of each GPU that must be up, or 0 without NVLink or if not known."""
    if instance_type.gpu is None or (instance_type.nvlink_domain or 1) == 1:
        return 0
    return _LINKS.get(instance_type.gpu.nvlink_generation, 0)
