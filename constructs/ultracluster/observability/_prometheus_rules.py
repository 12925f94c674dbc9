"""Rules of a workspace of Amazon Managed Service for Prometheus."""

from collections.abc import Iterator, Mapping

import aws_cdk as cdk
from aws_cdk import aws_aps as l1
from constructs import Construct

from ultracluster.monitoring.alerts import RULE_FILE, rule_problems, rules_quota_problems
from ultracluster.observability._iprometheus_workspace import IPrometheusWorkspace
from ultracluster.planning import checked, known, stack_of
from ultracluster.rules import Message, Refusal, error

_ENVIRONMENT = error("prometheus-environment", "CloudFormation creates resources of a workspace in its own Region.")


class PrometheusRules(Construct):
    """Rule files in a workspace, each in a namespace of its own.

    Args:
        workspace: The workspace, created or imported. It must be in the account and region of the stack, where
            CloudFormation creates the rules.
        rules: Rule files of Prometheus, by name. The name without `.yaml` is the name of the namespace, which no other
            stack may use.

    Raises:
        Refusal: If the workspace is in another account or region, or a name, a file, the number of rules or a label
            is not valid; all at once.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-aps-rulegroupsnamespace.html
    (read 2026-11-21)
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, workspace: IPrometheusWorkspace, rules: Mapping[str, str]) -> None:
        super().__init__(scope, id)
        named = {file.removesuffix(".yaml"): text for file, text in rules.items()}
        problems = [
            *rule_problems(named),
            *(RULE_FILE(f"{name} and {name}.yaml are the same namespace") for name in rules if f"{name}.yaml" in rules),
            *(environment_problems(self, workspace) if rules else ()),
        ]
        if problems := problems or list(rules_quota_problems(named)):
            raise Refusal(self, problems)
        for name, text in sorted(named.items()):
            l1.CfnRuleGroupsNamespace(self, name, name=name, workspace=workspace.workspace_arn, data=text)


def environment_problems(scope: Construct, workspace: IPrometheusWorkspace) -> Iterator[Message]:
    """Yield the problems of a workspace in another account or region than the stack that adds a resource to it."""
    stack: cdk.Stack = stack_of(scope)
    for what, here, there in (
        ("region", stack.region, workspace.env.region),
        ("account", stack.account, workspace.env.account),
    ):
        if here != there and known(here) and known(there):
            yield _ENVIRONMENT(
                f"the workspace is in the {what} {there}, and CloudFormation creates its resources in that of the "
                f"stack, {here}; create them in a stack there"
            )
