"""Accounts, QoS and users of Slurm."""

import hashlib

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.boot import LONGEST_SCRIPT_BYTES, signalled_script
from ultracluster.orchestration import HANDLE_PARAMETER, command_document, wait_condition
from ultracluster.planning import checked
from ultracluster.rules import Refusal, shared
from ultracluster.security import acknowledge_wildcards
from ultracluster.slurm._grants import NODE_GROUP_TAG
from ultracluster.slurm._interfaces import IPcsComputeNodeGroup

# Part of AmazonSSMManagedInstanceCore that runs associations.
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSSMManagedInstanceCore.html (read 2026-11-21)
_READ = ("ssm:DescribeDocument", "ssm:GetDocument")
_RUN = ("ssm:DescribeAssociation", "ssm:ListInstanceAssociations", "ssm:UpdateInstanceAssociationStatus")
_SIZE = shared("slurm-accounts-size")
# The script waits 40 minutes for Slurm, and so for the boot of a new login node. State Manager counts the start of the
# instance too, and the nodes one after the other.
_RUN_SECONDS, _WAIT_SECONDS = 3000, 3600


class SlurmAccounts(cdk.Resource):
    """Accounts, QoS and users of Slurm, created by a script on the login nodes.

    CloudFormation has no resource for them: `sacctmgr` creates them, as root on a login node. State Manager runs the
    script when a login node starts, when the script changes, and once an hour, which reverts changes by hand.

    Args:
        login: Login nodes. Their role gets the permissions of State Manager's agent.
        script: Script of `boot.accounting_script`.
        wait: Whether the deployment waits for the script, an hour at most. Queues that name a QoS need it: PCS
            requires the QoS first (slurm-custom-settings-queue.html of its user guide, read 2026-11-21). The script
            signals a wait condition, because an association whose nodes are not there yet has the status Success
            (https://github.com/hashicorp/terraform-provider-aws/issues/31175, read 2026-11-27). Default: no.

    Raises:
        ValueError: If the script is longer than a document of Systems Manager can be.

    See: https://docs.aws.amazon.com/systems-manager/latest/userguide/state-manager-about.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        login: IPcsComputeNodeGroup,
        script: str,
        wait: bool = False,
    ) -> None:
        super().__init__(scope, id)
        if len(script.encode()) > LONGEST_SCRIPT_BYTES:
            message = f"script must have at most {LONGEST_SCRIPT_BYTES:,} bytes, Systems Manager's limit"
            raise Refusal(self, _SIZE(f"{message}, got {len(script.encode()):,}; name fewer accounts and users"))
        document = command_document(
            self,
            "accounts",
            description="Creates accounts, QoS and users of Slurm",
            commands=signalled_script(script, handle="{{ handle }}"),
            inputs={"timeoutSeconds": str(_RUN_SECONDS)},
            # A changed parameter makes State Manager run the changed script at once.
            parameters={
                "script": {"type": "String", "description": "Checksum of the script"},
                # Empty: an association of before has no such parameter.
                "handle": {**HANDLE_PARAMETER, "default": ""},
            },
        )
        checksum = hashlib.sha256(script.encode()).hexdigest()
        handle, condition = wait_condition(self, checksum, seconds=_WAIT_SECONDS) if wait else (None, None)
        association = ssm.CfnAssociation(
            self,
            "Resource",
            name=document.ref,
            targets=[ssm.CfnAssociation.TargetProperty(key=f"tag:{NODE_GROUP_TAG}", values=[login.node_group_id])],
            parameters={"script": [checksum], **({"handle": [handle.ref]} if handle else {})},
            schedule_expression="rate(1 hour)",
            # One login node at a time: two at once blocked a real slurmdbd for minutes.
            max_concurrency="1",
        )
        # The association would wait for an agent without permissions.
        policy = self._allow(login.node_role, document)
        association.node.add_dependency(policy)
        # Its time begins when the nodes start, and it exists before they signal.
        if condition is not None:
            condition.node.add_dependency(policy, login)

    def _allow(self, role: iam.IRole, document: ssm.CfnDocument) -> iam.Policy:
        stack = cdk.Stack.of(self)
        read = stack.format_arn(service="ssm", resource="document", resource_name=document.ref)
        run = [
            stack.format_arn(service="ec2", resource="instance", resource_name="*"),
            stack.format_arn(service="ssm", resource="association", resource_name="*"),
        ]
        policy = iam.Policy(
            self,
            "Policy",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=list(_READ), resources=[read]),
                iam.PolicyStatement(actions=list(_RUN), resources=run),
            ],
        )
        acknowledge_wildcards(
            policy,
            run,
            "The agent of Systems Manager reads and updates its own associations; ids of instances and associations "
            "are not known at synthesis",
        )
        return policy
