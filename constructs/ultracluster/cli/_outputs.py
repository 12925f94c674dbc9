"""Outputs of a deployed cluster: from CloudFormation, or from the file of `cdk deploy --outputs-file`."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

StackOption = Annotated[
    list[str] | None,
    typer.Option(metavar="STACK", help="Stack with these outputs, such as that of an UltraCluster. Repeatable."),
]


def deployed_outputs(
    cluster: "ClusterFile", file: Path | None, stacks: Collection[str] | None = None
) -> dict[str, str]:
    """Return the outputs of the stacks of a cluster by name, from a file or else from CloudFormation.

    Args:
        cluster: Cluster file.
        file: File of `cdk deploy --outputs-file`, or None.
        stacks: Names of its stacks. Default: those of its name.

    Raises:
        ValueError: If the file has no such stack, or several clusters.
        ApplyError: If CloudFormation does not answer, has no such stack, or several clusters.
    """
    from ultracluster import platform

    if file is None:
        return platform.stack_outputs(cluster.name, cluster.region, stacks or ())
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or not all(isinstance(outputs, dict) for outputs in content.values()):
        raise ValueError(f"{file} holds no outputs of stacks; write it with cdk deploy --outputs-file")
    try:
        return platform.file_outputs(cluster.name, content, stacks or ())
    except ValueError as error:
        raise ValueError(f"{file}: {error}; name the stacks by --stack") from None
