"""Hold the queues of Kueue while nodes are updated, and let them go on afterwards."""

import json
import time
from typing import Literal

from ultracluster.platform._bundle import Bundle
from ultracluster.platform._errors import ApplyError
from ultracluster.platform._existing import admitted, few
from ultracluster.platform._objects import PART_OF, set_id
from ultracluster.platform._tools import Tools

Hold = Literal["drain", "wait"]
#: Annotation of the queues that `hold` stopped, with the policy that they had.
HELD = "ultracluster.io/held"
# https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#stoppolicy (read 2026-11-23)
_POLICIES = {"drain": "HoldAndDrain", "wait": "Hold"}
_KIND = "clusterqueues.kueue.x-k8s.io"
_POLL_SECONDS = 10


def hold(tools: Tools, bundle: Bundle, mode: Hold, *, seconds: float) -> list[str]:
    """Stop the queues of a bundle, and wait until no workload has nodes; return their names.

    Args:
        tools: kubectl and helm.
        bundle: Bundle of the cluster: its queues are held, and those that it had before.
        mode: `drain` evicts the workloads, which start again from their checkpoint; `wait` waits for their end.
        seconds: Time until no workload has nodes.

    Raises:
        ApplyError: If another scheduler than Kueue has the queues, or workloads still have nodes.
    """
    if bundle.scheduler != "kueue":
        remedy = "stop the jobs of the group yourself, then deploy"
        raise ApplyError("hold", "queues", f"scheduler is {bundle.scheduler}, and only Kueue's are held", remedy)
    expected = {item["metadata"]["name"] for item in bundle.objects if item["kind"] == "ClusterQueue"}
    # The file may have a team that is not deployed yet, and lack one that is.
    selector = f"--selector={PART_OF}={set_id(bundle.cluster)}"
    deployed = {item["metadata"]["name"] for item in tools.get(_KIND, selector)}
    queues = {item["metadata"]["name"]: item for item in tools.get(_KIND)}
    names = sorted((expected | deployed) & {*queues})
    for name in names:
        # Somebody else may have stopped it, and it is held twice if the first time ended in an error.
        before = queues[name].get("spec", {}).get("stopPolicy", "None")
        before = queues[name]["metadata"].get("annotations", {}).get(HELD, before)
        _patch(tools, name, _POLICIES[mode], held=before)
    until = time.monotonic() + seconds
    while rows := admitted(tools, queues=set(names)):
        if time.monotonic() >= until:
            remedy = "wait for them or delete them, and hold again; `ultracluster apply` lets the queues go on"
            raise ApplyError("hold", "queues", f"{len(rows)} workloads still have nodes: {few(rows)}", remedy)
        time.sleep(_POLL_SECONDS)
    return names


def held_queues(tools: Tools, bundle: Bundle) -> dict[str, str]:
    """Return the queues that `hold` stopped, with the policy that they had before."""
    if bundle.scheduler != "kueue":
        return {}
    metadata = [item["metadata"] for item in tools.get(_KIND)]
    return {each["name"]: each["annotations"][HELD] for each in metadata if HELD in each.get("annotations", {})}


def resume(tools: Tools, bundle: Bundle) -> list[str]:
    """Restore the policy that held queues had before, and return their names."""
    queues = held_queues(tools, bundle)
    for name, policy in queues.items():
        _patch(tools, name, policy, held=None)
    return [*queues]


def _patch(tools: Tools, name: str, policy: str, *, held: str | None) -> None:
    # With a manager of its own: an apply does not own these fields, and leaves them.
    patch = {"metadata": {"annotations": {HELD: held}}, "spec": {"stopPolicy": policy}}
    arguments = ("--type=merge", "--field-manager=ultracluster-hold", f"--patch={json.dumps(patch)}")
    tools.run("kubectl", "patch", _KIND, name, *arguments)
