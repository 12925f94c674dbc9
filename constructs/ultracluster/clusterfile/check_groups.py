"""Whether a node group can be what it is to be."""

from collections.abc import Iterator, Sequence

from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import Problem
from ultracluster.hardware import ULTRASERVERS
from ultracluster.planning import CapacityBlock, OnDemand, Spot, TargetedReservation, TrainingPlan, UltraServerBlock

# Container images fill AWS's default of about 75 GiB, and its templates for PCS take 300 at least. See
# https://github.com/awslabs/awsome-distributed-ai/tree/main/architectures/aws-pcs (read 2026-11-20).
_SMALLEST_ROOT_GIB = 300
# gp3. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateEbsBlockDeviceRequest.html
# (read 2026-11-21)
_LARGEST_ROOT_GIB = 65_536
_ULTRASERVER_TYPES = frozenset(server.instance_type for server in ULTRASERVERS.values())
_ULTRASERVER_CAPACITY = "capacity: {reservation: cr-..., kind: ultraserver}"


def check_group(group: NodeGroup) -> Iterator[Problem]:
    """Everything that is wrong with one group on its own."""
    path = ("nodes", group.name)
    try:
        _ = group.interfaces
    except ValueError as error:
        yield Problem(path=(*path, "layout"), message=str(error))
    yield from (Problem(path=(*path, "capacity"), message=message) for message in _capacity(group))
    held = group.capacity.max_instances
    if held is not None and group.count > held:
        what = "holds" if getattr(group.capacity, "instances", None) else "can hold"
        message = (
            f"{group.count:,} nodes are more than the {held} that {group.capacity.word} {what}; lower the count, or "
            "make the rest a node group of its own"
        )
        yield Problem(path=(*path, "count"), message=message)
    if not _SMALLEST_ROOT_GIB <= group.root_volume.gib <= _LARGEST_ROOT_GIB:
        message = (
            f"must be {_SMALLEST_ROOT_GIB} GiB (container images are large) to {_LARGEST_ROOT_GIB:,} GiB (the largest "
            f"gp3 volume), got {group.root_volume}"
        )
        yield Problem(path=(*path, "root-volume"), message=message)


def check_shared_reservations(groups: Sequence[NodeGroup]) -> Iterator[Problem]:
    """Whether groups that share a reservation agree on it, and fit in it together."""
    shared: dict[str, list[NodeGroup]] = {}
    for group in groups:
        if isinstance(group.capacity, TargetedReservation | CapacityBlock | UltraServerBlock):
            shared.setdefault(group.capacity.reservation_id, []).append(group)
    for id, sharers in shared.items():
        names, last = " and ".join(group.name for group in sharers), sharers[-1]
        if len({type(group.capacity) for group in sharers}) > 1:
            message = f"{id} can't be of several kinds: {names} share it; write the same kind for each"
            yield Problem(path=("nodes", last.name, "capacity"), message=message)
            continue
        held = min((held for group in sharers if (held := group.capacity.max_instances)), default=None)
        together = sum(group.count for group in sharers)
        if held is not None and together > held and all(group.count <= held for group in sharers):
            message = f"{names} share {id} and have {together:,} nodes together, more than the {held} that it can hold"
            yield Problem(path=("nodes", last.name, "count"), message=message)


def _capacity(group: NodeGroup) -> Iterator[str]:
    record, capacity = group.instance_type, group.capacity
    if isinstance(capacity, TrainingPlan):
        yield (
            "a training plan buys HyperPod capacity, and slurm is AWS PCS; buy a Capacity Block instead: "
            "{reservation: cr-..., kind: capacity-block}"
        )
    elif record.name in _ULTRASERVER_TYPES and not isinstance(capacity, UltraServerBlock):
        yield f"{record.name} is sold in UltraServers only; write {_ULTRASERVER_CAPACITY}"
    elif isinstance(capacity, UltraServerBlock) and record.name not in _ULTRASERVER_TYPES:
        yield f"{record.name} is in no UltraServer; for a Capacity Block write kind: capacity-block"
    elif isinstance(capacity, CapacityBlock) and "capacity-block" not in record.purchase:
        yield f"{record.name} is not sold in Capacity Blocks; it is sold {_ways(group)}"
    elif isinstance(capacity, Spot) and "spot" not in record.purchase:
        yield f"{record.name} is not sold on the Spot market; it is sold {_ways(group)}"
    elif isinstance(capacity, OnDemand | TargetedReservation) and "on-demand" not in record.purchase:
        yield f"{record.name} is not sold on demand; it is sold {_ways(group)}"


def _ways(group: NodeGroup) -> str:
    words = {"on-demand": "on-demand", "spot": "spot", "capacity-block": "in Capacity Blocks"}
    return " or ".join(words[way] for way in group.instance_type.purchase)
