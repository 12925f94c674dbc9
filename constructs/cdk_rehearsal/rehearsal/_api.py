"""The CloudFormation API in front of the engine: one method per operation, in the shapes of botocore's model."""

import re
from collections.abc import Callable
from typing import Any

from cdk_rehearsal.deploy import policy_problems, unknown_id
from cdk_rehearsal.rehearsal import _assets as assets
from cdk_rehearsal.rehearsal._api_shapes import parameters_shape, stack_shape, summary_shape, tags_shape
from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._engine import Engine
from cdk_rehearsal.rehearsal._errors import TemplateError
from cdk_rehearsal.rehearsal._state import ChangeSet, Stack
from cdk_rehearsal.rehearsal._template import Template

Answer = dict[str, Any]
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-22)
_LONGEST_BODY = 51_200


class CloudFormationApi:
    """Answers the operations that the CDK CLI, the AWS CLI and boto3 use on stacks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def call(self, operation: str, request: dict[str, Any], environment: Environment) -> Answer:
        """Answer one request, or raise TemplateError for what CloudFormation refuses."""
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).lower()
        method: Callable[[dict[str, Any], Environment], Answer | None] | None = getattr(self, f"_{name}", None)
        if method is None:
            raise TemplateError(f"CloudFormation's {operation} is not rehearsed", code="NotImplemented")
        return method(request, environment) or {}

    # Change sets

    def _create_change_set(self, request: dict[str, Any], environment: Environment) -> Answer:
        stack, change_set = self._prepare(
            request, environment, request["ChangeSetName"], request.get("ChangeSetType") or "UPDATE"
        )
        return {"Id": change_set.id, "StackId": stack.id}

    def _describe_change_set(self, request: dict[str, Any], environment: Environment) -> Answer:
        stack, change_set = self._change_set(request, environment)
        return {
            **summary_shape(stack, change_set),
            "Description": change_set.request.get("Description"),
            "Parameters": parameters_shape(change_set.given, change_set.parameters, change_set.template),
            "Capabilities": change_set.request.get("Capabilities", []),
            "Tags": tags_shape(change_set.tags),
            "Changes": change_set.changes,
        }

    def _execute_change_set(self, request: dict[str, Any], environment: Environment) -> None:
        stack, change_set = self._change_set(request, environment)
        if change_set.execution != "AVAILABLE":
            raise TemplateError(
                f"ChangeSet [{change_set.id}] cannot be executed in its current status of [{change_set.status}]",
                code="InvalidChangeSetStatus",
            )
        self._engine.execute(stack, change_set, roll_back=_rolls_back(request, change_set.request))

    def _delete_change_set(self, request: dict[str, Any], environment: Environment) -> None:
        stack, change_set = self._find_change_set(request, environment)
        if stack is not None and change_set is not None:
            del stack.change_sets[change_set.name]

    def _list_change_sets(self, request: dict[str, Any], environment: Environment) -> Answer:
        stack = self._stack(request, environment)
        return {"Summaries": [summary_shape(stack, change_set) for change_set in stack.change_sets.values()]}

    # Stacks

    def _create_stack(self, request: dict[str, Any], environment: Environment) -> Answer:
        stack, change_set = self._prepare(request, environment, "direct", "CREATE")
        stack.protected = bool(request.get("EnableTerminationProtection"))
        self._engine.execute(stack, change_set, roll_back=_rolls_back(request))
        return {"StackId": stack.id}

    def _update_stack(self, request: dict[str, Any], environment: Environment) -> Answer:
        stack, change_set = self._prepare(request, environment, "direct", "UPDATE")
        if change_set.status == "FAILED":
            raise TemplateError("No updates are to be performed.")
        self._engine.execute(stack, change_set, roll_back=_rolls_back(request))
        return {"StackId": stack.id}

    def _delete_stack(self, request: dict[str, Any], environment: Environment) -> None:
        stack = self._engine.stacks.find(request["StackName"], environment)
        if stack is not None:
            self._engine.delete(stack)

    def _continue_update_rollback(self, request: dict[str, Any], environment: Environment) -> None:
        self._engine.continue_rollback(self._stack(request, environment), request.get("ResourcesToSkip") or [])

    def _describe_stacks(self, request: dict[str, Any], environment: Environment) -> Answer:
        if name := request.get("StackName"):
            return {"Stacks": [stack_shape(self._engine.stacks.get(name, environment))]}
        return {"Stacks": [stack_shape(stack) for stack in self._engine.stacks.living(environment)]}

    def _list_stacks(self, request: dict[str, Any], environment: Environment) -> Answer:
        expected = request.get("StackStatusFilter")
        stacks = self._engine.stacks.all(environment)
        return {"StackSummaries": [stack_shape(stack) for stack in stacks if not expected or stack.status in expected]}

    def _describe_stack_events(self, request: dict[str, Any], environment: Environment) -> Answer:
        try:
            stack = self._stack(request, environment)
        except TemplateError as error:
            raise TemplateError(f"Stack [{request['StackName']}] does not exist") from error
        return {"StackEvents": list(reversed(stack.events))}

    def _describe_events(self, request: dict[str, Any], environment: Environment) -> Answer:
        return {"OperationEvents": []}

    def _describe_stack_resources(self, request: dict[str, Any], environment: Environment) -> Answer:
        expected = request.get("LogicalResourceId")
        summaries = self._summaries(request, environment)
        return {
            "StackResources": [summary for summary in summaries if expected in (None, summary["LogicalResourceId"])]
        }

    def _describe_stack_resource(self, request: dict[str, Any], environment: Environment) -> Answer:
        for summary in self._summaries(request, environment):
            if summary["LogicalResourceId"] == request["LogicalResourceId"]:
                return {"StackResourceDetail": summary}
        raise TemplateError(f"Resource {request['LogicalResourceId']} does not exist for stack {request['StackName']}")

    def _list_stack_resources(self, request: dict[str, Any], environment: Environment) -> Answer:
        return {"StackResourceSummaries": self._summaries(request, environment)}

    def _update_termination_protection(self, request: dict[str, Any], environment: Environment) -> Answer:
        stack = self._stack(request, environment)
        stack.protected = bool(request["EnableTerminationProtection"])
        return {"StackId": stack.id}

    def _set_stack_policy(self, request: dict[str, Any], environment: Environment) -> None:
        stack = self._stack(request, environment)
        text = request.get("StackPolicyBody") or ""
        if problems := policy_problems(text):
            raise TemplateError(f"Error validating stack policy: {'; '.join(problems)}")
        if unknown := unknown_id(text, stack.resources):
            raise TemplateError(
                f"Error validating stack policy: Unknown logical id '{unknown}' in statement {{}} - stack policies can "
                "only be applied to logical ids referenced in the template"
            )
        stack.policy = text

    def _get_stack_policy(self, request: dict[str, Any], environment: Environment) -> Answer:
        return {"StackPolicyBody": self._stack(request, environment).policy}

    # Templates and exports

    def _get_template(self, request: dict[str, Any], environment: Environment) -> Answer:
        if request.get("ChangeSetName"):
            return {"TemplateBody": self._change_set(request, environment)[1].text}
        return {"TemplateBody": self._stack(request, environment).text, "StagesAvailable": ["Original", "Processed"]}

    def _get_template_summary(self, request: dict[str, Any], environment: Environment) -> Answer:
        known = request.get("StackName")
        template = Template.parse(self._stack(request, environment).text if known else self._text(request, environment))
        return {
            "Parameters": [
                {
                    "ParameterKey": name,
                    "ParameterType": definition.get("Type"),
                    "DefaultValue": str(definition["Default"]) if "Default" in definition else None,
                    "Description": definition.get("Description"),
                    "NoEcho": bool(definition.get("NoEcho")),
                }
                for name, definition in template.parameters.items()
            ],
            "Description": template.body.get("Description"),
            "ResourceTypes": sorted({resource["Type"] for resource in template.resources.values()}),
            "Version": template.body.get("AWSTemplateFormatVersion"),
        }

    def _list_exports(self, request: dict[str, Any], environment: Environment) -> Answer:
        return {
            "Exports": [
                {"ExportingStackId": stack.id, "Name": name, "Value": value}
                for stack in self._engine.stacks.living(environment)
                for name, value in stack.exports.items()
            ]
        }

    def _list_imports(self, request: dict[str, Any], environment: Environment) -> Answer:
        return {"Imports": self._engine.stacks.importers(request["ExportName"], environment)}

    def _prepare(
        self, request: dict[str, Any], environment: Environment, name: str, kind: str
    ) -> tuple[Stack, ChangeSet]:
        if request.get("UsePreviousTemplate"):
            text = self._stack(request, environment).text
        else:
            text = self._text(request, environment)
        stack, change_set = self._engine.prepare(
            name=name,
            stack_name=request["StackName"],
            kind=kind,
            text=text,
            given={
                parameter["ParameterKey"]: None
                if parameter.get("UsePreviousValue")
                else parameter.get("ParameterValue", "")
                for parameter in request.get("Parameters", [])
            },
            tags={tag["Key"]: tag["Value"] for tag in request.get("Tags", [])},
            environment=environment,
            imports=bool(request.get("ImportExistingResources")),
        )
        change_set.request = request
        return stack, change_set

    def _text(self, request: dict[str, Any], environment: Environment) -> str:
        if body := request.get("TemplateBody"):
            if len(str(body).encode()) > _LONGEST_BODY:
                raise TemplateError(
                    "1 validation error detected: Value at 'templateBody' failed to satisfy constraint: "
                    f"Member must have length less than or equal to {_LONGEST_BODY}"
                )
            return str(body)
        if not (url := request.get("TemplateURL")):
            raise TemplateError("Either Template URL or Template Body must be specified.")
        return assets.read_url(url, environment)

    def _stack(self, request: dict[str, Any], environment: Environment) -> Stack:
        return self._engine.stacks.get(request["StackName"], environment)

    def _change_set(self, request: dict[str, Any], environment: Environment) -> tuple[Stack, ChangeSet]:
        stack, change_set = self._find_change_set(request, environment)
        if stack is None or change_set is None:
            raise TemplateError(f"ChangeSet [{request['ChangeSetName']}] does not exist", code="ChangeSetNotFound")
        return stack, change_set

    def _find_change_set(
        self, request: dict[str, Any], environment: Environment
    ) -> tuple[Stack | None, ChangeSet | None]:
        name = request["ChangeSetName"]
        if request.get("StackName"):
            stack = self._engine.stacks.find(request["StackName"], environment)
            stacks = [stack] if stack else []
        else:
            stacks = self._engine.stacks.living(environment)
        for stack in stacks:
            for change_set in stack.change_sets.values():
                if name in (change_set.name, change_set.id):
                    return stack, change_set
        return None, None

    def _summaries(self, request: dict[str, Any], environment: Environment) -> list[Answer]:
        stack = self._engine.stacks.get(request.get("StackName") or "", environment)
        return [
            {
                "StackName": stack.name,
                "StackId": stack.id,
                "LogicalResourceId": logical_id,
                "PhysicalResourceId": resource.physical_id,
                "ResourceType": resource.blueprint.type_name,
                "Timestamp": stack.updated or stack.created,
                "LastUpdatedTimestamp": stack.updated or stack.created,
                "ResourceStatus": "CREATE_COMPLETE",
            }
            for logical_id, resource in stack.resources.items()
        ]


def _rolls_back(*requests: dict[str, Any]) -> bool:
    kept = ("OnStackFailure", "OnFailure")
    return not any(
        each.get("DisableRollback") or any(each.get(key) == "DO_NOTHING" for key in kept) for each in requests
    )
