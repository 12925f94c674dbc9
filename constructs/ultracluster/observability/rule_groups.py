"""Rules of a workspace."""

from collections.abc import Mapping

from aws_cdk import aws_aps as l1
from constructs import Construct

from ultracluster.observability.rule_check import rule_problems


class RuleGroups(Construct):
    """Rule files in a workspace, each in a namespace of its own.

    Args:
        workspace_arn: ARN of the workspace.
        rules: Rule files as Prometheus reads them, by name; the namespace is called as the file is, without `.yaml`.

    Raises:
        ValueError: When a name, a file, the number of rules or a label is not what the service takes or keeps; all at
            once.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-aps-rulegroupsnamespace.html
    (read 2026-11-21)
    """

    def __init__(self, scope: Construct, id: str, *, workspace_arn: str, rules: Mapping[str, str]) -> None:
        super().__init__(scope, id)
        named = {file.removesuffix(".yaml"): text for file, text in rules.items()}
        problems = list(rule_problems(named))
        problems += [f"{name} and {name}.yaml are the same namespace" for name in rules if f"{name}.yaml" in rules]
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        for name, text in sorted(named.items()):
            l1.CfnRuleGroupsNamespace(self, name, name=name, workspace=workspace_arn, data=text)
