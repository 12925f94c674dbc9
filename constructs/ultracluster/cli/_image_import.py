"""`ultracluster image import`: container images to the shared file system of a running cluster, once for all users."""

import shlex
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracluster.cli._aws import call, client
from ultracluster.cli._output import FileArgument, fail, load

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

_Images = Annotated[
    list[str] | None,
    typer.Option("--image", metavar="REF", help="Image such as nvcr.io#nvidia/pytorch:26.08-py3; may be repeated."),
]
_Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the import has ended.")]
_DOCUMENT = "AWS-RunShellScript"
_PROGRAM = "/usr/local/sbin/ultracluster-import-image"
# Images of 20 GB take minutes. The document stops a command after an hour by default:
# https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-command-ssm-plugin-reference.html
# (read 2026-11-23)
_LIMIT_S = 2 * 3600
_POLL_S = 10
# https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html (read 2026-11-23)
_RUNNING = ("Pending", "InProgress", "Delayed")


def import_(file: FileArgument, image: _Images = None, wait: _Wait = True) -> None:
    """Import container images to the shared file system, on a login node, once for all users and nodes.

    By default, those of the job files. The import runs by Systems Manager, and goes on if this command is interrupted.
    """
    cluster = load(file)
    command = _command(cluster, image or [])
    node = _login_node(cluster)
    ssm = client("ssm", cluster.region)
    answer = call(
        ssm.send_command,
        InstanceIds=[node],
        DocumentName=_DOCUMENT,
        Comment=f"ultracluster image import {cluster.name}"[:100],
        Parameters={"commands": command, "executionTimeout": [str(_LIMIT_S)]},
    )
    assert answer is not None
    id = answer["Command"]["CommandId"]
    typer.echo(f"{node} imports; the command is {id}")
    shown = f"aws ssm get-command-invocation --region {cluster.region} --instance-id {node} --command-id {id}"
    if not wait:
        typer.echo(f"See its state: {shown}")
        return
    result = _result(ssm, node, id)
    typer.echo(result.get("StandardOutputContent", ""), nl=False)
    if result.get("Status") != "Success":
        typer.echo(result.get("StandardErrorContent", ""), nl=False, err=True)
        fail(f"{result.get('Status', 'TimedOut')}: {result.get('StatusDetails', 'no answer')}; see {shown}")


def _command(cluster: "ClusterFile", images: list[str]) -> list[str]:
    """Return the lines that import images on a node. One that fails does not stop the others."""
    from ultracluster.workloads import job_images

    if not cluster.traits.installs_software:
        fail("container images are imported by nodes of Slurm on AWS PCS")
    if cluster.storage.lustre is None and cluster.storage.home is None:
        fail("the nodes share no file system, so each imports for itself; write storage: {lustre: ...} or {home: {}}")
    pinned = job_images(cluster)
    # The names of `uname -m`, which are in the names of the files.
    names = {"x86_64": "x86_64", "arm64": "aarch64"}
    pairs = [(names[kind], ref) for kind, defaults in pinned.items() for ref in images or defaults]
    if not pairs:
        fail("no image is pinned for the queues of this cluster; name one that its nodes reach with --image REF")
    lines = [f"{_PROGRAM} --arch {kind} {shlex.quote(ref)} || failed=1" for kind, ref in pairs]
    return ["failed=0", *lines, "exit $failed"]


def _login_node(cluster: "ClusterFile") -> str:
    """Return the id of a login node that runs."""
    group = call(
        client("pcs", cluster.region).get_compute_node_group,
        "ResourceNotFoundException",
        clusterIdentifier=cluster.name,
        computeNodeGroupIdentifier="login",
    )
    if group is None:
        fail(f"{cluster.name} has no login nodes yet; deploy it first")
    filters = [
        {"Name": "instance-state-name", "Values": ["running"]},
        {"Name": "tag:aws:pcs:compute-node-group-id", "Values": [group["computeNodeGroup"]["id"]]},
    ]
    page = call(client("ec2", cluster.region).describe_instances, Filters=filters) or {}
    ids = [str(item["InstanceId"]) for reservation in page.get("Reservations", []) for item in reservation["Instances"]]
    if not ids:
        fail(f"no login node of {cluster.name} is running")
    return ids[0]


def _result(ssm: Any, node: str, id: str) -> dict[str, Any]:
    """Return the result of a command, when it has ended."""
    for _ in range(_LIMIT_S // _POLL_S + 1):
        # An invocation does not exist in the first moments.
        result: dict[str, Any] | None = call(
            ssm.get_command_invocation, "InvocationDoesNotExist", CommandId=id, InstanceId=node
        )
        if result is not None and result["Status"] not in _RUNNING:
            return result
        time.sleep(_POLL_S)
    return {}
