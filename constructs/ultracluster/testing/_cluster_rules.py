"""ClusterRules with the rules of this library."""

from cdk_rehearsal import validation
from cdk_rehearsal.registry import TemplateRules
from ultracluster.testing._template_rules import TEMPLATE_RULES


class ClusterRules(validation.ClusterRules):
    """Report what AWS refuses in templates that are valid by their registry schemas, in any CDK app.

    Rules: those of `cdk_rehearsal.validation.ClusterRules`, and network interfaces that an instance type has. Needs the
    extra `cdk-ultracluster[guard]`.

    Args:
        template_rules: Resource type -> rules for a resource and others that it refers to, beyond those of services.

    Example:
        `cdk.Validations.of(app).add_plugins(ClusterRules())`
    """

    def __init__(self, *, template_rules: TemplateRules = TEMPLATE_RULES) -> None:
        super().__init__(template_rules=template_rules)
