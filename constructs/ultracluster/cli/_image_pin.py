"""Ids of images, written into a cluster file."""

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.util import load_yaml_guess_indent

from ultracluster.planning.capacity import Image

if TYPE_CHECKING:
    from ultracluster.catalogue.ec2 import Architecture
    from ultracluster.clusterfile import ClusterFile, ImageOption

Path = tuple[str, ...]


class Use(NamedTuple):
    """Nodes that have an image which may move.

    Args:
        node_group: Name of the node group, or `login`.
        path: Where the file describes the nodes.
        inherited: True if they have the image of the whole cluster.
        option: Image, as the file names it.
        architecture: CPU architecture.
    """

    node_group: str
    path: Path
    inherited: bool
    option: "ImageOption"
    architecture: "Architecture"


def uses(cluster: "ClusterFile") -> list[Use]:
    """Return the nodes whose image is not pinned."""
    every = [
        Use(
            group.name,
            ("nodes", group.section),
            cluster.nodes[group.section].image is None,
            group.image_option,
            group.instance_type.architecture,
        )
        for group in cluster.node_groups
    ]
    login = cluster.slurm.login.image is None
    every.append(Use("login", ("slurm", "login"), login, cluster.login_image, cluster.service_type.architecture))
    return [use for use in every if not (isinstance(use.option, Image) and use.option.id)]


def pins(amis: Mapping[Use, str]) -> dict[Path, str]:
    """Return the ids to write, each with the path of its mapping.

    Nodes that have the image of the whole cluster share one key if they have one id. Otherwise, each gets its own.

    Raises:
        ValueError: If nodes of one section have several ids.
    """
    shared = {ami for use, ami in amis.items() if use.inherited}
    result: dict[Path, str] = {}
    for use, ami in amis.items():
        path: Path = () if use.inherited and len(shared) == 1 else use.path
        if result.setdefault(path, ami) != ami:
            raise ValueError(f"{'.'.join(path)}: its node groups have {result[path]} and {ami}; deploy them first")
    return result


def written(text: str, ids: Mapping[Path, str], check: Callable[[str], object], *, name: str = "image") -> str:
    """Return the text of a cluster file with images; comments and layout stay.

    Args:
        text: The file.
        ids: Ids, as `pins` returns them.
        check: Raises ValueError if the result is not a valid cluster file.
        name: Key of the ids.
    """
    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, 4096
    _, indent, offset = load_yaml_guess_indent(text)
    yaml.indent(mapping=2, sequence=indent or 2, offset=offset or 0)
    document: Any = yaml.load(text)
    for path, ami in ids.items():
        node = document
        for key in path:
            if node.get(key) is None:
                node[key] = {}
            node = node[key]
        if not path and name not in node:
            # Beside the other keys of one line, before the sections.
            position = list(node).index("nodes") if "nodes" in node else len(node)
            node.insert(position, name, ami)
        else:
            node[name] = ami
    buffer = io.StringIO()
    yaml.dump(document, buffer)
    check(buffer.getvalue())
    return buffer.getvalue()
