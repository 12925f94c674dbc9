"""Stacks to deploy before those whose exports they no longer use."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cdk_rehearsal.deploy._assembly import AssembledStack
from cdk_rehearsal.deploy._comparison import Comparison, template_file
from cdk_rehearsal.registry import walk


@dataclass(frozen=True, kw_only=True, slots=True)
class _Uses:
    """Exports and outputs of other stacks that a template uses."""

    exports: frozenset[str]
    outputs: frozenset[tuple[str, str]]


def released_first(stacks: Iterable[AssembledStack], sides: Comparison) -> list[AssembledStack]:
    """Return the stacks that stop to use exports which leave with the deployment.

    CloudFormation keeps an export while a stack imports it, and the CDK CLI updates the stack that has the export
    before those that import it: without these first, the deployment fails. A stack that needs something new of another
    stack is not among them.

    Args:
        stacks: Stacks of the assembly.
        sides: Their templates on both sides.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html (read 2026-11-27)
    """
    stacks = list(stacks)
    before, after = (
        {stack.name: template for stack in stacks if (template := _template(folder, stack.name)) is not None}
        for folder in (sides.deployed, sides.assembled)
    )
    exported = frozenset().union(*map(_exports, before.values()))
    outputs = {(name, output) for name, template in before.items() for output in template.get("Outputs") or {}}
    leaving = exported.difference(*map(_exports, after.values()))
    result = []
    for stack in stacks:
        if stack.name in before and stack.name in after:
            old, new = _uses(before[stack.name]), _uses(after[stack.name])
            new_needs = (new.exports - old.exports - exported) | (new.outputs - old.outputs - outputs)
            if old.exports & leaving - new.exports and not new_needs:
                result.append(stack)
    return result


def _template(folder: Path, name: str) -> Mapping[str, Any] | None:
    file = folder / template_file(name)
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _exports(template: Mapping[str, Any]) -> frozenset[str]:
    names = ((output.get("Export") or {}).get("Name") for output in (template.get("Outputs") or {}).values())
    return frozenset(name for name in names if isinstance(name, str))


def _uses(template: Mapping[str, Any]) -> _Uses:
    exports, outputs = set(), set()
    for node in walk(template):
        if isinstance(node, dict) and isinstance(name := node.get("Fn::ImportValue"), str):
            exports.add(name)
        elif isinstance(node, dict) and isinstance(reference := node.get("Fn::GetStackOutput"), dict):
            outputs.add((str(reference.get("StackName")), str(reference.get("OutputName"))))
    return _Uses(exports=frozenset(exports), outputs=frozenset(outputs))
