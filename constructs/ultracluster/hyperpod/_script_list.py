"""Scripts of a group of HyperPod nodes with Slurm, as its lifecycle script reads them."""

import shlex
from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.boot import NodeScript, hyperpod_parameter
from ultracluster.compute import ScriptReads
from ultracluster.hyperpod._node_boot import CONTROLLER, LOGIN, NodeScripts


class ScriptLists(Construct):
    """Scripts of all groups of a cluster, each once, which the roles of its nodes may read."""

    def __init__(self, scope: Construct, id: str, *, cluster: str, roles: Sequence[iam.IRole]) -> None:
        super().__init__(scope, id)
        self._cluster = cluster
        # Managed: inline policies of each group, as of commits before 2026-11-27, stay until the end of the update, and
        # share the quota of all inline policies with a new one.
        self._reads = ScriptReads(self, lambda: iam.ManagedPolicy(self, "Managed", roles=[*roles]), roles)

    def add(self, scope: Construct, group: str, nodes: NodeScripts, user: Sequence[NodeScript]) -> ssm.StringParameter:
        """Publish the scripts of a group of nodes, with what is known at deployment only as arguments.

        Args:
            scope: Scope of the parameter.
            group: Name of the group.
            nodes: Scripts of the library.
            user: Scripts of the file, which run after those.
        """
        lines = []
        for script in nodes.scripts:
            asset = self._reads.publish(script.text.encode())
            lines.append(" ".join([asset.url, asset.sha256, script.on_error, *script.arguments]))
        for action in user:
            if action.content is not None:
                url = self._reads.publish(action.content).url
            else:
                url = action.url or ""
                self._reads.allow(url)
            lines.append(" ".join([url, action.checksum, action.on_error, *map(shlex.quote, action.arguments)]))
        place = Construct(scope, f"Scripts{group}" if group in (LOGIN, CONTROLLER) else "Scripts")
        parameter = ssm.StringParameter(
            place,
            "Parameter",
            parameter_name=hyperpod_parameter(self._cluster, group),
            string_value="\n".join(lines) + "\n",
            description=f"Scripts of the nodes {group} of {self._cluster}",
            # A list of more than 4 KiB is an advanced parameter.
            tier=ssm.ParameterTier.INTELLIGENT_TIERING if user else None,
        )
        # With all policies of this construct, also those of later groups.
        parameter.node.add_dependency(self)
        return parameter
