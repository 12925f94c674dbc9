"""Scripts of a cluster file, as AWS PCS runs them, and paths of the other files that it names."""

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ultracluster.clusterfile.sections._scripts import Script
from ultracluster.rules import Message, Refusal

if TYPE_CHECKING:
    from ultracluster.boot import NodeScript

# `limited_script` adds less than this to a script that may terminate nodes.
_SPARE = 6144


def node_script(script: Script) -> "NodeScript":
    """Return a script of a node.

    Raises:
        Refusal: If AWS PCS would not accept it, its file cannot be read, or it has no checksum.
    """
    from ultracluster.boot import NodeScript, read_script, script_name

    content = None if script.file is None else read_script(script.file, spare=_SPARE)
    if isinstance(content, Message):
        raise Refusal("", [content])
    return NodeScript(
        name=script.name or script_name(script.file or script.url or ""),
        content=content,
        url=script.url,
        sha256=script.sha256,
        arguments=script.arguments,
        stage=script.stage,
        on_error=script.on_error,
        every_boot=script.every_boot,
    )


def resolve_files(data: Mapping[str, Any], name: str) -> None:
    """Replace scripts, rule files and descriptions of types by paths from the directory of the cluster file `name`."""
    for named, key in _named(data):
        if isinstance(named[key], str):
            named[key] = os.path.join(os.path.dirname(name), named[key])


def _named(data: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each mapping or list with the key of a path in it."""
    nodes, slurm = data.get("nodes"), data.get("slurm")
    sections = [*nodes.values()] if isinstance(nodes, Mapping) else []
    sections.append(slurm.get("login") if isinstance(slurm, Mapping) else None)
    for section in sections:
        scripts = section.get("scripts") if isinstance(section, Mapping) else None
        for script in scripts if isinstance(scripts, list) else ():
            if isinstance(script, dict) and "file" in script:
                yield script, "file"
    types = data.get("types")
    for declared in types.values() if isinstance(types, Mapping) else ():
        if isinstance(declared, dict) and "from" in declared:
            yield declared, "from"
    section = data.get("observability")
    files = section.get("rules") if isinstance(section, Mapping) else None
    for number in range(len(files)) if isinstance(files, list) else ():
        yield files, number
