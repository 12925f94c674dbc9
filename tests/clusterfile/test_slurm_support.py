"""Ends of support, compared with the day."""

from datetime import date

import pytest

from support import ROOT
from ultracluster.clusterfile import ClusterFileError, load, loads, warnings

FILE = """\
name: first
region: us-east-2
zone: use2-az1
orchestrator: {orchestrator}
nodes:
  gpu: {{type: p5.48xlarge, count: 2}}
{orchestrator}: {{version: "{version}"}}
{rest}"""


def support(orchestrator: str, version: str, today: date | None, rest: str = "") -> dict[str, str]:
    cluster = loads(FILE.format(orchestrator=orchestrator, version=version, rest=rest), "c.yaml")
    return {row.rule: row.message for row in warnings(cluster, today) if "support" in row.rule or "accept" in row.rule}


@pytest.mark.parametrize(
    ("orchestrator", "version", "today", "expected"),
    [
        ("slurm", "25.05", date(2026, 11, 23), "ends on 2026-11-30, in 7 days; create the cluster with 25.11"),
        ("slurm", "25.05", date(2026, 12, 1), "ended on 2026-11-30; create the cluster with 25.11"),
        ("slurm", "25.05", None, "ends on 2026-11-30"),
        ("slurm", "25.11", date(2026, 11, 23), ""),
        ("slurm", "25.11", date(2027, 5, 1), "create the cluster with 26.05"),
        ("slurm", "26.05", date(2027, 12, 1), "a newer release of this library has newer versions"),
        ("kubernetes", "1.34", date(2026, 10, 1), ""),
        ("kubernetes", "1.34", date(2026, 11, 23), "leaves standard support on 2026-12-02, in 9 days"),
        ("kubernetes", "1.34", date(2026, 12, 3), "left standard support on 2026-12-02"),
    ],
)
def test_check_names_the_end_of_support(orchestrator: str, version: str, today: date | None, expected: str) -> None:
    messages = support(orchestrator, version, today)
    assert set(messages) == ({f"{orchestrator}-version-support"} if expected else set())
    assert expected in "".join(messages.values())


def test_an_accepted_end_of_support_is_never_unused() -> None:
    rest = "accept: {slurm-version-support: the cluster is deleted in March}"
    assert "accept-unused" not in support("slurm", "25.11", None, rest)


def test_exclusive_queues_need_the_version_that_has_them() -> None:
    text = FILE.format(orchestrator="slurm", version="25.11", rest="").replace(
        '{version: "25.11"}', '{version: "25.11", queues: {gpu: {settings: {Exclusive: "NODE"}}}}'
    )
    with pytest.raises(ClusterFileError, match=r"Exclusive.*26\.05"):
        loads(text, "c.yaml")
    loads(text.replace("25.11", "26.05"), "c.yaml")


def test_hyperpod_does_not_follow_the_versions_of_pcs() -> None:
    cluster = load(ROOT / "examples" / "hyperpod-slurm.yaml")
    assert not [row for row in warnings(cluster, date(2030, 1, 1)) if "version-support" in row.rule]
