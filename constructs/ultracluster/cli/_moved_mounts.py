"""Edits that move what users see: the paths at which nodes mount file systems, which files and jobs have in them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ultracluster.cli._deploy_check import Templates

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report
    from ultracluster.clusterfile import ClusterFile

_HOME, _COMMAND = "HomeDirectory", "MountCommand"
_NODES = ("AWS::PCS::ComputeNodeGroup", "AWS::SageMaker::Cluster")
_STAYS = {
    "slurm": "Nodes with jobs keep theirs until they are replaced",
    "hyperpod-slurm": "Running nodes keep theirs, so that jobs find both: replace all nodes but the controller",
}


def with_moved_mounts(report: "Report", cluster: "ClusterFile", old: Templates, new: Templates) -> "Report":
    """Return the report with a finding for each file system that nodes of Slurm mount elsewhere, first or no longer.

    Pods of Kubernetes have the paths of their own job files.

    Args:
        report: Report of the guard.
        cluster: Cluster file.
        old: Templates that are deployed.
        new: Templates that shall be deployed.
    """
    from cdk_rehearsal.guard import Cause, Fate, Finding

    if cluster.traits.name not in _STAYS:
        return report
    findings = []
    nodes = any(it.get("Type") in _NODES for side in old.values() for it in side.get("Resources", {}).values())
    for stack in dict.fromkeys([*old, *new]):
        before, after = (side.get(stack, {}).get("Outputs", {}) for side in (old, new))
        for id in (_COMMAND, _HOME):
            if text := _effect(id, before, after, cluster, nodes=nodes):
                cause = Cause(fate=Fate.UPDATED, property="Value", reason=text)
                findings.append(
                    Finding(stack=stack, logical_id=id, type="Output", holds="paths of files", causes=(cause,))
                )
    return replace(report, in_place=(*report.in_place, *findings))


def _effect(
    id: str, before: Mapping[str, Any], after: Mapping[str, Any], cluster: "ClusterFile", *, nodes: bool
) -> str | None:
    old, new = _path(before.get(id)), _path(after.get(id))
    if old and new and old != new:
        text = (
            f"nodes mount it at {new}, and no more at {old}: the files stay, and what has {old} in it does not find "
            "them, such as directories and outputs of jobs that wait, virtual environments and links"
        )
    elif nodes and old and not new:
        text = f"nodes no longer mount it at {old}, and what has {old} in it does not find its files"
        if id == _HOME:
            text += ". Homes are on the disks of each node from now on, which leave with it"
    # An earlier release wrote no directory beside the id. A deployment that stopped early has no nodes yet.
    elif nodes and id == _HOME and new and not old and "HomeFileSystemId" not in before:
        text = (
            f"homes are at {new} from now on. Until now, each node had them on its own disks, which leave with it: "
            "nothing is copied. Before, copy what is needed, such as /home/NAME of the login nodes, to a file system"
        )
    else:
        return None
    return f"{text}. {_STAYS[cluster.traits.name]}"


def _path(output: Mapping[str, Any] | None) -> str | None:
    """Return the path of an output, or at the end of a command."""
    match (output or {}).get("Value"):
        case str(text) | {"Fn::Join": [_, [*_, str(text)]]}:
            return text.split()[-1]
    return None
