"""Scripts of the user whose failures terminate a limited number of nodes."""

import shlex
from dataclasses import replace

from ultracluster.boot import scripts
from ultracluster.boot._lifecycle_script import NodeScript

# The number is ours: as many as the breaker drains in a group of 64 nodes.
_MOST = 3


def script_slots(cluster: str, nodes: str) -> tuple[str, ...]:
    """Return the Parameter Store names of the nodes that were terminated because a script failed.

    Args:
        cluster: Name of the cluster.
        nodes: `compute` or `login`: each role has slots of its own.
    """
    return tuple(f"/ultracluster/{cluster}/failed-scripts/{nodes}/{slot}" for slot in range(1, _MOST + 1))


def limited_script(script: NodeScript, *, cluster: str, nodes: str, region: str) -> NodeScript:
    """Return a script of `TERMINATE` that terminates as many nodes within an hour as there are slots.

    The node terminates itself, for which its role needs permission, and PCS only continues: with `TERMINATE` it would
    replace nodes without limit if it could not download the script. A node on which it fails after that stays, with
    `failed` in its health file `script`: Slurm drains it, and its prolog refuses jobs. The script of a URL is
    downloaded by the node, whose role must be allowed to read it.

    Args:
        script: Script of the user. Another `on_error` is returned as it is.
        cluster: Name of the cluster.
        nodes: See `script_slots`.
        region: Region of the cluster.
    """
    if script.on_error != "TERMINATE":
        return script
    slots = script_slots(cluster, nodes)
    text = scripts.text("limited-script.sh")
    for key, value in {
        "NAME": script.name,
        "URL": script.url or "",
        "SHA256": script.checksum,
        "EVERY_BOOT": "yes" if script.every_boot else "no",
        "SLOTS": slots[0].rpartition("/")[0],
        "MOST": str(len(slots)),
        "REGION": region,
    }.items():
        text = text.replace(f"=@{key}@", f"={shlex.quote(value)}")
    content = f"{text}#SCRIPT\n".encode() + (script.content or b"")
    # At every boot: after a reboot, the node reports again.
    return replace(script, content=content, url=None, sha256=None, every_boot=True, on_error="CONTINUE")
