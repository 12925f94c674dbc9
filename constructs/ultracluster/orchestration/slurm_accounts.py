"""Accounts, QoS and users of Slurm."""

import hashlib

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.orchestration.pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.planning.slurm_accounts import LONGEST_SCRIPT_BYTES
from ultracluster.security.shown import wildcard_finding

# Of what AmazonSSMManagedInstanceCore allows, the part that runs associations.
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSSMManagedInstanceCore.html (read 2026-11-21)
_READ = ("ssm:DescribeDocument", "ssm:GetDocument")
_RUN = ("ssm:DescribeAssociation", "ssm:ListInstanceAssociations", "ssm:UpdateInstanceAssociationStatus")
_WAIT_SECONDS = 1800
_LOGIN_TAG = "tag:aws:pcs:compute-node-group-id"


class SlurmAccounts(Construct):
    """Brings accounts, QoS and users of Slurm to what a script says, on the login nodes.

    CloudFormation has no resource for them: `sacctmgr` makes them, as root on a login node. State Manager runs the
    script there as soon as a login node is up, whenever the script changes, and once a day, so that what somebody
    changed by hand comes back.

    Args:
        cluster: The cluster. Its node role gets what State Manager's agent asks for.
        login: The login nodes.
        script: What `planning.slurm_accounts.accounting_script` gives.
        wait: Whether the deployment waits for it, half an hour at most. For queues that name QoS: PCS wants those to
            be there before (slurm-custom-settings-queue.html of its user guide, read 2026-11-21). Default: no.

    Raises:
        ValueError: When the script is longer than what a document of Systems Manager holds.

    See: https://docs.aws.amazon.com/systems-manager/latest/userguide/state-manager-about.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: PcsCluster,
        login: PcsComputeNodeGroup,
        script: str,
        wait: bool = False,
    ) -> None:
        super().__init__(scope, id)
        if len(script.encode()) > LONGEST_SCRIPT_BYTES:
            raise ValueError(
                f"{self.node.path}: a document of Systems Manager holds a script of {LONGEST_SCRIPT_BYTES:,} bytes, "
                f"got {len(script.encode()):,}; name fewer accounts and users"
            )
        document = ssm.CfnDocument(
            self,
            "Document",
            document_type="Command",
            update_method="NewVersion",
            content={
                "schemaVersion": "2.2",
                "description": "Makes accounts, QoS and users of Slurm",
                # What changes in the association when the script does: State Manager runs it at once then.
                "parameters": {"script": {"type": "String", "description": "Checksum of the script"}},
                "mainSteps": [
                    {
                        "action": "aws:runShellScript",
                        "name": "accounts",
                        "inputs": {"runCommand": script.splitlines(), "timeoutSeconds": "600"},
                    }
                ],
            },
        )
        association = ssm.CfnAssociation(
            self,
            "Resource",
            name=document.ref,
            targets=[ssm.CfnAssociation.TargetProperty(key=_LOGIN_TAG, values=[login.node_group_id])],
            parameters={"script": [hashlib.sha256(script.encode()).hexdigest()]},
            schedule_expression="rate(1 day)",
            # One login node after the other: two at a time blocked a real slurmdbd for minutes.
            max_concurrency="1",
            wait_for_success_timeout_seconds=_WAIT_SECONDS if wait else None,
        )
        # It would wait in vain for an agent that may not.
        association.node.add_dependency(self._allow(cluster.node_role, document))

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
        for arn in run:
            cdk.Validations.of(policy).acknowledge(
                cdk.Acknowledgment(
                    id=wildcard_finding(self, arn),
                    reason="The agent of Systems Manager asks for its own associations; ids of instances and of "
                    "associations are not known before, and it reads and changes nothing else of them",
                )
            )
        return policy
