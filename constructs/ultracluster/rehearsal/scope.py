"""What one stack can refer to: its parameters, its resources, other stacks and AWS itself."""

import re
from typing import Any

from moto.ec2.models import ec2_backends
from moto.secretsmanager.models import secretsmanager_backends
from moto.ssm.models import ssm_backends

from ultracluster.rehearsal import parameters
from ultracluster.rehearsal.errors import TemplateError
from ultracluster.rehearsal.intrinsics import NO_VALUE
from ultracluster.rehearsal.journal import Journal
from ultracluster.rehearsal.resources import Resources
from ultracluster.rehearsal.state import Environment, Resource, Stack, Stacks
from ultracluster.rehearsal.template import Template


class StackScope:
    """What a template can refer to while its stack is made or changed.

    Args:
        stack: The stack.
        template: The template that is being deployed.
        values: Its parameters, resolved.
        made: The resources that exist so far; the caller adds to it.
        stacks: All stacks, for references to others.
        resources: What gives attributes.
        journal: Where stand-ins are written down.
    """

    def __init__(
        self,
        *,
        stack: Stack,
        template: Template,
        values: dict[str, Any],
        made: dict[str, Resource],
        stacks: Stacks,
        resources: Resources,
        journal: Journal,
    ) -> None:
        self._stack = stack
        self._template = template
        self._values = values
        self._made = made
        self._stacks = stacks
        self._resources = resources
        self._journal = journal
        self.imports: set[str] = set()

    def reference(self, name: str) -> Any:
        """Give what `Ref` gives."""
        if name in self._values:
            return self._values[name]
        if name in self._template.resources:
            return self.resource(name).physical_id
        return self._pseudo(name)

    def resource(self, name: str) -> Resource:
        """Give a resource that exists.

        Raises:
            TemplateError: when it was not made, because its condition does not hold.
        """
        if name not in self._made:
            raise TemplateError(
                f"Template format error: Unresolved resource dependencies [{name}] in the Resources block of the "
                "template: its condition does not hold"
            )
        return self._made[name]

    def attribute(self, name: str, attribute: str) -> Any:
        """Give what `Fn::GetAtt` gives."""
        return self._resources.attribute(self.resource(name), attribute)

    def import_value(self, name: str) -> Any:
        """Give what another stack exports, and remember that it is in use."""
        exporter = self._stacks.exporter(name, self._stack.environment)
        if exporter is None or exporter is self._stack:
            raise TemplateError(f"No export named {name} found.")
        self.imports.add(name)
        return exporter.exports[name]

    def stack_output(self, arguments: dict[str, Any]) -> Any:
        """Give an output of another stack (`Fn::GetStackOutput`)."""
        name, output = arguments.get("StackName"), arguments.get("OutputName")
        here = self._stack.environment
        region = arguments.get("Region") or here.region
        there = Environment(account=here.account, region=region, partition=here.partition)
        other = self._stacks.find(str(name), there)
        if other is None or other.status.startswith("REVIEW"):
            raise TemplateError(f"Fn::GetStackOutput: there is no stack {name} in {region}")
        if output not in other.outputs:
            raise TemplateError(f"Fn::GetStackOutput: the stack {name} in {region} has no output {output}")
        return other.outputs[str(output)]["OutputValue"]

    def zones(self, region: str) -> list[str]:
        """Give the availability zones of a region."""
        e = self._stack.environment
        found = ec2_backends[e.account][region or e.region].describe_availability_zones()
        return sorted(zone.name for zone in found if zone.name)

    def dynamic(self, service: str, reference: str) -> str:
        """Give what `{{resolve:service:reference}}` stands for."""
        match service:
            case "ssm" | "ssm-secure":
                name = re.sub(r":\d+$", "", reference)
                try:
                    return self.parameter(name)
                except LookupError:
                    if name.startswith(parameters.PUBLIC):
                        return parameters.stand_in(name, self._journal)
                    raise TemplateError(f"Parameters: [{name}] cannot be found in the parameter store") from None
            case "secretsmanager":
                return self._secret(reference)
        raise TemplateError(f"Template error: {{{{resolve:{service}:{reference}}}}} names an unknown service")

    def parameter(self, name: str) -> str:
        """Give the value of an SSM parameter.

        Raises:
            LookupError: when there is none.
        """
        e = self._stack.environment
        found = ssm_backends[e.account][e.region].get_parameter(name)
        if found is None:
            raise LookupError(name)
        return str(found.value)

    def _secret(self, reference: str) -> str:
        arn = re.match(r"arn:[^:]+:secretsmanager:[^:]*:[^:]*:secret:[^:]+", reference)
        name = arn[0] if arn else reference.split(":")[0]
        for stack in self._stacks.living(self._stack.environment):
            for resource in [*stack.resources.values(), *self._made.values()]:
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
            "AWS::NoValue": NO_VALUE,
        }
        if name not in known:
            raise TemplateError(f"Template format error: Unresolved resource dependencies [{name}]")
        return known[name]
