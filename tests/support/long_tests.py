"""Files of tests that take long: each worker of xdist begins with some of them, whole.

Begun last, one of them would keep a core busy and leave the other without work. In pieces on several workers, what its
tests share would be made several times.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

# Seconds of CPU time in 2026-11, with the files whose tests share their runs.
FILES: dict[tuple[str, ...], int] = {
    ("tests/monitoring/test_stories.py", "tests/monitoring/test_causes.py"): 140,
    (
        *(
            "tests/stacks/test_strict.py",
            "tests/compute/test_image_pipeline.py",
            "tests/storage/test_storage_strict.py",
        ),
        *("tests/observability/test_observability_strict.py", "tests/storage/test_home_deployment.py"),
    ): 110,
    ("tests/guard/test_cluster_edits.py",): 66,
    ("tests/cli/test_init.py", "tests/cli/test_package.py", "tests/examples/test_projects.py"): 25,
    ("tests/cli/test_rehearsal.py", "tests/cli/test_deploy.py", "tests/cli/test_failure_steps.py"): 22,
    ("tests/stacks/test_ultra_cluster.py",): 30,
    ("tests/docs/test_reference.py",): 35,
    ("tests/house/test_contract.py",): 18,
    ("tests/monitoring/test_alerts.py",): 30,
    ("tests/monitoring/test_own_prometheus.py",): 10,
    ("tests/workloads/test_programs_run.py",): 20,
    ("tests/integration/node_boot/test_install_software.py",): 15,
    ("tests/cli/test_container_build.py",): 15,
    ("tests/workloads/test_training.py",): 10,
}
_GROUPS = {file: group for group in FILES for file in group}
Item = TypeVar("Item")


def spread(items: Sequence[Item], file_of: Callable[[Item], str], workers: int) -> list[Item]:
    """Return the tests in another order: a worker gets as many in a row as the others."""
    groups: dict[tuple[str, ...], list[Item]] = {}
    rest: list[Item] = []
    for item in items:
        group = _GROUPS.get(file_of(item))
        (rest if group is None else groups.setdefault(group, [])).append(item)
    seconds = [0] * workers
    parts: list[list[Item]] = [[] for _ in range(workers)]
    for group in sorted(groups, key=lambda group: -FILES[group]):
        least = seconds.index(min(seconds))
        seconds[least] += FILES[group]
        parts[least] += groups[group]
    result: list[Item] = []
    for number, part in enumerate(parts):
        size = (len(items) - len(result)) // (workers - number)
        fill = max(0, size - len(part))
        result += part + rest[:fill]
        del rest[:fill]
    return result + rest
