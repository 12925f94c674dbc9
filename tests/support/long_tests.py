"""Files of tests that take long: each worker of xdist begins with some of them, whole.

Begun last, one of them would keep a core busy and leave the other without work. In pieces on several workers, what its
tests share would be made several times.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

# Seconds of one of three workers on two cores (2026-11-28), with the files whose tests share their runs.
FILES: dict[tuple[str, ...], int] = {
    ("tests/monitoring/test_stories.py", "tests/monitoring/test_causes.py"): 128,
    # They wait more than they compute: on one worker, while the others keep the cores busy.
    (
        *("tests/boot/test_mount_check_script.py", "tests/integration/node_boot/test_image_check.py"),
        *("tests/workloads/test_gang_gate.py", "tests/monitoring/test_own_prometheus.py"),
        *("tests/monitoring/test_agent_probe.py", "tests/platform/test_port_forward.py"),
    ): 119,
    (
        *(
            "tests/stacks/test_strict.py",
            "tests/compute/test_image_pipeline.py",
            "tests/storage/test_storage_strict.py",
        ),
        *("tests/observability/test_observability_strict.py", "tests/storage/test_home_deployment.py"),
    ): 76,
    ("tests/guard/test_cluster_edits.py",): 72,
    ("tests/cli/test_init.py", "tests/cli/test_package.py", "tests/examples/test_projects.py"): 58,
    ("tests/cli/test_rehearsal.py", "tests/cli/test_deploy.py", "tests/cli/test_failure_steps.py"): 59,
    ("tests/workloads/test_programs_run.py",): 35,
    ("tests/monitoring/test_alerts.py",): 30,
    ("tests/stacks/test_ultra_cluster.py",): 27,
    ("tests/cli/test_container_build.py",): 24,
    ("tests/house/test_contract.py",): 19,
    ("tests/integration/node_boot/test_install_software.py",): 17,
    ("tests/workloads/test_verl_run.py",): 12,
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
