"""Environment variables of job files: those of other software are in a table with a reason and a source."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from ultracluster import clusterfile
from ultracluster.rules import Refusal
from ultracluster.workloads import VARIABLES, WORKLOADS, workload_files

FILE = """
name: table
region: us-east-2
zone: use2-az1
orchestrator: {}
nodes: {{gpu: {{type: {}}}}}
storage: {{lustre: {{throughput: 20 GB/s}}}}
"""
BLOCK = "{reservations: [cr-0123456789abcdef0], kind: ultraserver, instances: 18}"
TYPES = ("p5.48xlarge, count: 4", "p5.4xlarge, count: 4", f"u-p6e-gb200x72, count: 1, capacity: {BLOCK}")
#: Those that files of this library read: checkpoints and restarts of a job, and the checks of nodes.
OWN = {
    *("RUN", "CHECKPOINT_REQUEST", "JOB_NAME", "ATTEMPT", "POD_NAMESPACE", "JOBSET_RESTART_COUNT"),
    *("LEVEL", "OLDEST", "SOFTWARE_CHECK", "NODE", "CHECK", "NAMESPACE", "GROUP", "MOST", "PODS"),
    *("RANKS", "EACH", "BYTES", "FLOOR", "OPERATION"),
}
# Those of a plugin of EFA are arguments of a function first.
EXPORT = re.compile(r"(?:^|&& |\\|\\| )export (.*)|set -- ((?:\"\$@\" )?[A-Z_]+=.*)")


def exported(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if match := EXPORT.search(line.strip()):
            yield from re.findall(
                r"(?:^| )([A-Za-z_]\w*)(?==| |$)", re.sub(r"\$\{[^}]*\}|\"[^\"]*\"", "", match[match.lastindex or 1])
            )


def of_containers(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("env"), list):
            yield from (row["name"] for row in value["env"])
        for key, inner in value.items():
            yield from of_containers(inner)
            if key == "command":
                yield from exported("\n".join(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from of_containers(inner)


@pytest.fixture(scope="module")
def names() -> set[str]:
    """Variables of all job files, of both orchestrators."""
    result: set[str] = set()
    for orchestrator in ("slurm", "kubernetes"):
        for kind in TYPES:
            cluster = clusterfile.loads(FILE.format(orchestrator, kind), "cluster.yaml")
            for name in WORKLOADS:
                try:
                    files = workload_files(cluster, name)
                except Refusal:
                    continue
                for file in files:
                    if orchestrator == "slurm":
                        result |= set(exported(file.text))
                    else:
                        result |= set(of_containers(list(yaml.safe_load_all(file.text))))
    return result


def test_each_variable_of_other_software_is_in_the_table_and_the_table_has_no_other(names: set[str]) -> None:
    of_others = {name for name in names if not name.startswith("ULTRACLUSTER_") and name.upper() == name} - OWN
    assert of_others == set(VARIABLES)


def test_each_has_a_source() -> None:
    assert all(row.source.startswith("https://") and row.reason and row.used_by for row in VARIABLES.values())
