"""Custom resources: run marked handlers, and give others a stand-in answer that is named as one.

A handler runs if its Lambda function is Python and its asset holds the file `cdk-rehearsal-handler.json` at
the top. It runs in a subprocess from its asset, with CloudFormation's event, and must answer at the event's
ResponseURL as it would at AWS. No answer, a FAILED answer, an exception or a time-out fails the deployment.
"""

import io
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cdk_rehearsal.rehearsal import _assets as assets
from cdk_rehearsal.rehearsal._answers import Answers
from cdk_rehearsal.rehearsal._blueprint import Blueprint, Maker
from cdk_rehearsal.rehearsal._errors import ResourceError
from cdk_rehearsal.rehearsal._journal import Journal, StandIn
from cdk_rehearsal.rehearsal._state import Resource, Stacks
from cdk_rehearsal.rehearsal._values import Values

MARKER = "cdk-rehearsal-handler.json"
# Python starts, imports boto3 and runs on a busy machine: Lambda's default of 3 s would be a race.
# An answer has at most 4,096 bytes.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/crpg-ref-responses.html (read 2026-11-21)
_LONGEST_ANSWER = 4096
_LEAST_SECONDS = 120
_PREFIX = "Custom::"
_RUNNER = """
import importlib, json, sys
from types import SimpleNamespace
handler, function, seconds = sys.argv[1:4]
module, _, name = handler.rpartition(".")
sys.path.insert(0, ".")
context = SimpleNamespace(function_name=function, function_version="$LATEST", invoked_function_arn=function,
    memory_limit_in_mb="128", aws_request_id="rehearsal", log_group_name="/aws/lambda/rehearsal",
    log_stream_name="rehearsal", get_remaining_time_in_millis=lambda: int(float(seconds) * 1000))
getattr(importlib.import_module(module.replace("/", ".")), name)(json.load(sys.stdin), context)
"""


