"""The update that a rehearsal makes: the same cluster file with one more node group."""

import io
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from ultracluster import clusterfile
from ultracluster.kubernetes import file_problems
from ultracluster.rehearsal.errors import RehearsalError

NAME = "extra"


def with_one_more_group(file: Path, target: Path) -> str:
    """Write the cluster file with one more node group to `target`.

    It has one node of the first group's type, bought on demand where the file's rules allow that, else like the first
    group; where neither is possible, as with UltraServers, it has one small node.

    Returns:
        The name of the new group.

    Raises:
        RehearsalError: when no such group would be valid.
    """
    yaml = YAML()
    text = file.read_text(encoding="utf-8")
    before = clusterfile.load(str(file))
    nodes = yaml.load(text)["nodes"]
    first = next(iter(nodes.values()))
    name = next(one for one in (NAME, *(f"{NAME}{n}" for n in range(2, 99))) if one not in nodes)
    plain = {"type": first["type"], "count": 1, "capacity": "on-demand"}
    problem = ""
    for group in (plain, {**first, "count": 1}, dict(first), {"type": "m7i.xlarge", "count": 1}):
        document: Any = yaml.load(text)
        document["nodes"][name] = group
        buffer = io.StringIO()
        yaml.dump(document, buffer)
        target.write_text(buffer.getvalue(), encoding="utf-8")
        try:
            edited = clusterfile.load(str(target), further=file_problems)
        except clusterfile.ClusterFileError as error:
            problem = str(error)
            continue
        if before.orchestrator == "kubernetes" or edited.controller_size == before.controller_size:
            return name
        problem = (
            f"one more node makes the controller {edited.controller_size}, and that is a new cluster; say slurm: "
            f"{{size: {edited.controller_size}}} before the first deployment"
        )
    raise RehearsalError(f"the update step cannot add a node group to {file}: {problem}")
