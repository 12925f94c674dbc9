"""Update step of `ultracluster rehearse`: the same cluster file with one more node group."""

from pathlib import Path

from cdk_rehearsal.rehearsal import Edit, RehearsalError, Update
from ultracluster import clusterfile
from ultracluster.cli._edited_file import keys_of, text_of

NAME = "extra"


def one_more_group(file: Path) -> Update:
    """Return the update step that adds a node group to a cluster file.

    Raises:
        RehearsalError: If no such group is valid.
    """
    name, text = with_one_more_group(file)

    def edit(folder: Path) -> Edit:
        target = folder / file.name
        target.write_text(text, encoding="utf-8")
        description = f"the node group {name} was added to the cluster file"
        return Edit(context={"cluster": str(target)}, description=description)

    return Update(name="one more node group", edit=edit)


def with_one_more_group(file: Path) -> tuple[str, str]:
    """Return the name of a new node group, and the text of the cluster file with it.

    The group has one node of the first group's type, On-Demand if the rules allow it, else with the first group's
    capacity. If neither is possible, as with UltraServers, it has one small node.

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
        text = text_of(keys)
        try:
            edited = clusterfile.loads(text, f"{file} with one more node group")
        except clusterfile.ClusterFileError as error:
            problem = str(error)
            continue
        problem = clusterfile.orchestrator_texts(edited).new_control_plane(before, edited)
        if not problem:
            return name, text
    raise RehearsalError(f"the update step cannot add a node group to {file}: {problem}")
