"""Stack policies, which a template cannot hold: a rule of EventBridge has each stack protected once it is deployed."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.planning import stack_of
from ultracluster.security import acknowledge_wildcards

_SCRIPT = Path(__file__).parent / "_protect_stack.py"
_DEPLOYED = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE")
# All that a cluster may have: a stack that comes or goes changes nothing here.
_STACKS = ("Network/", "Storage/", "Cluster/", "Observability/", "Images/", "Compute/", "Platform/")
# `Compute-2` up to `Compute-99`, and not the stacks of a cluster that is called `llama-Compute`.
_FURTHER = ("Compute-?/", "Compute-??/")

_ACTIONS = ("GetStackPolicy", "GetTemplate", "SetStackPolicy")


class StackPolicies(Construct):
    """Set the policy of each stack of a cluster after its deployment, by whatever tool.

    CloudFormation then refuses updates that replace or delete data or node groups, those of a plain `cdk deploy`
    included. `ultracluster deploy --allow` lifts the policy for one deployment.

    Args:
        prefix: Names of the stacks up to `Network` and so on, such as `llama-`.

    See: docs/decisions/0027-stack-policies.md;
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/event-detail-stack-status-change.html,
    https://docs.aws.amazon.com/systems-manager/latest/userguide/automation-cwe-target.html,
    automation-action-executeScript.html and automation-setup-identity-based-policies.html (excerpts, read 2026-11-26)
    """

    def __init__(self, scope: Construct, id: str, *, prefix: str) -> None:
        super().__init__(scope, id)
        stack: cdk.Stack = stack_of(self)
        here = f"{stack.region}:{stack.account}"
        partition = stack.partition
        named = f"arn:{partition}:cloudformation:{here}:stack/{prefix}"
        # A role of the CDK, which property injectors reach. The rest is L1: sixty calls of Node were a twentieth of a
        # synthesis.
        account = {"StringEquals": {"aws:SourceAccount": stack.account}}
        role = iam.Role(
            self,
            "Role",
            description="Starts the runbook, and is its role",
            assumed_by=iam.CompositePrincipal(
                iam.ServicePrincipal("events.amazonaws.com", conditions=account),
                iam.ServicePrincipal("ssm.amazonaws.com", conditions=account),
            ),
        )
        role_arn = role.role_arn
        runbook = self._runbook(role_arn, prefix)
        systems_manager = f"arn:{partition}:ssm:{here}"
        start = f"{systems_manager}:automation-definition/{runbook}:$DEFAULT"
        executions = f"{systems_manager}:automation-execution/*"
        deployed = [f"{named}{name}*" for name in (*_STACKS, *_FURTHER)]
        policy = iam.CfnPolicy(
            Construct(self, "Policy"),
            "Resource",
            policy_name="StackPolicies",
            roles=[role.role_name],
            policy_document={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": [f"cloudformation:{name}" for name in _ACTIONS],
                        "Resource": deployed,
                    },
                    {
                        # Earlier policies name an automation definition, today's a document and its executions.
                        "Effect": "Allow",
                        "Action": "ssm:StartAutomationExecution",
                        "Resource": [start, f"{systems_manager}:document/{runbook}", executions],
                    },
                    {
                        "Effect": "Allow",
                        "Action": "iam:PassRole",
                        "Resource": role_arn,
                        "Condition": {"StringEquals": {"iam:PassedToService": "ssm.amazonaws.com"}},
                    },
                ],
            },
        )
        acknowledge_wildcards(
            policy,
            [*deployed, executions],
            "A stack and an execution get their ids from the service; the stacks are those of the cluster by name",
        )
        # Patterns of EventBridge have no `?`: the script leaves out what is not a number.
        started_by = [f"{named}{name}" for name in (*_STACKS, "Compute-")]
        self._rule(started_by, start, role_arn).add_resource_dependency(policy)

    def notify(self, scope: Construct, topic: sns.ITopic) -> None:
        """Notify a topic of stacks that could not be protected; `scope` is in the stack of the topic.

        See: https://docs.aws.amazon.com/systems-manager/latest/userguide/monitoring-systems-manager-event-examples.html
        (read 2026-11-26)
        """
        # By the beginning of its name, without an export of the Network stack.
        name = f"{stack_of(self).stack_name}-{self.node.id}"
        events.Rule(
            scope,
            "StackPoliciesFailed",
            description="The data and node groups of a stack are not protected",
            event_pattern=events.EventPattern(
                source=["aws.ssm"],
                detail_type=["EC2 Automation Execution Status-change Notification"],
                detail={"Definition": [{"prefix": name}], "Status": ["Failed", "TimedOut", "Cancelled"]},
            ),
            targets=[targets.SnsTopic(topic)],
        )

    def _runbook(self, role_arn: str, prefix: str) -> str:
        step = {
            "name": "protect",
            "action": "aws:executeScript",
            "maxAttempts": 3,
            "timeoutSeconds": 60,
            "inputs": {
                "Runtime": "python3.11",
                "Handler": "handler",
                "InputPayload": {"StackId": "{{ StackId }}", "Prefix": prefix},
                "Script": _SCRIPT.read_text(encoding="utf-8"),
            },
        }
        content = {
            "schemaVersion": "0.3",
            "description": "Sets the policy of a stack: no update replaces or deletes its data and node groups",
            "assumeRole": role_arn,
            "parameters": {"StackId": {"type": "String", "description": "Id of the stack"}},
            "mainSteps": [step],
        }
        document = ssm.CfnDocument(
            self, "Document", document_type="Automation", update_method="NewVersion", content=content
        )
        return document.ref

    def _rule(self, stacks: list[str], start: str, role_arn: str) -> events.CfnRule:
        return events.CfnRule(
            self,
            "Deployed",
            description="Protects the data and node groups of a stack once it is deployed",
            event_pattern={
                "source": ["aws.cloudformation"],
                "detail-type": ["CloudFormation Stack Status Change"],
                "detail": {
                    "stack-id": [{"prefix": arn} for arn in stacks],
                    "status-details": {"status": list(_DEPLOYED)},
                },
            },
            targets=[
                events.CfnRule.TargetProperty(
                    id="Runbook",
                    arn=start,
                    role_arn=role_arn,
                    input_transformer=events.CfnRule.InputTransformerProperty(
                        input_paths_map={"stack": "$.detail.stack-id"}, input_template='{"StackId":[<stack>]}'
                    ),
                )
            ],
        )
