"""Kernels of Ubuntu 24.04 that AWS's package of the Lustre client supports."""

from collections.abc import Mapping
from types import MappingProxyType

#: By upstream version: the first and the last build of linux-aws; None means every later one.
#: https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html (read 2026-11-22)
KERNELS: Mapping[str, tuple[int, int | None]] = MappingProxyType(
    {"6.8.0": (1024, 1033), "6.14.0": (1012, 1018), "6.17.0": (1007, 1020), "7.0.0": (1012, None)}
)
