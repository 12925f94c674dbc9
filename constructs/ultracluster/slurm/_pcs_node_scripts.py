"""Scripts that the nodes of a cluster run at boot."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_pcs as l1
from constructs import Construct, IConstruct

from ultracluster.boot import NodeScript
from ultracluster.compute import ScriptReads
from ultracluster.planning import checked, once, stack_of
from ultracluster.planning.nodes import STAGES
from ultracluster.slurm._interfaces import IPcsCluster


class NodeScripts(Construct):
    """Scripts of the node groups of a cluster with one role in one stack, each once for all that share it.

    Each is an object in the bucket of `cdk bootstrap`, under its own checksum, or one that a `NodeScript` names in S3.
    The role of the nodes may read these objects only. The policy is in the stack of the node groups, not in that of the
    role: an update that fails rolls back both.

    A node group that waits in an update has scripts of its own: PCS starts its nodes with the earlier scripts in that
    time, and the policy must not end before they do.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, role: iam.IRole) -> None:
        super().__init__(scope, id)
        # By default, the name is the same in every stack of a cluster, and IAM overwrites a policy of the role.
        name = cdk.Names.unique_resource_name(self, max_length=120)
        self._reads = ScriptReads(self, lambda: iam.Policy(self, "Read", policy_name=name, roles=[role]), [role])

    @staticmethod
    def of(scope: Construct, cluster: IPcsCluster, role: iam.IRole, *, waits: bool = False) -> "NodeScripts":
        """Return the scripts of a cluster and role in the stack of a scope, and create them if they do not exist.

        Args:
            scope: Node group.
            cluster: Cluster.
            role: Role of the nodes.
            waits: Whether the node group waits for others in an update.
        """
        if waits:
            return NodeScripts(scope, "Scripts", role=role)
        stack: cdk.Stack = stack_of(scope)
        # Not by the whole path: the same stacks in a stage of a pipeline keep their logical ids.
        id = f"NodeScripts-{_stack_id(cluster)}-{_path(cluster)}"
        if role is not cluster.node_role:
            id += f"-{_path(role)}"
        scripts = _scripts(stack)
        if id not in scripts:
            scripts[id] = NodeScripts(stack, id, role=role)
        return scripts[id]

    def add(self, scripts: Sequence[NodeScript]) -> l1.CfnComputeNodeGroup.NodeLifecycleActionsProperty:
        """Add scripts, and return the lifecycle actions that run them in their order.

        See: https://docs.aws.amazon.com/pcs/latest/userguide/cng-node-lifecycle-actions-configure.html
        (read 2026-11-21)
        """
        actions = [(script.stage, self._action(script)) for script in scripts]
        before, after = ([action for at, action in actions if at == stage] for stage in STAGES)
        return l1.CfnComputeNodeGroup.NodeLifecycleActionsProperty(
            script_caching_policy="CACHE_ONCE",
            stages=l1.CfnComputeNodeGroup.NodeLifecycleStagesProperty(
                node_bootstrapped=before or None, node_ready=after or None
            ),
        )

    def _action(self, script: NodeScript) -> l1.CfnComputeNodeGroup.NodeLifecycleScriptProperty:
        return l1.CfnComputeNodeGroup.NodeLifecycleScriptProperty(
            name=script.name,
            script_source=l1.CfnComputeNodeGroup.ScriptSourceProperty(
                script_location=self._location(script), checksum=script.checksum
            ),
            arguments=list(script.arguments) or None,
            execution_policy="EVERY_BOOT" if script.every_boot else "FIRST_BOOT_ONLY",
            on_error=script.on_error,
        )

    def _location(self, script: NodeScript) -> str:
        """Return the location of a script, which the nodes may read."""
        if script.url is not None:
            self._reads.allow(script.url)
            return script.url
        assert script.content is not None
        return self._reads.publish(script.content).url


@once
def _scripts(stack: cdk.Stack) -> dict[str, NodeScripts]:
    return {}


@once
def _stack_id(construct: IConstruct) -> str:
    return str(stack_of(construct).node.id)


@once
def _path(construct: IConstruct) -> str:
    """Return the path of a construct in its stack, as a part of a construct id."""
    home = stack_of(construct).node
    return construct.node.path.removeprefix(home.path).removeprefix("/Default").replace("/", "-")
