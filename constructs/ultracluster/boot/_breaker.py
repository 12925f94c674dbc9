"""The circuit breaker of the health checks: its mode, and the replacement of bad nodes."""

from collections.abc import Mapping

from ultracluster.boot._node_files import NodeBoot, NodeFile, program

#: Nodes of a group that health checks may drain or replace within an hour: this many, or this share, if that is more.
#: The numbers are ours. `drain-on-failure.sh` counts nodes in Slurm with the same ones, and keeps at most twice
#: the share drained.
LEAST_NODES, SHARE_PERCENT = 2, 5
#: Modes of the health checks at run time: drain, only report, neither.
HEALTH_MODES = ("enforce", "observe", "off")


def breaker_limit(nodes: int) -> int:
    """Return the most nodes of a group that health checks drain or replace within an hour."""
    return max(LEAST_NODES, nodes * SHARE_PERCENT // 100)


def health_mode_parameter(cluster: str) -> str:
    """Return the name of the parameter with the mode of the health checks."""
    return f"/ultracluster/{cluster}/health-mode"


def replaced_path(cluster: str) -> str:
    """Return the Parameter Store path of the instances that were terminated last."""
    return f"/ultracluster/{cluster}/replaced"


def alert_topic_parameter(cluster: str) -> str:
    """Return the name of the parameter with the ARN of the topic of alerts."""
    return f"/ultracluster/{cluster}/alert-topic"


def breaker_boot(*, cluster: str, region: str, replace: Mapping[str, int] | None = None) -> NodeBoot:
    """Return the settings of the breaker, and the program that replaces bad nodes.

    Args:
        cluster: Name of the cluster.
        region: Its region.
        replace: Instances that may be terminated within an hour, by node group. Default: none are.
    """
    files = [_settings("breaker", False, parameter=health_mode_parameter(cluster), region=region)]
    if replace:
        limits = " ".join(f"{group}={most}" for group, most in replace.items())
        topic = alert_topic_parameter(cluster)
        files += [
            program("replace", comments=False, in_place=True),
            _settings("replace", True, slots=replaced_path(cluster), region=region, topic=topic, limits=limits),
        ]
    return NodeBoot(files=tuple(files), units=())


def _settings(name: str, in_place: bool, **values: str) -> NodeFile:
    text = "".join(f"{key} {value}\n" for key, value in values.items())
    return NodeFile(path=f"/etc/ultracluster/{name}", text=text, in_place=in_place)
