"""Rules of node groups."""

from collections.abc import Iterator, Sequence

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._node_group import KUBERNETES, NodeGroup
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import error
from ultracluster.planning.capacity import (
    CapacityBlock,
    Image,
    InterruptibleReservation,
    TargetedReservation,
    UltraServerBlock,
    check_image,
    check_sold,
    purchase,
)

_LAYOUT = error("layout")
_SERVICE = error("capacity-service")
_PURCHASE = error("purchase-option")
_HELD = error("capacity-count")
_ROOT = error("root-volume")
_PLACEMENT = error("placement-group")
_SHARED = error("reservation-shared", "Node groups that share a reservation must agree on it and fit in it together.")
_IMAGE = error("image")

# Container images fill AWS's default of about 75 GiB, and its templates for PCS take 300 at least. See
# https://github.com/awslabs/awsome-distributed-ai/tree/main/architectures/aws-pcs (read 2026-11-20).
_SMALLEST_ROOT_GIB = 300
# gp3. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateEbsBlockDeviceRequest.html
# (read 2026-11-21)
_LARGEST_ROOT_GIB = 65_536

# Service that an image is for, what AWS's parameters of such images hold, and an example.
_READY = {
    "slurm": ("AWS PCS", "/pcs/", "/aws/service/pcs/..."),
    KUBERNETES: ("EKS", "/eks/", "/aws/service/eks/..."),
}


def check_node_groups(draft: Draft) -> Iterator[Problem]:
    """Check each node group by itself, then their reservations and images."""
    for group in draft.node_groups:
        yield from _check_group(group, draft.orchestrator)
    yield from _check_shared_reservations(draft.node_groups)
    yield from _check_images(draft)


def _check_group(group: NodeGroup, orchestrator: str) -> Iterator[Problem]:
    path = ("nodes", group.section)
    try:
        _ = group.interfaces
    except ValueError as error:
        yield _LAYOUT((*path, "layout"), str(error))
    yield from _check_capacity(group, orchestrator)
    held = group.capacity.max_instances
    if held is not None and group.count > held and not group.instance_type.ultraservers:
        what = "holds" if getattr(group.capacity, "instances", None) else "can hold"
        message = (
            f"{group.count:,} nodes are more than the {held} that {group.capacity.word} {what}; lower the count, or "
            "make the rest a node group of its own"
        )
        yield _HELD((*path, "count"), message)
    if not _SMALLEST_ROOT_GIB <= group.root_volume.gib <= _LARGEST_ROOT_GIB:
        message = (
            f"must be {_SMALLEST_ROOT_GIB} GiB (container images are large) to {_LARGEST_ROOT_GIB:,} GiB (the largest "
            f"gp3 volume), got {group.root_volume}"
        )
        yield _ROOT((*path, "root-volume"), message)
    try:
        _ = group.placed
    except ValueError as error:
        yield _PLACEMENT((*path, "placement-group"), str(error))


def _check_shared_reservations(groups: Sequence[NodeGroup]) -> Iterator[Problem]:
    shared: dict[str, list[NodeGroup]] = {}
    for group in groups:
        if isinstance(
            group.capacity, TargetedReservation | InterruptibleReservation | CapacityBlock | UltraServerBlock
        ):
            shared.setdefault(group.capacity.reservation_id, []).append(group)
    for id, sharers in shared.items():
        names, last = " and ".join(group.section for group in sharers), sharers[-1]
        path = ("nodes", last.section, "capacity")
        if len({type(group.capacity) for group in sharers}) > 1:
            message = f"{id} can't be of several kinds: {names} share it; write the same kind for each"
            yield _SHARED(path, message)
            continue
        if len({group.capacity for group in sharers}) > 1:
            message = f"{names} share {id} and say different things of it; write the same for each"
            yield _SHARED(path, message)
            continue
        for what, several in (
            ("in one zone", {group.zone: None for group in sharers}),
            ("for one instance type", {group.instance_type.name: None for group in sharers}),
        ):
            if len(several) > 1:
                message = f"{id} is {what}, and {names}, which share it, have {' and '.join(several)}; correct one"
                yield _SHARED(path, message)
        if len(sharers) > 1 and last.instance_type.ultraservers:
            message = f"{id} holds one UltraServer, whole, and {names} each want one; name another for one of them"
            yield _SHARED(path, message)
            continue
        held = sharers[0].capacity.max_instances
        together = sum(group.count for group in sharers)
        if held is not None and together > held and all(group.count <= held for group in sharers):
            message = f"{names} share {id} and have {together:,} nodes together, more than the {held} that it can hold"
            yield _HELD(("nodes", last.section, "count"), message)


def _check_images(draft: Draft) -> Iterator[Problem]:
    uses: list[tuple[Path, InstanceType, Image]] = [
        (("nodes", group.section, "image"), group.instance_type, group.image)
        for group in draft.node_groups
        if group.image
    ]
    login = None if draft.orchestrator == KUBERNETES else valid(lambda: draft.slurm.login.image)
    if login is not None and (login_type := valid(lambda: draft.service_type)):
        uses.append((("slurm", "login", "image"), login_type, login))
    service, word, example = _READY[KUBERNETES if draft.orchestrator == KUBERNETES else "slurm"]
    meant: dict[str, dict[str, str]] = {}
    for path, record, image in uses:
        problems = check_image(image, record)
        if (image.parameter or "").startswith("/aws/service/") and word not in (image.parameter or ""):
            problems.append(f"{image.parameter} names images that are not ready for {service}; take {example}")
        yield from (_IMAGE(path, message) for message in problems)
        # The file describes an image once, for all of its uses.
        known = meant.setdefault(image.id or image.parameter or "", {})
        if image.known_architecture:
            known.setdefault(image.known_architecture, f"said to be for {image.known_architecture}")
        known.setdefault(record.architecture, f"for {record.name} ({record.architecture})")
        if len(known) > 1 and not problems:
            ways = " and ".join(known.values())
            message = f"{image.id or image.parameter} can't be {ways} at once; take an image of each architecture"
            yield _IMAGE(path, message)


def _check_capacity(group: NodeGroup, orchestrator: str) -> Iterator[Problem]:
    path: Path = ("nodes", group.section, "capacity")
    try:
        # On EKS, a self-managed Auto Scaling group launches what a managed node group cannot.
        purchase(group.capacity, "self-managed" if orchestrator == KUBERNETES else "pcs")
    except ValueError as error:
        yield _SERVICE(path, str(error))
        return
    yield from (_PURCHASE(path, message) for message in check_sold(group.instance_type, group.capacity))
