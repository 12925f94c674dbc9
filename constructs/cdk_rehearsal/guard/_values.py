"""The values of one template, as far as it shows them.

What is left are tokens: two values that are equal here are equal in every deployment, as long as what the tokens stand
for stays.
"""

from typing import Any, Protocol

from cdk_rehearsal.guard._template import Template
from cdk_rehearsal.registry import Intrinsics, Token, composite


class Stacks(Protocol):
    """Lookups in all stacks of one side."""

    def parameter(self, stack: str, name: str) -> Any: ...

    def resource(self, stack: str, logical_id: str, attribute: str | None) -> Any: ...

    def mapping(self, stack: str, name: str | None) -> Token: ...

    def export(self, name: str) -> Any: ...

    def output(self, stack_name: str, output: str) -> Any: ...


class Values(Intrinsics):
    """Resolves the values of one template."""

    def __init__(self, stack: str, template: Template, stacks: Stacks) -> None:
        super().__init__(template.conditions, template.mappings)
        self._stack = stack
        self._template = template
        self._stacks = stacks

    def unresolved(self, name: str, argument: Any, error: Exception) -> Any:
        """Return a token. AWS rejects what is malformed; here it only has to differ when it is changed."""
        return composite(name, self.resolve(argument))

    def reference(self, name: str) -> Any:
        if name in self._template.parameters:
            return self._stacks.parameter(self._stack, name)
        if name in self._template.resources:
            return self._stacks.resource(self._stack, name, None)
        if name.startswith("AWS::"):
            return Token(key=f"Ref {name}", label=name)
        return Token(key=f"{self._stack} no {name}", label=f"{name}, which the template does not have")

    def attribute(self, name: str, attribute: Any) -> Any:
        if name not in self._template.resources or not isinstance(attribute, str):
            raise LookupError(name)
        return self._stacks.resource(self._stack, name, attribute)

    def import_value(self, name: Any) -> Any:
        if not isinstance(name, str):
            raise TypeError(name)
        exported = self._stacks.export(name)
        return Token(key=f"import {name}", label=f"the import {name}") if exported is None else exported

    def stack_output(self, arguments: Any) -> Any:
        output = self._stacks.output(arguments["StackName"], arguments["OutputName"])
        if output is not None:
            return output
        token = composite("Fn::GetStackOutput", arguments)
        label = f"the output {arguments['OutputName']} of {arguments['StackName']}"
        return Token(key=token.key, label=label, leaves=token.leaves)

    def _find_in_map(self, value: Any) -> Any:
        keys = [self.text(self.resolve(key)) for key in value[:3]]
        if all(isinstance(key, str) for key in keys):
            return super()._find_in_map(value)
        contents = self._stacks.mapping(self._stack, keys[0] if isinstance(keys[0], str) else None)
        return composite("a mapping", contents, keys[1:], self.resolve(value[3:]))
