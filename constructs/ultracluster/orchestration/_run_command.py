"""Shell commands on login nodes and admin hosts, through Systems Manager."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_ssm as ssm
from constructs import Construct


def command_document(
    scope: Construct,
    name: str,
    *,
    description: str,
    commands: Sequence[str],
    inputs: Mapping[str, str] | None = None,
    **content: Any,
) -> ssm.CfnDocument:
    """Create a document of Systems Manager that runs shell commands as root.

    Args:
        scope: Scope of the document, whose id is `Document`.
        name: Name of its step.
        description: Description.
        commands: The commands.
        inputs: Further inputs of the step. Default: none.
        content: Further sections of the document.
    """
    step = {
        "action": "aws:runShellScript",
        "name": name,
        "inputs": {"runCommand": list(commands), **(inputs or {})},
    }
    return ssm.CfnDocument(
        scope,
        "Document",
        document_type="Command",
        update_method="NewVersion",
        content={"schemaVersion": "2.2", "description": description, **content, "mainSteps": [step]},
    )
