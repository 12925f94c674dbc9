"""CloudFormation registry schemas, template parsing, intrinsic functions, and updates that services reject."""

from cdk_rehearsal.registry._intrinsics import NO_VALUE, SUBSTITUTION, Intrinsics, Token, composite, leaves
from cdk_rehearsal.registry._node_groups import JOB_QUEUES, ended_by_rollback, new_taints, starts_nodes
from cdk_rehearsal.registry._normal import values, walk
from cdk_rehearsal.registry._quotas import quota_problems
from cdk_rehearsal.registry._reading import SECTIONS, UnreadableError, check_plain, read
from cdk_rehearsal.registry._rejections import NO_RULES, UpdateRule, UpdateRules
from cdk_rehearsal.registry._replacement import DELETION_PROTECTION, NEEDS_A_NEW_NAME
from cdk_rehearsal.registry._schema import Registry, ResourceType, anywhere, did_you_mean, registry
from cdk_rehearsal.registry._service_rules import has_service_rules, service_problems
from cdk_rehearsal.registry._template_rules import (
    NO_TEMPLATE_RULES,
    TemplateRules,
    template_problems,
)

__all__ = [
    "DELETION_PROTECTION",
    "JOB_QUEUES",
    "NEEDS_A_NEW_NAME",
    "NO_RULES",
    "NO_TEMPLATE_RULES",
    "NO_VALUE",
    "SECTIONS",
    "SUBSTITUTION",
    "Intrinsics",
    "Registry",
    "ResourceType",
    "TemplateRules",
    "Token",
    "UnreadableError",
    "UpdateRule",
    "UpdateRules",
    "anywhere",
    "check_plain",
    "composite",
    "did_you_mean",
    "ended_by_rollback",
    "has_service_rules",
    "leaves",
    "new_taints",
    "quota_problems",
    "read",
    "registry",
    "service_problems",
    "starts_nodes",
    "template_problems",
    "values",
    "walk",
]
