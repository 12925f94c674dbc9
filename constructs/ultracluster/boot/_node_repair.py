"""EKS node auto repair with this library's XID policy."""

from typing import Literal, NamedTuple

from ultracluster.catalogue.monitoring import XIDS, XidPolicy

RepairAction = Literal["Replace", "Reboot", "NoAction"]

# The codes that the agent makes a condition of, and what EKS does by default.
# https://docs.aws.amazon.com/eks/latest/userguide/node-health-nma.html (read 2026-11-21); 31 is in
# https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html (read 2026-11-21).
_BY_DEFAULT: dict[int, RepairAction] = {
    **dict.fromkeys((31, 46, 48, 54, 62, 63, 95, 109, 110, 136, 140, 143, 155, 156, 158), "Reboot"),
    **dict.fromkeys((64, 74, 79, 119, 120, 142, 151), "Replace"),
}
_POLICY: dict[XidPolicy, RepairAction] = {
    XidPolicy.FATAL: "Replace",
    XidPolicy.RESET: "Reboot",
    XidPolicy.WATCH: "NoAction",
    XidPolicy.APPLICATION: "NoAction",
}
#: How long a GPU must be unwell before its node is repaired: EKS's own default for accelerated hardware, in minutes.
WAIT_MINUTES = 10


class RepairOverride(NamedTuple):
    """An override of EKS's default repair action.

    Args:
        reason: Reason of the condition `AcceleratedHardwareReady`, such as `NvidiaXID31Error`.
        action: Repair action.
    """

    reason: str
    action: RepairAction


def repair_overrides() -> tuple[RepairOverride, ...]:
    """Return the overrides where this library's XID policy differs from EKS's default; see `catalogue.monitoring.xids`.

    The policy and EKS agree on most codes. They differ where a program error would replace a node (31), where a
    remapped row needs no action (63), where a reset is enough (64, 74, 119, 120), and where a node needs an operator
    (54). A reset is a reboot: EKS cannot reset a single GPU.
    """
    return tuple(
        RepairOverride(reason=f"NvidiaXID{code}Error", action=_POLICY[XIDS[code]])
        for code, default in sorted(_BY_DEFAULT.items())
        if _POLICY[XIDS[code]] != default
    )
