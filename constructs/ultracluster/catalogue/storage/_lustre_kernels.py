"""Kernels of Ubuntu 24.04 that AWS's package of the Lustre client supports."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_LUSTRE_CLIENT_MATRIX = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html", read_on="2026-11-22"
)

#: By upstream version: the first and the last build of linux-aws; None means every later one.
KERNELS: Annotated[
    Mapping[str, tuple[int, int | None]],
    Stated(_LUSTRE_CLIENT_MATRIX, columns="kernel: lowest build, highest build or null"),
] = MappingProxyType({"6.8.0": (1024, 1033), "6.14.0": (1012, 1018), "6.17.0": (1007, 1020), "7.0.0": (1012, None)})
