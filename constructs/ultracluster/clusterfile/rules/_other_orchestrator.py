"""Keys of another orchestrator: each is named, with what to write instead."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel

from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._orchestrators import ORCHESTRATORS, OrchestratorTraits
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import error

OTHER = error("other-orchestrator", "A file describes one orchestrator: keys of another one would have no effect.")
_TITLES = {"slurm": "Slurm", "kubernetes": "Kubernetes", "hyperpod": "SageMaker HyperPod"}


def check_orchestrator(draft: Draft) -> Iterator[Problem]:
    """Check that no key is for another orchestrator."""
    if not draft.orchestrator:
        return
    for section in sorted((_TITLES.keys() - {*draft.traits.sections}) & draft.model_fields_set):
        yield from _section_problems(section, draft)
    # A key that two of them have is named once, by the first.
    problems = [problem for other in reversed([*ORCHESTRATORS.values()]) for problem in _check_keys(other, draft)]
    yield from {problem.path: problem for problem in problems}.values()


def _section_problems(section: str, draft: Draft) -> Iterator[Problem]:
    """Yield a problem for each key of a section that has a row; one for a section without valid keys."""
    # Here and not at the top: few files have such keys.
    from ultracluster.clusterfile.rules._instead import INSTEAD

    why = f"is for {_TITLES[section]}, and orchestrator is {draft.orchestrator}"
    value = valid(lambda: getattr(draft, section))
    named = [] if value is None else [*_with_rows(value, INSTEAD[draft.traits.name][section])]
    for path, instead in named or [((), "remove it")]:
        yield OTHER((section, *path), f"{why}: {_with_numbers(instead, path, draft)}", at_key=True)


def _with_numbers(text: str, path: Path, draft: Draft) -> str:
    """Return what to write with the nodes of the queue, or the GPUs of the team, that it names."""
    counts, gpus = Counter[str](), {group.section: group.instance_type.gpus for group in draft.node_groups}
    for group in draft.node_groups:
        counts[group.section] += group.count
    if "GPUS" in text:
        of_team = draft.kubernetes.teams[str(path[1])].nodes or {}
        if of_team.keys() <= gpus.keys():
            return text.replace("GPUS", str(sum(count * gpus[name] for name, count in of_team.items())))
    if path[:1] == ("queues",):
        queues = {name: queue.nodes or (name,) for name, queue in draft.slurm.queues.items()}
        nodes = {name: _share(str(path[1]), name, counts[name], queues) for name in queues[str(path[1])]}
        if any(nodes.values()):
            return text.replace("GROUP: COUNT", ", ".join(f"{name}: {count}" for name, count in nodes.items() if count))
    return text


def _share(queue: str, group: str, count: int, queues: Mapping[str, Sequence[str]]) -> int:
    """Return the nodes of a queue in a group: teams share those that several queues have."""
    having = [name for name, groups in queues.items() if group in groups]
    each, rest = divmod(count, len(having))
    return each + (having.index(queue) < rest)


def _with_rows(
    value: Any, rows: Mapping[str, str], path: Path = (), row: tuple[str, ...] = (), name: str = "NAME"
) -> Iterator[tuple[Path, str]]:
    """Yield the keys of a section that the file has and that have a row, with its text."""
    named = isinstance(value, Mapping)
    for key, child in value.items() if named else _keys(value):
        below, pattern = (*path, key), (*row, "*" if named else key)
        inside = key if named else name
        if (text := rows.get(".".join(pattern))) is not None:
            yield below, text.replace("NAME", inside)
        yield from _with_rows(child, rows, below, pattern, inside)


def _keys(section: Any) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a section that the file has."""
    if isinstance(section, BaseModel):
        for name, field in type(section).model_fields.items():
            if name in section.model_fields_set:
                yield field.alias or name, valid(partial(getattr, section, name))


def _check_keys(other: OrchestratorTraits, draft: Draft) -> Iterator[Problem]:
    why = f"is for nodes of {other.title}, and orchestrator is {draft.orchestrator}"
    for name, section in draft.nodes.items():
        for key in sorted({*other.group_keys} - {*draft.traits.group_keys}):
            if key in section.model_fields_set:
                from ultracluster.clusterfile.rules._instead import NODE_KEYS

                yield OTHER(("nodes", name, key), f"{why}: {NODE_KEYS[draft.traits.name][key]}", at_key=True)
    for group in draft.node_groups:
        for key in sorted({*other.capacity_keys} - {*draft.traits.capacity_keys}):
            if getattr(group.capacity, key, None):
                message = f"{why}: no equivalent, nodes start with the capacity; remove it"
                yield OTHER(("nodes", group.section, "capacity", key), message, at_key=True)
