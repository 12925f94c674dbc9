"""EventBridge and Systems Manager Automation, for runbooks of a local cloud: rules start them after deployments."""

import json
import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from moto.events.models import EventPattern

from cdk_rehearsal.rehearsal import LocalCloud

_RUN = "import json, step, sys; [step.handler(event, None) for event in json.loads(sys.argv[1])]"


def _resources(cloud: LocalCloud, type: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (resource.physical_id, resource.blueprint.properties)
        for stack in cloud.stacks.living()
        for resource in stack.resources.values()
        if resource.blueprint.type_name == type
    ]


def event(stack_id: str, status: str) -> dict[str, Any]:
    """Event of CloudFormation, as its user guide has it."""
    _, _, _, region, account, _ = stack_id.split(":")
    return {
        "version": "0",
        "source": "aws.cloudformation",
        "account": account,
        "region": region,
        "resources": [stack_id],
        "detail-type": "CloudFormation Stack Status Change",
        "detail": {"stack-id": stack_id, "status-details": {"status": status, "status-reason": ""}},
    }


def started(cloud: LocalCloud, events: list[dict[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """Name of each runbook that rules start -> its parameters, an entry for each event."""
    result: dict[str, list[dict[str, str]]] = {}
    for _, rule in _resources(cloud, "AWS::Events::Rule"):
        pattern = EventPattern.load(json.dumps(rule["EventPattern"]))
        for target in rule["Targets"] if rule["EventPattern"]["source"] == ["aws.cloudformation"] else ():
            name = target["Arn"].partition(":automation-definition/")[2].removesuffix(":$DEFAULT")
            for item in (item for item in events if pattern.matches_event(cast(Any, item))):
                text = target["InputTransformer"]["InputTemplate"]
                for key, path in target["InputTransformer"]["InputPathsMap"].items():
                    value: Any = item
                    for part in path.removeprefix("$.").split("."):
                        value = value[part]
                    text = text.replace(f"<{key}>", json.dumps(value))
                parameters = {key: value for key, (value,) in json.loads(text).items()}
                result.setdefault(name, []).append(parameters)
    return result


def run(cloud: LocalCloud, name: str, parameters: list[dict[str, str]], folder: Path) -> None:
    """Run the script of a runbook for each set of parameters."""
    ((_, document),) = [(id, row) for id, row in _resources(cloud, "AWS::SSM::Document") if id == name]
    content = document["Content"]
    (step,) = content["mainSteps"]
    assert (document["DocumentType"], content["schemaVersion"]) == ("Automation", "0.3")
    assert (step["action"], step["inputs"]["Runtime"]) == ("aws:executeScript", "python3.11")
    # Automation replaces every such text, in scripts too.
    assert "{{" not in step["inputs"]["Script"]
    payloads = []
    for row in parameters:
        assert row.keys() == content["parameters"].keys()
        texts = step["inputs"]["InputPayload"].items()
        payloads.append({key: row[text.strip("{ }")] if text.startswith("{{") else text for key, text in texts})
    (folder / "step.py").write_text(step["inputs"]["Script"])
    subprocess.run(
        [sys.executable, "-c", _RUN, json.dumps(payloads)],
        cwd=folder,
        env=os.environ | cloud.environment("us-east-2"),
        check=True,
    )


def allowed(statements: list[dict[str, Any]], action: str, arn: str) -> bool:
    """Check that a policy allows an action on a resource."""
    return any(
        action in ([row["Action"]] if isinstance(row["Action"], str) else row["Action"])
        and any(fnmatchcase(arn, pattern) for pattern in [*row["Resource"]])
        for row in statements
    )
