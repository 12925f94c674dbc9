"""Cluster files that the tests bend."""

import pytest

from support import ROOT
from ultracluster.clusterfile import ClusterFile, ClusterFileError, loads, rules

RESERVATION = "cr-0123456789abcdef0"
GOOD = f"""name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {{type: p5en.48xlarge, count: 64, capacity: {RESERVATION}}}
storage: {{lustre: {{throughput: 40 GB/s}}}}
"""


#: Metrics, dashboards and alerts are a third of a synthesis: for clusters in which a test looks at other things.
NO_METRICS = "observability: {profile: none}\n"


def bent(old: str, new: str, text: str = GOOD) -> str:
    """The file with one thing changed; it must be there to be changed."""
    assert old in text
    return text.replace(old, new, 1)


def read(old: str, new: str, text: str = GOOD) -> ClusterFile:
    """The file with one thing changed, which is still good."""
    return loads(bent(old, new, text), "c.yaml")


def problems(text: str) -> list[str]:
    """Errors of a file, a line each, without the ids of the rules."""
    with pytest.raises(ClusterFileError) as caught:
        loads(text, "c.yaml")
    lines = str(caught.value).split("\n")
    assert lines == [problem.render("c.yaml") for problem in caught.value.problems]
    known = {rule.id for rule in rules()}
    assert {problem.rule for problem in caught.value.problems} <= known
    return [line.removesuffix(f" [{problem.rule}]") for line, problem in zip(lines, caught.value.problems, strict=True)]


def problem(old: str, new: str, text: str = GOOD) -> str:
    """The one thing that is wrong after a change."""
    result = problems(bent(old, new, text))
    assert len(result) == 1, "\n".join(result)
    return result[0]


def with_groups(groups: str, *more: str) -> str:
    """A file with other node groups, and more sections."""
    head = GOOD.partition("nodes:\n")[0]
    return "\n".join([head + "nodes:", *(f"  {line}" for line in groups.splitlines()), *more]) + "\n"


def private_with_directory() -> str:
    """The private example with home directories, users of a directory, and replacement of bad nodes."""
    text = (ROOT / "examples" / "slurm-private.yaml").read_text()
    slurm = """\
slurm:
  health: {replace: 2}
  directory:
    managed-ad:
      servers: [ldaps://corp.example.com]
      base-dn: dc=corp,dc=example,dc=com
      bind-dn: cn=reader,dc=corp,dc=example,dc=com
      secret: arn:aws:secretsmanager:us-east-2:123456789012:secret:reader-AbCdEf
"""
    text = bent("storage: {", "storage: {home: {}, ", bent("slurm:\n", slurm, text))
    return f"{text}accept: {{slurm-directory-route: the VPC is peered}}\n"
