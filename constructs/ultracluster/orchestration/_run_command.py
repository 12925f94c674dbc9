"""Shell commands on login nodes and admin hosts, through Systems Manager, and wait conditions that they signal."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import aws_cdk as cdk
from aws_cdk import aws_ssm as ssm
from constructs import Construct

#: Parameter of a document of Systems Manager for the URL of a wait condition. Its characters are those of presigned
#: URLs, and none that a shell reads.
HANDLE_PARAMETER: Mapping[str, str] = MappingProxyType(
    {"type": "String", "description": "URL of the wait condition", "allowedPattern": "^[A-Za-z0-9:/?&=%.,+_~-]*$"}
)


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


def wait_condition(
    scope: Construct, checksum: str, *, seconds: int
) -> tuple[cdk.CfnWaitConditionHandle, cdk.CfnWaitCondition]:
    """Create a wait condition for one signal, and its handle.

    CloudFormation updates neither, so the ids have the checksum of what the deployment waits for. The handle is a
    presigned URL of S3: a signal needs no permission.

    Args:
        scope: Scope of both.
        checksum: Checksum in their ids.
        seconds: Longest wait, 12 hours at most, from the creation of the condition.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-waitcondition.html
    (read 2026-11-22)
    """
    handle = cdk.CfnWaitConditionHandle(scope, f"Signal{checksum[:12]}")
    return handle, cdk.CfnWaitCondition(scope, f"Wait{checksum[:12]}", handle=handle.ref, timeout=str(seconds), count=1)
