"""Update step of `ultracluster rehearse`: the same cluster file with one more node group."""

from pathlib import Path

from cdk_rehearsal.rehearsal import Edit, RehearsalError, Update
from ultracluster import clusterfile
from ultracluster.cli._edited_file import keys_of, text_of

NAME = "extra"


def one_more_group(file: Path) -> Update:
    """Return the update step that adds a node group to a cluster file."""

    def edit(folder: Path) -> Edit:
        target = folder / file.name
        description = f"the node group {with_one_more_group(file, target)} was added to the cluster file"
        return Edit(context={"cluster": str(target)}, description=description)

    return Update(name="one more node group", edit=edit)


def with_one_more_group(file: Path, target: Path) -> str:
    """Write the cluster file with one more node group to `target`.

    The group has one node of the first group's type, On-Demand if the rules allow it, else with the first group's
    capacity. If neither is possible, as with UltraServers, it has one small node. Returns the name of the new group.

    Raises:
        RehearsalError: If no such group is valid.
    """
    before = clusterfile.load(str(file))
    nodes = keys_of(file)["nodes"]
    first = next(iter(nodes.values()))
    name = next(free for free in (NAME, *(f"{NAME}{n}" for n in range(2, 99))) if free not in nodes)
    plain = {"type": first["type"], "count": 1, "capacity": "on-demand"}
    problem = ""
    for group in (plain, {**first, "count": 1}, dict(first), {"type": "m7i.xlarge", "count": 1}):
        keys = keys_of(file)
        keys["nodes"][name] = group
        target.write_text(text_of(keys), encoding="utf-8")
        try:
            edited = clusterfile.load(str(target))
        except clusterfile.ClusterFileError as error:
            problem = str(error)
            continue
        problem = clusterfile.orchestrator_texts(edited).new_control_plane(before, edited)
        if not problem:
            return name
    raise RehearsalError(f"the update step cannot add a node group to {file}: {problem}")
