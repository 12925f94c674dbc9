"""The comparison: what becomes of every stateful resource, all references followed."""

import difflib
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ultracluster.guard.judge import Judge
from ultracluster.guard.report import Cause, Fate, Finding, Report
from ultracluster.guard.sources import Source, Stacks, load
from ultracluster.guard.stateful import stateful
from ultracluster.guard.template import GuardError, Template
from ultracluster.guard.world import Place, World
from ultracluster.hardware.replacement import NEEDS_A_NEW_NAME

_NO_DATA = "no data: its nodes are made anew"
_NAME_TAKEN = (
    "changes, which makes a new group, and CloudFormation refuses that under the same name: give the node group "
    "another one"
)


def compare(old: Source, new: Source, *, allow: Iterable[str] = ()) -> Report:
    """Say what an update from one template to another does to stateful resources.

    Args:
        old: The template that is deployed: a file, its content as a mapping, or a directory of them. In a directory,
            `*.template.json` are the stacks (a cloud assembly, its stages included), or `*.json` where there are none.
        new: The template that is to be deployed, of the same kind.
        allow: Logical ids whose loss is meant; STACK/LOGICAL_ID where the id alone fits several.

    Raises:
        GuardError: when something cannot be read or is no template, with what is wrong.
    """
    before, after = load(old), load(new)
    if before.many != after.many:
        raise GuardError("one is a directory and the other is not: compare two templates, or two directories of them")
    causes = _fates(before, after)
    findings, count = [], 0
    for stack, template in before.templates.items():
        for logical_id, holds in stateful(template).items():
            count += 1
            if why := causes[stack, logical_id]:
                findings.append(
                    Finding(
                        stack=stack,
                        logical_id=logical_id,
                        type=template.resources[logical_id]["Type"],
                        holds=holds,
                        causes=why,
                    )
                )
    findings += _same_names(before, causes)
    allowed, unused = _allowed(findings, allow, before.templates)
    return Report(
        stateful=count,
        findings=tuple(replace(one, allowed=one.name in allowed) for one in findings),
        unused=unused,
        skipped=tuple(dict.fromkeys((*before.skipped, *after.skipped))),
    )


def _same_names(before: Stacks, causes: Mapping[Place, tuple[Cause, ...]]) -> list[Finding]:
    """What holds no data, and yet can't be replaced: its name is taken as long as the old one is there."""
    findings = []
    for (stack, logical_id), why in causes.items():
        kind = before.templates[stack].resources[logical_id]["Type"]
        if kind not in NEEDS_A_NEW_NAME or any(cause.property == "Name" for cause in why):
            continue
        found = [
            Cause(fate=Fate.REFUSED, property=cause.property, reason=_NAME_TAKEN)
            for cause in why
            if cause.fate is Fate.REPLACED and cause.property.startswith(NEEDS_A_NEW_NAME[kind])
        ]
        if found:
            findings.append(Finding(stack=stack, logical_id=logical_id, type=kind, holds=_NO_DATA, causes=(found[0],)))
    return findings


def _fates(before: Stacks, after: Stacks) -> dict[Place, tuple[Cause, ...]]:
    """Judge every resource, and again whenever one that it refers to turns out to change, until nothing new comes out.

    It ends: what becomes of a resource only ever gets worse, in three degrees.
    """
    old = World(before.templates, names=before.names)
    new = World(after.templates, names=after.names, before=old)
    judge = Judge(old, new)
    places = [(stack, one) for stack, template in before.templates.items() for one in template.resources]
    causes: dict[Place, tuple[Cause, ...]] = {}
    users: dict[Place, dict[Place, None]] = {}
    waiting = deque(places)
    queued = set(places)
    while waiting:
        place = waiting.popleft()
        queued.discard(place)
        new.touched.clear()
        causes[place] = judge.judge(place)
        for used in new.touched:
            users.setdefault(used, {})[place] = None
        change, known = judge.change(place, causes[place]), new.changes.get(place)
        if change is None or (known is not None and known.degree >= change.degree):
            continue
        new.change(place, change)
        for user in users.get(place, {}):
            if user not in queued:
                queued.add(user)
                waiting.append(user)
    return causes


def _allowed(
    findings: list[Finding], allow: Iterable[str], templates: Mapping[str, Template]
) -> tuple[set[str], dict[str, str]]:
    allowed: set[str] = set()
    unused: dict[str, str] = {}
    harmful = [one for one in findings if one.harmful]
    for name in dict.fromkeys(allow):
        fitting = [one.name for one in harmful if name in (one.name, one.logical_id)]
        if len(fitting) == 1:
            allowed.update(fitting)
        elif fitting:
            unused[name] = f"it fits {' and '.join(fitting)}: name the one that is meant"
        else:
            unused[name] = _in_vain(name, harmful, templates)
    return allowed, unused


def _in_vain(name: str, harmful: list[Finding], templates: Mapping[str, Template]) -> str:
    known = {one for stack, template in templates.items() for id in template.resources for one in (id, f"{stack}/{id}")}
    if name in known:
        return "nothing about it is refused"
    names = [word for one in harmful for word in (one.name, one.logical_id)]
    near = difflib.get_close_matches(name, names, n=1)
    return f"the old template has no such resource{f'; did you mean {near[0]}?' if near else ''}"
