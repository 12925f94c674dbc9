"""Policies for XIDs, the error codes of NVIDIA's driver.

Sources, which do not agree everywhere:

- NVIDIA's Xid catalogue: https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, as leptonai/gpud encodes
  it (2025-10-29, read 2026-11-20).
- The health check of AWS's reference architectures, https://github.com/awslabs/awsome-distributed-ai,
  4.validation_and_observability/2.gpu-cluster-healthcheck (commit 95b939c of 2026-07-23, read 2026-11-20).
- The fatal list of EKS's node monitoring agent, https://github.com/aws/eks-node-monitoring-agent (v1.7.0, commit
  51af549 of 2026-08-18, read 2026-11-20).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_CATALOGUES = Source(
    "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html "
    "https://github.com/awslabs/awsome-distributed-ai https://github.com/aws/eks-node-monitoring-agent",
    read_on="2026-11-20",
    as_of="2025-10-29",
)


class XidPolicy(StrEnum):
    """Response to an XID."""

    #: The node is out of service until it is restarted or replaced.
    FATAL = "fatal"
    #: The GPU needs a reset before the next job: the node is drained.
    RESET = "reset"
    #: Worth a look; the node goes on.
    WATCH = "watch"
    #: The program's own fault: the job fails, the node is fine.
    APPLICATION = "application"


# NVIDIA: RESTART_BM 79, RESTART_VM 151, CHECK_MECHANICALS 54, CONTACT_SUPPORT 142. AWS's check reboots for 79, 151 and
# 168, and isolates for 54.
_FATAL = (54, 79, 142, 151, 168)
# NVIDIA: RESET_GPU, and the workflows of 48 (double-bit ECC) and 74 (NVLink), which AWS's check resets for.
_RESET = (46, 48, 62, 64, 74, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158)
#: Codes of `RESET` for which an A100 needs a restart of its node: AWS's check reboots p4d and p4de for them.
RESTART_ON_A100: Annotated[tuple[int, ...], Stated(_CATALOGUES, columns="XIDs")] = (64, 95)
# NVIDIA: IGNORE; UPDATE_SWFW 78; CHECK_UVM 159; the NVLink5 workflows 144 to 150, which AWS's check monitors; 154, the
# recovery action has changed. health-check.sh and node-metrics.sh read it, and the sub-codes of 144 to 150, from the
# kernel's log: see `_xid_generations`.
# 63 is a row remap that has been recorded: NVIDIA ignores it, EC2 replaces for it. 94 is a contained memory error:
# NVIDIA restarts the program, whose fault it is not, and the row waits for a reset.
_WATCH = (
    *(37, 38, 44, 63, 66, 67, 78, 92, 93, 94, 106, 107, 121, 137, 141),
    *(*range(144, 151), 152, 153, 154, 157, 159, 160, 161),
)
# NVIDIA: RESTART_APP, and 43 and 45, which follow from a job that was stopped.
_APPLICATION = (
    *(8, 11, 13, 25, 31, 32, 39, 40, 41, 43, 45, 60, *range(68, 73), 75, 76, 77),
    *(80, *range(82, 87), 88, 89, *range(96, 106), *range(126, 136), 139),
)

#: Code -> what follows. A code that is not here has no published advice: treat it as `WATCH`.
XIDS: Annotated[Mapping[int, XidPolicy], Stated(_CATALOGUES, columns="XID: policy")] = MappingProxyType(
    dict(
        sorted(
            dict.fromkeys(_FATAL, XidPolicy.FATAL).items()
            | dict.fromkeys(_RESET, XidPolicy.RESET).items()
            | dict.fromkeys(_WATCH, XidPolicy.WATCH).items()
            | dict.fromkeys(_APPLICATION, XidPolicy.APPLICATION).items()
        )
    )
)


def xids(*policies: XidPolicy) -> tuple[int, ...]:
    """Return the codes with one of these policies, ascending."""
    return tuple(code for code, policy in XIDS.items() if policy in policies)
