"""Stacks of a cluster that are deployed, and their outputs."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from ultracluster.platform._aws import aws_session, call
from ultracluster.platform._errors import ApplyError

_STACK = r"(Network|Storage|Cluster|Observability|Images|Compute(-\d+)?|Platform)"
# Logical id of an output of `UltraCluster`: the path of its construct, and a checksum.
_OUTPUT = re.compile(r".*Outputs([A-Z][A-Za-z]*)[0-9A-F]{8}")


def stage_of(stack: str, cluster: str) -> str | None:
    """Return what precedes the name of a cluster in that of its stack, such as `Prod-`; None for another name."""
    match = re.fullmatch(rf"(.*){re.escape(cluster)}-{_STACK}", stack)
    return match[1] if match else None


def is_stack_of(stack: Mapping[str, Any], cluster: str) -> bool:
    """Return whether a stack, as CloudFormation describes it, is one of `ClusterStacks`, by name and description.

    A name alone does not identify a cluster: `llama-Compute` may be somebody else's. The description of each stack ends
    in the name of its cluster.
    """
    described = str(stack.get("Description") or "").endswith(f" of the cluster {cluster}")
    return described and stage_of(stack["StackName"], cluster) is not None


def output_name(key: str) -> str:
    """Return the name of an output, such as `FileSystemId`; in the stack of an `UltraCluster`, its key is longer."""
    match = _OUTPUT.fullmatch(key)
    return match[1] if match else key


def stack_outputs(cluster: str, region: str, names: Collection[str] = ()) -> dict[str, str]:
    """Return the outputs of the stacks of a cluster.

    Args:
        cluster: Name of the cluster.
        region: AWS region.
        names: Names of its stacks. Default: those of `ClusterStacks`, in a Stage or not, or a stack of its name.

    Raises:
        ApplyError: If CloudFormation does not answer, there is no such stack, or there are several clusters.
    """
    client = aws_session(region).client("cloudformation")
    remedy = "check the credentials; they need cloudformation:DescribeStacks"
    pages = call(lambda: list(client.get_paginator("describe_stacks").paginate()), "CloudFormation", remedy)
    every = [stack for page in pages for stack in page["Stacks"]]
    stacks = [stack for stack in every if stack["StackName"] in (names or (cluster,))]
    if not names:
        stacks += [stack for stack in every if is_stack_of(stack, cluster)]
    if not stacks:
        missing = " or ".join(names) or f"{cluster} or {cluster}-Network"
        remedy = "deploy the stacks first, name the stack by --stack, or pass --outputs"
        raise ApplyError("connect", "CloudFormation", f"there is no stack {missing} in {region}", remedy)
    stages = {stage_of(stack["StackName"], cluster) for stack in stacks}
    keys = [[output_name(row["OutputKey"]) for row in stack.get("Outputs", [])] for stack in stacks]
    if (not names and len(stages) > 1) or any(len(set(it)) < len(it) for it in keys):
        reason = f"{', '.join(stack['StackName'] for stack in stacks)} are of several clusters called {cluster}"
        raise ApplyError("connect", "CloudFormation", reason, "name the stacks by --stack, or pass --outputs")
    return {output_name(row["OutputKey"]): row["OutputValue"] for it in stacks for row in it.get("Outputs", [])}


def file_outputs(cluster: str, stacks: Mapping[str, Mapping[str, Any]], names: Collection[str] = ()) -> dict[str, str]:
    """Return the outputs of the stacks of a cluster from those of all stacks that `cdk deploy --outputs-file` wrote.

    The file has no descriptions: names alone identify the stacks. An `UltraCluster` may be in a stack of any name: if
    no stack has the name of the cluster, its outputs identify it.

    Args:
        cluster: Name of the cluster.
        stacks: Outputs of each stack.
        names: Names of its stacks. Default: those of `ClusterStacks`, in a Stage or not, or of an `UltraCluster`.

    Raises:
        ValueError: If there is no such stack, or an output has several values.
    """
    stages = {stack: stage_of(stack, cluster) for stack in stacks}
    candidates = (
        [stack for stack in stacks if stack in names],
        [stack for stack, stage in stages.items() if stage == "" or stack == cluster],
        [stack for stack, stage in stages.items() if stage],
        [stack for stack, outputs in stacks.items() if any(output_name(key) != key for key in outputs)],
    )
    chosen: list[str] = next(filter(None, candidates[:1] if names else candidates[1:]), [])
    if not chosen:
        missing = " or ".join(names) or f"the cluster {cluster}"
        raise ValueError(f"there is no stack of {missing}, only {', '.join(stacks) or 'an empty file'}")
    result: dict[str, str] = {}
    for stack in chosen:
        for key, value in stacks[stack].items():
            name = output_name(key)
            # Exports connect stacks: two may have the same name there.
            if not key.startswith("ExportsOutput") and result.setdefault(name, str(value)) != str(value):
                raise ValueError(f"{', '.join(chosen)} are of several clusters: {name} has more than one value")
    return result
