"""How many NVLinks of a GPU are up on a healthy instance."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.hardware.instance_type import InstanceType

# Generation -> links. AWS's check takes 12 on p4de and 18 on p5 and p6 (pcie.gpu_nvlinks_expected_up):
# https://github.com/awslabs/awsome-distributed-ai, 4.validation_and_observability/2.gpu-cluster-healthcheck (commit
# 95b939c of 2026-07-23, read 2026-11-20). 12 x 50, 18 x 50 and 18 x 100 GB/s are the bandwidths in `gpus`.
_LINKS: Mapping[int, int] = MappingProxyType({3: 12, 4: 18, 5: 18})


def nvlinks(instance_type: InstanceType) -> int:
    """Links of each GPU that must be up. 0: it has none, or nothing is known of them."""
    if instance_type.gpu is None or (instance_type.nvlink_domain or 1) == 1:
        return 0
    return _LINKS.get(instance_type.gpu.nvlink_generation, 0)
