"""CloudFormation registry schemas, template parsing, and updates that services reject."""

from cdk_rehearsal.registry._normal import text, values
from cdk_rehearsal.registry._reading import UnreadableError, check_plain, read
from cdk_rehearsal.registry._rejections import NO_RULES, UpdateRule, UpdateRules
from cdk_rehearsal.registry._replacement import NEEDS_A_NEW_NAME
from cdk_rehearsal.registry._schema import Registry, ResourceType, anywhere, registry
from cdk_rehearsal.registry._syntax import SUBSTITUTION

__all__ = [
    "NEEDS_A_NEW_NAME",
    "NO_RULES",
    "SUBSTITUTION",
    "Registry",
    "ResourceType",
    "UnreadableError",
    "UpdateRule",
    "UpdateRules",
    "anywhere",
    "check_plain",
    "read",
    "registry",
    "text",
    "values",
]
