"""IAM policy of people who run jobs."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.planning import checked, stack_of
from ultracluster.security import acknowledge_wildcards
from ultracluster.slurm._grants import NODE_GROUP_TAG
from ultracluster.slurm._interfaces import IPcsCluster, IPcsComputeNodeGroup

#: Actions of a person on their own sessions. https://docs.aws.amazon.com/systems-manager/latest/userguide/
#: getting-started-restrict-access-quickstart.html (read 2026-11-22)
OWN_SESSION_ACTIONS = ("ssm:ResumeSession", "ssm:TerminateSession", "ssmmessages:OpenDataChannel")
#: Actions that find nodes and show whether a session is possible; IAM has no resource-level permission for them.
FIND_ACTIONS = ("ec2:DescribeInstances", "ssm:DescribeSessions", "ssm:GetConnectionStatus")
# A port of the node itself, and sshd with a key of the user. AWS-StartPortForwardingSessionToRemoteHost would let the
# agent, which is root, connect to any address of the network.
_DOCUMENTS = ("AWS-StartPortForwardingSession", "AWS-StartSSHSession")
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html (read 2026-11-27)
_GROUP_TAG = "aws:autoscaling:groupName"


class PcsUserPolicy(iam.ManagedPolicy):
    """Policy of people who run jobs: they log in to the login nodes of one cluster, forward ports and read its state.

    A session runs as the Linux user that the tag `SSMSessionRunAs` of the IAM user or role names, and never as
    `ssm-user`, who may become root. Without the tag, no session starts.

    Args:
        cluster: The cluster.
        login: Its login nodes.
        grafana: Name of the Auto Scaling group of a Grafana server, whose port may be forwarded too; `*` stands for any
            text. A shell needs the person's Linux user, which the server does not have. Default: none.

    See: https://docs.aws.amazon.com/systems-manager/latest/userguide/session-preferences-run-as.html (read 2026-11-22)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: IPcsCluster,
        login: IPcsComputeNodeGroup,
        grafana: str | None = None,
    ) -> None:
        super().__init__(scope, id, description="Log in to the login nodes of a Slurm cluster, and read its state")
        stack: cdk.Stack = stack_of(self)
        #: Session document, with the Linux user of the person.
        self.session_document = ssm.CfnDocument(
            self,
            "Document",
            document_type="Session",
            update_method="NewVersion",
            content={
                "schemaVersion": "1.0",
                "description": "Shell as the Linux user of the tag SSMSessionRunAs",
                "sessionType": "Standard_Stream",
                "inputs": {
                    "runAsEnabled": True,
                    "runAsDefaultUser": "",
                    "shellProfile": {"linux": "cd; exec bash --login"},
                },
            },
        )
        instances = stack.format_arn(service="ec2", resource="instance", resource_name="*")
        documents = [stack.format_arn(service="ssm", resource="document", resource_name=self.session_document.ref)]
        documents += [
            stack.format_arn(service="ssm", account="", resource="document", resource_name=name) for name in _DOCUMENTS
        ]
        children = f"{cluster.cluster_arn}/*"
        sessions = own_sessions(stack)
        # Both tags are AWS's: a permission to tag instances does not set them.
        tags = {NODE_GROUP_TAG: login.node_group_id, **({_GROUP_TAG: grafana} if grafana else {})}
        self.add_statements(
            iam.PolicyStatement(
                sid="ReadCluster",
                actions=["pcs:GetCluster", "pcs:ListComputeNodeGroups", "pcs:ListQueues"],
                resources=[cluster.cluster_arn],
            ),
            iam.PolicyStatement(
                sid="ReadNodesAndQueues", actions=["pcs:GetComputeNodeGroup", "pcs:GetQueue"], resources=[children]
            ),
            iam.PolicyStatement(sid="FindNodes", actions=list(FIND_ACTIONS), resources=["*"]),
            *(
                # The documents restrict sessions only where Session Manager checks them.
                iam.PolicyStatement(
                    sid=f"StartSession{number}",
                    actions=["ssm:StartSession"],
                    resources=[instances],
                    conditions={
                        "StringLike" if tag == _GROUP_TAG else "StringEquals": {f"ssm:resourceTag/{tag}": value},
                        "BoolIfExists": {"ssm:SessionDocumentAccessCheck": "true"},
                    },
                )
                for number, (tag, value) in enumerate(tags.items(), start=1)
            ),
            iam.PolicyStatement(sid="UseDocuments", actions=["ssm:StartSession"], resources=documents),
            iam.PolicyStatement(sid="OwnSessions", actions=list(OWN_SESSION_ACTIONS), resources=[sessions]),
        )
        acknowledge_wildcards(
            self,
            ["*", instances, children, sessions],
            "Instances are restricted by a tag that only AWS sets, sessions by the id of the person; ids of instances, "
            "node groups and queues are not known at synthesis, and describing instances has no resource-level "
            "permission",
        )


def own_sessions(stack: cdk.Stack) -> str:
    """Return the ARN of the sessions that a person started."""
    return stack.format_arn(service="ssm", resource="session", resource_name="${aws:userid}-*")
