"""Accounts, QoS and users of Slurm."""

import hashlib

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.orchestration.pcs_compute_node_group import PcsComputeNodeGroup

_LOGIN_TAG = "tag:aws:pcs:compute-node-group-id"


class SlurmAccounts(Construct):
    """Brings accounts, QoS and users of Slurm to what a script says, on the login nodes.

    CloudFormation has no resource for them: `sacctmgr` makes them, as root on a login node. State Manager runs the
    script there as soon as a login node is up, whenever the script changes, and once a day, so that what somebody
    changed by hand comes back.

    Args:
        login: The login nodes.
        script: What `planning.slurm_accounts.accounting_script` gives.

    See: https://docs.aws.amazon.com/systems-manager/latest/userguide/state-manager-about.html (read 2026-11-21)
    """

    def __init__(self, scope: Construct, id: str, *, login: PcsComputeNodeGroup, script: str) -> None:
        super().__init__(scope, id)
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
        ssm.CfnAssociation(
            self,
            "Resource",
            name=document.ref,
            targets=[ssm.CfnAssociation.TargetProperty(key=_LOGIN_TAG, values=[login.node_group_id])],
            parameters={"script": [hashlib.sha256(script.encode()).hexdigest()]},
            schedule_expression="rate(1 day)",
        )
