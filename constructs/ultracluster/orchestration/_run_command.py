"""Shell commands on login nodes and admin hosts, through Systems Manager."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from aws_cdk import aws_ssm as ssm
from constructs import Construct


def command_document(
    scope: Construct,
    name: str,
    *,
    description: str,
    commands: Sequence[str],
    inputs: Mapping[str, str] | None = None,
    update_method: Literal["NewVersion", "Replace"] = "NewVersion",
    **content: Any,
) -> ssm.CfnDocument:
    """Create a document of Systems Manager that runs shell commands as root.

    Args:
        scope: Scope of the document, whose id is `Document`.
        name: Name of its step.
        description: Description.
        commands: The commands.
        inputs: Further inputs of the step. Default: none.
        update_method: `NewVersion` changes the default version, and State Manager then runs the associations of the
            document at once. `Replace` creates another document, and leaves them alone.
        content: Further sections of the document.

    See: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_UpdateDocumentDefaultVersion.html (read
    2026-11-27)
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
        update_method=update_method,
        content={"schemaVersion": "2.2", "description": description, **content, "mainSteps": [step]},
    )
