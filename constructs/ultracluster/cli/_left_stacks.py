"""Stacks of a cluster that are deployed and no longer in its app, such as the last stack of node groups."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_STACK = r"(Network|Storage|Cluster|Observability|Images|Compute(-\d+)?|Platform)"


def belongs_to(cluster: str, stacks: Iterable[str]) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function that recognizes the stacks of a cluster, by name and description.

    A name alone does not identify a cluster: `llama-Compute` may be somebody else's. The description of each stack ends
    in the name of its cluster. Stacks of a Stage have its name first, so that a second Stage is another cluster.
    """
    pattern = re.compile(rf"(.*){re.escape(cluster)}-{_STACK}")
    stages = {match[1] for stack in stacks if (match := pattern.fullmatch(stack))}

    def belongs(stack: Mapping[str, Any]) -> bool:
        match = pattern.fullmatch(stack["StackName"])
        described = str(stack.get("Description") or "").endswith(f" of the cluster {cluster}")
        return match is not None and match[1] in stages and described

    return belongs
