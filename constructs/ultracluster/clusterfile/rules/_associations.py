"""Rules of data repository associations and release tasks."""

from collections.abc import Iterator, Sequence

from ultracluster.catalogue.storage import repositories
from ultracluster.clusterfile._associations import DATA_BUCKET, associations, data_bucket, readable, shows_data_bucket
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, valid
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._rule import Rule, error, shared, warning
from ultracluster.clusterfile.sections._lustre import Lustre
from ultracluster.planning.lustre import (
    ASSOCIATION,
    ASSOCIATION_FILE_SYSTEM,
    ASSOCIATION_LIMIT,
    ASSOCIATION_OVERLAP,
    BOTH_WAYS,
    EXPORTS_DELETIONS,
    LEAST_RELEASE_DAYS,
    RELEASE_TASK,
    UNVERSIONED,
    Association,
    association_warnings,
)
from ultracluster.planning.lustre import check_associations as association_errors

_BY_RULE = {rule: shared(rule) for rule in (BOTH_WAYS, EXPORTS_DELETIONS, UNVERSIONED)}
_ASSOCIATION_FOREIGN_BUCKET = shared("association-foreign-bucket")
_ASSOCIATION_MOVES_NOTHING = warning(
    "association-moves-nothing", "A data repository association with the new data bucket neither imports nor exports."
)
_ASSOCIATION_FOREIGN_KEY = shared("association-foreign-key")
_ASSOCIATION_FOREIGN_FILE_SYSTEM = shared("association-foreign-file-system")
_PATH_RULE = error("association-path", "An association names a directory of the file system, not of the node.")
_BUCKET = error("association-bucket", "An association without a bucket shows the data bucket.")
_PROGRAMS = error(
    "association-programs", "The data bucket, which users may write, does not show what root and all users run."
)
_FOREIGN_PROGRAMS = warning(
    "association-foreign-programs", "An association shows an existing bucket where root and all users run programs."
)
_FILE_SYSTEM = shared(ASSOCIATION_FILE_SYSTEM)
_LIMIT = shared(ASSOCIATION_LIMIT)
_ASSOCIATION = shared(ASSOCIATION)
_OVERLAP = shared(ASSOCIATION_OVERLAP)
_RELEASE = shared(RELEASE_TASK)

_PATH: Path = ("storage", "lustre")
# Directories of Slurm clusters from which root and all users run programs.
_PROGRAM_DIRECTORIES = ("/containers", "/jobs")
# See https://docs.aws.amazon.com/fsx/latest/LustreGuide/posix-metadata-support.html (read 2026-11-27)
_OWNER = "FSx imports an object with the owner that its metadata names"
_EXPORT = "write export: [NEW, CHANGED] at one"


def check_associations(draft: Draft) -> Iterator[Problem]:
    """Check the data repository associations, and the release task of their files."""
    storage, lustre = draft.storage, draft.storage.lustre
    if lustre is None:
        return
    yield from _check_each(associations(lustre, data_bucket(storage)), valid(lambda: draft.region) or "")
    for path, link in lustre.data_repository_associations.items():
        if path == lustre.mount or path.startswith(f"{lustre.mount}/"):
            inside = path.removeprefix(lustre.mount) or "/"
            message = (
                "an association is named by its path on the file system itself, whatever `mount` is, and nodes "
                "would see "
                f"this one at {lustre.mount}{path}; write {inside}, which they see at {lustre.mount}"
                f"{inside.rstrip('/')}"
            )
            yield _PATH_RULE((*_PATH, "data-repository-associations", path), message, at_key=True)
        if link.bucket is None and not storage.data_bucket:
            message = (
                "names no bucket, which means the data bucket, and data-bucket: false creates none; name an "
                "existing one, bucket: my-datasets, or remove data-bucket: false"
            )
            yield _BUCKET((*_PATH, "data-repository-associations", path), message, at_key=True)
        if link.import_ and not draft.traits.has_platform and _has_programs(path) and shows_data_bucket(link, storage):
            message = (
                f"every user may write the data bucket, and {_OWNER}: a user could replace the container images and "
                f"the job files of all users; name a directory of data, such as /data, or remove import"
            )
            yield _PROGRAMS((*_PATH, "data-repository-associations", path), message, at_key=True)
    yield from _check_release(lustre)


def check_file_system(lustre: Lustre) -> Iterator[Problem]:
    """Check the keys that a file system with associations cannot have."""
    linked = associations(lustre)[:1]
    stated: dict[str, Sequence[str]] = {}
    if lustre.backups is not None:
        stated["backups"] = association_errors(linked, backups=True, region="")
    kind = "storage-type" if lustre.storage_type else "throughput-capacity"
    if lustre.storage_type == "INTELLIGENT_TIERING" or (not lustre.storage_type and lustre.throughput_capacity):
        stated[kind] = association_errors(linked, storage_type="INTELLIGENT_TIERING", region="")
    fine = association_errors(linked, region="")
    for key, messages in stated.items():
        for message in messages:
            if message not in fine:
                yield _FILE_SYSTEM((*_PATH, key), message)


