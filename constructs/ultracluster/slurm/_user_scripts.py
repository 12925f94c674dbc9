"""Scripts of the cluster file on Slurm nodes."""

from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.boot import NodeScript, limited_script, script_slots
from ultracluster.clusterfile import ClusterFile, node_script
from ultracluster.slurm._node_termination import allow_termination

Nodes = Literal["compute", "login"]


def user_scripts(cluster: ClusterFile, section: str | None = None) -> list[NodeScript]:
    """Return the scripts of a section of `nodes`, or of the login nodes.

    Args:
        cluster: Cluster file.
        section: Section of `nodes`. By default, the scripts are those of the login nodes.
    """
    scripts = [*map(node_script, (cluster.slurm.login if section is None else cluster.nodes[section]).scripts)]
    nodes: Nodes = "login" if section is None else "compute"
    return [limited_script(script, cluster=cluster.name, nodes=nodes, region=cluster.region) for script in scripts]


def allow_scripts(scope: Construct, cluster: ClusterFile, role: iam.IRole, nodes: Nodes) -> None:
    """Allow nodes to terminate themselves if a script fails, to count those that did, and to read such scripts of S3.

    Nothing is allowed to nodes without such scripts.
    """
    holders = [cluster.slurm.login] if nodes == "login" else cluster.nodes.values()
    scripts = [script for holder in holders for script in holder.scripts if script.on_error == "TERMINATE"]
    if not scripts:
        return
    stack = cdk.Stack.of(scope)
    slots = [
        stack.format_arn(service="ssm", resource="parameter", resource_name=name.removeprefix("/"))
        for name in script_slots(cluster.name, nodes)
    ]
    iam.Grant.add_to_principal(grantee=role, actions=["ssm:GetParameter", "ssm:PutParameter"], resource_arns=slots)
    allow_termination(role)
    urls = {script.url for script in scripts if script.url is not None}
    objects = [url.removeprefix("s3://") for url in sorted(urls) if url.startswith("s3://")]
    if objects:
        arns = [f"arn:{stack.partition}:s3:::{name}" for name in objects]
        iam.Grant.add_to_principal(grantee=role, actions=["s3:GetObject"], resource_arns=arns)
