"""Effect of an update on one resource."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdk_rehearsal.guard._differences import Difference, difference, narrowed
from cdk_rehearsal.guard._report import Cause, Fate
from cdk_rehearsal.guard._subnets import subnet_problem
from cdk_rehearsal.guard._world import Change, Degree, Place, World
from cdk_rehearsal.registry import (
    NESTED_STACK,
    NO_RULES,
    ResourceType,
    Token,
    UpdateRules,
    anywhere,
    ended_by_rollback,
    leaves,
    new_taints,
    values,
)

# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
# (read 2026-11-21): without a DeletionPolicy, these are snapshotted.
_SNAPSHOT_BY_DEFAULT = ("AWS::RDS::DBCluster", "AWS::RDS::DBInstance")
_RANKS = {"Delete": 0, "Snapshot": 1, "Retain": 2, "RetainExceptOnCreate": 2}
_KEPT = 2
_IN_PLACE = (
    *(Fate.UPDATED, Fate.UNAVAILABLE, Fate.RISKED, Fate.TAINTED, Fate.DRAINED, Fate.FEWER, Fate.SHRUNK, Fate.REFUSED),
)
_NOT_DESCRIBED = (
    "the effect inside the nested stack is not described here: compare directories with its template, such as cdk.out"
)
_ORPHANED = "the old one stays, outside every stack, beside a new one"
_LOST = "the old one is deleted: no UpdateReplacePolicy keeps it"


class Judge:
    """Decides the fate of a resource from the fates of all others that are known so far."""

    def __init__(self, old: World, new: World, update_rules: UpdateRules = NO_RULES) -> None:
        self._old = old
        self._new = new
        self._update_rules = update_rules
        self._before: dict[Place, Any] = {}

    def judge(self, place: Place) -> tuple[Cause, ...]:
        """Causes of what happens to a resource of the old side; empty when nothing happens."""
        stack, logical_id = place
        present = self._old.present(place)
        if present is False:
            return ()
        if stack not in self._new.templates:
            outer = next((it for it in self._old.outer(stack) if it[0] in self._new.templates), None)
            if outer and outer[1] in self._new.templates[outer[0]].resources:
                return ()  # its template is at a URL of the user: see the nested stack itself
            if outer:
                return (self._left("-", "its nested stack leaves the template", place),)
            reason = f"the stack {stack} is gone: nothing manages it any more, and a recreated stack starts empty"
            return (Cause(fate=Fate.ORPHANED, property="-", reason=reason),)
        if logical_id not in self._new.templates[stack].resources:
            return (self._left("-", f"its logical id leaves the template{self._renamed(place)}", place),)
        after = self._new.present(place)
        if after is False:
            return (self._left("Condition", "its condition does not hold any more", place),)
        causes = [*self._kind(place)] or [*self._properties(place)]
        if isinstance(after, Token) and after != present:
            change = "it is created under a condition from now on" if present is True else "its condition changes"
            reason = next((leaf.unsure for leaf in leaves(after) if leaf.unsure), change)
            causes.append(Cause(fate=Fate.UNKNOWN, property="Condition", reason=f"{reason}; it may be removed"))
        return (*causes, *self._policies(place))

    def change(self, causes: tuple[Cause, ...]) -> Change | None:
        """Effect of a resource's fate on the resources that refer to it, or None."""
        by_fate = {cause.fate: cause for cause in reversed(causes)}
        for fate in (Fate.DELETED, Fate.ORPHANED, Fate.REPLACED):
            if fate in by_fate:
                verb = "is replaced" if fate is Fate.REPLACED else "leaves"
                because = "" if by_fate[fate].property == "-" else f" ({by_fate[fate].property})"
                return Change(degree=Degree.MOVED, why=verb + because)
        if any(cause.property == "Type" for cause in causes):
            return Change(degree=Degree.MOVED, why="changes its type")
        if Fate.UNKNOWN in by_fate:
            return Change(degree=Degree.UNSURE, why=f"may be replaced ({by_fate[Fate.UNKNOWN].property})")
        paths = [cause.property for cause in causes if cause.fate in _IN_PLACE]
        if not paths:
            return None
        more = f" and {len(paths) - 2} more" if len(paths) > 2 else ""
        return Change(
            degree=Degree.UPDATED,
            why=f"is updated ({', '.join(paths[:2])}{more})",
            properties=frozenset(path.split(".")[0] for path in paths),
        )

    def _resource(self, side: World, place: Place) -> Mapping[str, Any]:
        return side.templates[place[0]].resources[place[1]]

    def _left(self, what: str, reason: str, place: Place) -> Cause:
        rank = self._rank(self._old, place, "DeletionPolicy")
        if place[0] in self._new.templates and place[1] in self._new.templates[place[0]].resources:
            rank = min(rank, self._rank(self._new, place, "DeletionPolicy"))
        if rank == _KEPT:
            return Cause(fate=Fate.ORPHANED, property=what, reason=f"{reason}; it stays, outside every stack")
        rest = "a snapshot is created first, where the type has them" if rank else "its DeletionPolicy does not keep it"
        return Cause(fate=Fate.DELETED, property=what, reason=f"{reason}; {rest}")

    def _renamed(self, place: Place) -> str:
        kind = self._resource(self._old, place)["Type"]
        added = [
            f"{stack}/{logical_id}" if stack else logical_id
            for stack, template in self._new.templates.items()
            for logical_id, resource in template.resources.items()
            if resource["Type"] == kind and not self._known(stack, logical_id)
        ]
        return f"; {' and '.join(added[:3])} of the same type would be new" if added else ""

    def _known(self, stack: str, logical_id: str) -> bool:
        return stack in self._old.templates and logical_id in self._old.templates[stack].resources

    def _kind(self, place: Place) -> Iterator[Cause]:
        before, after = (self._resource(side, place)["Type"] for side in (self._old, self._new))
        if before != after:
            reason = f"changes from {before} to {after}; CloudFormation refuses that under one logical id"
            yield Cause(fate=Fate.REFUSED, property="Type", reason=reason)

    def _properties(self, place: Place) -> Iterator[Cause]:
        kind = self._resource(self._old, place)["Type"]
        known = anywhere(kind)
        if place not in self._before:
            properties = self._old.value(place, "Properties") or {}
            self._before[place] = known.normal(properties) if known else properties
        before, after = self._before[place], self._new.value(place, "Properties") or {}
        after = known.normal(after) if known else after
        if before == after:
            return
        harm = list(self._harm(known, before, after, place))
        yield from harm
        if any(cause.fate is Fate.REPLACED for cause in harm):
            return
        explained = {cause.property.split(".")[0] for cause in harm}
        for name, old, new in _tops(before, after):
            if name in explained:
                continue
            if known is None:
                reason = "changes, and no registry schema has the type: so it is not known whether that replaces it"
                yield Cause(fate=Fate.UNKNOWN, property=name, reason=reason)
            elif kind == NESTED_STACK and name in ("TemplateURL", "Parameters"):
                described = place in self._old.nested and place in self._new.nested
                reason = "changes; its resources are compared too" if described else f"changes; {_NOT_DESCRIBED}"
                yield Cause(fate=Fate.UPDATED if described else Fate.UNKNOWN, property=name, reason=reason)
            else:
                path, old, new = narrowed(name, old, new)
                sides = [[] if side is None else [side] for side in (old, new)]
                yield _in_place(known, path, difference(*sides).reason)

    def _harm(self, known: ResourceType | None, before: Any, after: Any, place: Place) -> Iterator[Cause]:
        if known is None:
            return
        first = True
        for path in known.replaced_by(before, after):
            delta = _difference(path, before, after)
            reason = delta.reason if delta.sure else f"{delta.reason}; another value replaces it"
            if delta.sure and first:
                reason, first = f"{reason}; {self._aftermath(place)}", False
            yield Cause(fate=Fate.REPLACED if delta.sure else Fate.UNKNOWN, property=path, reason=reason)
        for path in known.maybe_replaced_by(before, after):
            reason = f"{_difference(path, before, after).reason}; by its schema, that replaces it in some cases"
            yield Cause(fate=Fate.UNKNOWN, property=path, reason=reason)
        for path, why in known.losses(before, after).items():
            yield Cause(fate=Fate.SHRUNK, property=path, reason=f"{_difference(path, before, after).reason}; {why}")
        for path, why in known.unavailable(before, after).items():
            reason = f"{_difference(path, before, after).reason}; {why}"
            yield Cause(fate=Fate.UNAVAILABLE, property=path, reason=reason)
        for path, why in known.fewer_nodes(before, after).items():
            yield Cause(fate=Fate.FEWER, property=path, reason=why)
        for path, why in ended_by_rollback(known.name, before, after).items():
            yield Cause(fate=Fate.RISKED, property=path, reason=why)
        for path, why in new_taints(known.name, before, after).items():
            yield Cause(fate=Fate.TAINTED, property=path, reason=why)
        for path, why in known.undocumented(before, after).items():
            yield Cause(fate=Fate.UNKNOWN, property=path, reason=why)
        if why := subnet_problem(known.name, self._old, self._new, before, after):
            yield Cause(fate=Fate.REFUSED, property="ResourcesVpcConfig.SubnetIds", reason=why)
        for path, why in known.rejected(before, after, self._update_rules).items():
            yield Cause(fate=Fate.REFUSED, property=path, reason=f"{_difference(path, before, after).reason}; {why}")

    def _aftermath(self, place: Place) -> str:
        ranks = (self._rank(side, place, "UpdateReplacePolicy") for side in (self._old, self._new))
        return _ORPHANED if min(ranks) == _KEPT else _LOST

    def _policies(self, place: Place) -> Iterator[Cause]:
        for policy in ("DeletionPolicy", "UpdateReplacePolicy"):
            before, after = (self._rank(side, place, policy) for side in (self._old, self._new))
            if after < before:
                old, new = (side.value(place, policy) for side in (self._old, self._new))
                reason = f"{difference([old], [new] if new else []).reason}: the next edit may delete it"
                yield Cause(fate=Fate.UNPROTECTED, property=policy, reason=reason)

    def _rank(self, side: World, place: Place, policy: str) -> int:
        value = side.value(place, policy)
        if value is None and policy == "DeletionPolicy":
            resource = self._resource(side, place)
            alone = "DBClusterIdentifier" not in (resource.get("Properties") or {})
            return 1 if resource["Type"] in _SNAPSHOT_BY_DEFAULT and alone else 0
        if isinstance(value, Token):
            # The value is unknown: assume the worst on the new side, unless nothing has changed.
            return _KEPT if side is self._old or value == self._old.value(place, policy) else 0
        return _RANKS.get(value, 0) if isinstance(value, str) else 0


def _in_place(known: ResourceType, path: str, reason: str) -> Cause:
    if nodes := known.replaces_nodes(path):
        return Cause(fate=Fate.DRAINED, property=path, reason=f"{reason}; {nodes}")
    return Cause(fate=Fate.UPDATED, property=path, reason=reason)


def _difference(path: str, before: Any, after: Any) -> Difference:
    parts = path.split(".")
    return difference([*values(before, parts)], [*values(after, parts)])


def _tops(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield "Properties", before, after
        return
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            yield name, before.get(name), after.get(name)