class CustomResourceDriver:
    """Creates, updates and deletes custom resources. Their handlers reach the local cloud and nothing else."""

    def __init__(
        self, stacks: Stacks, journal: Journal, answers: Answers, environment: Callable[[str, str], dict[str, str]]
    ) -> None:
        self._stacks, self._journal, self._answers = stacks, journal, answers
        self._environment = environment

    @staticmethod
    def is_custom(type_name: str) -> bool:
        return type_name.startswith(_PREFIX) or type_name == "AWS::CloudFormation::CustomResource"

    def create(self, blueprint: Blueprint, generation: int) -> Resource:
        if self._handler(blueprint) is None:
            resource = Resource(
                blueprint=blueprint,
                physical_id=Values(blueprint, generation).name_of(64),
                maker=Maker.STAND_IN,
                generation=generation,
            )
            self._journal.stand_in(StandIn(kind="custom resource", name=_name(blueprint), value=resource.physical_id))
            return resource
        answer = self._invoke("Create", blueprint, {})
        return Resource(
            blueprint=blueprint,
            physical_id=_physical_id(answer),
            maker=Maker.HANDLER,
            generation=generation,
            data=answer.get("Data") or {},
        )

    def update(self, old: Resource, blueprint: Blueprint) -> Resource:
        if old.maker is Maker.STAND_IN:
            return replace(old, blueprint=blueprint)
        before = {
            "OldResourceProperties": _strings(old.blueprint.properties),
            "PhysicalResourceId": old.physical_id,
        }
        answer = self._invoke("Update", blueprint, before)
        return replace(old, blueprint=blueprint, physical_id=_physical_id(answer), data=answer.get("Data") or {})

    def delete(self, resource: Resource) -> None:
        if resource.maker is Maker.HANDLER:
            self._invoke("Delete", resource.blueprint, {"PhysicalResourceId": resource.physical_id})

    def attribute(self, resource: Resource, name: str) -> Any:
        """Return what the handler answered under that name; something plausible for a stand-in."""
        if resource.maker is Maker.STAND_IN:
            return resource.data.get(name) or resource.values.make(name.split("."), {"type": "string"})
        if name not in resource.data:
            raise ResourceError(
                f"CustomResource attribute error: Vendor response doesn't contain {name} key in object "
                f"{resource.physical_id}; it has {', '.join(resource.data) or 'none'}"
            )
        return resource.data[name]

    def _find_function(self, arn: str) -> Resource | None:
        for stack in self._stacks.living():
            for resource in (*stack.pending.values(), *stack.resources.values()):
                if resource.blueprint.type_name != "AWS::Lambda::Function":
                    continue
                if arn in (resource.physical_id, resource.values.at(["Arn"])):
                    return resource
        return None

    def _handler(self, blueprint: Blueprint) -> tuple[Resource, bytes] | None:
        """Return the function and its asset if the asset has the marker file."""
        function = self._find_function(str(blueprint.properties.get("ServiceToken", "")))
        if function is None or not str(function.blueprint.properties.get("Runtime", "")).startswith("python"):
            return None
        code = function.blueprint.properties.get("Code", {})
        if "S3Bucket" not in code:
            return None
        asset = assets.read(code["S3Bucket"], code["S3Key"], function.blueprint.environment)
        with zipfile.ZipFile(io.BytesIO(asset)) as archive:
            return (function, asset) if MARKER in archive.namelist() else None

    def _invoke(self, request: str, blueprint: Blueprint, more: dict[str, Any]) -> dict[str, Any]:
        handler = self._handler(blueprint)
        if handler is None:
            raise ResourceError(f"the function of {_name(blueprint)} is gone: its {request} cannot run")
        function, asset = handler
        request_id, url = self._answers.expect()
        event = {
            "RequestType": request,
            "ServiceToken": blueprint.properties["ServiceToken"],
            "ResponseURL": url,
            "StackId": blueprint.stack_id,
            "RequestId": request_id,
            "LogicalResourceId": blueprint.logical_id,
            "ResourceType": blueprint.type_name,
            "ResourceProperties": _strings(blueprint.properties),
            **more,
        }
        response = self._run(function, asset, event)
        answer = self._answers.take(request_id)
        if answer is None:
            raise ResourceError(f"the handler of {_name(blueprint)} ended without a response; its output: {response}")
        wrong = [key for key in ("StackId", "RequestId", "LogicalResourceId") if answer.get(key) != event[key]]
        if wrong or answer.get("Status") not in ("SUCCESS", "FAILED"):
            raise ResourceError(
                f"the handler of {_name(blueprint)} returned an invalid response: {json.dumps(answer)[:500]}"
            )
        data = answer.get("Data") or {}
        if not isinstance(data, dict) or len(json.dumps(answer)) > _LONGEST_ANSWER:
            raise ResourceError(
                f"the handler of {_name(blueprint)} returned an invalid response: Data is an object, and the "
                f"whole has at most {_LONGEST_ANSWER} bytes"
            )
        if answer["Status"] == "FAILED":
            raise ResourceError(
                f"Received response status [FAILED] from custom resource. Message returned: {answer.get('Reason')}"
            )
        return answer

    def _run(self, function: Resource, asset: bytes, event: dict[str, Any]) -> str:
        """Run a handler; give the end of what it wrote."""
        properties, e = function.blueprint.properties, function.blueprint.environment
        seconds = max(int(properties.get("Timeout", 3)), _LEAST_SECONDS)
        variables = {k: str(v) for k, v in properties.get("Environment", {}).get("Variables", {}).items()}
        with tempfile.TemporaryDirectory(prefix="cdk-rehearsal-handler-") as folder:
            with zipfile.ZipFile(io.BytesIO(asset)) as archive:
                archive.extractall(folder)
            command = [
                sys.executable,
                "-c",
                _RUNNER,
                properties["Handler"],
                function.physical_id,
                str(seconds),
            ]
            try:
                done = subprocess.run(
                    command,
                    cwd=Path(folder),
                    env=self._environment(e.region, e.account) | variables,
                    input=json.dumps(event),
                    capture_output=True,
                    text=True,
                    timeout=seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"nothing within {seconds} s"
        return re.sub(r"\s*\n\s*", " | ", (done.stdout + done.stderr).strip()[-600:]) or "nothing"


def _physical_id(answer: dict[str, Any]) -> str:
    if not (physical_id := str(answer.get("PhysicalResourceId") or "")):
        raise ResourceError("Invalid PhysicalResourceId: the handler's answer has none")
    return physical_id


def _name(blueprint: Blueprint) -> str:
    return f"{blueprint.stack_name}/{blueprint.logical_id} ({blueprint.type_name})"


def _strings(node: Any) -> Any:
    """Turn every number and boolean into a string, as CloudFormation does for custom resources."""
    if isinstance(node, dict):
        return {key: _strings(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_strings(item) for item in node]
    return ("true" if node else "false") if isinstance(node, bool) else str(node)
