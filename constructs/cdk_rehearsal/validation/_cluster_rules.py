"""Policy validation plugin of aws-cdk-lib with the service rules."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii

from cdk_rehearsal import guard
from cdk_rehearsal.registry import NO_TEMPLATE_RULES, TemplateRules, quota_problems

_NAME = "ClusterRules"


@jsii.implements(cdk.IPolicyValidationPlugin)
class ClusterRules:
    """Report what AWS refuses in templates that are valid by their registry schemas.

    Rules: requirements of services (capacities of FSx, launch templates, key policies, schedules, sizes) and quotas of
    CloudFormation. A value that the templates do not show violates no rule. The id of a rule is
    `SERVICE-RESOURCE-PROPERTY`, such as `FSx-FileSystem-StorageCapacity`; `cdk.Validations` acknowledges it as
    `ClusterRules::FSx-FileSystem-StorageCapacity`.

    Args:
        template_rules: Resource type -> rules for a resource and others that it refers to, beyond those of services.

    Example:
        `cdk.Validations.of(app).add_plugins(ClusterRules())`
    """

    def __init__(self, *, template_rules: TemplateRules = NO_TEMPLATE_RULES) -> None:
        self._template_rules = template_rules

    @property
    def name(self) -> str:
        """Name of the plugin in the validation report."""
        return _NAME

    @property
    def version(self) -> str | None:
        """Version of the plugin. The validation report prints none."""
        return None

    @property
    def rule_ids(self) -> list[str] | None:
        """Ids of the rules, for analytics only. They follow from types and properties."""
        return None

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Validate the templates of an app.

        Args:
            context: The templates, from the CDK.
        """
        paths = [each for path in context.template_paths for each in (path, *_nested(path))]
        texts = {path: Path(path).read_text(encoding="utf-8") for path in paths}
        templates = {path: json.loads(text) for path, text in texts.items()}
        violations = []
        for path, template in templates.items():
            violations += [_quota(path, problem) for problem in quota_problems(template, texts[path])]
        readable, skipped = _readable(templates)
        violations += [*_refused(readable, self._template_rules)]
        return cdk.PolicyValidationPluginReport(
            success=not violations,
            violations=[*violations, *(_skipped(path, reason) for path, reason in skipped.items())],
        )


def _nested(path: str) -> list[str]:
    """Return the templates of nested stacks, which are file assets of the stack that holds them."""
    manifest = Path(path.removesuffix(".template.json") + ".assets.json")
    files = json.loads(manifest.read_text(encoding="utf-8"))["files"].values() if manifest.exists() else ()
    sources = [str(entry["source"].get("path", "")) for entry in files]
    return [str(manifest.parent / source) for source in sources if source.endswith(".nested.template.json")]


def _readable(templates: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the templates that can be evaluated, and the reason for each of the others."""
    readable: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    for path, template in templates.items():
        try:
            guard.refusals({path: template})
        except guard.GuardError as error:
            skipped[path] = str(error)
        else:
            readable[path] = template
    return readable, skipped


def _refused(templates: Mapping[str, Any], template_rules: TemplateRules) -> Iterator[cdk.PolicyViolation]:
    for refusal in guard.refusals(templates, template_rules=template_rules):
        kind = refusal.type.removeprefix("AWS::").replace("::", "-")
        resource = cdk.PolicyViolatingResource(
            locations=["/".join(("Properties", *refusal.path))],
            resource_logical_id=refusal.logical_id,
            template_path=refusal.stack,
        )
        yield cdk.PolicyViolation(
            rule_name="-".join((kind, *refusal.path)),
            description=refusal.reason,
            violating_resources=[resource],
            severity="error",
        )


def _skipped(path: str, reason: str) -> cdk.PolicyViolation:
    return cdk.PolicyViolation(
        rule_name="Template-NotValidated",
        description=f"not validated: {reason}",
        violating_resources=[cdk.PolicyViolatingResource(locations=["Template"], template_path=path)],
        severity="warning",
    )


def _quota(path: str, problem: str) -> cdk.PolicyViolation:
    return cdk.PolicyViolation(
        rule_name="CloudFormation-Quota",
        description=problem,
        violating_resources=[cdk.PolicyViolatingResource(locations=["Template"], template_path=path)],
        severity="error",
    )
