"""Cluster files that the tests bend."""

import pytest

from ultracluster.clusterfile import ClusterFile, ClusterFileError, loads

RESERVATION = "cr-0123456789abcdef0"
GOOD = f"""name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {{type: p5en.48xlarge, count: 64, capacity: {RESERVATION}}}
storage: {{lustre: {{throughput: 40 GB/s}}}}
"""


def bent(old: str, new: str, text: str = GOOD) -> str:
    """The file with one thing changed; it must be there to be changed."""
    assert old in text
    return text.replace(old, new, 1)


def read(old: str, new: str, text: str = GOOD) -> ClusterFile:
    """The file with one thing changed, which is still good."""
    return loads(bent(old, new, text), "c.yaml")


def problems(text: str) -> list[str]:
    """What is wrong with a file that is wrong, a line each."""
    with pytest.raises(ClusterFileError) as caught:
        loads(text, "c.yaml")
    lines = str(caught.value).split("\n")
    assert lines == [problem.render("c.yaml") for problem in caught.value.problems]
    return lines


def problem(old: str, new: str, text: str = GOOD) -> str:
    """The one thing that is wrong after a change."""
    found = problems(bent(old, new, text))
    assert len(found) == 1, "\n".join(found)
    return found[0]


def with_groups(groups: str, *more: str) -> str:
    """A file with other node groups, and more sections."""
    head = GOOD.partition("nodes:\n")[0]
    return "\n".join([head + "nodes:", *(f"  {line}" for line in groups.splitlines()), *more]) + "\n"