def _check_each(links: list[Association], region: str) -> Iterator[Problem]:
    most = repositories.MOST_ASSOCIATIONS
    if len(links) > most:
        message = (
            f"a file system supports at most {most} data repository associations, got {len(links)}; name a common "
            f"parent of some of them"
        )
        yield _LIMIT((*_PATH, "data-repository-associations"), message, at_key=True)
    for number, link in enumerate(links):
        path = (*_PATH, "data-repository-associations", link.path)
        alone = association_errors([link], region=region)
        yield from (_ASSOCIATION(path, readable(message)) for message in alone)
        # Beyond the first that is too many, pairs are not looked at: a file may hold thousands.
        for other in links[:number] if number <= most else ():
            known = [*alone, *association_errors([other], region=region)]
            for message in association_errors([other, link], region=region):
                if message not in known:
                    yield _OVERLAP(path, readable(message), at_key=True)


def _has_programs(path: str) -> bool:
    return path == "/" or f"{path}/".startswith(tuple(f"{directory}/" for directory in _PROGRAM_DIRECTORIES))


def _check_release(lustre: Lustre) -> Iterator[Problem]:
    release = lustre.release_task
    if release is None:
        return
    if (release.after.days or 0) < LEAST_RELEASE_DAYS:
        message = f"is counted in whole days, {LEAST_RELEASE_DAYS} d at least, got {release.after}"
        yield _RELEASE((*_PATH, "release-task", "after"), message)
    if not any(link.exports_files for link in associations(lustre)):
        message = (
            f"no data repository association exports files, so nothing is known to be in S3 that could be released; "
            f"{_EXPORT}, or remove it"
        )
        yield _RELEASE((*_PATH, "release-task"), message, at_key=True)


def warn_associations(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    lustre = cluster.storage.lustre
    if lustre is None:
        return
    existing = cluster.storage.existing_bucket
    # A data bucket that is created keeps old versions.
    links = associations(lustre, data_bucket(cluster.storage))
    messages = list(association_warnings(links, versioned_buckets=[DATA_BUCKET]))
    for of_constructs, rule in _BY_RULE.items():
        if words := [message for message in messages if message.rule is of_constructs]:
            yield rule, readable("; ".join(words))
    by_bucket = [
        (link.bucket or (existing.name if existing else None), link)
        for link in lustre.data_repository_associations.values()
    ]
    buckets = sorted({bucket for bucket, _ in by_bucket if bucket is not None})
    imports = any(link.import_ for bucket, link in by_bucket if bucket is not None)
    where = f"; FSx imports by itself from buckets in {cluster.region} only" if imports else ""
    if buckets:
        yield (
            _ASSOCIATION_FOREIGN_BUCKET,
            f"{', '.join(buckets)}: an existing bucket may be locked, expire objects of the association, or send "
            f"notifications "
            f"that clash with those of FSx{where}; synthesis shows the statements that its policy and its key may need",
        )
    programs = [
        path
        for path, link in lustre.data_repository_associations.items()
        if (link.bucket or existing) and _has_programs(path) and not cluster.traits.has_platform
    ]
    if programs:
        yield (
            _FOREIGN_PROGRAMS,
            f"{', '.join(programs)}: {_OWNER}, so who may write the bucket chooses the container images and the job "
            "files that all users run; name a directory of data, such as /data",
        )
    of_data_bucket = {
        path: link
        for path, link in lustre.data_repository_associations.items()
        if shows_data_bucket(link, cluster.storage)
    }
    idle = [path for path, link in of_data_bucket.items() if not link.import_ and not link.export]
    if idle and existing is None:
        yield (
            _ASSOCIATION_MOVES_NOTHING,
            f"{', '.join(idle)}: without import and export an association shows what is in S3 when it is created, "
            f"and the data "
            "bucket is empty when it is made with it; write import: [NEW, CHANGED], or export: [NEW, CHANGED]",
        )
    key = existing.key if existing else cluster.encryption_key
    if of_data_bucket and key is not None:
        yield (
            _ASSOCIATION_FOREIGN_KEY,
            f"{key} is an existing key, so its policy must allow the role of FSx; synthesis shows the statement",
        )
    if lustre.data_repository_associations and lustre.existing is not None:
        yield (
            _ASSOCIATION_FOREIGN_FILE_SYSTEM,
            f"{lustre.existing.id}: check that this file system supports data repository associations: Lustre 2.12 "
            f"or 2.15, "
            "neither SCRATCH_1 nor Intelligent-Tiering, no backups, no other associations that overlap",
        )
