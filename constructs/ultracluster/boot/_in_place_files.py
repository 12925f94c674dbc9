"""Files of Slurm nodes that change under a running job, and the program that fetches them."""

from collections.abc import Iterable, Mapping, Sequence

from ultracluster.boot._node_files import (
    AFTER_NETWORK,
    NODE_GROUP_FILE,
    PROGRAM,
    NodeBoot,
    NodeFile,
    oneshot,
    program,
    tar,
    timer,
    unit_file,
)

_UNIT = "ultracluster-node-scripts.service"
_TIMER_UNIT = "ultracluster-node-scripts.timer"
#: Minutes within which a node has an update: interval and random delay of the timer.
_INTERVAL, _DELAY = 10, 5
UPDATE_MINUTES = _INTERVAL + _DELAY
# Nodes send requests at different times: the Parameter Store answers 40 requests a second.
# https://docs.aws.amazon.com/general/latest/gr/ssm.html (read 2026-11-21)
_TIMER = timer(
    "Scripts of the node, every ten minutes",
    f"OnActiveSec={_INTERVAL}min",
    f"OnUnitInactiveSec={_INTERVAL}min",
    f"RandomizedDelaySec={_DELAY}min",
)


def node_scripts_parameter(cluster: str) -> str:
    """Return the name of the parameter with the URL and checksum of the archive of a cluster."""
    return f"/ultracluster/{cluster}/node-scripts"


def in_place_files(parts: Iterable[NodeBoot]) -> tuple[NodeFile, ...]:
    """Return the files that may change under a running job."""
    return tuple(file for part in parts for file in part.files if file.in_place)


def without_in_place_files(parts: Iterable[NodeBoot]) -> list[NodeBoot]:
    """Return the parts without the files that may change under a running job: those of the boot script."""
    return [NodeBoot(files=tuple(file for file in part.files if not file.in_place), units=part.units) for part in parts]


def node_scripts_archive(groups: Mapping[str, Sequence[NodeFile]]) -> bytes:
    """Return the archive of the files of all node groups of a cluster, with a directory for each group.

    Args:
        groups: Files by name of the node group.
    """
    return tar(
        [
            NodeFile(path=f"{group}{file.path}", text=file.text, mode=file.mode)
            for group, files in groups.items()
            for file in sorted(files, key=lambda file: file.path)
        ]
    )


def node_scripts_boot(*, cluster: str, region: str) -> NodeBoot:
    """Return the program and units that fetch the files at each boot, and changes within `UPDATE_MINUTES`.

    They come first among the units: others run what this one fetches.
    """
    parameter = f"--parameter {node_scripts_parameter(cluster)} --region {region}"
    command = f"{PROGRAM}node-scripts {parameter} --group ${{NODE_GROUP}}"
    service = oneshot(
        "Scripts of the node",
        unit=AFTER_NETWORK,
        # A failure is a state of the node, and does not fail the boot.
        service=(f"EnvironmentFile={NODE_GROUP_FILE}", f"ExecStart=-{command}", "TimeoutStartSec=10min"),
    )
    return NodeBoot(
        files=(program("node-scripts", comments=False), unit_file(_UNIT, service), unit_file(_TIMER_UNIT, _TIMER)),
        units=(_UNIT, _TIMER_UNIT),
    )
