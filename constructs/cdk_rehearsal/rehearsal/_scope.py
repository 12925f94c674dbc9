"""References that one stack can make: to its parameters, its resources, other stacks and AWS itself."""

import re
from typing import Any

from moto.ec2.models import ec2_backends
from moto.secretsmanager.models import secretsmanager_backends

from cdk_rehearsal.rehearsal import _parameters as parameters
from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._errors import TemplateError
from cdk_rehearsal.rehearsal._intrinsics import Resolver
from cdk_rehearsal.rehearsal._inventory import Inventory
from cdk_rehearsal.rehearsal._state import Resource, Stack
from cdk_rehearsal.rehearsal._template import Template


class StackResolver(Resolver):
    """Resolves a template with the values of its parameters, while the caller adds to the created resources."""

    def __init__(
        self,
        inventory: Inventory,
        stack: Stack,
        template: Template,
        values: dict[str, Any],
        created: dict[str, Resource],
    ) -> None:
        super().__init__(template)
        self._inventory = inventory
        self._stack = stack
        self._values = values
        self._created = created
        self.imports: set[str] = set()

    def reference(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        if name in self._template.resources:
            return self.resource(name).physical_id
        return self._pseudo(name)

    def resource(self, name: str) -> Resource:
        """Return a resource that exists, or raise TemplateError: its condition does not hold."""
        if name not in self._created:
            raise TemplateError(
                f"Template format error: Unresolved resource dependencies [{name}] in the Resources block of the "
                "template: its condition does not hold"
            )
        return self._created[name]

    def attribute(self, name: str, attribute: str) -> Any:
        return self._inventory.resources.attribute(self.resource(name), attribute)

    def import_value(self, name: str) -> Any:
        """Return what another stack exports, and remember that it is in use."""
        exporter = self._inventory.stacks.exporter(name, self._stack.environment)
        if exporter is None or exporter is self._stack:
            raise TemplateError(f"No export named {name} found.")
        self.imports.add(name)
        return exporter.exports[name]

    def stack_output(self, arguments: dict[str, Any]) -> Any:
        name, output = arguments.get("StackName"), arguments.get("OutputName")
        here = self._stack.environment
        region = arguments.get("Region") or here.region
        there = Environment(account=here.account, region=region)
        other = self._inventory.stacks.find(str(name), there)
        if other is None or other.status.startswith("REVIEW"):
            raise TemplateError(f"Fn::GetStackOutput: there is no stack {name} in {region}")
        if output not in other.outputs:
            raise TemplateError(f"Fn::GetStackOutput: the stack {name} in {region} has no output {output}")
        return other.outputs[str(output)]["OutputValue"]

    def zones(self, region: str) -> list[str]:
        e = self._stack.environment
        zones = ec2_backends[e.account][region or e.region].describe_availability_zones()
        return sorted(zone.name for zone in zones if zone.name)

    def dynamic(self, service: str, reference: str) -> str:
        match service:
            case "ssm" | "ssm-secure":
                name = re.sub(r":\d+$", "", reference)
                try:
                    return parameters.look_up(name, self._stack.environment)
                except LookupError:
                    if name.startswith(parameters.PUBLIC):
                        return parameters.stand_in(name, self._inventory.journal)
                    raise TemplateError(f"Parameters: [{name}] cannot be found in the parameter store") from None
            case "secretsmanager":
                return self._secret(reference)
        raise TemplateError(f"Template error: {{{{resolve:{service}:{reference}}}}} names an unknown service")

    def _secret(self, reference: str) -> str:
        arn = re.match(r"arn:[^:]+:secretsmanager:[^:]*:[^:]*:secret:[^:]+", reference)
        name = arn[0] if arn else reference.split(":")[0]
        for stack in self._inventory.stacks.living(self._stack.environment):
            for resource in [*stack.resources.values(), *self._created.values()]:
                if resource.blueprint.type_name != "AWS::SecretsManager::Secret":
                    continue
                if name in (resource.physical_id, resource.blueprint.properties.get("Name")):
                    return str(resource.blueprint.properties.get("SecretString", resource.values.token(32)))
        e = self._stack.environment
        if (secret := secretsmanager_backends[e.account][e.region].secrets.get(name)) is not None:
            return str(getattr(secret, "secret_string", ""))
        raise TemplateError(f"Secrets Manager can't find the specified secret {name}.")

    def _pseudo(self, name: str) -> Any:
        e = self._stack.environment
        known = {
            "AWS::AccountId": e.account,
            "AWS::NotificationARNs": [],
            "AWS::Partition": e.partition,
            "AWS::Region": e.region,
            "AWS::StackId": self._stack.id,
            "AWS::StackName": self._stack.name,
            "AWS::URLSuffix": "amazonaws.com.cn" if e.partition == "aws-cn" else "amazonaws.com",
        }
        if name not in known:
            raise TemplateError(f"Template format error: Unresolved resource dependencies [{name}]")
        return known[name]
