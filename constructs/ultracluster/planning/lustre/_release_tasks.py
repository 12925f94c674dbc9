"""Release tasks: content that a Lustre file system frees because it is exported to S3."""

from collections.abc import Sequence

from ultracluster.catalogue.storage import repositories as facts
from ultracluster.planning import shown
from ultracluster.planning.lustre._associations import Association, path_problems
from ultracluster.rules import Message, error

# Under relatime the access time may be a day old: https://man7.org/linux/man-pages/man8/mount.8.html (read 2026-11-21)
LEAST_RELEASE_DAYS = 2
RELEASE_TASK = error("release-task", "Only what an association exports can be released, after whole days.")


def check_release(
    paths: Sequence[str], associations: Sequence[Association], *, not_accessed_for_days: int, mount_options: str
) -> list[Message]:
    """Return the errors of a release of cold data.

    Args:
        paths: Directories and files to release, such as `/checkpoints`.
        associations: Associations of the file system.
        not_accessed_for_days: Days since the last access after which a file is cold.
        mount_options: How clients mount the file system, comma-separated.
    """
    exported = [association.path for association in associations if association.exports_files]
    problems = [
        f"{path} lies under no association that exports: nothing there is known to be in S3; paths that are: "
        f"{', '.join(exported) or 'none'}"
        for path in paths
        if not any(_under(path, parent) for parent in exported)
    ]
    problems += [f"{shown(path)}: {problem}" for path in paths for problem in path_problems(path)]
    if not paths:
        problems.append("paths must name at least one directory, got none")
    if len(paths) > facts.MOST_TASK_PATHS:
        problems.append(f"a release task accepts at most {facts.MOST_TASK_PATHS} paths, got {len(paths)}")
    if not_accessed_for_days < LEAST_RELEASE_DAYS:
        problems.append(
            f"not_accessed_for_days must be {LEAST_RELEASE_DAYS} or more, got {not_accessed_for_days}: a smaller one "
            "would release what jobs are reading"
        )
    if "noatime" in mount_options.split(","):
        problems.append(
            "mount_options hold noatime, under which reading a file does not count as access: data that jobs read "
            "every day would be released; mount with relatime"
        )
    return [*map(RELEASE_TASK, problems)]


def task_path(path: str) -> str:
    """A path as a data repository task takes it: relative to the mount point, `/` for everything.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/release-files-task.html (read 2026-11-21)
    """
    return path.strip("/") or "/"


def _under(path: str, directory: str) -> bool:
    parent = directory.rstrip("/") + "/"
    return (path.rstrip("/") + "/").startswith(parent)
