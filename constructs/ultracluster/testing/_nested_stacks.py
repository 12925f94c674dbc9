"""A stack and its nested stacks as one template."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from cdk_rehearsal.snapshots import template_of

if TYPE_CHECKING:
    # Not at run time: each pytest run loads this package, because it holds a pytest plugin.
    import aws_cdk as cdk
    from aws_cdk import assertions

    Subject = cdk.Stack | assertions.Template | Mapping[str, Any]

_NESTED = "AWS::CloudFormation::Stack"


def whole_template(subject: "Subject", ignore: Collection[str] = ()) -> dict[str, Any]:
    """Return the template of a stack, with the resources of nested stacks, whose ids begin with their paths.

    Args:
        subject: A stack, or its template.
        ignore: Logical ids of resources that are not checked.

    Raises:
        AssertionError: If a template has a nested stack that is not ignored: what is in it is not known.
    """
    __tracebackhide__ = True
    if not isinstance(subject, Mapping) and not hasattr(subject, "to_json"):
        resources: dict[str, Any] = {}
        _add(subject, "", {}, resources)
        return {"Resources": resources}
    template = template_of(subject)
    nested = [id for id, resource in (template.get("Resources") or {}).items() if resource.get("Type") == _NESTED]
    if hidden := [id for id in nested if id not in ignore]:
        message = f"the template does not show what is in the nested stack {', '.join(hidden)}"
        raise AssertionError(f"{message}: check the stack, a construct, instead of its template; or ignore its id")
    return template


def _add(stack: "cdk.Stack", prefix: str, given: Mapping[str, Any], resources: dict[str, Any]) -> dict[str, Any]:
    """Add the resources of a stack; return its outputs, with ids as in `resources`."""
    template = template_of(stack)
    local = template.get("Resources") or {}
    inner = {str(stack.resolve(nested.nested_stack_resource.logical_id)): nested for nested in _children(stack)}
    outputs: dict[str, dict[str, Any]] = {}

    def output(id: str, name: str) -> Any:
        if id not in outputs:
            nested = inner[id]
            parameters = moved((local[id].get("Properties") or {}).get("Parameters") or {})
            place = f"{prefix}{nested.node.path.removeprefix(stack.node.path).lstrip('/')}/"
            outputs[id] = _add(nested, place, parameters, resources)
        return outputs[id].get(name)

    def moved(node: Any) -> Any:
        return _moved(node, prefix, local, given, lambda id, name: output(id, name) if id in inner else None)

    for id, resource in local.items():
        if id in inner:
            output(id, "")
        else:
            resources[prefix + id] = moved(resource)
    return {f"Outputs.{name}": moved(body.get("Value")) for name, body in (template.get("Outputs") or {}).items()}


def _children(stack: "cdk.Stack") -> Iterator[Any]:
    """Nested stacks of a stack, without those that are nested deeper."""
    import aws_cdk as cdk

    for child in stack.node.find_all():
        if cdk.Stack.is_stack(child) and cast(Any, child).nested_stack_parent is stack:
            yield child


def _moved(
    node: Any,
    prefix: str,
    local: Collection[str],
    given: Mapping[str, Any],
    output: Callable[[str, str], Any],
) -> Any:
    """Return a value with the ids of `whole_template`, and with the values of parameters and of outputs."""
    if isinstance(node, list):
        return [_moved(item, prefix, local, given, output) for item in node]
    if not isinstance(node, Mapping):
        return node
    if "Ref" in node and len(node) == 1:
        name = str(node["Ref"])
        return given.get(name, {"Ref": prefix + name if name in local else name})
    if "Fn::GetAtt" in node and len(node) == 1 and isinstance(node["Fn::GetAtt"], list):
        id, attribute = map(str, node["Fn::GetAtt"])
        if (value := output(id, attribute)) is not None:
            return value
        return {"Fn::GetAtt": [prefix + id if id in local else id, attribute]}
    return {key: _moved(value, prefix, local, given, output) for key, value in node.items()}
