"""Whether every mount has a path of its own."""

from collections.abc import Iterator
from itertools import permutations

from ultracluster.clusterfile.problems import Path, Problem, field_name
from ultracluster.clusterfile.sections.storage import Storage


def check_mounts(storage: Storage | None) -> Iterator[Problem]:
    """Mounts that would hide one another, told at each of the two keys."""
    for (key, path), (other_key, other) in permutations(_mounts(storage), 2):
        if f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/"):
            message = (
                f"is {path}, and {field_name(other_key)} is {other}: one would hide the other; take two directories of "
                "which none is within the other"
            )
            yield Problem(path=key, message=message)


def _mounts(storage: Storage | None) -> list[tuple[Path, str]]:
    """What nodes mount: the key of each path, and the path."""
    found: list[tuple[Path, str]] = []
    if storage and storage.lustre:
        found.append((("storage", "lustre", "mount"), storage.lustre.mount))
    if storage and storage.home:
        found.append((("storage", "home", "mount"), storage.home.mount))
    if storage:
        found.append((("storage", "scratch", "path"), storage.scratch.path))
    return found
