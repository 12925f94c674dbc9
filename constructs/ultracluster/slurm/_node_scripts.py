"""Boot scripts of the nodes of a cluster."""

from collections.abc import Sequence
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_pcs as l1
from constructs import Construct, IConstruct

from ultracluster.boot import BootScript
from ultracluster.compute import ScriptAsset
from ultracluster.planning import checked
from ultracluster.slurm._interfaces import IPcsCluster


class NodeScripts(Construct):
    """Boot scripts of the node groups of a cluster with one role in one stack, each once for all that share it.

    Each is an object in the bucket of `cdk bootstrap`, under its own checksum, and the role of the nodes may read these
    objects only. The policy is in the stack of the node groups, not in that of the role: an update that fails rolls
    back both.

    Args:
        role: Role of the nodes.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, role: iam.IRole) -> None:
        super().__init__(scope, id)
        self._assets: dict[str, ScriptAsset] = {}
        # One statement for all scripts: the size of the policies of a role is limited.
        self._read = iam.PolicyStatement(actions=["s3:GetObject"])
        self._role = role

    @staticmethod
    def of(scope: Construct, cluster: IPcsCluster, role: iam.IRole) -> "NodeScripts":
        """Return the scripts of a cluster and role in the stack of a scope, and create them if they do not exist."""
        stack = cdk.Stack.of(scope)
        # Not by the whole path: the same stacks in a stage of a pipeline keep their logical ids.
        id = f"NodeScripts-{cdk.Stack.of(cluster).node.id}-{_path(cluster)}"
        if role is not cluster.node_role:
            id += f"-{_path(role)}"
        child = stack.node.try_find_child(id)
        return NodeScripts(stack, id, role=role) if child is None else cast(NodeScripts, child)

    def add(self, scripts: Sequence[BootScript]) -> l1.CfnComputeNodeGroup.NodeLifecycleActionsProperty:
        """Add scripts, and return the lifecycle actions that run them at every boot of a node, before slurmd starts.

        If a script is missing or its checksum differs, PCS does what its `on_error` says. After a later failure of the
        boot script the node is drained, with the reason.

        See: https://docs.aws.amazon.com/pcs/latest/userguide/cng-node-lifecycle-actions-configure.html
        (read 2026-11-21)
        """
        return l1.CfnComputeNodeGroup.NodeLifecycleActionsProperty(
            script_caching_policy="CACHE_ONCE",
            stages=l1.CfnComputeNodeGroup.NodeLifecycleStagesProperty(
                node_bootstrapped=[self._action(script) for script in scripts]
            ),
        )

    def _action(self, script: BootScript) -> l1.CfnComputeNodeGroup.NodeLifecycleScriptProperty:
        asset = self._assets.get(script.sha256)
        if not self._assets:
            iam.Policy(self, "Read", statements=[self._read]).attach_to_role(self._role)
        if asset is None:
            asset = self._assets[script.sha256] = ScriptAsset(self, f"Script{script.sha256[:8]}", text=script.text)
            self._read.add_resources(asset.arn)
        return l1.CfnComputeNodeGroup.NodeLifecycleScriptProperty(
            name=script.name,
            script_source=l1.CfnComputeNodeGroup.ScriptSourceProperty(script_location=asset.url, checksum=asset.sha256),
            arguments=list(script.arguments) or None,
            execution_policy="EVERY_BOOT",
            on_error=script.on_error,
        )


def _path(construct: IConstruct) -> str:
    """Return the path of a construct in its stack, as a part of a construct id."""
    home = cdk.Stack.of(construct).node
    return construct.node.path.removeprefix(home.path).removeprefix("/Default").replace("/", "-")
