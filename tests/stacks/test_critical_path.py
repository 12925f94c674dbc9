"""The first deployment: the longest path through all resources, with the minutes that each takes to create."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest

from support import ROOT
from support.templates import Assembly, synth
from ultracluster import clusterfile
from ultracluster.catalogue.ec2 import creation_minutes

EXAMPLES = (
    "slurm-512-gpus",
    "eks-512-gpus",
    "slurm-built-image",
    "eks-private",
    "hyperpod-slurm",
    "hyperpod-kubernetes",
)
# `check` counts the slow resources, and one time for all others of a stack.
MOST_DIFFERENCE = 2.0
# "35 minutes to at most 22 on AWS's image".
MOST_MINUTES = 22


class Path(NamedTuple):
    """Resources that are created one after the other, and the minutes until the last one exists."""

    minutes: float = 0
    resources: tuple[str, ...] = ()

    def then(self, name: str, minutes: float) -> "Path":
        return Path(self.minutes + minutes, (*self.resources, f"{name} {minutes:g}"))


def named(node: Any) -> Iterator[str]:
    """Yield the logical ids, and other names, that a part of a template refers to."""
    if isinstance(node, list):
        for item in node:
            yield from named(item)
    elif isinstance(node, Mapping):
        for key, value in node.items():
            if key == "Ref":
                yield value
            elif key == "Fn::GetAtt":
                yield value.split(".")[0] if isinstance(value, str) else value[0]
            elif key == "Fn::Sub":
                text, *values = [value] if isinstance(value, str) else value
                yield from re.findall(r"\$\{([^!.}]+)", text)
                yield from named(values)
            else:
                yield from named(value)


def longest_path(assembly: Assembly) -> Path:
    """Return the path that ends last, if each stack and each resource starts as soon as it can."""
    stacks = {stack.artifact["displayName"]: stack for stack in assembly.stacks}

    @cache
    def stack_path(name: str) -> Path:
        start = max((stack_path(it) for it in stacks[name].dependencies if it in stacks), default=Path())
        resources = stacks[name].template["Resources"]

        @cache
        def path(logical_id: str) -> Path:
            resource = resources[logical_id]
            depends = resource.get("DependsOn", [])
            before = {*named(resource.get("Properties")), *([depends] if isinstance(depends, str) else depends)}
            earliest = max((path(it) for it in before if it in resources and it != logical_id), default=start)
            return earliest.then(f"{name}/{logical_id}", creation_minutes(resource["Type"]))

        return max(map(path, resources))

    return max(map(stack_path, stacks))


@pytest.mark.parametrize("example", EXAMPLES)
def test_check_prints_the_minutes_of_the_longest_path(example: str) -> None:
    cluster = clusterfile.load(ROOT / "examples" / f"{example}.yaml")
    path = longest_path(synth(cluster))
    print(f"{example}: {path.minutes:.1f} minutes", *path.resources, sep="\n  ")
    (printed,) = (it for it in clusterfile.describe(cluster) if it.name == "first_deployment")
    assert printed.facts["minutes"] == pytest.approx(path.minutes, abs=MOST_DIFFERENCE)
    assert f"about {printed.facts['minutes']} minutes" in printed.lines[0]
    for part in printed.facts["path"]:
        assert part["minutes"] == creation_minutes(part["type"])


@pytest.mark.parametrize("example", ["slurm-512-gpus", "eks-512-gpus"])
def test_a_cluster_of_512_gpus_is_there_in_22_minutes(example: str) -> None:
    assembly = synth(clusterfile.load(ROOT / "examples" / f"{example}.yaml"))
    assert round(longest_path(assembly).minutes) <= MOST_MINUTES


def test_only_nodes_wait_for_an_image() -> None:
    assembly = synth(clusterfile.load(ROOT / "examples" / "slurm-built-image.yaml"))
    waiting = [stack.stack_name for stack in assembly.stacks if "forge-Images" in stack.dependencies]
    assert waiting == ["forge-Compute"]


def test_no_control_plane_waits_for_the_file_system() -> None:
    for example in ("slurm-512-gpus", "eks-512-gpus", "hyperpod-kubernetes"):
        assembly = synth(clusterfile.load(ROOT / "examples" / f"{example}.yaml"))
        (control,) = (stack for stack in assembly.stacks if stack.stack_name.endswith("-Cluster"))
        assert not any(name.endswith("-Storage") for name in control.dependencies)
