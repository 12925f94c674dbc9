"""The comparison: what becomes of every stateful resource, all references followed."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.guard._change_sets import ChangeSets, replacements, with_change_sets
from cdk_rehearsal.guard._judge import Judge
from cdk_rehearsal.guard._moves import moved_groups
from cdk_rehearsal.guard._refusals import refusals_of
from cdk_rehearsal.guard._report import Cause, Fate, Finding, Report
from cdk_rehearsal.guard._sources import Source, Stacks, load
from cdk_rehearsal.guard._stateful import STATEFUL, stateful
from cdk_rehearsal.guard._template import GuardError, Template
from cdk_rehearsal.guard._world import Place, World
from cdk_rehearsal.registry import (
    JOB_QUEUES,
    NEEDS_A_NEW_NAME,
    NO_RULES,
    NO_TEMPLATE_RULES,
    USED_BY_JOBS,
    TemplateRules,
    UpdateRules,
    did_you_mean,
    starts_nodes,
)

_NO_DATA = "no data: its nodes are replaced"
_NODES = "its nodes run jobs"
_ENDS = (Fate.REPLACED, Fate.DELETED, Fate.ORPHANED, Fate.UNKNOWN)
_READ = "running nodes or their users notice it"
_DATA = "it holds data"
_DROPPED = "adopted, and no longer used; it stays, outside every stack"
_MOVES = "it moves to another stack under the same name, which cannot be allowed"
_NAME_TAKEN = (
    "changes, which makes a new group, and CloudFormation refuses that under the same name: give the node group "
    "another one"
)


def compare(
    old: Source,
    new: Source,
    *,
    allow: Iterable[str] = (),
    update_rules: UpdateRules = NO_RULES,
    in_place: UpdateRules = NO_RULES,
    template_rules: TemplateRules = NO_TEMPLATE_RULES,
    running: bool = False,
    change_sets: ChangeSets = MappingProxyType({}),
) -> Report:
    """Report what an update from one template to another does to stateful resources and to groups of nodes.

    Args:
        old: The template that is deployed: a file, its content as a mapping, or a directory of them. In a directory,
            `*.template.json` are the stacks (a cloud assembly, its stages included), or `*.json` where there are none.
        new: The template that is to be deployed, of the same kind.
        allow: Logical ids whose loss is meant; STACK/LOGICAL_ID where the id alone fits several.
        update_rules: Resource type -> rules for updates that its service rejects, beyond the facts of the registry.
        in_place: Resource type -> rules for updates that running nodes or their users notice, with the effect. If the
            resource leaves, the new properties are empty.
        template_rules: Resource type -> rules for a resource and others that it refers to, beyond those of services.
        running: Refuse what ends running nodes, too. Default: report it only.
        change_sets: Stack -> `ResourceChange`s of its change set. The result is never less strict with them.

    Raises:
        GuardError: when something cannot be read or is no template, with what is wrong.
    """
    before, after = load(old), load(new)
    if before.many != after.many:
        raise GuardError("one is a directory and the other is not: compare two templates, or two directories of them")
    fates = with_change_sets(_fates(before, after, update_rules), change_sets)
    known = replacements(change_sets)
    findings, count = [], 0
    for stack, template in before.templates.items():
        for logical_id, holds in stateful(template).items():
            count += 1
            if why := fates[stack, logical_id]:
                findings.append(
                    Finding(
                        stack=stack,
                        logical_id=logical_id,
                        type=template.resources[logical_id]["Type"],
                        holds=holds,
                        causes=why,
                        replacement=known.get((stack, logical_id), ""),
                    )
                )
    findings += _same_names(before, fates)
    adopted = sum(len(template.adopted) for template in before.templates.values())
    findings += _dropped(before, after)
    groups = [
        Finding(
            stack=stack,
            logical_id=logical_id,
            type=resource["Type"],
            holds=USED_BY_JOBS.get(resource["Type"], _NODES),
            causes=tuple(_with_effect(resource["Type"], fates[stack, logical_id])),
            replacement=known.get((stack, logical_id), ""),
        )
        for stack, template in before.templates.items()
        for logical_id, resource in template.resources.items()
        if starts_nodes(resource) or resource["Type"] in USED_BY_JOBS
    ]
    nodes = [
        group
        for group in groups
        if group.causes and (group.type not in USED_BY_JOBS or any(cause.fate in _ENDS for cause in group.causes))
    ]
    harmful = {finding.name: finding for finding in nodes if finding.fate.ends_nodes}
    harmful |= {finding.name: finding for finding in findings if finding.harmful or finding.fate is Fate.UNAVAILABLE}
    moved = moved_groups(before, after)
    harmful = {name: finding for name, finding in harmful.items() if name not in moved}
    allowed, unused = _allowed(list(harmful.values()), allow, before.templates)
    unused |= {name: _MOVES for name in unused if any(name in (it, it.partition("/")[2]) for it in moved)}
    return Report(
        stateful=count + adopted,
        findings=tuple(replace(finding, allowed=finding.name in allowed) for finding in findings),
        unused=unused,
        skipped=tuple(dict.fromkeys((*before.skipped, *after.skipped))),
        groups=sum(group.type not in USED_BY_JOBS for group in groups),
        nodes=tuple(replace(finding, allowed=finding.name in allowed) for finding in nodes),
        in_place=tuple(_in_place(before, after, fates, in_place)),
        moved=moved,
        broken=tuple(_broken(before, after, fates, template_rules)),
        running=running,
    )


def protected_resources(template: Mapping[str, Any]) -> list[str]:
    """Return the logical ids of a template whose replacement or deletion loses data or ends nodes."""
    content = Template.of(template)
    nodes = [
        name for name, resource in content.resources.items() if starts_nodes(resource) or resource["Type"] in JOB_QUEUES
    ]
    return sorted({*stateful(content), *nodes})


def causes(
    old: Mapping[str, Mapping[str, Any]],
    new: Mapping[str, Mapping[str, Any]],
    *,
    update_rules: UpdateRules = NO_RULES,
    nested: Mapping[Place, str] = MappingProxyType({}),
) -> dict[Place, tuple[Cause, ...]]:
    """Return what an update does to each resource of the old templates, stateful or not, references followed.

    Args:
        old: Templates by stack name.
        new: Templates by stack name.
        update_rules: Resource type -> rules for updates that its service rejects, beyond the facts of the registry.
        nested: Stack and logical id of nested stacks -> names of their templates.

    Raises:
        GuardError: If one of them is not a template.
    """
    fates = _fates(_stacks(old, nested), _stacks(new, nested), update_rules)
    return {place: why for place, why in fates.items() if why}


def _stacks(templates: Mapping[str, Mapping[str, Any]], nested: Mapping[Place, str]) -> Stacks:
    known = {name: Template.of(body) for name, body in templates.items()}
    links = {
        (stack, id): name
        for (stack, id), name in nested.items()
        if stack in known and id in known[stack].resources and name in known
    }
    return Stacks(templates=known, names={}, skipped=(), many=True, nested=links)


def _in_place(
    before: Stacks, after: Stacks, causes: Mapping[Place, tuple[Cause, ...]], rules: UpdateRules
) -> Iterator[Finding]:
    """Findings for resources whose update, or end, running nodes or their users notice."""
    for (stack, logical_id), why in causes.items():
        old = before.templates[stack].resources[logical_id]
        new = after.templates[stack].resources.get(logical_id) if stack in after.templates else None
        if not why:
            continue
        properties = (old.get("Properties") or {}, (new or {}).get("Properties") or {})
        effects = {path: text for rule in rules.get(old["Type"], ()) for path, text in rule(*properties).items()}
        if effects:
            fate = Fate.UPDATED if new is not None else Fate.DELETED
            updates = tuple(Cause(fate=fate, property=path, reason=text) for path, text in effects.items())
            yield Finding(stack=stack, logical_id=logical_id, type=old["Type"], holds=_READ, causes=updates)


def _with_effect(type_name: str, causes: Iterable[Cause]) -> Iterator[Cause]:
    """Yield the causes, and after the reason of an end what jobs lose by it."""
    for cause in causes:
        ends = cause.fate in _ENDS and type_name in USED_BY_JOBS and type_name not in JOB_QUEUES
        yield replace(cause, reason=f"{cause.reason}; {USED_BY_JOBS[type_name]}") if ends else cause


def _broken(
    before: Stacks, after: Stacks, fates: Mapping[Place, tuple[Cause, ...]], template_rules: TemplateRules
) -> Iterator[str]:
    """Yield what services refuse in resources that are new or change; what is deployed was not refused."""
    same = {
        (stack, logical_id)
        for stack, template in before.templates.items()
        for logical_id in template.resources
        if not fates.get((stack, logical_id))
    }
    yield from map(str, refusals_of(after, without=same, template_rules=template_rules, schemas=True))


def _dropped(before: Stacks, after: Stacks) -> Iterator[Finding]:
    """Yield the adopted resources that the new templates no longer use."""
    used = {id for template in after.templates.values() for id in template.adopted}
    for stack, template in before.templates.items():
        for id, kind in template.adopted.items():
            if id not in used:
                cause = Cause(fate=Fate.ORPHANED, property="-", reason=_DROPPED)
                yield Finding(stack=stack, logical_id=id, type=kind, holds=STATEFUL.get(kind, _DATA), causes=(cause,))


def _same_names(before: Stacks, causes: Mapping[Place, tuple[Cause, ...]]) -> list[Finding]:
    """Findings for resources without data that cannot be replaced while their name is taken."""
    findings = []
    for (stack, logical_id), why in causes.items():
        resource = before.templates[stack].resources[logical_id]
        identity = NEEDS_A_NEW_NAME.get(resource["Type"], ("", ""))
        replaced = [cause.property for cause in why if cause.fate is Fate.REPLACED]
        if not replaced or identity[0] not in (resource.get("Properties") or {}) or set(identity) & set(replaced):
            continue
        refusal = Cause(fate=Fate.REFUSED, property=replaced[0], reason=_NAME_TAKEN)
        findings.append(
            Finding(stack=stack, logical_id=logical_id, type=resource["Type"], holds=_NO_DATA, causes=(refusal,))
        )
    return findings


def _fates(before: Stacks, after: Stacks, update_rules: UpdateRules) -> dict[Place, tuple[Cause, ...]]:
    """Judge every resource, and again whenever one that it refers to turns out to change, until nothing new comes out.

    It ends: what becomes of a resource only ever gets worse, in three degrees.
    """
    old = World(before.templates, names=before.names, nested=before.nested)
    new = World(after.templates, names=after.names, nested=after.nested, before=old)
    judge = Judge(old, new, update_rules)
    places = [(stack, logical_id) for stack, template in before.templates.items() for logical_id in template.resources]
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
        change, known = judge.change(causes[place]), new.changes.get(place)
        if change is None or (known is not None and known.degree >= change.degree):
            continue
        new.change(place, change)
        for user in users.get(place, {}):
            if user not in queued:
                queued.add(user)
                waiting.append(user)
    return causes


def _allowed(
    harmful: list[Finding], allow: Iterable[str], templates: Mapping[str, Template]
) -> tuple[set[str], dict[str, str]]:
    allowed: set[str] = set()
    unused: dict[str, str] = {}
    for name in dict.fromkeys(allow):
        fitting = [finding.name for finding in harmful if name in (finding.name, finding.logical_id)]
        if len(fitting) == 1:
            allowed.update(fitting)
        elif fitting:
            unused[name] = f"it fits {' and '.join(fitting)}: name the intended one"
        else:
            unused[name] = _in_vain(name, harmful, templates)
    return allowed, unused


def _in_vain(name: str, harmful: list[Finding], templates: Mapping[str, Template]) -> str:
    if any(name in (id, f"{stack}/{id}") for stack, template in templates.items() for id in template.resources):
        return "nothing about it is refused"
    names = [word for finding in harmful for word in (finding.name, finding.logical_id)]
    return f"the old template has no such resource{did_you_mean(name, names)}"
