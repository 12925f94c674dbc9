"""What the nodes of a cluster fetch at boot."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_pcs as l1
from constructs import Construct

from ultracluster.compute import ScriptAsset
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.planning import BootScript


class NodeScripts(Construct):
    """The boot scripts of a cluster's node groups in one stack: each once, however many groups share it.

    Each is an object in the bucket that `cdk bootstrap` made, under its own checksum, and the role of the nodes may
    read these objects and nothing beside them. The policy stands with the node groups, not with the role: an update
    that fails takes both back.

    Args:
        role: Role of the nodes.
    """

    def __init__(self, scope: Construct, id: str, *, role: iam.IRole) -> None:
        super().__init__(scope, id)
        self._assets: dict[str, ScriptAsset] = {}
        # One statement that grows: the policies of a role have little room.
        self._read = iam.PolicyStatement(actions=["s3:GetObject"])
        iam.Policy(self, "Read", statements=[self._read]).attach_to_role(role)

    @staticmethod
    def of(scope: Construct, cluster: PcsCluster) -> "NodeScripts":
        """Those of a cluster in the stack of `scope`, made once."""
        stack = cdk.Stack.of(scope)
        # Not by the whole path: the same stacks in a stage of a pipeline keep their logical ids.
        home = cdk.Stack.of(cluster).node
        id = f"NodeScripts-{home.id}-{cluster.node.path.removeprefix(home.path).replace('/', '-')}"
        found = stack.node.try_find_child(id)
        return NodeScripts(stack, id, role=cluster.node_role) if found is None else cast(NodeScripts, found)

    def add(self, script: BootScript) -> l1.CfnComputeNodeGroup.NodeLifecycleActionsProperty:
        """How AWS PCS runs a script at every boot of a node, before slurmd starts.

        A script that is not there, or not what it was, is never run: PCS terminates the node and starts another. What
        goes wrong later drains the node, with the reason.

        See: https://docs.aws.amazon.com/pcs/latest/userguide/cng-node-lifecycle-actions-configure.html
        (read 2026-11-21)
        """
        asset = self._assets.get(script.sha256)
        if asset is None:
            asset = self._assets[script.sha256] = ScriptAsset(self, f"Script{script.sha256[:8]}", text=script.text)
            self._read.add_resources(asset.arn)
        return l1.CfnComputeNodeGroup.NodeLifecycleActionsProperty(
            script_caching_policy="CACHE_ONCE",
            stages=l1.CfnComputeNodeGroup.NodeLifecycleStagesProperty(
                node_bootstrapped=[
                    l1.CfnComputeNodeGroup.NodeLifecycleScriptProperty(
                        name="ultracluster-boot",
                        script_source=l1.CfnComputeNodeGroup.ScriptSourceProperty(
                            script_location=asset.url, checksum=asset.sha256
                        ),
                        arguments=list(script.arguments) or None,
                        execution_policy="EVERY_BOOT",
                        on_error="TERMINATE",
                    )
                ]
            ),
        )
