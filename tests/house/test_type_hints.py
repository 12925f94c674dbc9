"""Type hints of public names, which frameworks read by `typing.get_type_hints`."""

import importlib
import inspect
import json
import typing
from pathlib import Path

# Their annotations name what is imported on use: with it, each run of pytest would load the CDK and Node, and each
# reading of a cluster file the planner of Lustre. They are in docs/operations/limits.md; the list may become shorter.
IMPORTED_ON_USE = {
    "cdk_rehearsal.rehearsal": {"Report.print"},
    "cdk_rehearsal.snapshots": {"assert_app_matches_snapshot", "assert_matches_snapshot", "write_app_snapshots"},
    "ultracluster.clusterfile": {
        "ClusterFile.lustre_spec",
        "ClusterFile.users",
        "NodeGroup.kubernetes_taints",
        "rules",
    },
    "ultracluster.testing": {
        "assert_app_matches_snapshot",
        "assert_efa_wired",
        "assert_matches_snapshot",
        "assert_no_public_nodes",
        "assert_nothing_stateful_is_lost",
        "assert_reserved",
        "write_app_snapshots",
    },
}


def _members(value: object) -> dict[str, object]:
    """Return a function by the name "", or a class with its public functions, of this library alone."""
    members = {"": value}
    if inspect.isclass(value):
        for name, member in inspect.getmembers(value):
            function = member.fget if isinstance(member, property) else member
            if name == "__init__" or not name.startswith("_"):
                members[f".{name}"] = function
    return {
        name: member
        for name, member in members.items()
        if (inspect.isclass(member) or inspect.isroutine(member))
        and str(getattr(member, "__module__", "")).startswith(("ultracluster.", "cdk_rehearsal."))
    }


def test_type_hints_of_public_names_resolve() -> None:
    failed: dict[str, set[str]] = {}
    count = 0
    for package, names in json.loads((Path(__file__).parent / "public-api.json").read_text()).items():
        for name in names:
            for member, value in _members(getattr(importlib.import_module(package), name)).items():
                count += 1
                try:
                    typing.get_type_hints(value)
                except NameError:
                    failed.setdefault(package, set()).add(f"{name}{member}")
    assert count > 900
    assert failed == IMPORTED_ON_USE
