"""Scripts of a group of HyperPod nodes with Slurm, as its lifecycle script reads them."""

import shlex
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.boot import NodeScript, hyperpod_parameter
from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import ScriptAsset
from ultracluster.hyperpod._node_boot import CONTROLLER, LOGIN, NodeScripts


def script_list(
    scope: Construct,
    cluster: ClusterFile,
    group: str,
    nodes: NodeScripts,
    user: Sequence[NodeScript],
    *,
    role: iam.IRole,
) -> ssm.StringParameter:
    """Publish the scripts of a group of nodes, with what is known at deployment only as arguments.

    Args:
        scope: Scope of the parameter.
        cluster: Cluster file.
        group: Name of the group.
        nodes: Scripts of the library.
        user: Scripts of the file, which run after those.
        role: Role of the nodes, which is allowed to read all of them.
    """
    place = Construct(scope, f"Scripts{group}" if group in (LOGIN, CONTROLLER) else "Scripts")
    lines, readable = [], set()
    for script in nodes.scripts:
        asset = ScriptAsset(place, script.name, text=script.text)
        readable.add(asset.arn)
        lines.append(" ".join([asset.url, asset.sha256, script.on_error, *script.arguments]))
    for action in user:
        url = action.url or ""
        if action.content is not None:
            asset = ScriptAsset(place, f"User{action.name}", text=action.content)
            url = asset.url
            readable.add(asset.arn)
        elif url.startswith("s3://"):
            readable.add(f"arn:{cdk.Stack.of(place).partition}:s3:::{url.removeprefix('s3://')}")
        lines.append(" ".join([url, action.checksum, action.on_error, *map(shlex.quote, action.arguments)]))
    policy = iam.Policy(
        place,
        "Read",
        roles=[role],
        statements=[iam.PolicyStatement(actions=["s3:GetObject"], resources=sorted(readable))],
    )
    parameter = ssm.StringParameter(
        place,
        "Parameter",
        parameter_name=hyperpod_parameter(cluster.name, group),
        string_value="\n".join(lines) + "\n",
        description=f"Scripts of the nodes {group} of {cluster.name}",
        # A list of more than 4 KiB is an advanced parameter.
        tier=ssm.ParameterTier.INTELLIGENT_TIERING if user else None,
    )
    parameter.node.add_dependency(policy)
    return parameter
