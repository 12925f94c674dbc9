"""One node of a group that gets a new image or boot script before the others."""

import hashlib
import json
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct, IConstruct, IDependable

from ultracluster.boot import CANARY_SCRIPT, BootScript, NodeScript, scripts
from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import NodeGroupTemplate
from ultracluster.orchestration import wait_condition

# The longest time of a wait condition:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-waitcondition.html
# (read 2026-11-26). The node is replaced when its job has ended.
_SECONDS = 43_200


class NodeCanary(Construct):
    """A wait condition that the canary of a node group answers, after each change that replaces its nodes.

    Handle and condition are new with each such change, because CloudFormation updates neither. A canary that is not
    well, or does not answer, ends the deployment before the other nodes change, and the stack is rolled back.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-waitcondition.html (read 2026-11-26)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        group: str,
        template: NodeGroupTemplate,
        boot: Sequence[BootScript | NodeScript],
        role: iam.IRole,
    ) -> None:
        super().__init__(scope, id)
        stack = cdk.Stack.of(self)
        actions = [script.script if isinstance(script, BootScript) else script for script in boot]
        content = [
            template.image.id if template.image else None,
            template.resource.launch_template_data,
            [[script.name, script.checksum, *script.arguments] for script in actions],
        ]
        text = json.dumps(stack.resolve(content), sort_keys=True)
        checksum = hashlib.sha256(text.encode()).hexdigest()
        name = f"/ultracluster/{cluster.name}/canary/{group}"
        handle, self._condition = wait_condition(self, checksum, seconds=_SECONDS)
        parameter = ssm.StringParameter(
            self,
            "Parameter",
            parameter_name=name,
            string_value=f"{checksum} {handle.ref}",
            description=f"Where the canary of {group} reports, and the checksum of what it reports",
        )
        policy = iam.Policy(
            self,
            "Read",
            roles=[role],
            statements=[iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[parameter.parameter_arn])],
        )
        #: What the canary waits for, so that it can report.
        self.ready: tuple[IDependable, ...] = (parameter, policy)
        #: Script with which the canary reports, once it has joined Slurm.
        self.script = NodeScript(
            name=CANARY_SCRIPT[1],
            content=scripts.text("canary.sh").encode(),
            arguments=(name, cluster.region, checksum),
            stage=CANARY_SCRIPT[0],
            # A node that cannot report takes jobs; the deployment ends with the time of its wait condition.
            on_error="CONTINUE",
        )
        #: What the other nodes wait for.
        self.passed: tuple[IDependable, ...] = (self._condition,)

    def watch(self, node_group: IConstruct) -> None:
        """Make the condition wait for the node group of the canary."""
        self._condition.node.add_dependency(node_group)
