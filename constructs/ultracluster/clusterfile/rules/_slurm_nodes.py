"""Rules of what Slurm nodes run and send."""

from collections.abc import Iterator, Sequence

from ultracluster.boot import CANARY_SCRIPT, LIBRARY_SCRIPTS, check_scripts
from ultracluster.catalogue.monitoring import LOG_RETENTION_DAYS
from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._node_group import CANARY
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile._scripts_of_file import node_script
from ultracluster.clusterfile.rules._rule import error, shared
from ultracluster.clusterfile.sections._nodes import NODE_GROUP
from ultracluster.clusterfile.sections._scripts import Script
from ultracluster.planning.capacity import Image, OpenReservation, ReservationGroup, TargetedReservation
from ultracluster.rules import Refusal

_RETENTION = error("slurm-logs-retention", "CloudWatch Logs supports fixed retention periods.")
_CANARY = error("canary", "A canary is a node of a reservation, always up, with a pinned image.")
_SCRIPTS = {
    rule: shared(rule) for rule in ("node-script", "node-script-checksum", "node-script-count", "node-script-size")
}


def check_slurm_nodes(draft: Draft) -> Iterator[Problem]:
    """Check the logs and the scripts of the nodes."""
    retention = draft.slurm.logs.retention
    if retention.days not in LOG_RETENTION_DAYS:
        days = ", ".join(map(str, LOG_RETENTION_DAYS))
        longer = next((day for day in LOG_RETENTION_DAYS if day * 86_400 >= retention.seconds), LOG_RETENTION_DAYS[-1])
        message = f"must be one of {days} days, got {retention}; write {longer} d"
        yield _RETENTION(("slurm", "logs", "retention"), message)
    yield from check_user_scripts(draft)
    yield from _check_canaries(draft)


def _check_canaries(draft: Draft) -> Iterator[Problem]:
    for name, section in draft.nodes.items():
        if not section.canary:
            continue
        path: Path = ("nodes", name, "canary")
        groups = [group for group in draft.node_groups if group.section == name]
        if not NODE_GROUP.fullmatch(name + CANARY):
            message = f"the canary would be called {name}{CANARY}, and a node group has a name of at most 25 characters"
            yield _CANARY(path, f"{message}; shorten {name}, or remove canary", at_key=True)
        if not any(group.canary for group in groups):
            yield _CANARY(path, "a group of one node has no canary; remove it, or write count: 2 or more")
            continue
        group = groups[-1]
        if not isinstance(group.capacity, TargetedReservation | OpenReservation | ReservationGroup):
            message = f"needs the capacity of a reservation, got {group.capacity.word}: its node must be up at any time"
            yield _CANARY(path, f"{message}; remove canary, or write capacity: cr-...")
        elif group.instance_type.ultraservers:
            yield _CANARY(path, f"nodes of {group.instance_type.name} are replaced as a whole UltraServer; remove it")
        elif section.min == 0:
            yield _CANARY(("nodes", name, "min"), "the canary is always up; write 1 or more, or remove canary")
        image = group.image_option
        if image == "aws" or (isinstance(image, Image) and image.id is None):
            message = "the image changes without an edit, so that no canary can be first; pin it"
            yield _CANARY(path, f"{message}: ultracluster image pin, image: ami-... or image: build")


def check_user_scripts(draft: Draft) -> Iterator[Problem]:
    """Check the scripts of the nodes."""
    for name, section in draft.nodes.items():
        library = [*LIBRARY_SCRIPTS, *([CANARY_SCRIPT] if section.canary else [])]
        yield from _check_scripts(("nodes", name, "scripts"), section.scripts, library)
    yield from _check_scripts(("slurm", "login", "scripts"), draft.slurm.login.scripts, LIBRARY_SCRIPTS)


def _check_scripts(path: Path, scripts: Sequence[Script], library: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    named = []
    for index, script in enumerate(scripts):
        try:
            action = node_script(script)
        except Refusal as refusal:
            for message in refusal.messages:
                yield _SCRIPTS[message.rule.id]((*path, index), str(message), at_key=True)
        else:
            named.append((action.stage, action.name))
    for message in check_scripts([*library, *named]):
        yield _SCRIPTS[message.rule.id](path, str(message), at_key=True)
